//! Simultaneous claims, and calls that race with them.

use request_state_core::{Claim, Claimed};

use crate::stop::{Stop, Verdict, ensure};
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

/// Creates claims of one ID.
pub(super) fn rivals(kit: &Kit<'_>, count: usize) -> Result<Vec<Claim>, Stop> {
    let first = kit.claim()?;
    (0..count).map(|_| kit.other(&first)).collect()
}

/// Fails unless only claims with one nonce were first and all others found that claim. Returns the
/// winner.
pub(super) fn must_have_one_winner<'c>(
    results: impl IntoIterator<Item = (&'c Claim, Claimed)>,
) -> Result<&'c Claim, Stop> {
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
    Ok(winner)
}

pub(crate) async fn repeated_commands(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for round in 0..40 {
        let rivals = rivals(kit, 4)?;
        // Four copies of each claim, on both handles.
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
        // A release may be repeated as well.
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
        let [recorded, released, is_first] = schedule.run(steps).await?;
        ensure(recorded != released, || {
            format!(
                "the holder's record returned {recorded} and its release {released}, with {schedule:?}: \
                 exactly one of the two must return true"
            )
        })?;
        if released {
            must_hold_alone(kit, &one, &next, is_first, schedule).await?;
        } else {
            let about = format!("a claim while another was answered, with {schedule:?}");
            ensure(!is_first, || format!("{about}, was first"))?;
            let answer = Some(&b"the answer of the first"[..]);
            one.must_show(&held, &next, answer, about).await?;
        }
    }
    Ok(())
}

fn step<'a>(call: impl Future<Output = Result<bool, Stop>> + 'a) -> Step<'a> {
    Box::pin(call)
}

async fn is_first(handle: &Handle<'_>, claim: &Claim) -> Result<bool, Stop> {
    Ok(handle.claim(claim).await? == Claimed::First)
}

/// Fails unless the state after a claim that raced with a release is correct. If the claim was
/// first, its entry must exist, without anything of the released one. Otherwise no entry may exist.
async fn must_hold_alone(
    kit: &Kit<'_>,
    handle: &Handle<'_>,
    next: &Claim,
    is_first: bool,
    schedule: Schedule,
) -> Verdict {
    let about = format!("a claim while another was released, with {schedule:?}");
    if is_first {
        handle.must_show(next, &kit.other(next)?, None, about).await
    } else {
        handle.must_find_nothing(next, about).await
    }
}
