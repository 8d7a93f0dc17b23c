//! Lookups.

use std::time::Duration;

use crate::stop::Verdict;
use crate::stores::handle::must_be;
use crate::stores::kit::{Kit, must_last_for};

pub(crate) async fn nothing_there(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for _ in 0..20 {
        let claim = kit.claim()?;
        for handle in [&one, &one, &two] {
            handle
                .must_find_nothing(&claim, "an id that nobody has claimed")
                .await?;
        }
        two.must_be_first(&claim, "an id that was only looked up")
            .await?;
        one.must_find(&claim, "after the claim").await?;
    }
    Ok(())
}

pub(crate) async fn what_was_claimed(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let claims = kit.claims(50)?;
    for claim in &claims {
        one.must_be_first(claim, "an id that nobody has claimed")
            .await?;
    }
    for claim in &claims {
        for handle in [&two, &one] {
            let found = handle.must_find(claim, "one of 50 claims").await?;
            must_be(&found, claim, None, "find, for one of 50 claims")?;
        }
    }
    Ok(())
}

pub(crate) async fn changes_nothing(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let answer = b"the answer";
    let lifetime = Duration::from_millis(500);
    must_last_for(kit, &two, lifetime, Some(answer), async |first| {
        one.must_be_first(first, "an id that nobody has claimed")
            .await?;
        one.must_find(first, "after the claim").await?;
        one.must_record(first, answer, "after a look-up").await?;
        for handle in [&two, &one, &two] {
            let found = handle.must_find(first, "after other look-ups").await?;
            must_be(&found, first, Some(answer), "find, after other look-ups")?;
        }
        one.must_be_first(first, "the same nonce again, after look-ups")
            .await
    })
    .await?;
    let released = kit.claim()?;
    one.must_be_first(&released, "an id that nobody has claimed")
        .await?;
    two.must_find(&released, "after the claim").await?;
    one.must_release(&released, "after a look-up").await?;
    two.must_find_nothing(&released, "after the release").await
}
