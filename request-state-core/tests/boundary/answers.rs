//! Which answers reach the handler.

use request_state_core::AnswersWithoutState::{Allow, Remove};
use serde_json::{Value, json};

use crate::kit::*;

/// `inputResponses` of every shape. None of them has an answer to a question that was asked.
fn shapes() -> Vec<Value> {
    vec![
        json!(null),
        json!({}),
        json!([]),
        json!([accept()]),
        json!("confirm"),
        json!(5),
        json!(true),
        json!({"other": accept()}),
        json!({"Confirm": accept(), "confirm ": accept(), "confirm\u{0}": accept(), "": accept()}),
        json!({"confirm": null}),
        json!({"confirm": "accept"}),
        json!({"confirm": [accept()]}),
        json!({"confirm": true}),
    ]
}

#[test]
fn nobody_was_asked_in_a_request_without_a_state() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        for answers in [json!({"confirm": accept()})].into_iter().chain(shapes()) {
            let message = with_answers(&first, answers);
            for message in [message.clone(), with_state(&message, Value::Null)] {
                assert_eq!(passes(&boundary, message, ALICE), first);
            }
        }
    }
}

#[test]
fn what_was_asked_is_delivered_and_nothing_else() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        let token = ask_for(
            &boundary,
            &first,
            ALICE,
            &["confirm", "\u{0}\"é", "unanswered"],
        );
        let retry = with_state(&first, token);
        for answers in shapes() {
            let (seen, _) = opened(&boundary, with_answers(&retry, answers), ALICE);
            assert_eq!(seen, first);
        }
        let mut thousands: serde_json::Map<_, _> = (0..5_000)
            .map(|number| (number.to_string(), accept()))
            .collect();
        thousands.insert("\u{0}\"é".into(), json!({}));
        thousands.insert("confirm".into(), accept());
        thousands.insert("unanswered".into(), json!(5));
        let (seen, _) = opened(&boundary, with_answers(&retry, thousands.into()), ALICE);
        let delivered = json!({"confirm": accept(), "\u{0}\"é": {}});
        assert_eq!(seen, with_answers(&first, delivered));
    }
}

#[test]
fn only_the_last_round_counts() {
    let boundary = boundary();
    let first = request("tools/call");
    let one = with_state(&first, ask_for(&boundary, &first, ALICE, &["one"]));
    let both = json!({"one": accept(), "two": accept()});
    let (_, round) = opened(&boundary, one.clone(), ALICE);
    let two = token_of(&sealed(&boundary, &round, asks_for(&["two"], Value::Null)));
    let two = with_state(&first, two);
    let seen = |message: &Value| passes(&boundary, with_answers(message, both.clone()), ALICE);
    assert_eq!(seen(&two), with_answers(&first, json!({"two": accept()})));
    assert_eq!(seen(&one), with_answers(&first, json!({"one": accept()})));
    // A state without questions asks for nothing.
    let (_, round) = opened(&boundary, two, ALICE);
    let three = with_state(&first, token_of(&sealed(&boundary, &round, asks("3"))));
    assert_eq!(seen(&three), with_state(&first, "3"));
}

#[test]
fn an_answer_to_one_request_is_none_to_another() {
    let boundary = boundary();
    let first = request("tools/call");
    let mut other = first.clone();
    other["params"]["arguments"]["amount"] = json!(1_000_000);
    let token = ask_for(&boundary, &first, ALICE, &["confirm"]);
    let answers = json!({"confirm": accept()});
    let crossed = with_answers(&with_state(&other, token.clone()), answers.clone());
    assert_eq!(refused(&boundary, crossed, ALICE), refusal(7));
    let stolen = with_answers(&with_state(&first, token), answers);
    assert_eq!(refused(&boundary, stolen, Some("user:bob")), refusal(7));
}

#[test]
fn a_server_may_have_to_live_with_clients_that_lose_states() {
    let boundary = boundary().answers_without_state(Allow);
    let first = request("tools/call");
    let lost = with_answers(&first, json!({"confirm": accept(), "junk": 5}));
    let (seen, round) = opened(&boundary, lost.clone(), ALICE);
    assert_eq!(seen, with_answers(&first, json!({"confirm": accept()})));
    assert!(!round.is_asked("confirm"), "delivered, but not asked");
    for answers in [json!([accept()]), json!("x"), json!({}), json!(null)] {
        assert_eq!(
            passes(&boundary, with_answers(&first, answers), ALICE),
            first
        );
    }
    // With a state it is as strict as ever.
    let token = ask_for(&boundary, &first, ALICE, &["other"]);
    let retry = with_state(&lost, token);
    assert_eq!(passes(&boundary, retry.clone(), ALICE), first);
    // And so it is where a state was removed.
    let mut unidentifiable = retry;
    unidentifiable.as_object_mut().unwrap().remove("id");
    let (seen, _) = opened(&boundary, unidentifiable, ALICE);
    assert_eq!(seen["params"], first["params"]);
    let (seen, _) = opened(&boundary, json!([lost]), ALICE);
    assert_eq!(seen, json!([first]));
    let strict = boundary.answers_without_state(Remove);
    assert_eq!(passes(&strict, lost, ALICE), first);
}

#[test]
fn who_starts_over_starts_without_answers() {
    let (boundary, clock) = boundary_with_clock();
    let boundary = boundary.answers_without_state(Allow);
    let first = request("tools/call");
    let token = ask_for(&boundary, &first, ALICE, &["confirm"]);
    let retry = with_answers(&with_state(&first, token), json!({"confirm": accept()}));
    assert_ne!(passes(&boundary, retry.clone(), ALICE), first);
    clock.advance(std::time::Duration::from_secs(300));
    assert_eq!(passes(&boundary, retry, ALICE), first);
}

#[test]
fn a_request_that_cannot_be_bound_has_no_answers() {
    let first = request("tools/call");
    let message = with_answers(&first, json!({"confirm": accept()}));
    let (seen, _) = opened(&boundary(), message.clone(), Some(""));
    assert_eq!(seen, first);
    let lenient = boundary().answers_without_state(Allow);
    assert_eq!(passes(&lenient, message.clone(), Some("")), message);
}
