//! Sequential claims: which one is first, and what the others return.

use std::time::{Duration, Instant};

use request_state_core::Claim;
use tokio::time::sleep;

use crate::stop::{Stop, Verdict, ensure};
use crate::stores::handle::Handle;
use crate::stores::kit::{Kit, bit_flips, must_be_aged};
use crate::stores::together::all;

/// The number of concurrent calls in cases with many calls.
const AT_ONCE: usize = 32;

pub(crate) async fn the_first_wins(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for round in 0..50 {
        let (here, there) = if round % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        let first = kit.claim()?;
        here.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        for _ in 0..2 {
            let about = "a second claim, on another handle";
            there.must_be_used(&kit.other(&first)?, about).await?;
            let about = "a second claim, on the same handle";
            here.must_be_used(&kit.other(&first)?, about).await?;
        }
    }
    Ok(())
}

pub(crate) async fn own_nonce(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for answer in [None, Some(&b"the answer"[..])] {
        let first = kit.claim()?;
        one.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        for handle in [&one, &two] {
            handle.must_be_first(&first, "the same nonce again").await?;
        }
        if let Some(answer) = answer {
            one.must_record(&first, answer, "right after the claim")
                .await?;
        }
        for handle in [&one, &two, &one] {
            let about = "another nonce, after the first was repeated";
            handle
                .must_show(&first, &kit.other(&first)?, answer, about)
                .await?;
            let about = "the same nonce again, after others tried";
            handle.must_be_first(&first, about).await?;
        }
    }
    Ok(())
}

pub(crate) async fn every_bit_of_the_nonce(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for nonce in kit.shapes::<16>()? {
        let first = Claim {
            nonce,
            ..kit.claim()?
        };
        one.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        let others: Vec<Claim> = bit_flips(nonce)
            .map(|nonce| Claim {
                nonce,
                ..first.clone()
            })
            .collect();
        for others in others.chunks(AT_ONCE) {
            let about = "a nonce that differs from the first in one bit";
            all(others.iter().map(|other| two.must_be_used(other, about))).await?;
        }
        one.must_be_first(&first, "the same nonce again").await?;
    }
    Ok(())
}

pub(crate) async fn every_bit_of_the_id(kit: &Kit<'_>) -> Verdict {
    for id in kit.shapes::<32>()? {
        let about = "an id that differs from a claimed one in one bit";
        must_be_independent(kit, id, bit_flips(id), about).await?;
    }
    Ok(())
}

pub(crate) async fn bytes_in_another_order(kit: &Kit<'_>) -> Verdict {
    let id = kit.draw::<32>()?;
    let mut others: Vec<[u8; 32]> = (1..32)
        .map(|by| {
            let mut rotated = id;
            rotated.rotate_left(by);
            rotated
        })
        .collect();
    let mut reversed = id;
    reversed.reverse();
    others.push(reversed);
    for (a, b) in (0..32).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let mut swapped = id;
        swapped.swap(a, b);
        others.push(swapped);
        // The same bit at two positions, which keeps the exclusive or of all bytes.
        let mut flipped = id;
        let places = flipped.iter_mut().enumerate();
        for (_, byte) in places.filter(|(at, _)| *at == a || *at == b) {
            *byte ^= 0x10;
        }
        others.push(flipped);
    }
    // Duplicates occur, for instance if two equal bytes are swapped.
    others.sort_unstable();
    others.dedup();
    others.retain(|other| *other != id);
    let about = "an id of the same bytes in another order, or that differs in two places";
    must_be_independent(kit, id, others, about).await
}

/// Fails unless the claim of each ID is first and finds its own entry afterwards.
async fn must_be_independent(
    kit: &Kit<'_>,
    id: [u8; 32],
    others: impl IntoIterator<Item = [u8; 32]>,
    about: &str,
) -> Verdict {
    let [one, two] = kit.pair().await?;
    let mut claims = Vec::new();
    for id in [id].into_iter().chain(others) {
        claims.push(Claim { id, ..kit.claim()? });
    }
    for claims in claims.chunks(AT_ONCE) {
        all(claims.iter().map(|claim| one.must_be_first(claim, about))).await?;
    }
    for claims in claims.chunks(AT_ONCE) {
        all(claims
            .iter()
            .map(|claim| must_find_its_own(&two, claim, about)))
        .await?;
    }
    Ok(())
}

async fn must_find_its_own(handle: &Handle<'_>, claim: &Claim, about: &str) -> Verdict {
    let found = handle.must_find(claim, about).await?;
    ensure(found.presentation == claim.presentation, || {
        format!("{about}: find returned the entry of another id")
    })
}

pub(crate) async fn the_id_alone_counts(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    for later_ms in [0, 1, 1_000, 60_000] {
        for keep_for in [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(9_000),
        ] {
            let first = kit.claim()?;
            let branch = Claim {
                issued_at_ms: first.issued_at_ms + later_ms,
                keep_for,
                ..kit.other(&first)?
            };
            one.must_be_first(&first, "an id that nobody has claimed")
                .await?;
            let about = "another token of the same round, issued later and kept for another time";
            two.must_show(&first, &branch, None, about).await?;
            // The same presentation by another request.
            let repeated = Claim {
                nonce: branch.nonce,
                ..first.clone()
            };
            let about = "the same token again, with a nonce of its own";
            two.must_show(&first, &repeated, None, about).await?;
        }
    }
    Ok(())
}

pub(crate) async fn the_first_presentation(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let shapes = kit.shapes::<32>()?;
    for presentation in shapes.into_iter().chain([[0; 32], [0xff; 32], [b' '; 32]]) {
        let first = Claim {
            presentation,
            ..kit.claim()?
        };
        one.must_be_first(&first, "an id that nobody has claimed")
            .await?;
        for handle in [&one, &two, &one] {
            let about = "after others tried";
            handle
                .must_show(&first, &kit.other(&first)?, None, about)
                .await?;
        }
        one.must_be_first(&first, "the same nonce again").await?;
        let about = "after the first claim was repeated";
        two.must_show(&first, &kit.other(&first)?, None, about)
            .await?;
    }
    Ok(())
}

pub(crate) async fn the_age(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let (first, recorded) = (kit.claim()?, kit.claim()?);
    let before = Instant::now();
    for claim in [&first, &recorded] {
        one.must_be_first(claim, "an id that nobody has claimed")
            .await?;
    }
    let after = Instant::now();
    for wait in [Duration::ZERO, Duration::from_millis(1_300)] {
        sleep(wait).await;
        // Calls by others in the meantime must not affect the age.
        two.must_record(&recorded, b"answer", "some time after the claim")
            .await?;
        for claim in [&first, &recorded] {
            two.must_be_used(&kit.other(claim)?, "some time after the claim")
                .await?;
            one.must_be_first(claim, "the same nonce again").await?;
        }
        for claim in [&first, &recorded] {
            let at_least = after.elapsed();
            let found = one.must_find(claim, "some time after the claim").await?;
            let used = one
                .must_be_used(&kit.other(claim)?, "some time after the claim")
                .await?;
            let at_most = before.elapsed();
            must_be_aged(found.age, at_least, at_most, "find")?;
            must_be_aged(used.age, at_least, at_most, "a later claim")?;
        }
    }
    Ok::<(), Stop>(())
}
