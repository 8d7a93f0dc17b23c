//! The lifetime of an entry.

use std::time::{Duration, Instant};

use request_state_core::{Claim, Claimed, StoreError};
use tokio::time::sleep;

use crate::stop::{Stop, Verdict, ensure};
use crate::stores::handle::{Chain, Handle, must_be};
use crate::stores::kit::{Kit, must_last_for};
use crate::stores::together::all;

pub(crate) async fn for_the_whole_lifetime(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let (one, two) = (&one, &two);
    // No lifetime is a whole number of seconds, because a store might round to seconds.
    let lifetimes = [250, 900, 1_400].map(|lifetime_ms| {
        let lifetime = Duration::from_millis(lifetime_ms);
        must_last_for(kit, two, lifetime, None, async |first| {
            one.must_be_first(first, "an id that nobody has claimed")
                .await
        })
    });
    all(lifetimes).await?;
    Ok(())
}

pub(crate) async fn later_claims_change_nothing(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let lifetime = Duration::from_millis(700);
    must_last_for(kit, &two, lifetime, None, async |first| {
        one.must_be_first(first, "an id that nobody has claimed")
            .await?;
        for keep_for in [
            Duration::ZERO,
            Duration::from_millis(1),
            Duration::from_millis(100),
        ] {
            let other = Claim {
                keep_for,
                ..kit.other(first)?
            };
            two.must_be_used(&other, "a second claim").await?;
        }
        one.must_be_first(first, "the same nonce again").await
    })
    .await
}

pub(crate) async fn very_long_lifetimes(kit: &Kit<'_>) -> Verdict {
    /// A lifetime that no claim asks for: a boundary's lifetimes end with the year 9999.
    const BEYOND: Duration = Duration::from_secs(8_000 * YEAR);
    const YEAR: u64 = 366 * 24 * 60 * 60;
    let [one, two] = kit.pair().await?;
    let mut lifetimes: Vec<Duration> = [1, 10, 30, 50, 366, 20 * 366, 300 * 366, 7_900 * 366]
        .map(|days| Duration::from_secs(days * 24 * 60 * 60))
        .into();
    // Lifetimes that wrap to almost nothing, or to the past, in fewer bits.
    for bits in [31, 32, 53, 63] {
        for units_a_second in [1, 1_000, 1_000_000, 1_000_000_000] {
            let wraps = (1u128 << bits) * 1_000_000_000 / units_a_second;
            let wraps = u64::try_from(wraps / 1_000_000).map(Duration::from_millis);
            lifetimes.extend(wraps.map(|wraps| wraps + Duration::from_millis(20)));
        }
    }
    let longest = [u64::MAX - 1, u64::MAX].map(Duration::from_millis);
    lifetimes.extend(longest);
    lifetimes.extend([Duration::from_secs(u64::MAX), Duration::MAX]);
    let mut claims = Vec::new();
    for keep_for in lifetimes {
        let first = Claim {
            keep_for,
            ..kit.claim()?
        };
        match one.try_claim(&first).await? {
            Ok(Claimed::First) => claims.push(first),
            Ok(Claimed::Used(_)) => {
                let about = format!("an id that nobody has claimed, to be kept for {keep_for:?}");
                return Err(Stop::Failed(format!("{about}: the claim was not first")));
            }
            // A store that returns an error has not forgotten anything.
            Err(_) if keep_for > BEYOND => {}
            Err(error) => {
                return Err(Stop::Failed(format!(
                    "a claim to be kept for {keep_for:?} failed: {}",
                    Chain(&error)
                )));
            }
        }
    }
    for wait in [Duration::ZERO, Duration::from_millis(100)] {
        sleep(wait).await;
        for first in &claims {
            let about = format!("a claim to be kept for {:?}", first.keep_for);
            two.must_show(first, &kit.other(first)?, None, about)
                .await?;
        }
    }
    for first in &claims {
        one.must_release(first, "a claim with a very long lifetime")
            .await?;
    }
    Ok(())
}

