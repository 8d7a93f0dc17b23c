//! Released claims.

use std::time::Duration;

use request_state_core::Claim;

use crate::stop::Verdict;
use crate::stores::kit::{Kit, bit_flips, must_last_for};

pub(crate) async fn only_the_holder(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for nonce in kit.shapes::<16>()? {
        let first = Claim {
            nonce,
            ..kit.claim()?
        };
        let loser = kit.other(&first)?;
        one.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        two.must_be_used(&loser, "a second claim").await?;
        for answer in [None, Some(&b"of the holder"[..])] {
            if let Some(answer) = answer {
                one.must_record(&first, answer, "after others tried to release")
                    .await?;
            }
            for handle in [&one, &two] {
                handle
                    .must_not_release(&loser, "the nonce of a claim that was not first")
                    .await?;
            }
            for nonce in bit_flips(nonce).chain([[0; 16], [0xff; 16]]) {
                let other = Claim {
                    nonce,
                    ..first.clone()
                };
                two.must_not_release(&other, "a nonce that differs from the first")
                    .await?;
            }
            let about = "after others tried to release";
            one.must_show(&first, &kit.other(&first)?, answer, about)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn nothing_with_an_answer(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let first = kit.claim()?;
    let loser = kit.other(&first)?;
    one.must_be_first(&first, "an id that nobody has claimed")
        .await?;
    for answer in [&b""[..], b"one answer", b"another answer"] {
        two.must_record(&first, answer, "by the holder").await?;
        for handle in [&one, &two] {
            let about = "a claim with an answer";
            handle.must_not_release(&first, about).await?;
            handle
                .must_show(&first, &loser, Some(answer), about)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn only_what_is_claimed(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let (before, claim, after) = (kit.claim()?, kit.claim()?, kit.claim()?);
    one.must_be_first(&before, "an id that nobody has claimed")
        .await?;
    two.must_not_release(&claim, "an id that nobody has claimed")
        .await?;
    // A release before the claim must not release it in advance.
    let about = "release was called before the claim";
    one.must_be_first(&claim, about).await?;
    one.must_show(&claim, &kit.other(&claim)?, None, about)
        .await?;
    two.must_be_first(&after, "an id that nobody has claimed")
        .await?;
    two.must_release(&claim, "after other claims").await?;
    for handle in [&one, &two] {
        handle
            .must_not_release(&claim, "a claim that was released already")
            .await?;
        for neighbor in [&before, &after] {
            let about = "after another claim was released";
            let other = kit.other(neighbor)?;
            handle.must_show(neighbor, &other, None, about).await?;
        }
    }
    Ok(())
}

pub(crate) async fn makes_a_new_claim_possible(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let mut holder = kit.claim()?;
    one.must_be_first(&holder, "an id that nobody has claimed")
        .await?;
    for round in 0..12 {
        two.must_release(&holder, "by the holder").await?;
        for handle in [&one, &two] {
            handle
                .must_find_nothing(&holder, "after the release")
                .await?;
        }
        // The same nonce may return too.
        let next = if round % 4 == 3 {
            holder.clone()
        } else {
            kit.other(&holder)?
        };
        let (here, there) = if round % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        here.must_be_first(&next, "after the release").await?;
        let about = "a claim after another was released";
        there
            .must_show(&next, &kit.other(&next)?, None, about)
            .await?;
        holder = next;
    }
    Ok(())
}

pub(crate) async fn a_released_nonce_holds_nothing(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for answer in [None, Some(&b"of the next"[..])] {
        let released = kit.claim()?;
        let next = kit.other(&released)?;
        one.must_be_first(&released, "an id that nobody has claimed")
            .await?;
        one.must_release(&released, "right after the claim").await?;
        two.must_be_first(&next, "after the release").await?;
        if let Some(answer) = answer {
            two.must_record(&next, answer, "right after the claim")
                .await?;
        }
        for handle in [&one, &two] {
            let about = "a nonce whose claim was released, and made by another";
            handle.must_not_record(&released, about).await?;
            handle.must_not_release(&released, about).await?;
            let about = "a claim after another was released";
            handle.must_show(&next, &released, answer, about).await?;
        }
    }
    Ok(())
}

pub(crate) async fn the_next_lifetime_is_whole(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let lifetime = Duration::from_millis(800);
    must_last_for(kit, &two, lifetime, None, async |first| {
        // Other claims of the ID, which would have expired earlier.
        for keep_for_ms in [100, 200, 400] {
            let earlier = Claim {
                keep_for: Duration::from_millis(keep_for_ms),
                ..kit.other(first)?
            };
            one.must_be_first(&earlier, "after the release").await?;
            one.must_release(&earlier, "right after the claim").await?;
        }
        two.must_be_first(first, "after the release").await
    })
    .await
}
