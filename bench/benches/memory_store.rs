//! A claim of the memory store, by 16 threads at once: at most a microsecond.

use std::process::ExitCode;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use request_state::{Claim, Claimed, MemoryStore, RedemptionStore};
use sha2::{Digest, Sha256};

const THREADS: u64 = 16;
const BATCHES: u64 = 500;
const BATCH: u64 = 100;
const GOAL: Duration = Duration::from_micros(1);

fn main() -> ExitCode {
    let mut missed = false;
    println!("A claim of the memory store, median of batches of {BATCH}");
    for threads in [1, THREADS] {
        let store = MemoryStore::new();
        let start = Instant::now();
        let mut times = run(&store, threads);
        let all = start.elapsed();
        times.sort_unstable();
        let median = times[times.len() / 2] / BATCH as u32;
        let verdict = if median > GOAL { "  MISSED" } else { "" };
        missed |= median > GOAL;
        let claims = threads * BATCHES * BATCH;
        let second = claims as f64 / all.as_secs_f64();
        println!(
            "  {threads:>2} threads{:>12} ns   goal {GOAL:?}{verdict}   {second:.0} a second, what makes the claims included",
            median.as_nanos()
        );
        assert_eq!(store.len() as u64, claims);
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// How long each batch took, in each of the threads.
fn run(store: &MemoryStore, threads: u64) -> Vec<Duration> {
    let barrier = Barrier::new(threads as usize);
    let work = |thread: u64| {
        barrier.wait();
        let batch = |number: u64| {
            let claims: Vec<_> = (0..BATCH)
                .map(|at| claim((thread * BATCHES + number) * BATCH + at))
                .collect();
            let start = Instant::now();
            for claim in &claims {
                redeem(store, claim);
            }
            start.elapsed()
        };
        (0..BATCHES).map(batch).collect::<Vec<_>>()
    };
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().expect("no panic"))
            .collect()
    })
}

fn claim(number: u64) -> Claim {
    Claim {
        id: Sha256::digest(number.to_be_bytes()).into(),
        nonce: [1; 16],
        presentation: [2; 32],
        issued_at_ms: u64::MAX,
        keep_for: Duration::from_secs(3_720),
    }
}

fn redeem(store: &MemoryStore, claim: &Claim) {
    let mut future = store.claim(claim);
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(Claimed::First)) = future.as_mut().poll(&mut context) else {
        panic!("a claim of its own is the first");
    };
}
