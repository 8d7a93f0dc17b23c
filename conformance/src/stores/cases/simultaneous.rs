//! Claims at the same time, and what races with them.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Barrier;
use std::thread;

use request_state_core::{Claim, Claimed};
use tokio::runtime::Handle as Runtime;

use crate::lockstep::in_lockstep;
use crate::stop::{Stop, Verdict, ensure, panic_text};
use crate::stores::handle::{Handle, must_be};
use crate::stores::kit::Kit;
use crate::stores::together::{Schedule, Step, all, dropped_after, schedules};

pub(crate) async fn many_at_once(kit: &Kit<'_>) -> Verdict {
    const CLAIMS: usize = 32;
    let handles = kit.pair().await?;
    for _ in 0..40 {
        let claims = rivals(kit, CLAIMS)?;
        let calls = handles.iter().cycle().zip(&claims);
        let results = all(calls.map(|(handle, claim)| handle.claim(claim))).await?;
        must_have_one_winner(claims.iter().zip(results))?;
    }
    Ok(())
}

/// Claims of one id.
fn rivals(kit: &Kit<'_>, count: usize) -> Result<Vec<Claim>, Stop> {
    let first = kit.claim()?;
    (0..count).map(|_| kit.other(&first)).collect()
}

/// Fails unless the claims of one nonce were first, and all others found that one.
fn must_have_one_winner<'c>(results: impl IntoIterator<Item = (&'c Claim, Claimed)>) -> Verdict {
    let results: Vec<_> = results.into_iter().collect();
    let firsts = results
        .iter()
        .filter(|(_, result)| *result == Claimed::First);
    let mut winners: Vec<&Claim> = firsts.map(|(claim, _)| *claim).collect();
    winners.sort_by_key(|claim| claim.nonce);
    winners.dedup_by_key(|claim| claim.nonce);
    let [winner] = *winners else {
        return Err(Stop::Failed(format!(
            "of {} simultaneous claims of one id, {} were first",
            results.len(),
            winners.len()
        )));
    };
    for (claim, result) in &results {
        match result {
            Claimed::First => {}
            Claimed::Used(_) if claim.nonce == winner.nonce => {
                return Err(Stop::Failed(
                    "of simultaneous claims with one nonce, one was first and another was not"
                        .into(),
                ));
            }
            Claimed::Used(entry) => must_be(entry, winner, None, "a simultaneous claim")?,
        }
    }
    Ok(())
}

pub(crate) async fn two_threads(kit: &Kit<'_>) -> Verdict {
    const ROUNDS: usize = 4_000;
    let [one, two] = kit.pair().await?;
    let runtime = Runtime::current();
    let rounds: Vec<[Claim; 2]> = (0..=ROUNDS)
        .map(|_| {
            let claim = kit.claim()?;
            Ok([kit.other(&claim)?, claim])
        })
        .collect::<Result<_, Stop>>()?;
    let claimed = in_lockstep(ROUNDS, |thread, round| {
        // On two handles and on one, by turns.
        let is_other = (thread + round).is_multiple_of(2) && round % 4 < 2;
        let handle = if is_other { &two } else { &one };
        let claim = rounds.get(round).and_then(|rivals| rivals.get(thread));
        let claim = claim.ok_or_else(|| Stop::Failed("no such round".into()))?;
        Ok((round, claim, runtime.block_on(handle.claim(claim))?))
    })?;
    let mut by_round: HashMap<usize, Vec<(&Claim, Claimed)>> = HashMap::new();
    for (round, claim, result) in claimed {
        by_round.entry(round).or_default().push((claim, result));
    }
    by_round.into_values().try_for_each(must_have_one_winner)
}

pub(crate) async fn many_threads(kit: &Kit<'_>) -> Verdict {
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
            // Each thread arrives at each barrier, whatever the store does.
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

pub(crate) async fn repeated_commands(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for round in 0..40 {
        let rivals = rivals(kit, 4)?;
        // Four copies of each, on both handles.
        let copies = rivals.iter().cycle().skip(round).take(16).enumerate();
        let calls = copies.map(|(number, claim)| {
            let handle = if number / 4 % 2 == 0 { &one } else { &two };
            async move { Ok((claim, handle.claim(claim).await?)) }
        });
        must_have_one_winner(all(calls).await?)?;
    }
    Ok(())
}

pub(crate) async fn dropped_half_way(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for polls in (0..24).map(|number| number % 8) {
        let dropped = kit.claim()?;
        let result = dropped_after(polls, one.claim(&dropped))
            .await
            .transpose()?;
        let next = kit.other(&dropped)?;
        let holder = match two.claim(&next).await? {
            Claimed::Used(entry) => {
                let about = "a claim after one that was dropped half way";
                must_be(&entry, &dropped, None, about)?;
                &dropped
            }
            Claimed::First => &next,
        };
        ensure(result.is_none() || *holder == dropped, || {
            "a second claim was first as well".into()
        })?;
        for handle in [&one, &two] {
            let about = "the claim that holds the id, after one was dropped half way";
            handle.must_be_first(holder, about).await?;
            let about = "a third claim, after one was dropped half way";
            handle
                .must_show(holder, &kit.other(&dropped)?, None, about)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn released_and_claimed(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for schedule in schedules() {
        let held = kit.claim()?;
        let next = kit.other(&held)?;
        one.must_be_first(&held, "an id that nobody has claimed")
            .await?;
        // A command to release is repeated as well.
        let steps = [
            step(one.release(&held)),
            step(two.release(&held)),
            step(is_first(&two, &next)),
        ];
        let [released, again, is_first] = schedule.run(steps).await?;
        ensure(released != again, || {
            format!("of two simultaneous releases of a claim, both returned {released}")
        })?;
        must_hold_alone(kit, &one, &next, is_first, schedule).await?;
    }
    Ok(())
}

pub(crate) async fn recorded_and_released(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for schedule in schedules() {
        let held = kit.claim()?;
        let next = kit.other(&held)?;
        one.must_be_first(&held, "an id that nobody has claimed")
            .await?;
        let steps = [
            step(two.record(&held, b"the answer of the first")),
            step(one.release(&held)),
            step(is_first(&two, &next)),
        ];
        let [_, released, is_first] = schedule.run(steps).await?;
        ensure(released, || {
            "release returned false to the holder of the claim".into()
        })?;
        must_hold_alone(kit, &one, &next, is_first, schedule).await?;
    }
    Ok(())
}

fn step<'a>(call: impl Future<Output = Result<bool, Stop>> + 'a) -> Step<'a> {
    Box::pin(call)
}

async fn is_first(handle: &Handle<'_>, claim: &Claim) -> Result<bool, Stop> {
    Ok(handle.claim(claim).await? == Claimed::First)
}

/// Fails unless the claim that came while another was released is there where it was first, without
/// anything of the other, and nothing is there where it was not.
async fn must_hold_alone(
    kit: &Kit<'_>,
    handle: &Handle<'_>,
    next: &Claim,
    is_first: bool,
    schedule: Schedule,
) -> Verdict {
    let about = format!("a claim while another was released, by {schedule:?}");
    if is_first {
        handle.must_show(next, &kit.other(next)?, None, about).await
    } else {
        handle.must_find_nothing(next, about).await
    }
}
