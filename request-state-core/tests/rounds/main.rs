//! Random conversations against a model: what the handler sees, and what the client is answered.
//!
//! The model is written from the rules, not from the code. Two users and nobody in particular send
//! requests, honest and dishonest, to a handler that asks random questions. Whatever they do, the
//! handler sees the answers that the model says were asked of this user for this request, and no
//! others; and the API for JSON-RPC and the one for frameworks agree.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

#[path = "../common/ledger.rs"]
mod ledger;
mod model;
mod play;
mod steps;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::play::{Counts, play};
use crate::steps::{policy, steps};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_conversation_goes_as_the_model_says(
        policy in policy(),
        steps in steps(),
    ) {
        play(&policy, &steps);
    }
}

/// The property is no use if the conversations are all alike.
#[test]
fn the_conversations_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut counts = Counts::default();
    for _ in 0..500 {
        let policy = policy().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        counts.add(&play(&policy, &steps));
    }
    let Counts {
        opened,
        delivered,
        removed,
        rejected,
        restarted,
        not_sealed,
        later_rounds,
        typed,
    } = counts;
    for (count, least) in [
        (opened, 1000),
        (delivered, 200),
        (removed, 1000),
        (rejected, 1000),
        (restarted, 100),
        (not_sealed, 300),
        (later_rounds, 100),
        (typed, 500),
    ] {
        assert!(count > least, "{counts:?}");
    }
}
