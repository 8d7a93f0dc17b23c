//! Claims on several threads.

use std::collections::HashMap;
use std::hint::spin_loop;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use request_state_core::{Claim, Claimed};
use tokio::runtime::Handle as Runtime;

use super::simultaneous::{must_have_one_winner, rivals};
use crate::lockstep::in_lockstep;
use crate::stop::{Stop, Verdict, panic_text};
use crate::stores::handle::Handle;
use crate::stores::kit::Kit;
use crate::stores::together::all;

pub(crate) async fn two_at_the_same_moment(kit: &Kit<'_>) -> Verdict {
    /// The time limit if the two threads rarely meet, because a busy machine runs them in turn.
    const PATIENCE: Duration = Duration::from_secs(4);
    /// The time limit for a store with slow calls. Its threads meet while they wait.
    const SLOW: Duration = Duration::from_secs(2);
    let [one, two] = kit.pair().await?;
    let started = Instant::now();
    let (mut races, mut ids) = (0, 0u32);
    while races < Control::ENOUGH {
        let race = Race::new(kit)?;
        let (met, winners) = race.run(&one, &two)?;
        races += met;
        for winners in winners.chunks(64) {
            let about = "the winner of a race";
            all(winners.iter().map(|winner| one.must_release(winner, about))).await?;
        }
        ids += Race::IDS;
        let elapsed = started.elapsed();
        let is_slow = elapsed > SLOW && elapsed / ids > Duration::from_micros(100);
        if is_slow || elapsed > PATIENCE {
            kit.note(format!(
                "busy or slow: two threads met {races} times, over {ids} ids"
            ));
            break;
        }
    }
    Ok(())
}

/// IDs that two threads claim at the same time.
struct Race {
    rounds: Vec<Vec<[Claim; 2]>>,
    controls: Vec<Control>,
}

impl Race {
    const ROUNDS: usize = 100;
    /// The number of IDs that both threads claim in each round, one after the other. A thread that
    /// finds an ID used is faster than the thread that was first, and catches up. The threads
    /// therefore meet even if they started apart.
    const EACH: usize = 32;
    const IDS: u32 = (Self::ROUNDS * Self::EACH) as u32;

    fn new(kit: &Kit<'_>) -> Result<Self, Stop> {
        let pair = || {
            let claim = kit.claim()?;
            Ok([kit.other(&claim)?, claim])
        };
        let rounds = (0..=Self::ROUNDS).map(|_| (0..Self::EACH).map(|_| pair()).collect());
        Ok(Self {
            rounds: rounds.collect::<Result<_, Stop>>()?,
            controls: (0..=Self::ROUNDS).map(|_| Control::default()).collect(),
        })
    }

    /// Fails unless each ID has one winner. Returns the number of times that the threads are known
    /// to have met, and the winners.
    fn run(&self, one: &Handle<'_>, two: &Handle<'_>) -> Result<(usize, Vec<&Claim>), Stop> {
        let runtime = Runtime::current();
        let results = in_lockstep(Self::ROUNDS, |thread, round| {
            // On two handles and on one, in turn.
            let is_other = (thread + round).is_multiple_of(2) && round % 4 < 2;
            let handle = if is_other { two } else { one };
            let pairs = self.rounds.get(round).into_iter().flatten();
            let claims = pairs.filter_map(|pair| pair.get(thread));
            let controls = self.controls.get(round).into_iter().flat_map(|of| &of.0);
            runtime.block_on(async {
                let mut results = Vec::new();
                for (claim, control) in claims.zip(controls) {
                    let is_first = Control::claim(control);
                    results.push((claim, handle.claim(claim).await?, is_first));
                }
                Ok(results)
            })
        })?;
        let mut by_id: HashMap<[u8; 32], Vec<(&Claim, Claimed)>> = HashMap::new();
        let mut firsts = 0;
        for (claim, result, is_first) in results.into_iter().flatten() {
            by_id.entry(claim.id).or_default().push((claim, result));
            firsts += usize::from(is_first);
        }
        let races = firsts.saturating_sub(by_id.len());
        let winners = by_id.into_values().map(must_have_one_winner);
        Ok((races, winners.collect::<Result<_, _>>()?))
    }
}

/// A non-atomic check and set, next to each claim. If no two threads meet in it, for instance
/// because one processor runs both, a store with the same bug does not show it either.
struct Control([AtomicBool; Race::EACH]);

impl Control {
    /// The number of meetings after which the threads have also met in a window of the same size in
    /// the store.
    const ENOUGH: usize = 30;

    fn claim(control: &AtomicBool) -> bool {
        let is_first = !control.load(Ordering::Acquire);
        spin_loop();
        control.store(true, Ordering::Release);
        is_first
    }
}

impl Default for Control {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicBool::new(false)))
    }
}

pub(crate) async fn many(kit: &Kit<'_>) -> Verdict {
    const THREADS: usize = 8;
    let handles = kit.pair().await?;
    let runtime = Runtime::current();
    let rounds: Vec<Vec<Claim>> = (0..100)
        .map(|_| rivals(kit, THREADS))
        .collect::<Result<_, Stop>>()?;
    let start = Barrier::new(THREADS);
    let run = |thread: usize, handle: &Handle<'_>| {
        let mut results = Vec::new();
        for rivals in &rounds {
            // Each thread must reach each barrier, whatever the store does.
            start.wait();
            let claim = rivals.get(thread);
            let claim = claim.ok_or_else(|| Stop::Failed("no such thread".into()));
            results.push(claim.and_then(|claim| {
                let claiming =
                    panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(handle.claim(claim))));
                claiming.map_err(|panic| panic_text(&*panic))?
            }));
        }
        results
    };
    let run = &run;
    let results = thread::scope(|scope| {
        let threads = (0..THREADS).zip(handles.iter().cycle());
        let threads: Vec<_> = threads
            .map(|(thread, handle)| scope.spawn(move || run(thread, handle)))
            .collect();
        let ends = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ends.collect::<Result<Vec<_>, _>>()
    });
    let mut by_thread: Vec<_> = results
        .map_err(|panic| panic_text(&*panic))?
        .into_iter()
        .map(Vec::into_iter)
        .collect();
    for rivals in &rounds {
        let results = by_thread.iter_mut().filter_map(Iterator::next);
        let results = results.collect::<Result<Vec<_>, _>>()?;
        must_have_one_winner(rivals.iter().zip(results))?;
    }
    Ok(())
}
