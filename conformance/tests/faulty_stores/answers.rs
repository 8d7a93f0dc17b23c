//! Answers that are lost, changed, given to another, or recorded by anybody.

use std::time::{Duration, Instant};

use request_state_core::Entry;
use tokio::task::yield_now;

use super::base::{Kept, RIGHT, Steps, entry};
use super::fault::{Fault, step};

const BYTES: &str = "record::byte_for_byte";
const LENGTHS: &str = "record::every_length";
const EACH: &str = "record::of_each_id";
const HOLDER: &str = "record::only_the_holder";
const FIND: &str = "find::changes_nothing";

/// A store that records in its own way, in one step.
macro_rules! recording {
    ($about:literal, $found_by:expr, |$base:ident, $id:ident, $nonce:ident, $answer:ident| $record:block $(,)?) => {
        step(
            $about,
            $found_by,
            Steps {
                record: |$base, $id, $nonce, $answer| {
                    Box::pin(async {
                        yield_now().await;
                        Ok($record)
                    })
                },
                ..RIGHT
            },
        )
    };
}

pub fn faults() -> Vec<Fault> {
    [kept(), recorded(), looked_up()].concat()
}

fn kept() -> Vec<Fault> {
    vec![
        putting("cuts an answer at a zero", BYTES, |kept, answer| {
            put(kept, answer.split(|byte| *byte == 0).next().unwrap());
        }),
        putting("keeps an answer as text", BYTES, |kept, answer| {
            put(kept, String::from_utf8_lossy(answer).as_bytes());
        }),
        putting("trims an answer", BYTES, |kept, answer| {
            put(kept, answer.trim_ascii())
        }),
        putting("takes an empty answer for none", BYTES, |kept, answer| {
            kept.answer = (!answer.is_empty()).then(|| answer.to_vec());
        }),
        putting(
            "turns line ends into those of another system",
            BYTES,
            |kept, answer| {
                put(
                    kept,
                    &answer
                        .iter()
                        .copied()
                        .filter(|byte| *byte != b'\r')
                        .collect::<Vec<_>>(),
                );
            },
        ),
        putting("cuts an answer at 255 bytes", LENGTHS, |kept, answer| {
            put(kept, &answer[..answer.len().min(255)]);
        }),
        putting("cuts an answer at 65,535 bytes", LENGTHS, |kept, answer| {
            put(kept, &answer[..answer.len().min(65_535)]);
        }),
        putting(
            "keeps the length of an answer in 16 bits",
            LENGTHS,
            |kept, answer| {
                put(kept, &answer[..usize::from(answer.len() as u16)]);
            },
        ),
        putting(
            "loses the last byte of an answer that fills a page",
            LENGTHS,
            |kept, answer| {
                let is_page = answer.len() == 4_096;
                put(kept, &answer[..answer.len() - usize::from(is_page)]);
            },
        ),
        putting("loses every answer", "record::byte_for_byte", |_, _| {}),
        putting(
            "keeps the first answer",
            "record::again_replaces",
            |kept, answer| {
                kept.answer.get_or_insert_with(|| answer.to_vec());
            },
        ),
        putting(
            "writes an answer over the earlier one",
            "record::again_replaces",
            |kept, answer| {
                let mut whole = answer.to_vec();
                let rest = kept.answer.iter().flatten().skip(answer.len());
                whole.extend(rest);
                kept.answer = Some(whole);
            },
        ),
        putting(
            "appends an answer to the earlier one",
            "record::again_replaces",
            |kept, answer| {
                kept.answer.get_or_insert_default().extend(answer);
            },
        ),
        putting(
            "counts the age from the answer",
            "record::leaves_the_claim",
            |kept, answer| {
                kept.claimed = Instant::now();
                put(kept, answer);
            },
        ),
        putting(
            "forgets the nonce with the answer",
            "record::leaves_the_claim",
            |kept, answer| {
                kept.nonce = [0; 16];
                put(kept, answer);
            },
        ),
        putting(
            "forgets the presentation with the answer",
            "record::leaves_the_claim",
            |kept, answer| {
                kept.presentation = [0; 32];
                put(kept, answer);
            },
        ),
        putting(
            "ends an entry soon after its answer",
            "record::leaves_the_lifetime",
            |kept, answer| {
                kept.end = kept
                    .end
                    .min(Some(Instant::now() + Duration::from_millis(900)));
                put(kept, answer);
            },
        ),
        putting(
            "never ends an entry that has an answer",
            "record::leaves_the_lifetime",
            |kept, answer| {
                kept.end = None;
                put(kept, answer);
            },
        ),
        step(
            "loses an answer before its claim",
            "record::leaves_the_lifetime",
            Steps {
                entry: |kept| Entry {
                    answer: kept
                        .answer
                        .clone()
                        .filter(|_| kept.claimed.elapsed().as_millis() < 950),
                    ..entry(kept)
                },
                ..RIGHT
            },
        ),
        recording!(
            "drops the answers of all but the last 100 claims",
            EACH,
            |base, id, nonce, answer| {
                let is_recorded = base.record_now(id, nonce, answer);
                let mut entries = base.database.entries.lock().unwrap();
                let mut answered: Vec<&mut Kept> = entries
                    .values_mut()
                    .filter(|kept| kept.answer.is_some())
                    .collect();
                answered.sort_unstable_by_key(|kept| kept.number);
                if answered.len() > 100 {
                    answered[0].answer = None;
                }
                is_recorded
            }
        ),
        recording!(
            "keeps one answer for each presentation",
            EACH,
            |base, id, nonce, answer| {
                let is_recorded = base.record_now(id, nonce, answer);
                let mut entries = base.database.entries.lock().unwrap();
                let presentation = entries[&id[..]].presentation;
                let alike = entries
                    .values_mut()
                    .filter(|kept| kept.presentation == presentation);
                alike.for_each(|kept| kept.answer = Some(answer.to_vec()));
                is_recorded
            }
        ),
        recording!(
            "keeps one answer for all ids with the same 31 bytes",
            EACH,
            |base, id, nonce, answer| {
                let is_recorded = base.record_now(id, nonce, answer);
                let mut entries = base.database.entries.lock().unwrap();
                let alike = entries.iter_mut().filter(|(key, _)| key[..31] == id[..31]);
                alike.for_each(|(_, kept)| kept.answer = Some(answer.to_vec()));
                is_recorded
            }
        ),
        recording!(
            "gives the last answer to the next claim",
            EACH,
            |base, id, nonce, answer| {
                let is_recorded = base.record_now(id, nonce, answer);
                let mut entries = base.database.entries.lock().unwrap();
                let number = entries[&id[..]].number;
                let next = entries.values_mut().find(|kept| kept.number == number + 1);
                if let Some(next) = next {
                    next.answer.get_or_insert_with(|| answer.to_vec());
                }
                is_recorded
            }
        ),
    ]
}

