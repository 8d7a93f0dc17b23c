//! Our own stores pass, so do stores that are right and built otherwise, and what the suite reports.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(clippy::unwrap_used)] // Helpers may panic, as tests do.

#[allow(dead_code, reason = "faulty_stores.rs uses the rest")]
mod faulty_stores {
    pub mod base;
    pub mod fault;
    pub mod parallel;
}

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use faulty_stores::base::{Base, Database, RIGHT, Steps};
use faulty_stores::fault::{complete, suite};
use faulty_stores::parallel::failures;
use request_state_conformance::{
    History, Report, STORE_CASES, StoreSuite, Verdict, check_store, run_store_case, store_suite,
};
use request_state_core::{MemoryStore, StoreError};
use tokio::time::sleep;

fn memory_store() -> &'static MemoryStore {
    static STORE: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
    &STORE
}

store_suite!(memory, || async { memory_store() });

fn names(report: &Report) -> Vec<String> {
    let failures = report.failures();
    failures.map(|failure| failure.case.to_string()).collect()
}

#[test]
fn right_stores_pass_however_they_are_built() {
    type Make = fn() -> StoreSuite<'static>;
    let right: [(&str, Make); 3] = [
        (
            "keeps its entries for good, as a table that nobody cleans",
            || {
                suite(Steps {
                    end: |_| None,
                    ..RIGHT
                })
            },
        ),
        (
            "counts whole seconds, and calls an old token used where it knows the id",
            || {
                suite(Steps {
                    age: |age| Duration::from_secs(age.as_secs()),
                    claim: |base, claim| {
                        Box::pin(async {
                            if base.find_now(&claim.id, u64::MAX)?.is_none() {
                                return base.claim_now(claim);
                            }
                            let mut known = claim.clone();
                            known.issued_at_ms = u64::MAX;
                            base.claim_now(&known)
                        })
                    },
                    find: |base, id, issued_at_ms| {
                        Box::pin(async move {
                            match base.find_now(id, u64::MAX)? {
                                None => base.find_now(id, issued_at_ms),
                                found => Ok(found),
                            }
                        })
                    },
                    ..RIGHT
                })
            },
        ),
        (
            "has its complete history, and refuses a lifetime beyond the calendar",
            || {
                complete(Steps {
                    remembers: |_, _| true,
                    remembers_found: |_, _| true,
                    claim: |base, claim| {
                        Box::pin(async {
                            match claim.keep_for.as_secs() / (365 * 24 * 60 * 60) {
                                0..8_000 => base.claim_now(claim),
                                _ => Err(StoreError::failed("the year has five digits")),
                            }
                        })
                    },
                    ..RIGHT
                })
            },
        ),
    ];
    for (about, make) in right {
        assert_eq!(failures(make), Vec::<String>::new(), "{about}");
    }
}

#[test]
fn a_store_that_is_full_says_so_and_passes() {
    let suite = suite(Steps {
        room: |entries| {
            if entries.len() < 1_500 {
                Ok(())
            } else {
                Err(StoreError::Full)
            }
        },
        ..RIGHT
    });
    assert_eq!(
        run_store_case("keeping::thousands_of_entries", &suite),
        Ok(())
    );
}

/// A store that is right but for its own nonces, and keeps nothing for a short time: so most cases that
/// wait end at once.
fn hasty() -> Base {
    let steps = Steps {
        own: |_, _| false,
        claim: |base, claim| {
            Box::pin(async {
                match claim.keep_for.as_secs() {
                    0..10 => Err(StoreError::failed("that is not worth it")),
                    _ => base.claim_now(claim),
                }
            })
        },
        ..RIGHT
    };
    Base::new(&Database::new(), steps)
}

#[test]
fn a_report_reads_like_one_of_tests() {
    // What connects may borrow.
    let (store, connected) = (hasty(), Cell::new(0));
    let report = check_store(async || {
        connected.set(connected.get() + 1);
        &store
    });
    assert!(!report.is_ok());
    assert_eq!(report.outcomes().len(), STORE_CASES.len());
    assert!(connected.get() > STORE_CASES.len());
    let text = report.to_string();
    for says in [
        "case find::nothing_there ... ok\n",
        "case claims::own_nonce ... FAILED\n",
        "case outage::every_call_is_an_error ... not applicable: no unreachable store was given\n",
        "\n---- claims::own_nonce ----\n",
        "Why: Clients of databases repeat commands",
        "result: FAILED. ",
    ] {
        assert!(text.contains(says), "{says:?} is not in {text}");
    }
    assert!(names(&report).contains(&"claims::own_nonce".to_owned()));
    assert!(!names(&report).contains(&"find::nothing_there".to_owned()));
}

