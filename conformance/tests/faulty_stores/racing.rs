//! Two steps where there must be one.
//!
//! Each lets others run in between: a busy machine does not run two threads at the same moment, and there a
//! window of some nanoseconds is found by chance only.

use std::thread;
use std::time::Duration;

use request_state_core::{Claim, Claimed, StoreError};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::base::{Base, RIGHT, Steps};
use super::fault::{Fault, step};

impl Base {
    fn holds(&self, id: &[u8; 32], nonce: &[u8; 16]) -> bool {
        let entries = self.database.entries.lock().unwrap();
        entries
            .get(&id[..])
            .is_some_and(|kept| kept.nonce == *nonce)
    }

    fn is_claimed(&self, id: &[u8; 32]) -> bool {
        self.database.entries.lock().unwrap().contains_key(&id[..])
    }

    fn overwrite(&self, claim: &Claim) {
        let mut entries = self.database.entries.lock().unwrap();
        let kept = self.kept(claim, &entries);
        entries.insert(claim.id.to_vec(), kept);
    }
}

/// Marks the id as under way, for as long as the mark lives.
struct UnderWay<'a>(&'a Base, Vec<u8>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.database.marks.lock().unwrap().remove(&self.1);
    }
}

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "checks, awaits, and then sets",
            "simultaneous::many_at_once",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        if base.is_claimed(&claim.id) {
                            return base.claim_now(claim);
                        }
                        yield_now().await;
                        base.overwrite(claim);
                        Ok(Claimed::First)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "checks and then sets, and lets another thread run in between",
            "threads::two_at_the_same_moment",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        if base.is_claimed(&claim.id) {
                            return base.claim_now(claim);
                        }
                        thread::yield_now();
                        base.overwrite(claim);
                        Ok(Claimed::First)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "is first where it does not get the lock in time",
            "simultaneous::many_at_once",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        let waiting = timeout(Duration::from_millis(5), base.database.busy.lock());
                        let Ok(_guard) = waiting.await else {
                            return Ok(Claimed::First);
                        };
                        sleep(Duration::from_millis(1)).await;
                        base.claim_now(claim)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "is first where another call holds the lock",
            "threads::many",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        let Ok(_guard) = base.database.busy.try_lock() else {
                            return Ok(Claimed::First);
                        };
                        thread::sleep(Duration::from_millis(1));
                        base.claim_now(claim)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "remembers per thread",
            "threads::many",
            Steps {
                key: |id| [format!("{:?}", thread::current().id()).as_bytes(), id].concat(),
                ..RIGHT
            },
        ),
        step(
            "treats a command as used that arrives while its copy is under way",
            "simultaneous::repeated_commands",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        let mark = [&claim.id[..], &claim.nonce].concat();
                        let is_new = base.database.marks.lock().unwrap().insert(mark.clone());
                        let _mark = is_new.then(|| UnderWay(base, mark));
                        yield_now().await;
                        let claimed = base.claim_now(claim)?;
                        match (is_new, base.find_now(&claim.id, claim.issued_at_ms)?) {
                            (false, Some(entry)) => Ok(Claimed::Used(entry)),
                            _ => Ok(claimed),
                        }
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "stays busy with an id whose claim was dropped",
            "simultaneous::dropped_half_way",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        let mark = claim.id.to_vec();
                        if !base.database.marks.lock().unwrap().insert(mark.clone()) {
                            return Err(StoreError::failed("busy"));
                        }
                        yield_now().await;
                        let claimed = base.claim_now(claim);
                        base.database.marks.lock().unwrap().remove(&mark);
                        claimed
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "lets others take over a claim that was dropped, and does not write down who",
            "simultaneous::dropped_half_way",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        let claimed = base.claim_now(claim)?;
                        let confirm =
                            || base.database.marks.lock().unwrap().insert(claim.id.into());
                        if claimed != Claimed::First && confirm() {
                            return Ok(Claimed::First);
                        }
                        yield_now().await;
                        confirm();
                        Ok(claimed)
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "checks the nonce, awaits, and then releases",
            "simultaneous::released_and_claimed",
            Steps {
                release: |base, id, nonce| {
                    Box::pin(async {
                        yield_now().await;
                        if !base.holds(id, nonce) {
                            return Ok(false);
                        }
                        yield_now().await;
                        Ok(base
                            .database
                            .entries
                            .lock()
                            .unwrap()
                            .remove(&id[..])
                            .is_some())
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "checks the nonce, awaits, and then records",
            "simultaneous::recorded_and_released",
            Steps {
                record: |base, id, nonce, answer| {
                    Box::pin(async {
                        yield_now().await;
                        if !base.holds(id, nonce) {
                            return Ok(false);
                        }
                        yield_now().await;
                        let mut entries = base.database.entries.lock().unwrap();
                        Ok(entries
                            .get_mut(&id[..])
                            .map(|kept| kept.answer = Some(answer.to_vec()))
                            .is_some())
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "reads an entry, awaits, and writes it back with the answer",
            "simultaneous::recorded_and_released",
            Steps {
                record: |base, id, nonce, answer| {
                    Box::pin(async {
                        yield_now().await;
                        let kept = base.database.entries.lock().unwrap().get(&id[..]).cloned();
                        let Some(mut kept) = kept.filter(|kept| kept.nonce == *nonce) else {
                            return Ok(false);
                        };
                        yield_now().await;
                        kept.answer = Some(answer.to_vec());
                        let mut entries = base.database.entries.lock().unwrap();
                        entries.insert(id.to_vec(), kept);
                        Ok(true)
                    })
                },
                ..RIGHT
            },
        ),
    ]
}