pub(crate) async fn no_lifetime(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let next = kit.claim()?;
    one.must_be_first(&next, "an id that nobody has claimed")
        .await?;
    for keep_for in [Duration::ZERO, Duration::from_nanos(1)] {
        let first = Claim {
            keep_for,
            ..kit.claim()?
        };
        one.must_be_first(&first, format!("a claim to be kept for {keep_for:?}"))
            .await?;
        // The entry may exist or not.
        two.find(&first).await?;
        two.record(&first, b"answer").await?;
        one.release(&first).await?;
        two.claim(&kit.other(&first)?).await?;
    }
    let about = "after a claim next to it that was not to be kept";
    two.must_show(&next, &kit.other(&next)?, None, about).await
}

pub(crate) async fn thousands_of_entries(kit: &Kit<'_>) -> Verdict {
    const ENTRIES: usize = 5_000;
    /// The number of concurrent calls.
    const AT_ONCE: usize = 64;
    let [one, two] = kit.pair().await?;
    let mut firsts = Vec::new();
    let mut is_full = false;
    for claims in kit.claims(ENTRIES)?.chunks(AT_ONCE) {
        let calls = claims.iter().map(|claim| one.try_claim(claim));
        for (claim, result) in claims.iter().zip(all(calls).await?) {
            match result {
                Ok(Claimed::First) => firsts.push(claim.clone()),
                Ok(Claimed::Used(_)) => {
                    return Err(Stop::Failed("the claim of a new id was not first".into()));
                }
                Err(StoreError::Full) => {
                    is_full = true;
                    two.must_find_nothing(claim, "a claim for which the store was full")
                        .await?;
                }
                Err(error) => {
                    return Err(Stop::Failed(format!("claim failed: {}", Chain(&error))));
                }
            }
        }
        if is_full {
            kit.note(format!("the store is full with {} entries", firsts.len()));
            break;
        }
    }
    let count = firsts.len();
    for claims in firsts.chunks(AT_ONCE) {
        let calls = claims
            .iter()
            .map(|claim| must_be_there(kit, &two, claim, count));
        all(calls).await?;
    }
    for claims in firsts.chunks(AT_ONCE) {
        let about = "one of thousands of claims";
        all(claims.iter().map(|claim| one.must_release(claim, about))).await?;
    }
    Ok(())
}

async fn must_be_there(kit: &Kit<'_>, handle: &Handle<'_>, first: &Claim, count: usize) -> Verdict {
    let about = format!("one of {count} claims, whose lifetime is not over");
    handle
        .must_show(first, &kit.other(first)?, None, about)
        .await
}

pub(crate) async fn a_new_connection(kit: &Kit<'_>) -> Verdict {
    let (plain, answered, released) = (kit.claim()?, kit.claim()?, kit.claim()?);
    let answer = b"the answer of a replica that is gone";
    let handle = kit.handle().await?;
    for claim in [&plain, &answered, &released] {
        handle
            .must_be_first(claim, "an id that nobody has claimed")
            .await?;
    }
    handle
        .must_record(&answered, answer, "right after the claim")
        .await?;
    handle
        .must_release(&released, "right after the claim")
        .await?;
    drop(handle);
    let started = Instant::now();
    for _ in 0..2 {
        let handle = kit.handle().await?;
        let about = "after all connections were closed";
        handle
            .must_show(&plain, &kit.other(&plain)?, None, about)
            .await?;
        handle
            .must_show(&answered, &kit.other(&answered)?, Some(answer), about)
            .await?;
        handle.must_find_nothing(&released, about).await?;
        handle
            .must_be_first(&plain, "the same nonce again, on a new connection")
            .await?;
        let entry = handle.must_find(&plain, about).await?;
        must_be(&entry, &plain, None, about)?;
        let at_most = started.elapsed() + Duration::from_secs(5);
        ensure(entry.age <= at_most, || {
            format!(
                "{about}: the age of a claim made just before is {:?}",
                entry.age
            )
        })?;
    }
    Ok(())
}
