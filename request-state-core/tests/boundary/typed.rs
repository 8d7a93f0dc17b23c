//! The API for frameworks, and what the types promise.

use request_state_core::{
    AnswersWithoutState, Boundary, Incoming, OpenError, Principal, Question, QuestionKind, Request,
    Round, SealError, Sealer, Sender, Token, Unidentified,
};
use serde_json::{Value, json};

use crate::kit::*;

fn typed_request(message: &Value) -> Request<'_, Value> {
    Request {
        version: VERSION,
        method: message["method"].as_str().unwrap(),
        params: &message["params"],
        principal: ALICE,
    }
}

#[test]
fn both_apis_open_what_the_other_sealed() {
    let boundary = boundary();
    let message = request("prompts/get");
    let first = boundary
        .open(typed_request(&message), Token::Absent)
        .unwrap();
    assert_eq!(first.state, None);
    let questions = [Question::new("confirm", QuestionKind::ElicitationForm)];
    let token = boundary
        .seal(&first.round, &questions, Some("asked"))
        .unwrap();
    let retry = with_answers(&with_state(&message, token), json!({"confirm": accept()}));
    let (seen, round) = opened(&boundary, retry.clone(), ALICE);
    retry["params"]["requestState"].as_str().expect("a token");
    assert_eq!(seen["params"]["requestState"], "asked");
    assert_eq!(
        seen["params"]["inputResponses"],
        retry["params"]["inputResponses"]
    );

    let next = token_of(&sealed(&boundary, &round, asks_for(&["more"], Value::Null)));
    let second = boundary
        .open(typed_request(&message), Token::Text(&next))
        .unwrap();
    assert_eq!(second.state, None);
    assert!(second.round.is_asked("more") && !second.round.is_asked("confirm"));
    assert_eq!(
        (second.round.flow(), second.round.number()),
        (round.flow(), Some(2))
    );
}

#[test]
fn answers_are_filtered() {
    let boundary = boundary();
    let message = request("tools/call");
    let kept = |boundary: &Boundary<Ledger>, round: &Round| {
        let answers = json!({"confirm": accept(), "other": accept(), "junk": 5});
        let Value::Object(mut answers) = answers else {
            panic!("an object")
        };
        let mut filter = boundary.answers(round);
        answers.retain(|name, answer| filter.keeps(name, answer));
        Value::from(answers)
    };
    let first = boundary
        .open(typed_request(&message), Token::Absent)
        .unwrap();
    assert_eq!(kept(&boundary, &first.round), json!({}));
    let token = ask_for(&boundary, &message, ALICE, &["confirm", "junk"]);
    let second = boundary
        .open(typed_request(&message), Token::Text(&token))
        .unwrap();
    assert_eq!(kept(&boundary, &second.round), json!({"confirm": accept()}));
    let lenient = boundary.answers_without_state(AnswersWithoutState::Allow);
    let both = json!({"confirm": accept(), "other": accept()});
    assert_eq!(kept(&lenient, &first.round), both);
    assert_eq!(kept(&lenient, &second.round), json!({"confirm": accept()}));
}

#[test]
fn a_token_is_a_string() {
    let boundary = boundary();
    let message = request("tools/call");
    let open = |token| {
        boundary
            .open(typed_request(&message), token)
            .map(|opened| opened.state)
    };
    for (token, is_open) in [
        (Token::Absent, true),
        (Token::from(None::<&str>), true),
        (Token::from(Some(&Value::Null)), true),
        (Token::NotAString, false),
        (Token::from(Some(&json!(5))), false),
        (Token::Text(""), false),
        (Token::from(Some("junk")), false),
        (Token::from(Some(&json!("junk"))), false),
    ] {
        assert_eq!(open(token).is_ok(), is_open, "{token:?}");
    }
}

#[test]
fn every_rejection_is_the_same_and_an_outage_another() {
    let message = request("tools/call");
    let bob = Request {
        principal: Some("user:bob"),
        ..typed_request(&message)
    };
    let boundary = boundary();
    let token = ask(&boundary, &message, ALICE, "asked");
    let params = &message["params"];
    let unknown = Sender::unidentified(Unidentified::new("x")).version(VERSION);
    let unknown = Incoming::new("tools/call", params, unknown);
    for refusal in [
        boundary.open(bob, Token::Text(&token)).unwrap_err(),
        boundary
            .open(typed_request(&message), Token::NotAString)
            .unwrap_err(),
        boundary.open(unknown, Token::Text(&token)).unwrap_err(),
    ] {
        assert_eq!(refusal.code(), -32602);
        assert_eq!(refusal.message(), "Invalid or expired requestState");
        assert_eq!(
            refusal.data(),
            Some(json!({"reason": "invalid_request_state"}))
        );
    }
    let down = Boundary::new(Sealer::new("billing", Down).unwrap());
    let refusal = down
        .open(typed_request(&message), Token::Text("k.x"))
        .unwrap_err();
    assert_eq!(refusal.code(), -32603);
    assert_eq!(
        (refusal.message(), refusal.data()),
        ("Internal error", None)
    );
}