fn recorded() -> Vec<Fault> {
    vec![
        holding("lets anybody record", |_, _| true),
        holding(
            "compares eight bytes of the nonce that records",
            |kept, nonce| kept.nonce[8..] == nonce[8..],
        ),
        holding(
            "lets anybody record until there is an answer",
            |kept, nonce| kept.answer.is_none() || kept.nonce == *nonce,
        ),
        holding("lets anybody replace an answer", |kept, nonce| {
            kept.answer.is_some() || kept.nonce == *nonce
        }),
        holding("lets a nonce of zeros record", |kept, nonce| {
            *nonce == [0; 16] || kept.nonce == *nonce
        }),
        recording!(
            "says true to whoever records, and keeps nothing",
            HOLDER,
            |base, id, nonce, answer| {
                base.record_now(id, nonce, answer);
                true
            },
        ),
        recording!(
            "says true where there is no claim",
            "record::only_what_is_claimed",
            |base, id, nonce, answer| {
                let is_claimed = base.database.entries.lock().unwrap().contains_key(&id[..]);
                base.record_now(id, nonce, answer) || !is_claimed
            },
        ),
        recording!(
            "makes an entry for an answer without a claim",
            "record::only_what_is_claimed",
            |base, id, nonce, answer| {
                let mut entries = base.database.entries.lock().unwrap();
                let number = entries.len() as u64;
                entries.entry(id.to_vec()).or_insert_with(|| Kept {
                    nonce: *nonce,
                    presentation: *id,
                    issued_at_ms: 0,
                    claimed: Instant::now(),
                    end: None,
                    number,
                    answer: Some(answer.to_vec()),
                });
                drop(entries);
                base.record_now(id, nonce, answer)
            },
        ),
    ]
}

fn looked_up() -> Vec<Fault> {
    vec![
        step(
            "claims what it looks for",
            "find::nothing_there",
            Steps {
                find: |base, id, issued_at_ms| {
                    Box::pin(async move {
                        yield_now().await;
                        let found = base.find_now(id, issued_at_ms)?;
                        if found.is_none() {
                            base.claim_now(&request_state_core::Claim {
                                id: *id,
                                nonce: [0; 16],
                                presentation: [0; 32],
                                issued_at_ms,
                                keep_for: Duration::from_secs(60),
                            })?;
                        }
                        Ok(found)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "remembers on each connection what was not there",
            "find::nothing_there",
            Steps {
                find: |base, id, issued_at_ms| {
                    Box::pin(async move {
                        yield_now().await;
                        let found = base.find_now(id, issued_at_ms)?;
                        let mut local = base.local.lock().unwrap();
                        Ok(local.entry(id.to_vec()).or_insert(found).clone())
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "finds what has an answer",
            "find::what_was_claimed",
            Steps {
                find: |base, id, issued_at_ms| {
                    Box::pin(async move {
                        yield_now().await;
                        let found = base.find_now(id, issued_at_ms)?;
                        Ok(found.filter(|entry| entry.answer.is_some()))
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "finds the latest entry, whatever the id",
            "find::what_was_claimed",
            Steps {
                find: |base, id, issued_at_ms| {
                    Box::pin(async move {
                        yield_now().await;
                        let found = base.find_now(id, issued_at_ms)?;
                        let entries = base.database.entries.lock().unwrap();
                        let latest = entries.values().max_by_key(|kept| kept.number);
                        Ok(found.and(latest.map(entry)))
                    })
                },
                ..RIGHT
            },
        ),
        finding("gives an answer once", |kept| kept.answer = None),
        finding("forgets an entry soon after it was found", |kept| {
            kept.end = kept
                .end
                .min(Some(kept.claimed + Duration::from_millis(300)));
        }),
        finding("forgets the nonce of what was found", |kept| {
            kept.nonce = [0; 16]
        }),
    ]
}

fn put(kept: &mut Kept, answer: &[u8]) {
    kept.answer = Some(answer.to_vec());
}

fn putting(about: &'static str, found_by: &'static str, put: fn(&mut Kept, &[u8])) -> Fault {
    step(about, found_by, Steps { put, ..RIGHT })
}

fn holding(about: &'static str, may_record: fn(&Kept, &[u8; 16]) -> bool) -> Fault {
    step(
        about,
        HOLDER,
        Steps {
            may_record,
            ..RIGHT
        },
    )
}

fn finding(about: &'static str, found: fn(&mut Kept)) -> Fault {
    step(about, FIND, Steps { found, ..RIGHT })
}
