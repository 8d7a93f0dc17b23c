//! Entries that end early, or make room for others.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use request_state_core::{Claimed, StoreError};
use tokio::task::yield_now;

use super::base::{Base, Database, Entries, RIGHT, Steps};
use super::fault::{Fault, step, with};
use request_state_conformance::StoreSuite;

const WHOLE: &str = "keeping::for_the_whole_lifetime";
const LONG: &str = "keeping::very_long_lifetimes";
const MANY: &str = "keeping::thousands_of_entries";

pub fn faults() -> Vec<Fault> {
    vec![
        lasting(
            "forgets after a second, whatever it was asked",
            WHOLE,
            |lifetime| lifetime.min(Duration::from_secs(1)),
        ),
        lasting(
            "rounds lifetimes down to whole seconds",
            WHOLE,
            |lifetime| Duration::from_secs(lifetime.as_secs()),
        ),
        lasting(
            "rounds lifetimes to the nearest second",
            WHOLE,
            |lifetime| Duration::from_secs(lifetime.as_secs_f64().round() as u64),
        ),
        lasting(
            "forgets in the last tenth of a lifetime",
            WHOLE,
            |lifetime| lifetime * 9 / 10,
        ),
        lasting("forgets fifty milliseconds early", WHOLE, |lifetime| {
            lifetime.saturating_sub(Duration::from_millis(50))
        }),
        lasting(
            "counts a lifetime in milliseconds of 32 bits",
            LONG,
            |lifetime| Duration::from_millis(u64::from(lifetime.as_millis() as u32)),
        ),
        lasting(
            "counts a lifetime in signed milliseconds of 32 bits",
            LONG,
            |lifetime| {
                Duration::from_millis(u64::try_from(lifetime.as_millis() as i32).unwrap_or(0))
            },
        ),
        lasting(
            "counts a lifetime in signed seconds of 32 bits",
            LONG,
            |lifetime| match u64::try_from(lifetime.as_secs() as i32) {
                Ok(seconds) => lifetime.min(Duration::from_secs(seconds + 1)),
                _ => Duration::ZERO,
            },
        ),
        lasting(
            "counts a lifetime in nanoseconds of 64 bits",
            LONG,
            |lifetime| Duration::from_nanos(lifetime.as_nanos() as u64),
        ),
        lasting(
            "takes a lifetime beyond the calendar for none",
            LONG,
            |lifetime| {
                if lifetime > Duration::from_secs(300 * 366 * 86_400) {
                    Duration::ZERO
                } else {
                    lifetime
                }
            },
        ),
        step(
            "panics where a lifetime ends after the end of time",
            LONG,
            Steps {
                end: |lifetime| Some(Instant::now() + lifetime),
                ..RIGHT
            },
        ),
        step(
            "refuses a lifetime of a year",
            LONG,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        match claim.keep_for.as_secs() {
                            0..31_536_000 => base.claim_now(claim),
                            _ => Err(StoreError::failed("too long")),
                        }
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "fails where the lifetime is zero, as SET with PX 0 does",
            "keeping::no_lifetime",
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        match claim.keep_for.as_nanos() {
                            0 => Err(StoreError::failed("invalid expire time")),
                            _ => base.claim_now(claim),
                        }
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "panics where the lifetime is zero",
            "keeping::no_lifetime",
            Steps {
                lifetime: |lifetime| {
                    assert!(!lifetime.is_zero(), "a lifetime of zero");
                    lifetime
                },
                ..RIGHT
            },
        ),
        step(
            "takes the lifetime of the latest claim",
            "keeping::later_claims_change_nothing",
            Steps {
                later: |kept, claim| kept.end = Instant::now().checked_add(claim.keep_for),
                ..RIGHT
            },
        ),
        step(
            "takes the shortest lifetime of all claims, unless it is zero",
            "keeping::later_claims_change_nothing",
            Steps {
                later: |kept, claim| {
                    if !claim.keep_for.is_zero() {
                        kept.end = kept.end.min(Some(kept.claimed + claim.keep_for));
                    }
                },
                ..RIGHT
            },
        ),
        roomy("drops the oldest of 1,000 entries", |entries| {
            drop_one_of(entries, 1_000, |kept| kept.number)
        }),
        roomy("drops the oldest of 4,096 entries", |entries| {
            drop_one_of(entries, 4_096, |kept| kept.number)
        }),
        roomy("drops the latest of 4,096 entries", |entries| {
            drop_one_of(entries, 4_096, |kept| u64::MAX - kept.number)
        }),
        roomy("drops the entry that ends first, of 2,000", |entries| {
            let now = Instant::now();
            drop_one_of(entries, 2_000, |kept| {
                let left = kept.end.map_or(Duration::MAX, |end| end - now);
                u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)
            })
        }),
        roomy("starts over with 4,500 entries", |entries| {
            if entries.len() >= 4_500 {
                entries.clear();
            }
            Ok(())
        }),
        step(
            "is first where it is full, and keeps nothing",
            MANY,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let is_full = base.database.entries.lock().unwrap().len() >= 3_000;
                        let is_known = base.find_now(&claim.id, claim.issued_at_ms)?.is_some();
                        if is_full && !is_known {
                            Ok(Claimed::First)
                        } else {
                            base.claim_now(claim)
                        }
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "is full, and has made the claim all the same",
            MANY,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let is_full = base.database.entries.lock().unwrap().len() >= 3_000;
                        let claimed = base.claim_now(claim)?;
                        if is_full {
                            Err(StoreError::Full)
                        } else {
                            Ok(claimed)
                        }
                    })
                },
                ..RIGHT
            },
        ),
        with(
            "is gone with its last connection",
            "keeping::a_new_connection",
            || {
                let shared: Mutex<Weak<Database>> = Mutex::default();
                StoreSuite::new(async move || {
                    let mut shared = shared.lock().unwrap();
                    let database = shared.upgrade().unwrap_or_else(|| {
                        // As old as the suite itself, so that it does not show in the history.
                        let database = Database::new();
                        Arc::new(Database {
                            birth_ms: database.birth_ms - 60_000,
                            ..Arc::into_inner(database).unwrap()
                        })
                    });
                    *shared = Arc::downgrade(&database);
                    Base::new(&database, RIGHT)
                })
            },
        ),
    ]
}

fn lasting(
    about: &'static str,
    found_by: &'static str,
    lifetime: fn(Duration) -> Duration,
) -> Fault {
    step(about, found_by, Steps { lifetime, ..RIGHT })
}

fn roomy(about: &'static str, room: fn(&mut Entries) -> Result<(), StoreError>) -> Fault {
    step(about, MANY, Steps { room, ..RIGHT })
}

/// Makes room among so many entries, at the cost of the one with the least rank.
fn drop_one_of(
    entries: &mut Entries,
    count: usize,
    rank: impl Fn(&super::base::Kept) -> u64,
) -> Result<(), StoreError> {
    if entries.len() >= count {
        let least = entries.iter().min_by_key(|(_, kept)| rank(kept));
        let key = least.unwrap().0.clone();
        entries.remove(&key);
    }
    Ok(())
}
