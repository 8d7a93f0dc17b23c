//! The face for frameworks, and what the types promise.

use std::time::Duration;

use request_state_core::{Boundary, OpenError, Request, SealError};
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
fn both_faces_open_what_the_other_sealed() {
    let boundary = boundary();
    let message = request("prompts/get");
    let first = boundary.open(typed_request(&message), None).unwrap();
    assert_eq!(first.state, None);
    let token = boundary.seal(&first.round, "asked").unwrap();
    let (seen, round) = opened(&boundary, with_state(&message, token.clone()), ALICE);
    assert_eq!(seen["params"]["requestState"], "asked");

    let next = sealed(&boundary, &round, asks("next"));
    let next = next["result"]["requestState"].as_str();
    let second = boundary.open(typed_request(&message), next).unwrap();
    assert_eq!(second.state.as_deref(), Some("next"));
    assert!(!second.round.restarted());
}

#[test]
fn it_says_as_much_as_the_sealer_discloses() {
    let message = request("tools/call");
    let bob = Request {
        principal: Some("user:bob"),
        ..typed_request(&message)
    };
    for (boundary, error) in [
        (boundary(), OpenError::Invalid),
        (typed(), OpenError::Mismatch),
    ] {
        let token = ask(&boundary, &message, ALICE, "asked");
        assert_eq!(boundary.open(bob, Some(&token)).unwrap_err(), error);
    }
}

#[test]
fn a_request_that_cannot_be_bound_fails_where_it_must() {
    let boundary = boundary();
    let message = request("tools/call");
    let unbound = Request {
        version: "",
        ..typed_request(&message)
    };
    assert!(boundary.open(unbound, Some("junk")).is_err());
    let opened = boundary.open(unbound, None).unwrap();
    let error = boundary.seal(&opened.round, "plain").unwrap_err();
    assert!(matches!(error, SealError::Binding(_)));
    assert_eq!(
        error.to_string(),
        "the request cannot be bound: the request's version is empty"
    );
}

#[test]
fn a_round_that_is_no_request_seals_nothing() {
    let boundary = boundary();
    for message in [json!([]), request("tools/list")] {
        let (_, round) = opened(&boundary, message, ALICE);
        assert!(matches!(
            boundary.seal(&round, "plain"),
            Err(SealError::NoRequest)
        ));
    }
}

#[test]
fn starting_over_is_said() {
    let sealer = sealer();
    let message = request("tools/call");
    let late = token(&sealer, &message, ALICE, "asked", Duration::from_secs(301));
    let boundary = Boundary::new(sealer).restart_expired(true);
    let opened = boundary.open(typed_request(&message), Some(&late)).unwrap();
    assert_eq!(opened.state, None);
    assert!(opened.round.restarted());
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
        .open(typed_request(&message), Some(&token))
        .unwrap();
    assert_eq!(opened.state.as_deref(), Some("TOP-SECRET"));
    let shown = is_shared(&opened) + &is_shared(&opened.round);
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
