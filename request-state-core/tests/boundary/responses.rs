//! What a client gets to see of a response.

use request_state_core::{Boundary, Round, SealError, Sealer};
use serde_json::{Value, json};

use crate::kit::*;

#[test]
fn what_asks_for_no_input_is_left_alone() {
    let boundary = boundary();
    let result = |result: Value| json!({"jsonrpc": "2.0", "id": 7, "result": result});
    for method in METHODS {
        let (_, round) = opened(&boundary, request(method), ALICE);
        for response in [
            result(json!({"resultType": "complete", "requestState": "theirs"})),
            result(json!({"resultType": "task", "requestState": "theirs"})),
            result(json!({"requestState": "theirs"})),
            result(json!({"resultType": ["input_required"], "requestState": "theirs"})),
            result(json!({"nested": {"resultType": "input_required", "requestState": "x"}})),
            result(json!("input_required")),
            json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "requestState"}}),
            json!(null),
            json!([]),
            json!([
                1,
                [result(
                    json!({"resultType": "complete", "requestState": "theirs"})
                )]
            ]),
            json!("input_required"),
        ] {
            let text = response.to_string();
            assert_eq!(sealed(&boundary, &round, response).to_string(), text);
        }
    }
}

#[test]
fn a_question_without_a_state_leaves_with_a_token() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        for state in [None, Some(Value::Null)] {
            let (_, round) = opened(&boundary, first.clone(), ALICE);
            let mut response = asks_for(&["confirm"], Value::Null);
            if state.is_none() {
                response["result"]
                    .as_object_mut()
                    .unwrap()
                    .remove("requestState");
            }
            let token = token_of(&sealed(&boundary, &round, response));
            let (seen, round) = opened(&boundary, with_state(&first, token), ALICE);
            assert_eq!(seen, first, "the handler sees no state");
            assert!(round.is_asked("confirm"));
        }
    }
}

#[test]
fn neither_questions_nor_a_state_is_an_error() {
    let boundary = boundary();
    let (_, round) = opened(&boundary, request("tools/call"), ALICE);
    for result in [
        json!({"resultType": "input_required"}),
        json!({"resultType": "input_required", "requestState": null}),
        json!({"resultType": "input_required", "inputRequests": {}}),
        json!({"resultType": "input_required", "inputRequests": null, "requestState": null}),
    ] {
        let response = json!({"jsonrpc": "2.0", "id": 7, "result": result});
        assert_eq!(
            sealed(&boundary, &round, response),
            internal_error(7),
            "{result}"
        );
    }
}

#[test]
fn questions_that_mcp_does_not_know_are_an_error() {
    let boundary = boundary();
    let (_, round) = opened(&boundary, request("tools/call"), ALICE);
    for requests in [
        json!([]),
        json!("confirm"),
        json!(5),
        json!({"confirm": null}),
        json!({"confirm": {}}),
        json!({"confirm": {"method": "ping"}}),
        json!({"confirm": {"method": "elicitation/create", "params": {"mode": "voice"}}}),
    ] {
        let mut response = asks("plain");
        response["result"]["inputRequests"] = requests.clone();
        assert_eq!(
            sealed(&boundary, &round, response),
            internal_error(7),
            "{requests}"
        );
    }
}

