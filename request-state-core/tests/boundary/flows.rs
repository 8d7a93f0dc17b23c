//! Flows: their ids, rounds and ends, and what starts over.

use std::time::Duration;

use request_state_core::{Boundary, Question, QuestionKind, Sealer};
use serde_json::{Value, json};

use crate::kit::*;

const MINUTE: Duration = Duration::from_secs(60);
const MS: Duration = Duration::from_millis(1);

#[test]
fn a_flow_keeps_its_id_and_counts_its_rounds() {
    let boundary = boundary();
    let first = request("tools/call");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    assert_eq!((round.flow(), round.number()), (None, None));
    let mut token = token_of(&sealed(&boundary, &round, asks_for(&["a"], "1")));
    let (_, round) = opened(&boundary, with_state(&first, token.clone()), ALICE);
    let flow = round.flow().expect("a flow");
    for number in 1..=32 {
        let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
        assert_eq!((round.flow(), round.number()), (Some(flow), Some(number)));
        let next = sealed(&boundary, &round, asks_for(&["a"], "next"));
        if number == 32 {
            assert_eq!(next, internal_error(7));
            return;
        }
        token = token_of(&next);
    }
}

#[test]
fn every_first_question_begins_a_flow_of_its_own() {
    let boundary = boundary();
    let first = request("tools/call");
    let mut flows: Vec<_> = (0..100)
        .map(|_| {
            let token = ask(&boundary, &first, ALICE, "asked");
            opened(&boundary, with_state(&first, token), ALICE).1.flow()
        })
        .collect();
    flows.sort();
    flows.dedup();
    assert_eq!(flows.len(), 100);
}

#[test]
fn a_round_lists_what_it_asked() {
    let boundary = boundary();
    let first = request("tools/call");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    let mut response = asks(Value::Null);
    response["result"]["inputRequests"] = json!({
        "form": {"method": "elicitation/create", "params": {"mode": "form"}},
        "model": {"method": "sampling/createMessage", "params": {}},
        "\u{0}\"é": {"method": "elicitation/create", "params": {"mode": "url"}},
        "": {"method": "roots/list"},
    });
    let token = token_of(&sealed(&boundary, &round, response));
    let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
    assert_eq!(
        round.asked(),
        [
            Question::new("", QuestionKind::Roots),
            Question::new("\u{0}\"é", QuestionKind::ElicitationUrl),
            Question::new("form", QuestionKind::ElicitationForm),
            Question::new("model", QuestionKind::Sampling),
        ]
    );
    assert!(round.is_asked("") && !round.is_asked("forms"));
}

#[test]
fn the_limit_of_rounds_can_be_set() {
    let none = boundary().max_rounds(0);
    let first = request("tools/call");
    let (_, round) = opened(&none, first.clone(), ALICE);
    assert_eq!(sealed(&none, &round, asks("plain")), internal_error(7));

    let one = boundary().max_rounds(1);
    let token = ask(&one, &first, ALICE, "asked");
    let (_, round) = opened(&one, with_state(&first, token), ALICE);
    assert_eq!(sealed(&one, &round, asks("plain")), internal_error(7));
}

#[test]
fn a_token_ends_with_its_flow() {
    let (boundary, clock) = boundary_with_clock();
    let boundary = boundary.max_flow(12 * MINUTE).restart_expired(false);
    let first = request("tools/call");
    let mut token = ask(&boundary, &first, ALICE, "asked");
    for _ in 0..2 {
        clock.advance(5 * MINUTE - MS);
        let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
        token = token_of(&sealed(&boundary, &round, asks("asked")));
    }
    // Twelve minutes after the first question, two and two milliseconds after this token was made.
    clock.advance(2 * MINUTE + MS);
    let (_, round) = opened(&boundary, with_state(&first, token.clone()), ALICE);
    clock.advance(MS);
    assert_eq!(
        refused(&boundary, with_state(&first, token), ALICE),
        refusal(7)
    );
    // The request came in time; its flow is over when the handler asks.
    assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
}

#[test]
fn each_replica_enforces_its_own_limit_of_a_flow() {
    let (long, clock) = boundary_with_clock();
    let short = long.clone().max_flow(MINUTE).restart_expired(false);
    let first = request("tools/call");
    let token = ask(&long, &first, ALICE, "asked");
    clock.advance(MINUTE);
    passes(&long, with_state(&first, token.clone()), ALICE);
    assert_eq!(
        refused(&short, with_state(&first, token), ALICE),
        refusal(7)
    );
}

#[test]
fn a_flow_may_take_an_hour_by_default() {
    let (boundary, clock) = boundary_with_clock();
    let first = request("tools/call");
    let mut token = ask(&boundary, &first, ALICE, "asked");
    for _ in 0..14 {
        clock.advance(4 * MINUTE);
        let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
        token = token_of(&sealed(&boundary, &round, asks("asked")));
    }
    clock.advance(4 * MINUTE);
    let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
    assert!(round.restarted_from().is_some());
}

