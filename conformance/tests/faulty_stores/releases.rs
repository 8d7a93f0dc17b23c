//! Claims that anybody gives back, or that leave something behind.

use tokio::task::yield_now;

use super::base::{Entries, Kept, RIGHT, Steps};
use super::fault::{Fault, step};

const HOLDER: &str = "release::only_the_holder";
const CLAIMED: &str = "release::only_what_is_claimed";
const ANSWERED: &str = "release::nothing_with_an_answer";
const AGAIN: &str = "release::makes_a_new_claim_possible";

/// A store that releases in its own way, in one step.
macro_rules! releasing {
    ($about:literal, $found_by:expr, |$base:ident, $id:ident, $nonce:ident| $release:block) => {
        step(
            $about,
            $found_by,
            Steps {
                release: |$base, $id, $nonce| {
                    Box::pin(async {
                        yield_now().await;
                        Ok($release)
                    })
                },
                ..RIGHT
            },
        )
    };
}

pub fn faults() -> Vec<Fault> {
    vec![
        holding("lets anybody release", HOLDER, |_, _| true),
        holding(
            "compares the last byte of the nonce that releases",
            HOLDER,
            |kept, nonce| kept.nonce[15] == nonce[15] && kept.answer.is_none(),
        ),
        holding(
            "lets those release what has an answer who did not claim it",
            HOLDER,
            |kept, nonce| kept.answer.is_some() != (kept.nonce == *nonce),
        ),
        holding(
            "lets anybody release what has no answer",
            HOLDER,
            |kept, _| kept.answer.is_none(),
        ),
        holding("releases what has an answer", ANSWERED, |kept, nonce| {
            kept.nonce == *nonce
        }),
        holding(
            "releases what has an empty answer",
            ANSWERED,
            |kept, nonce| kept.nonce == *nonce && kept.answer.as_ref().is_none_or(Vec::is_empty),
        ),
        removing("says that it releases, and does not", AGAIN, |_, _| {}),
        removing(
            "leaves an entry that nobody holds",
            AGAIN,
            |entries, key| {
                entries.get_mut(key).unwrap().nonce = [0; 16];
            },
        ),
        removing("releases all claims", CLAIMED, |entries, _| entries.clear()),
        removing("releases the latest claim", CLAIMED, |entries, _| {
            let latest = entries.iter().max_by_key(|(_, kept)| kept.number);
            let key = latest.unwrap().0.clone();
            entries.remove(&key);
        }),
        step(
            "ends the next claim with the one that was released",
            "release::the_next_lifetime_is_whole",
            Steps {
                remove: |entries, key| {
                    let kept = entries.remove(key).unwrap();
                    entries.insert([key, b"released"].concat(), kept);
                },
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let claimed = base.claim_now(claim)?;
                        let mut entries = base.database.entries.lock().unwrap();
                        let left = entries.remove(&[&claim.id[..], b"released"].concat());
                        if let (Some(left), Some(kept)) = (left, entries.get_mut(&claim.id[..])) {
                            kept.end = kept.end.min(left.end);
                        }
                        Ok(claimed)
                    })
                },
                ..RIGHT
            },
        ),
        releasing!(
            "says true where there is no claim",
            CLAIMED,
            |base, id, nonce| {
                let is_claimed = base.database.entries.lock().unwrap().contains_key(&id[..]);
                base.release_now(id, nonce) || !is_claimed
            }
        ),
        releasing!("says false whatever it does", AGAIN, |base, id, nonce| {
            base.release_now(id, nonce);
            false
        }),
        step(
            "keeps a release for a claim that comes later",
            CLAIMED,
            Steps {
                release: |base, id, nonce| {
                    Box::pin(async {
                        yield_now().await;
                        let released = base.release_now(id, nonce);
                        if !released {
                            base.database.marks.lock().unwrap().insert(nonce.to_vec());
                        }
                        Ok(released)
                    })
                },
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let claimed = base.claim_now(claim)?;
                        if base.database.marks.lock().unwrap().remove(&claim.nonce[..]) {
                            base.release_now(&claim.id, &claim.nonce);
                        }
                        Ok(claimed)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "lets whoever ever held a claim record into the next",
            "release::a_released_nonce_holds_nothing",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let claimed = base.claim_now(claim)?;
                        if claimed == request_state_core::Claimed::First {
                            let held = [&claim.id[..], &claim.nonce].concat();
                            base.database.marks.lock().unwrap().insert(held);
                        }
                        Ok(claimed)
                    })
                },
                record: |base, id, nonce, answer| {
                    Box::pin(async {
                        yield_now().await;
                        let mut entries = base.database.entries.lock().unwrap();
                        let held = [&id[..], nonce].concat();
                        match entries.get_mut(&id[..]) {
                            Some(kept) if base.database.marks.lock().unwrap().contains(&held) => {
                                kept.answer = Some(answer.to_vec());
                                Ok(true)
                            }
                            _ => Ok(false),
                        }
                    })
                },
                ..RIGHT
            },
        ),
    ]
}

fn holding(
    about: &'static str,
    found_by: &'static str,
    may_release: fn(&Kept, &[u8; 16]) -> bool,
) -> Fault {
    step(
        about,
        found_by,
        Steps {
            may_release,
            ..RIGHT
        },
    )
}

fn removing(about: &'static str, found_by: &'static str, remove: fn(&mut Entries, &[u8])) -> Fault {
    step(about, found_by, Steps { remove, ..RIGHT })
}
