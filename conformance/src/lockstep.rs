//! Two threads that perform each step at the same moment.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::stop::{Stop, panic_text};

/// Runs `step` on two threads, which wait for each other before each round. If two threads must not
/// do something simultaneously, they will do it simultaneously in some round.
///
/// `step` receives the number of the thread, 0 or 1, and the number of the round. The results are
/// in no particular order.
pub(crate) fn in_lockstep<T: Send>(
    rounds: usize,
    step: impl Fn(usize, usize) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, Stop> {
    /// The time limit. A busy machine runs as many rounds as fit into it.
    const TIME: Duration = Duration::from_secs(2);
    let started = Instant::now();
    let arrivals = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let run = |number| {
        // The other thread must not wait for this one, however this one ends.
        let _guard = SetOnDrop(&over);
        let mut results = Vec::new();
        for round in 1..=rounds {
            arrivals.fetch_add(1, Ordering::AcqRel);
            let mut waits = 0u32;
            while arrivals.load(Ordering::Acquire) < 2 * round && !over.load(Ordering::Acquire) {
                waits += 1;
                if waits.is_multiple_of(10_000) {
                    thread::yield_now(); // there may be only one processor
                }
                spin_loop();
            }
            results.push(step(number, round)?);
            if started.elapsed() > TIME {
                break;
            }
        }
        Ok::<_, Stop>(results)
    };
    let run = &run;
    let ends = thread::scope(|scope| {
        let threads = [0, 1].map(|number| scope.spawn(move || run(number)));
        threads.map(thread::ScopedJoinHandle::join)
    });
    let mut results = Vec::new();
    for end in ends {
        results.extend(end.map_err(|panic| panic_text(&*panic))??);
    }
    Ok(results)
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
