//! Times two things in turn, so that whatever else the machine does slows both alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one batch of calls takes: long next to the clock's resolution, short next to a slice of
/// the scheduler.
const BATCH: Duration = Duration::from_micros(100);

/// How long one comparison takes, if that leaves room for [`ROUNDS`] at least.
const COMPARISON: Duration = Duration::from_millis(600);

/// The least and the most rounds of a comparison; a round is one batch of each.
const ROUNDS: (u128, u128) = (51, 2001);

/// The medians of two things that were timed in turn, in nanoseconds for each call.
#[derive(Clone, Copy, Debug)]
pub struct Medians {
    /// Of what was asked about.
    pub work: f64,
    /// Of what it is compared with.
    pub baseline: f64,
}

impl Medians {
    /// How many times longer the one takes than the other.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.work / self.baseline
    }
}

/// Times `work` and `baseline`: batches of each in turn, and the median over all batches of the time
/// of a call.
///
/// What they return is dropped within the time, as a caller would.
pub fn compare<A, B>(mut work: impl FnMut() -> A, mut baseline: impl FnMut() -> B) -> Medians {
    let (work_calls, baseline_calls) = (calls(&mut work), calls(&mut baseline));
    let round = batch(&mut work, work_calls) + batch(&mut baseline, baseline_calls);
    let rounds = (COMPARISON.as_nanos() / round.as_nanos().max(1)).clamp(ROUNDS.0, ROUNDS.1);
    let (work_times, baseline_times) = (0..rounds)
        .map(|_| {
            (
                per_call(batch(&mut work, work_calls), work_calls),
                per_call(batch(&mut baseline, baseline_calls), baseline_calls),
            )
        })
        .unzip();
    Medians {
        work: median(work_times),
        baseline: median(baseline_times),
    }
}

/// How many calls make a batch, once caches and branch predictors are warm.
fn calls<T>(run: &mut impl FnMut() -> T) -> u32 {
    let mut calls = 1;
    while batch(run, calls) < BATCH && calls < 1 << 20 {
        calls *= 2;
    }
    calls
}

fn batch<T>(run: &mut impl FnMut() -> T, calls: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        drop(black_box(run()));
    }
    start.elapsed()
}

fn per_call(batch: Duration, calls: u32) -> f64 {
    batch.as_secs_f64() * 1e9 / f64::from(calls)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