/// Of both TTLs, whoever asks.
#[test]
fn a_flow_may_take_as_long_as_the_longest_ttl_by_default() {
    for (ttl, anonymous_ttl) in [(120, 180), (180, 120)] {
        let (_, clock) = boundary_with_clock();
        let time = clock.clone();
        let sealer = Sealer::builder("billing", Ledger::default())
            .ttl(ttl * MINUTE)
            .anonymous_ttl(anonymous_ttl * MINUTE)
            .clock(move || time.now());
        let boundary = Boundary::new(sealer.build().unwrap());
        let first = request("tools/call");
        for principal in [ALICE, None] {
            let token = ask(&boundary, &first, principal, "asked");
            clock.advance(119 * MINUTE);
            let (_, round) = opened(&boundary, with_state(&first, token), principal);
            let token = token_of(&sealed(&boundary, &round, asks("asked")));
            clock.advance(61 * MINUTE - MS);
            let (_, round) = opened(&boundary, with_state(&first, token.clone()), principal);
            assert_eq!(round.number(), Some(2));
            clock.advance(MS);
            let (_, round) = opened(&boundary, with_state(&first, token), principal);
            assert!(round.restarted_from().is_some());
        }
    }
}

#[test]
fn a_flow_that_began_in_the_future_was_minted_by_another_clock() {
    let (boundary, clock) = boundary_with_clock();
    let first = request("tools/call");
    let token = ask(&boundary, &first, ALICE, "asked");
    clock.set_back(MINUTE);
    passes(&boundary, with_state(&first, token.clone()), ALICE);
    clock.set_back(MS);
    assert_eq!(
        refused(&boundary, with_state(&first, token), ALICE),
        refusal(7)
    );

    // Also where the token itself is fresh: sealed here, in a flow that began there.
    clock.advance(MINUTE);
    let token = ask(&boundary, &first, ALICE, "asked");
    clock.set_back(MINUTE);
    let (_, round) = opened(&boundary, with_state(&first, token), ALICE);
    clock.set_back(MS);
    let token = token_of(&sealed(&boundary, &round, asks("next")));
    assert_eq!(
        refused(&boundary, with_state(&first, token), ALICE),
        refusal(7)
    );
}

#[test]
fn an_expired_state_starts_over_unless_the_server_forbids_it() {
    for method in METHODS {
        let (boundary, clock) = boundary_with_clock();
        let first = request(method);
        let token = ask_for(&boundary, &first, ALICE, &["confirm"]);
        let retry = with_state(&first, token);
        let retry = with_answers(&retry, json!({"confirm": accept()}));
        let (_, round) = opened(&boundary, retry.clone(), ALICE);
        let flow = round.flow();
        clock.advance(5 * MINUTE);

        let strict = boundary.clone().restart_expired(false);
        assert_eq!(refused(&strict, retry.clone(), ALICE), refusal(7));
        let (seen, round) = opened(&boundary, retry.clone(), ALICE);
        assert_eq!(seen, first, "neither the state nor the answers");
        assert_eq!(
            (round.restarted_from(), round.flow(), round.number()),
            (flow, None, None)
        );
        assert!(!round.is_asked("confirm"));
        let token = token_of(&sealed(&boundary, &round, asks("again")));
        let (seen, round) = opened(&boundary, with_state(&first, token), ALICE);
        assert_eq!(seen["params"]["requestState"], "again");
        assert_ne!(round.flow(), flow);
        assert_eq!((round.number(), round.restarted_from()), (Some(1), None));

        // Expired and something else: rejected.
        for principal in [Some("user:bob"), None] {
            assert_eq!(refused(&boundary, retry.clone(), principal), refusal(7));
        }
        let mut other = retry.clone();
        other["params"]["arguments"]["amount"] = json!(11);
        assert_eq!(refused(&boundary, other, ALICE), refusal(7));
        assert_eq!(
            refused(&boundary, json!([retry]), ALICE),
            refusal(Value::Null)
        );
    }
}

#[test]
fn anonymous_is_nobody_and_lives_shorter() {
    let (boundary, clock) = boundary_with_clock();
    let boundary = boundary.restart_expired(false);
    let first = request("tools/call");
    let retry = with_state(&first, ask(&boundary, &first, None, "asked"));
    clock.advance(MINUTE - MS);
    passes(&boundary, retry.clone(), None);
    assert_eq!(refused(&boundary, retry.clone(), ALICE), refusal(7));
    clock.advance(MS);
    assert_eq!(refused(&boundary, retry, None), refusal(7));
}
