//! Stores that do not know what they have forgotten, or that do not answer.

use std::future::pending;

use request_state_core::{Claimed, StoreError};
use tokio::task::yield_now;

use super::base::{RIGHT, Steps};
use super::fault::{DOWN, Fault, complete, down, step, suite, with};

const CLAIMS: &str = "history::claims_of_older_tokens";
const FOUND: &str = "history::look_ups_of_older_tokens";
const LOST: &str = "history::lost_is_not_claimed";
const AHEAD: &str = "history::tokens_of_a_clock_ahead";

pub fn faults() -> Vec<Fault> {
    vec![
        out(
            "waits for its database without end",
            Steps {
                claim: |_, _| Box::pin(pending()),
                ..DOWN
            },
        ),
        step(
            "accepts a claim for a token of any age",
            CLAIMS,
            Steps {
                remembers: |_, _| true,
                ..RIGHT
            },
        ),
        step(
            "compares its birth in seconds with a time in milliseconds",
            CLAIMS,
            Steps {
                remembers: |birth_ms, issued_at_ms| issued_at_ms >= birth_ms / 1_000,
                ..RIGHT
            },
        ),
        step(
            "allows clocks a margin of two hours, the wrong way",
            CLAIMS,
            Steps {
                remembers: |birth_ms, issued_at_ms| issued_at_ms + 7_200_000 >= birth_ms,
                ..RIGHT
            },
        ),
        step(
            "takes a token issued in 1970 for one of unknown age",
            CLAIMS,
            Steps {
                remembers: |birth_ms, issued_at_ms| issued_at_ms == 0 || issued_at_ms >= birth_ms,
                ..RIGHT
            },
        ),
        step(
            "finds nothing for a token of any age",
            FOUND,
            Steps {
                remembers_found: |_, _| true,
                ..RIGHT
            },
        ),
        step(
            "says full where its history is lost",
            CLAIMS,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        base.claim_now(claim).map_err(|_| StoreError::Full)
                    })
                },
                ..RIGHT
            },
        ),
        with(
            "does not use the complete history that it has",
            CLAIMS,
            || complete(RIGHT),
        ),
        with(
            "does not look into the complete history that it has",
            FOUND,
            || {
                complete(Steps {
                    remembers: |_, _| true,
                    ..RIGHT
                })
            },
        ),
        step(
            "makes the claim for which its history is lost",
            LOST,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        let is_lost = claim.issued_at_ms < base.database.birth_ms;
                        let mut known = claim.clone();
                        known.issued_at_ms = known.issued_at_ms.max(base.database.birth_ms);
                        let claimed = base.claim_now(&known)?;
                        if is_lost {
                            Err(StoreError::HistoryLost)
                        } else {
                            Ok(claimed)
                        }
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "starts over with every token for which its history is lost",
            LOST,
            Steps {
                claim: |base, claim| {
                    Box::pin(async {
                        yield_now().await;
                        base.claim_now(claim).inspect_err(|_| {
                            base.database.entries.lock().unwrap().clear();
                        })
                    })
                },
                ..RIGHT
            },
        ),
        step(
            "loses its history where a token is from a clock ahead",
            AHEAD,
            Steps {
                remembers: |birth_ms, issued_at_ms| {
                    issued_at_ms >= birth_ms && issued_at_ms <= super::base::now_ms() + 30_000
                },
                ..RIGHT
            },
        ),
        step(
            "adds a margin to the time of a token, and overflows",
            AHEAD,
            Steps {
                remembers: |birth_ms, issued_at_ms| {
                    issued_at_ms.checked_add(60_000).unwrap() >= birth_ms + 60_000
                },
                ..RIGHT
            },
        ),
        out(
            "says first in an outage",
            Steps {
                claim: |_, _| Box::pin(async { Ok(Claimed::First) }),
                ..DOWN
            },
        ),
        out(
            "finds nothing in an outage",
            Steps {
                find: |_, _, _| Box::pin(async { Ok(None) }),
                ..DOWN
            },
        ),
        out(
            "does not say that an answer was not kept",
            Steps {
                record: |_, _, _, _| Box::pin(async { Ok(true) }),
                ..DOWN
            },
        ),
        out(
            "takes an outage for a claim that is gone",
            Steps {
                release: |_, _, _| Box::pin(async { Ok(false) }),
                ..DOWN
            },
        ),
    ]
}

fn out(about: &'static str, steps: Steps) -> Fault {
    with(about, "outage::every_call_is_an_error", move || {
        suite(RIGHT).unreachable(async move || down(steps))
    })
}