#[test]
fn a_panic_fails_its_case_and_no_other() {
    let (store, connected) = (hasty(), Cell::new(0));
    let report = check_store(async || {
        connected.set(connected.get() + 1);
        assert!(connected.get() != 2, "the second connection");
        &store
    });
    let panicked = |text: &str| text.contains("it panicked: the second connection");
    for outcome in report.outcomes() {
        let is_panic = matches!(&outcome.verdict, Verdict::Failed(text) if panicked(text));
        let is_first = outcome.case.to_string() == "claims::the_first_wins";
        assert_eq!(is_panic, is_first, "{outcome}");
    }
}

#[test]
fn an_error_is_reported_with_its_cause() {
    let suite = suite(Steps {
        claim: |_, _| Box::pin(async { Err(StoreError::failed("relation does not exist")) }),
        ..RIGHT
    });
    let error = run_store_case("claims::the_first_wins", &suite).unwrap_err();
    assert!(
        error.contains("claim failed: the store failed: relation does not exist"),
        "{error}"
    );
}

/// Such as a new Redis store with a margin for clocks: its history begins two minutes from now.
#[test]
fn a_store_whose_history_has_not_begun_is_told_apart() {
    let suite = suite(Steps {
        remembers_found: |birth_ms, issued_at_ms| issued_at_ms > birth_ms + 120_000,
        ..RIGHT
    });
    let error = run_store_case("claims::the_first_wins", &suite).unwrap_err();
    assert!(
        error.contains("find returned HistoryLost for 3s"),
        "{error}"
    );
}

#[test]
fn a_history_that_begins_in_a_moment_is_waited_for() {
    let suite = suite(Steps {
        remembers: |birth_ms, issued_at_ms| issued_at_ms > birth_ms + 300,
        remembers_found: |birth_ms, issued_at_ms| issued_at_ms > birth_ms + 300,
        ..RIGHT
    });
    assert_eq!(run_store_case("claims::the_first_wins", &suite), Ok(()));
}

#[test]
fn an_old_store_is_asked_about_1970_alone() {
    // It came up a day ago.
    let steps = Steps {
        remembers: |birth_ms, issued_at_ms| issued_at_ms >= birth_ms - 86_400_000,
        remembers_found: |birth_ms, issued_at_ms| issued_at_ms >= birth_ms - 86_400_000,
        ..RIGHT
    };
    for case in STORE_CASES.iter().filter(|case| case.group() == "history") {
        let older = suite(steps).history(History::Older);
        assert_eq!(run_store_case(&case.to_string(), &older), Ok(()), "{case}");
    }
    let as_new = run_store_case("history::claims_of_older_tokens", &suite(steps));
    assert!(as_new.unwrap_err().contains("an hour ago"));
}

/// What a database needs: its futures wait for a timer, and for other tasks.
#[test]
fn the_suite_brings_a_runtime() {
    let steps = Steps {
        claim: |base, claim| {
            Box::pin(async {
                sleep(Duration::from_millis(1)).await;
                let (base, claim) = (base.clone(), claim.clone());
                let claiming = tokio::spawn(async move { base.claim_now(&claim) });
                claiming.await.map_err(StoreError::failed)?
            })
        },
        ..RIGHT
    };
    for case in [
        "claims::the_first_wins",
        "simultaneous::many_at_once",
        "threads::many",
    ] {
        assert_eq!(run_store_case(case, &suite(steps)), Ok(()));
    }
}

#[test]
fn within_a_runtime_each_case_says_what_is_wrong() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let report = runtime.block_on(async { check_store(|| async { memory_store() }) });
    let failed = |text: &str| text.contains("call it from a plain #[test]");
    for outcome in report.outcomes() {
        assert!(
            matches!(&outcome.verdict, Verdict::Failed(text) if failed(text)),
            "{outcome}"
        );
    }
}

#[test]
fn every_case_has_a_name_of_its_own_and_a_reason() {
    let names: HashSet<String> = STORE_CASES.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), STORE_CASES.len());
    for case in STORE_CASES {
        assert!(case.why().len() > 20 && case.why().ends_with('.'), "{case}");
    }
}