#[test]
fn a_request_that_cannot_be_bound_fails_where_it_must() {
    let boundary = boundary().require_principal(true);
    let message = request("tools/call");
    let empty_version = Request {
        version: "",
        ..typed_request(&message)
    };
    let params = &message["params"];
    let anonymous = Request {
        principal: None,
        ..typed_request(&message)
    };
    let unknown = Unidentified::new("no session: the session layer must run first");
    for (incoming, text) in [
        (
            Incoming::from(empty_version),
            "the request's version is empty",
        ),
        (
            Incoming::new("tools/call", params, Sender::from(ALICE).no_version()),
            "the request names no protocol version, and the server gives none",
        ),
        (
            Incoming::new("tools/call", params, ALICE),
            "the request names no protocol version, and the server gives none",
        ),
        (
            Incoming::from(anonymous),
            "the request has no principal, and require_principal is set",
        ),
        (
            Incoming::new("tools/call", params, Sender::unidentified(unknown)),
            "no session: the session layer must run first",
        ),
    ] {
        let opened = boundary.open(incoming, Token::Absent).unwrap();
        let error = boundary
            .seal(&opened.round, &[], Some("plain"))
            .unwrap_err();
        assert!(matches!(error, SealError::Binding(_)));
        let expected = format!("the request cannot be bound: {text}");
        assert_eq!(error.to_string(), expected);
    }
    assert!(boundary.open(empty_version, Token::Text("junk")).is_err());
    assert!(boundary.open(anonymous, Token::Text("junk")).is_err());
}

#[test]
fn a_round_that_is_no_request_seals_nothing() {
    let boundary = boundary();
    let sealed = |message: Value| {
        let (_, round) = opened(&boundary, message, ALICE);
        boundary.seal(&round, &[], Some("plain"))
    };
    assert!(matches!(sealed(json!([])), Err(SealError::NoRequest)));
    let listed = sealed(request("tools/list"));
    assert!(matches!(listed, Err(SealError::Uncovered)));
}

#[test]
fn what_cannot_be_sealed_says_so() {
    let boundary = boundary().max_rounds(1);
    let message = request("tools/call");
    let first = boundary
        .open(typed_request(&message), Token::Absent)
        .unwrap();
    let seal = |round: &Round, questions: &[Question<'_>], plain: Option<&str>| {
        boundary
            .seal(round, questions, plain)
            .map_err(|error| error.to_string())
    };
    let nothing = "the result is input_required with neither inputRequests nor requestState";
    assert_eq!(seal(&first.round, &[], None).unwrap_err(), nothing);
    let many = vec![Question::new("n", QuestionKind::Roots); 257];
    let too_many = "inputRequests has 257 entries; the maximum is 256";
    assert_eq!(seal(&first.round, &many, None).unwrap_err(), too_many);
    let token = seal(&first.round, &[], Some("plain")).unwrap();
    let second = boundary
        .open(typed_request(&message), Token::Text(&token))
        .unwrap();
    let rounds = "the flow has reached max_rounds, 1";
    assert_eq!(seal(&second.round, &[], Some("plain")).unwrap_err(), rounds);
}

#[test]
fn the_version_is_that_of_the_boundary_where_the_sender_gives_none() {
    let message = request("tools/call");
    let params = &message["params"];
    let boundary = boundary();
    let token = ask(&boundary, &message, ALICE, "asked");
    let opens = |boundary: &Boundary<_>, sender: Sender<'_>| {
        let incoming = Incoming::new("tools/call", params, sender);
        boundary.open(incoming, Token::Text(&token)).is_ok()
    };
    let alice = Sender::from(ALICE);
    let given = boundary.clone().version(VERSION);
    assert!(opens(&given, alice.clone()));
    assert!(!opens(&given, alice.clone().version("2025-11-25")));
    assert!(!opens(&given, alice.clone().no_version()));
    let older = boundary.clone().version("2025-11-25");
    assert!(!opens(&older, alice.clone()));
    assert!(opens(&older, alice.clone().version(VERSION)));
    assert!(!opens(&boundary, alice));
}

#[test]
fn three_methods_are_covered() {
    let boundary = boundary();
    assert!(METHODS.iter().all(|method| boundary.covers(method)));
    for method in ["tools/list", "Tools/call", "tools/call ", ""] {
        assert!(!boundary.covers(method));
    }
}

#[test]
fn it_can_be_shared_and_prints_nothing_secret() {
    fn is_shared<T: Clone + std::fmt::Debug + Send + Sync + 'static>(value: &T) -> String {
        format!("{value:?}")
    }
    let sealer = request_state_core::Sealer::new("billing", std::sync::Arc::new(Ledger::default()));
    let boundary = Boundary::new(sealer.unwrap());
    assert!(is_shared(&boundary).contains("billing"));
    let message = request("tools/call");
    let token = ask(&boundary, &message, ALICE, "TOP-SECRET");
    let opened = boundary
        .open(typed_request(&message), Token::Text(&token))
        .unwrap();
    assert_eq!(opened.state.as_deref(), Some("TOP-SECRET"));
    let incoming = Incoming::from(typed_request(&message));
    let shown = is_shared(&opened)
        + &is_shared(&opened.round)
        + &format!("{incoming:?} {:?}", Token::Text(&token))
        + &format!("{:?}", Principal::Named("user:alice".into()))
        + &format!("{:?}", Sender::from(ALICE));
    for secret in ["TOP-SECRET", "alice", "amount", token.as_str()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_refusal_is_an_error_that_tells_nothing() {
    fn is_error<T: std::error::Error + Clone + Send + Sync + 'static>(error: T) -> String {
        error.to_string()
    }
    let mut message = with_state(&request("tools/call"), "junk");
    let refusal = boundary().open_request(&mut message, ALICE).unwrap_err();
    assert_eq!(is_error(refusal), OpenError::MESSAGE);
}
