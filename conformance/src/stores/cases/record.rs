//! Recorded answers.

use std::time::{Duration, Instant};

use request_state_core::Claim;
use tokio::time::sleep;

use crate::stop::{Verdict, ensure};
use crate::stores::handle::Handle;
use crate::stores::kit::{Kit, bit_flips, must_be_aged, must_last_for};
use crate::stores::together::all;

/// The maximum length of an answer that a boundary records.
const LONGEST: usize = 64 * 1024;

/// Claims an ID, records the answer, and fails unless each handle returns it twice.
async fn must_come_back(kit: &Kit<'_>, handles: [&Handle<'_>; 2], answer: &[u8]) -> Verdict {
    let [one, two] = handles;
    let first = kit.claim()?;
    one.must_be_first(&first, "an id that nobody has claimed")
        .await?;
    let about = format!("an answer of {} bytes", answer.len());
    one.must_record(&first, answer, &about).await?;
    for handle in [two, one, two] {
        handle
            .must_show(&first, &kit.other(&first)?, Some(answer), &about)
            .await?;
    }
    Ok(())
}

pub(crate) async fn byte_for_byte(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let all_bytes: Vec<u8> = (0..=255).collect();
    let mut answers: Vec<Vec<u8>> = [
        &b""[..],
        &all_bytes,
        b"null",
        b"\"\"",
        b"{\"a\": 1, \"a\": 1.0}",
        b" between spaces ",
        b"\r\nlines\n\r",
        b"\\x00 \\000 \\\\ %00 &amp; '' \"\" $1 ?",
        "\u{feff}A\u{30a} \u{c5} \u{212b}".as_bytes(),
        b"\xff\xfe\xc3(\xed\xa0\x80",
        b"\0",
        b"before\0behind",
        b"OK",
        b"-1",
        b"1",
    ]
    .map(<[u8]>::to_vec)
    .into();
    for byte in all_bytes {
        answers.push(vec![byte]);
        answers.push([byte, b'x', byte].into());
    }
    for answers in answers.chunks(16) {
        all(answers
            .iter()
            .map(|answer| must_come_back(kit, [&one, &two], answer)))
        .await?;
    }
    Ok(())
}

pub(crate) async fn every_length(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let powers = (3..=16).map(|power| 1usize << power);
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    let round = [
        1_000, 4_000, 5_000, 8_000, 10_000, 16_000, 32_000, 50_000, 60_000,
    ];
    for length in around.chain(round).filter(|length| *length <= LONGEST) {
        // No two stretches are the same, so none can be omitted or swapped unnoticed.
        let mut answer = Vec::new();
        while answer.len() < length {
            answer.extend(kit.draw::<64>()?);
        }
        answer.truncate(length);
        must_come_back(kit, [&one, &two], &answer).await?;
    }
    // Data that compresses well is returned unchanged, too.
    must_come_back(kit, [&one, &two], &[0; LONGEST]).await
}

