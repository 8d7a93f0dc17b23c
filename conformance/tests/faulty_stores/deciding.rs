//! Who is first, and what the others are shown.

use std::time::{Duration, Instant};

use request_state_core::{Claimed, Entry};
use tokio::task::yield_now;

use super::base::{Base, Database, RIGHT, Steps, entry};
use super::fault::{Fault, connecting, step};

pub fn faults() -> Vec<Fault> {
    vec![
        connecting("remembers per connection", "claims::the_first_wins", |_| {
            Base::new(&Database::new(), RIGHT)
        }),
        step(
            "answers from what the connection has seen, for 20 claims",
            "claims::the_first_wins",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let claimed = base.claim_now(claim)?;
                        let mut local = base.local.lock().unwrap();
                        let is_new = local.insert(claim.id.to_vec(), None).is_none();
                        Ok(if is_new && local.len() == 20 {
                            Claimed::First
                        } else {
                            claimed
                        })
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "takes every claim of another presentation for another claim",
            "claims::the_first_wins",
            Steps {
                own: |kept, claim| {
                    kept.presentation != claim.presentation || kept.nonce == claim.nonce
                },
                ..RIGHT
            },
        ),
        step(
            "takes a repeated presentation for a repeated command",
            "claims::the_id_alone_counts",
            Steps {
                own: |kept, claim| kept.presentation == claim.presentation,
                ..RIGHT
            },
        ),
        step(
            "forgets an earlier claim for a token that was issued half a minute later",
            "claims::the_id_alone_counts",
            Steps {
                own: |kept, claim| {
                    kept.nonce == claim.nonce || claim.issued_at_ms >= kept.issued_at_ms + 30_000
                },
                ..RIGHT
            },
        ),
        step(
            "treats its own nonce as used",
            "claims::own_nonce",
            Steps {
                own: |_, _| false,
                ..RIGHT
            },
        ),
        step(
            "knows its own nonce until another tries",
            "claims::own_nonce",
            Steps {
                later: |kept, _| kept.nonce = [0; 16],
                ..RIGHT
            },
        ),
        step(
            "treats its own nonce as used once there is an answer",
            "claims::own_nonce",
            Steps {
                own: |kept, claim| kept.nonce == claim.nonce && kept.answer.is_none(),
                ..RIGHT
            },
        ),
        step(
            "compares the first eight bytes of a nonce",
            "claims::every_bit_of_the_nonce",
            Steps {
                own: |kept, claim| kept.nonce[..8] == claim.nonce[..8],
                ..RIGHT
            },
        ),
        step(
            "compares all but the last bit of a nonce",
            "claims::every_bit_of_the_nonce",
            Steps {
                own: |kept, claim| {
                    u128::from_be_bytes(kept.nonce) >> 1 == u128::from_be_bytes(claim.nonce) >> 1
                },
                ..RIGHT
            },
        ),
        step(
            "compares nonces up to a zero",
            "claims::every_bit_of_the_nonce",
            Steps {
                own: |kept, claim| {
                    let [a, b] = [kept.nonce, claim.nonce].map(|nonce| {
                        nonce
                            .into_iter()
                            .take_while(|byte| *byte != 0)
                            .collect::<Vec<_>>()
                    });
                    a == b
                },
                ..RIGHT
            },
        ),
        step(
            "compares nonces without regard to case",
            "claims::every_bit_of_the_nonce",
            Steps {
                own: |kept, claim| kept.nonce.eq_ignore_ascii_case(&claim.nonce),
                ..RIGHT
            },
        ),
        step(
            "compares nonces as text",
            "claims::every_bit_of_the_nonce",
            Steps {
                own: |kept, claim| {
                    String::from_utf8_lossy(&kept.nonce) == String::from_utf8_lossy(&claim.nonce)
                },
                ..RIGHT
            },
        ),
        step(
            "overwrites the presentation by the latest",
            "claims::the_first_presentation",
            Steps {
                later: |kept, claim| kept.presentation = claim.presentation,
                ..RIGHT
            },
        ),
        step(
            "shows a claim its own presentation",
            "claims::the_first_presentation",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        Ok(match base.claim_now(claim)? {
                            Claimed::Used(entry) => Claimed::Used(Entry {
                                presentation: claim.presentation,
                                ..entry
                            }),
                            first => first,
                        })
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "keeps a presentation up to its first space",
            "claims::the_first_presentation",
            Steps {
                entry: |kept| {
                    let mut shown = entry(kept);
                    let end = shown.presentation.iter().rposition(|byte| *byte != b' ');
                    shown.presentation[end.map_or(0, |end| end + 1)..].fill(0);
                    shown
                },
                ..RIGHT
            },
        ),
        aged("says that every claim was made right now", |_| {
            Duration::ZERO
        }),
        aged(
            "counts the age in seconds where it has milliseconds",
            |kept| kept.saturating_mul(1_000),
        ),
        aged(
            "counts the age in milliseconds where it has seconds",
            |kept| kept / 1_000,
        ),
        aged("says when the claim was made, since 1970", |kept| {
            Duration::from_secs(1_700_000_000) + kept
        }),
        step(
            "counts the age from the latest claim",
            "claims::the_age",
            Steps {
                later: |kept, _| kept.claimed = Instant::now(),
                ..RIGHT
            },
        ),
        step(
            "shows the time that is left as the age",
            "claims::the_age",
            Steps {
                entry: |kept| Entry {
                    age: kept.end.map_or(Duration::ZERO, |end| end - Instant::now()),
                    ..entry(kept)
                },
                ..RIGHT
            },
        ),
    ]
}

/// Shows another age than the one that is right.
fn aged(about: &'static str, age: fn(Duration) -> Duration) -> Fault {
    step(about, "claims::the_age", Steps { age, ..RIGHT })
}
