//! Tokens that are older than the store's history.

use std::time::Duration;

use request_state_core::{Claim, Claimed, StoreError};

use crate::stop::{Stop, Verdict};
use crate::stores::handle::{Chain, must_be};
use crate::stores::kit::{Kit, now_ms};
use crate::stores::subject::History;

/// Returns times before the store's history, with descriptions. Returns `None` if the history is
/// complete.
fn before_the_history(kit: &Kit<'_>) -> Result<Option<Vec<(u64, &'static str)>>, Stop> {
    let mut times = vec![(0, "issued in 1970"), (1, "issued in 1970")];
    match kit.history() {
        History::Complete => return Ok(None),
        History::Older => {}
        History::New => {
            let hour_ago = now_ms()?.saturating_sub(60 * 60 * 1_000);
            times.push((hour_ago, "issued an hour ago, before the store came up"));
        }
    }
    Ok(Some(times))
}

pub(crate) async fn claims_of_older_tokens(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let Some(times) = before_the_history(kit)? else {
        // The operator's declaration must have an effect.
        let first = Claim {
            issued_at_ms: 0,
            ..kit.claim()?
        };
        let about = "a token issued in 1970, with the complete history";
        one.must_be_first(&first, about).await?;
        return two
            .must_show(&first, &kit.other(&first)?, None, about)
            .await;
    };
    for (issued_at_ms, about) in times {
        for handle in [&one, &two] {
            let claim = Claim {
                issued_at_ms,
                ..kit.claim()?
            };
            must_be_lost("a claim", about, handle.try_claim(&claim).await?)?;
        }
        // An entry of this ID exists, so `Used` is correct as well, but no claim may be first.
        let first = kit.claim()?;
        one.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        let old = Claim {
            issued_at_ms,
            ..kit.other(&first)?
        };
        match two.try_claim(&old).await? {
            Ok(Claimed::Used(entry)) => must_be(&entry, &first, None, "a claim for an old token")?,
            result => must_be_lost("a claim of a used id", about, result)?,
        }
    }
    Ok(())
}

pub(crate) async fn look_ups_of_older_tokens(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let unclaimed = kit.claim()?.id;
    let Some(times) = before_the_history(kit)? else {
        let found = one.try_find(&unclaimed, 0).await?;
        return match found {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(Stop::Failed(
                "find returned an entry that nobody claimed".into(),
            )),
            Err(error) => Err(Stop::Failed(format!(
                "find failed for a token issued in 1970, with the complete history: {}",
                Chain(&error)
            ))),
        };
    };
    let first = kit.claim()?;
    one.must_be_first(&first, "an id that nobody has claimed")
        .await?;
    for (issued_at_ms, about) in times {
        for handle in [&one, &two] {
            let found = handle.try_find(&unclaimed, issued_at_ms).await?;
            must_be_lost("a look-up", about, found)?;
            match handle.try_find(&first.id, issued_at_ms).await? {
                Ok(Some(entry)) => must_be(&entry, &first, None, "find, for an old token")?,
                result => must_be_lost("a look-up of a used id", about, result)?,
            }
        }
    }
    Ok(())
}

/// Fails unless the result is `HistoryLost`.
fn must_be_lost<T: std::fmt::Debug>(
    what: &str,
    about: &str,
    result: Result<T, StoreError>,
) -> Verdict {
    match result {
        Err(StoreError::HistoryLost) => Ok(()),
        Err(error) => Err(Stop::Failed(format!(
            "{what} for a token {about} must be HistoryLost; it failed: {}",
            Chain(&error)
        ))),
        Ok(result) => Err(Stop::Failed(format!(
            "{what} for a token {about} must be HistoryLost; the store returned {result:?}"
        ))),
    }
}

pub(crate) async fn lost_is_not_claimed(kit: &Kit<'_>) -> Verdict {
    if before_the_history(kit)?.is_none() {
        return Err(Stop::NotApplicable("the store has its complete history"));
    }
    let [one, two] = kit.pair().await?;
    for _ in 0..5 {
        let claim = kit.claim()?;
        let old = Claim {
            issued_at_ms: 0,
            ..kit.other(&claim)?
        };
        must_be_lost("a claim", "issued in 1970", one.try_claim(&old).await?)?;
        two.must_find_nothing(&claim, "after a claim that was HistoryLost")
            .await?;
        two.must_be_first(&claim, "after a claim that was HistoryLost")
            .await?;
        // It must not remove another claim's entry either.
        let lost = one.try_claim(&old).await?;
        if !matches!(lost, Ok(Claimed::Used(_))) {
            must_be_lost("a claim of a used id", "issued in 1970", lost)?;
        }
        let about = "after a claim of a used id that was HistoryLost";
        two.must_show(&claim, &kit.other(&claim)?, None, about)
            .await?;
    }
    Ok(())
}

pub(crate) async fn tokens_of_a_clock_ahead(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for ahead in [1, 1_000, 60_000].map(Duration::from_millis) {
        let mut first = kit.claim()?;
        first.issued_at_ms += u64::try_from(ahead.as_millis()).unwrap_or(0);
        let about = format!("a token that is issued {ahead:?} from now");
        one.must_be_first(&first, &about).await?;
        two.must_show(&first, &kit.other(&first)?, None, &about)
            .await?;
    }
    // No clock reaches these times. Whatever the store returns, no ID may be first twice.
    for issued_at_ms in [u64::MAX, u64::MAX / 2, 1 << 53] {
        let claim = Claim {
            issued_at_ms,
            ..kit.claim()?
        };
        let other = Claim {
            nonce: kit.draw()?,
            ..claim.clone()
        };
        let first = one.try_claim(&claim).await?;
        let second = two.try_claim(&other).await?;
        if matches!((first, second), (Ok(Claimed::First), Ok(Claimed::First))) {
            return Err(Stop::Failed(format!(
                "two claims for a token issued at {issued_at_ms} ms were first"
            )));
        }
    }
    Ok(())
}