pub(crate) async fn of_each_id(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let base = kit.draw::<32>()?;
    let presentation = kit.draw()?;
    let mut claims = Vec::new();
    for id in [base].into_iter().chain(bit_flips(base)) {
        // The same presentation, so that only the ID distinguishes them.
        claims.push(Claim {
            id,
            presentation,
            ..kit.claim()?
        });
    }
    claims.extend(kit.claims(256)?);
    let answer_of = |claim: &Claim| [&b"the answer of "[..], &claim.id].concat();
    for claims in claims.chunks(32) {
        let about = "an id that nobody has claimed";
        all(claims.iter().map(|claim| one.must_be_first(claim, about))).await?;
    }
    let (answered, unanswered): (Vec<_>, Vec<_>) = claims
        .into_iter()
        .enumerate()
        .partition(|(at, _)| at % 5 != 0);
    for claims in answered.chunks(32) {
        all(claims.iter().map(async |(_, claim)| {
            let about = "one of hundreds of claims";
            two.must_record(claim, &answer_of(claim), about).await
        }))
        .await?;
    }
    for (claims, is_answered) in [(&answered, true), (&unanswered, false)] {
        for (_, claim) in claims {
            let answer = is_answered.then(|| answer_of(claim));
            let about = "one of hundreds of claims";
            one.must_show(claim, &kit.other(claim)?, answer.as_deref(), about)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn again_replaces(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let first = kit.claim()?;
    one.must_be_first(&first, "an id that nobody has claimed")
        .await?;
    let answers = [
        "first",
        "second",
        "a third that is longer",
        "4th",
        "4th",
        "",
        "last",
    ];
    for (answer, handle) in answers
        .map(str::as_bytes)
        .into_iter()
        .zip([&one, &two].into_iter().cycle())
    {
        handle
            .must_record(&first, answer, "after earlier answers")
            .await?;
        for handle in [&one, &two] {
            let about = "after an answer was replaced";
            handle
                .must_show(&first, &kit.other(&first)?, Some(answer), about)
                .await?;
        }
    }
    Ok(())
}

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
                two.must_record(&first, answer, "after others tried")
                    .await?;
            }
            for handle in [&one, &two] {
                handle
                    .must_not_record(&loser, "the nonce of a claim that was not first")
                    .await?;
            }
            let others = bit_flips(nonce).chain([[0; 16], [0xff; 16]]);
            for nonce in others {
                let other = Claim {
                    nonce,
                    ..first.clone()
                };
                two.must_not_record(&other, "a nonce that differs from the first")
                    .await?;
            }
            let about = "after others tried to record";
            one.must_show(&first, &kit.other(&first)?, answer, about)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn only_what_is_claimed(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let unclaimed = kit.claim()?;
    let released = kit.claim()?;
    two.must_be_first(&released, "an id that nobody has claimed")
        .await?;
    two.must_release(&released, "right after the claim").await?;
    for (claim, about) in [
        (&unclaimed, "an id that nobody has claimed"),
        (&released, "a claim that was released"),
    ] {
        one.must_not_record(claim, about).await?;
        two.must_find_nothing(claim, format!("record was called for {about}"))
            .await?;
        let next = kit.other(claim)?;
        two.must_be_first(&next, format!("record was called for {about}"))
            .await?;
        one.must_show(&next, &kit.other(claim)?, None, about)
            .await?;
    }
    Ok(())
}

pub(crate) async fn leaves_the_claim(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let (first, later) = (kit.claim()?, kit.claim()?);
    let before = Instant::now();
    one.must_be_first(&first, "an id that nobody has claimed")
        .await?;
    let after = Instant::now();
    sleep(Duration::from_millis(1_300)).await;
    // The latest claim and the latest answer belong to other entries.
    two.must_be_first(&later, "an id that nobody has claimed")
        .await?;
    two.must_be_used(&kit.other(&first)?, "a second claim")
        .await?;
    one.must_record(&first, b"answer", "some time after the claim")
        .await?;
    let at_least = after.elapsed();
    let found = two.must_find(&first, "after an answer").await?;
    must_be_aged(
        found.age,
        at_least,
        before.elapsed(),
        "find, after an answer",
    )?;
    let about = "after an answer";
    two.must_show(&first, &kit.other(&first)?, Some(b"answer"), about)
        .await?;
    two.must_be_first(&first, "the same nonce again, after an answer")
        .await?;
    two.must_show(
        &later,
        &kit.other(&later)?,
        None,
        "another claim than the answered one",
    )
    .await
}

pub(crate) async fn leaves_the_lifetime(kit: &Kit<'_>) -> Verdict {
    let [one, two] = kit.pair().await?;
    let (one, two) = (&one, &two);
    let answer = Some(&b"answer"[..]);
    let lifetimes = [300, 1_100].map(|lifetime_ms| {
        let lifetime = Duration::from_millis(lifetime_ms);
        must_last_for(kit, two, lifetime, answer, async |first| {
            one.must_be_first(first, "an id that nobody has claimed")
                .await?;
            two.must_record(first, b"an earlier answer", "right after the claim")
                .await?;
            one.must_record(first, b"answer", "right after the claim")
                .await
        })
    });
    all(lifetimes).await?;
    must_end_with_its_claim(kit, one).await
}

/// Fails if an entry without an answer expires while one with an answer and the same lifetime
/// stays.
async fn must_end_with_its_claim(kit: &Kit<'_>, handle: &Handle<'_>) -> Verdict {
    /// The time limit for a store that never removes a claim, or removes it much later.
    const PATIENCE: Duration = Duration::from_millis(600);
    /// The time limit for a store that removes a few entries at a time.
    const GRACE: Duration = Duration::from_secs(3);
    let keep_for = Duration::from_millis(200);
    let [plain, answered] = [kit.claim()?, kit.claim()?].map(|claim| Claim { keep_for, ..claim });
    for claim in [&answered, &plain] {
        handle
            .must_be_first(claim, "an id that nobody has claimed")
            .await?;
    }
    handle.record(&answered, b"answer").await?;
    let started = Instant::now();
    while handle.find(&plain).await?.is_some() {
        if started.elapsed() > keep_for + PATIENCE {
            return Ok(());
        }
        sleep(Duration::from_millis(5)).await;
    }
    let ended = Instant::now();
    while handle.find(&answered).await?.is_some() {
        ensure(ended.elapsed() < GRACE, || {
            format!(
                "a claim to be kept for {keep_for:?} ended, but a claim with the same lifetime and an answer did not"
            )
        })?;
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