#[test]
fn as_many_questions_as_fit_and_no_more() {
    let boundary = boundary();
    let first = request("tools/call");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    let names: Vec<_> = (0..257).map(|number| number.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let token = token_of(&sealed(
        &boundary,
        &round,
        asks_for(&names[..256], Value::Null),
    ));
    let (_, next) = opened(&boundary, with_state(&first, token), ALICE);
    assert_eq!(next.asked().len(), 256);
    let long = "n".repeat(16 * 1024);
    for names in [&names[..], &[&long, "x"]] {
        let response = asks_for(names, "plain");
        assert_eq!(sealed(&boundary, &round, response), internal_error(7));
    }
    assert_ne!(
        sealed(&boundary, &round, asks_for(&[&long], "x")),
        internal_error(7)
    );
}

/// For frameworks that have no message around a result.
#[test]
fn a_result_alone_is_sealed_too() {
    let boundary = boundary();
    let first = request("tools/call");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    let mut result = asks_for(&["confirm"], "asked")["result"].take();
    boundary.seal_result(&round, &mut result).unwrap();
    let token = result["requestState"].take();
    assert_eq!(
        result,
        asks_for(&["confirm"], Value::Null)["result"],
        "all else stays"
    );
    let (seen, round) = opened(&boundary, with_state(&first, token), ALICE);
    assert_eq!(seen["params"]["requestState"], "asked");
    assert!(round.is_asked("confirm"));

    let mut complete = json!({"resultType": "complete", "requestState": "theirs"});
    boundary.seal_result(&round, &mut complete).unwrap();
    assert_eq!(complete["requestState"], "theirs");

    let mut nothing = json!({"resultType": "input_required"});
    let error = boundary.seal_result(&round, &mut nothing).unwrap_err();
    assert!(matches!(error, SealError::NothingAsked), "{error:?}");
}

#[test]
fn a_result_of_another_method_has_no_state() {
    let boundary = boundary();
    let round = Round::uncovered();
    let mut task = asks_for(&["confirm"], Value::Null)["result"].take();
    let before = task.clone();
    boundary.seal_result(&round, &mut task).unwrap();
    assert_eq!(task, before);
    for state in [json!("plain"), json!(5)] {
        let mut result = asks(state)["result"].take();
        assert!(boundary.seal_result(&round, &mut result).is_err());
    }
}

#[test]
fn everything_but_the_state_stays() {
    let boundary = boundary();
    let first = request("tools/call");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    let mut response = asks("asked");
    response["result"]["inputRequests"] = json!({"confirm": {"method": "elicitation/create"}});
    response["result"]["_meta"] = json!({"requestState": "theirs"});
    let mut seen = sealed(&boundary, &round, response.clone());
    let token = seen["result"]["requestState"].take();
    response["result"]["requestState"] = Value::Null;
    assert_eq!(seen, response);
    assert_eq!(
        passes(&boundary, with_state(&first, token), ALICE)["params"]["requestState"],
        "asked"
    );
}

#[test]
fn a_round_seals_as_often_as_it_is_asked_each_time_anew() {
    let boundary = boundary();
    let (_, round) = opened(&boundary, request("tools/call"), ALICE);
    let one = sealed(&boundary, &round, asks("asked"));
    let other = sealed(&boundary, &round.clone(), asks("asked"));
    assert_ne!(one, other);
}

#[test]
fn a_state_that_is_not_a_string_becomes_an_error() {
    let boundary = boundary();
    for method in METHODS {
        let (_, round) = opened(&boundary, request(method), ALICE);
        for state in [
            json!(5),
            json!(true),
            json!(["secret"]),
            json!({"secret": 1}),
        ] {
            assert_eq!(sealed(&boundary, &round, asks(state)), internal_error(7));
        }
    }
}

#[test]
fn the_error_has_the_id_of_the_response() {
    let boundary = boundary();
    let (_, round) = opened(&boundary, request("tools/call"), ALICE);
    for id in [json!("a"), json!(9), json!(null)] {
        let mut response = asks(5);
        response["id"] = id.clone();
        assert_eq!(sealed(&boundary, &round, response), internal_error(id));
    }
    let mut response = asks(5);
    response.as_object_mut().unwrap().remove("id");
    assert_eq!(
        sealed(&boundary, &round, response),
        internal_error(Value::Null)
    );
}

#[test]
fn a_seal_that_fails_becomes_an_error_without_detail() {
    let down = Boundary::new(Sealer::new("billing", Down).unwrap());
    let (_, round) = opened(&down, request("tools/call"), ALICE);
    assert_eq!(sealed(&down, &round, asks("asked")), internal_error(7));

    let small = Sealer::builder("billing", Down).max_token_len(64).build();
    let small = Boundary::new(small.unwrap());
    let (_, round) = opened(&small, request("tools/call"), ALICE);
    assert_eq!(
        sealed(&small, &round, asks("x".repeat(100))),
        internal_error(7)
    );

    // An empty principal is a mistake, not an anonymous user.
    let boundary = boundary();
    let (_, round) = opened(&boundary, request("tools/call"), Some(""));
    assert_eq!(sealed(&boundary, &round, asks("asked")), internal_error(7));
}

#[test]
fn no_plain_state_leaves_in_the_response_to_a_batch() {
    let boundary = boundary();
    let (_, batch) = opened(&boundary, json!([request("tools/call")]), ALICE);
    let (_, single) = opened(&boundary, request("tools/call"), ALICE);
    let complete = json!({"jsonrpc": "2.0", "id": 8, "result": {"resultType": "complete"}});
    for round in [batch.clone(), single] {
        let response = json!([complete, asks("plain"), [asks("plain"), [asks(5)]]]);
        let expected = json!([
            complete,
            internal_error(7),
            [internal_error(7), [internal_error(7)]]
        ]);
        assert_eq!(sealed(&boundary, &round, response), expected);
    }
    assert_eq!(sealed(&boundary, &batch, asks("plain")), internal_error(7));
}
