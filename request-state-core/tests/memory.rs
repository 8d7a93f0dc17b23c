//! A memory store is as large as what it must remember, however much it has seen.
#![cfg(target_os = "linux")] // where the size of a process can be read
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};

use request_state_core::{Claim, Claimed, MemoryStore, RedemptionStore, StoreFuture};

fn ready<T>(mut future: StoreFuture<'_, T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(result) => result.unwrap(),
        Poll::Pending => panic!("a memory store waits for nothing"),
    }
}

/// The memory that the process has, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The number, spread over all of an id's bytes, as SHA-256 would.
fn id(number: u64) -> [u8; 32] {
    let mut id = [0; 32];
    for (part, chunk) in id.chunks_mut(8).enumerate() {
        let mixed = (number + part as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        chunk.copy_from_slice(
            &(mixed ^ (mixed >> 29))
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                .to_be_bytes(),
        );
    }
    id
}

#[test]
fn a_million_redemptions_take_no_more_memory_than_those_that_count() {
    /// One each millisecond, each kept for ten seconds.
    const ALIVE: u64 = 10_000;
    let time = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&time);
    let now = move || UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::Relaxed));
    let store = MemoryStore::with_clock(usize::MAX, now);
    let mut sizes = Vec::new();
    for number in 0..1_000_000 {
        time.fetch_add(1, Ordering::Relaxed);
        let claim = Claim {
            id: id(number),
            nonce: [1; 16],
            presentation: [2; 32],
            issued_at_ms: number,
            keep_for: Duration::from_millis(ALIVE),
        };
        assert_eq!(ready(store.claim(&claim)), Claimed::First);
        // Most of what ends is in shards that the next claims come to.
        assert!(store.len() < 2 * ALIVE as usize, "{}", store.len());
        if number % 100_000 == 99_999 {
            assert!(ready(store.record(&claim.id, &claim.nonce, &[3; 1_000])));
            sizes.push(resident());
        }
    }
    println!("resident after each 100,000 redemptions: {sizes:?} KiB");
    let growth = sizes.last().unwrap().saturating_sub(sizes[0]);
    assert!(growth < 2_048, "{growth} KiB more: {sizes:?}");
}
