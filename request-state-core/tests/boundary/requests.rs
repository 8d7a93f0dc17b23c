//! What a handler gets to see of a request.

use request_state_core::{Boundary, Sealer};
use serde_json::{Value, json};

use crate::kit::*;

#[test]
fn a_state_comes_back_as_the_handler_wrote_it() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        let (seen, round) = opened(&boundary, first.clone(), ALICE);
        assert_eq!(seen, first, "a request without a state is left alone");
        assert_eq!(
            (round.flow(), round.number(), round.asked()),
            (None, None, &[][..])
        );
        for plain in ["asked", "", "{\"step\":2}", "\u{0}\"\\é\u{10ffff}", "null"] {
            let (_, round) = opened(&boundary, first.clone(), ALICE);
            let asked = sealed(&boundary, &round, asks_for(&["confirm"], plain));
            let mut retry = with_state(&first, token_of(&asked));
            retry["params"]["inputResponses"] = json!({"confirm": accept()});
            let (seen, round) = opened(&boundary, retry.clone(), ALICE);
            retry["params"]["requestState"] = plain.into();
            assert_eq!(seen, retry, "nothing but the state has changed");
            // The next round is sealed under the same digest.
            let next = sealed(&boundary, &round, asks("next"));
            let next = with_state(&first, next["result"]["requestState"].clone());
            let (seen, _) = opened(&boundary, next, ALICE);
            assert_eq!(seen["params"]["requestState"], "next");
        }
    }
}

#[test]
fn another_user_request_server_or_version_is_refused() {
    let boundary = boundary().version(VERSION);
    let first = request("tools/call");
    let token = ask(&boundary, &first, ALICE, "asked");
    let retry = with_state(&first, token.clone());
    let changed = |pointer: &str, value: Value| {
        let mut message = retry.clone();
        *message.pointer_mut(pointer).unwrap() = value;
        message
    };
    let expected = refusal(7);
    for principal in [None, Some("user:bob"), Some("")] {
        assert_eq!(refused(&boundary, retry.clone(), principal), expected);
    }
    for message in [
        changed("/method", "prompts/get".into()),
        changed("/params/name", "transfer_abroad".into()),
        changed("/params/arguments/amount", 11.into()),
        changed(
            "/params/_meta/io.modelcontextprotocol~1protocolVersion",
            "2027-01-01".into(),
        ),
        changed("/params/requestState", token[1..].into()),
        changed("/params/requestState", "".into()),
        changed("/params/requestState", "asked".into()),
    ] {
        assert_eq!(
            refused(&boundary, message.clone(), ALICE),
            expected,
            "{message}"
        );
    }
    let elsewhere = Boundary::new(Sealer::new("shipping", Ledger::default()).unwrap());
    ask(&elsewhere, &first, ALICE, "asked");
    assert_eq!(
        refused(&elsewhere, changed("/params/name", "x".into()), ALICE),
        expected
    );
    // Reformatted, it is the same request.
    let reformatted = changed("/params/arguments/amount", json!(10.0));
    assert_eq!(
        passes(&boundary, reformatted, ALICE)["params"]["requestState"],
        "asked"
    );
}

#[test]
fn null_is_absent() {
    let boundary = boundary();
    for method in METHODS {
        let (seen, round) = opened(&boundary, with_state(&request(method), Value::Null), ALICE);
        assert_eq!(seen, request(method));
        assert_eq!(round.restarted_from(), None);
        assert_ne!(sealed(&boundary, &round, asks("asked")), asks("asked"));
    }
}

#[test]
fn what_is_not_a_string_is_refused() {
    let boundary = boundary();
    for method in METHODS {
        for state in [
            json!(0),
            json!(1.5),
            json!(true),
            json!([]),
            json!(["x"]),
            json!({}),
        ] {
            let message = with_state(&request(method), state);
            assert_eq!(refused(&boundary, message, ALICE), refusal(7));
        }
    }
}

#[test]
fn the_id_is_echoed() {
    let boundary = boundary();
    for id in [
        json!("a"),
        json!(""),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
    ] {
        let mut message = with_state(&request("tools/call"), "junk");
        message["id"] = id.clone();
        assert_eq!(refused(&boundary, message, ALICE), refusal(id));
    }
}

/// Null, and what is no id at all, could not be answered: the state is removed like a
/// notification's.
#[test]
fn without_an_id_the_state_is_removed_unopened() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        let token = ask(&boundary, &first, ALICE, "asked");
        for state in [
            json!(token),
            json!("junk"),
            json!(5),
            json!(null),
            json!({}),
        ] {
            for id in [None, Some(json!(null)), Some(json!(true)), Some(json!([7]))] {
                let answers = json!({"confirm": accept()});
                let message = with_answers(&first, answers);
                let (mut message, mut expected) =
                    (with_state(&message, state.clone()), first.clone());
                for message in [&mut message, &mut expected] {
                    match &id {
                        Some(id) => message["id"] = id.clone(),
                        None => drop(message.as_object_mut().unwrap().remove("id")),
                    }
                }
                let (seen, round) = opened(&boundary, message, ALICE);
                assert_eq!(seen, expected);
                // Should the handler answer all the same, no plain state leaves.
                assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
            }
        }
    }
}

#[test]
fn a_batch_with_a_state_is_refused_as_a_whole() {
    let boundary = boundary();
    for method in METHODS {
        let first = request(method);
        let token = ask(&boundary, &first, ALICE, "asked");
        for state in [json!(token), json!("junk"), json!(5), json!([])] {
            let retry = with_state(&first, state);
            for batch in [
                json!([retry]),
                json!([first, retry]),
                json!([retry, first]),
                json!([1, null, [first, [retry]]]),
            ] {
                assert_eq!(refused(&boundary, batch, ALICE), refusal(Value::Null));
            }
        }
    }
}

#[test]
fn other_batches_pass_and_what_has_no_id_loses_its_state() {
    let boundary = boundary();
    let first = request("tools/call");
    let mut notification = first.clone();
    notification.as_object_mut().unwrap().remove("id");
    let listing = with_state(&request("tools/list"), "junk");
    let batch = json!([
        first,
        with_state(&first, Value::Null),
        with_answers(&first, json!({"confirm": accept()})),
        with_answers(&with_state(&notification, "junk"), json!([5])),
        listing,
        [5, [with_state(&notification, 5)]],
        null,
    ]);
    let (seen, _) = opened(&boundary, batch, ALICE);
    let expected = json!([
        first,
        first,
        first,
        notification,
        listing,
        [5, [notification]],
        null
    ]);
    assert_eq!(seen, expected);
    let (seen, _) = opened(&boundary, json!([]), ALICE);
    assert_eq!(seen, json!([]));
}

#[test]
fn arrays_in_arrays_cost_no_stack() {
    let mut batch = with_state(&request("tools/call"), "junk");
    for _ in 0..100_000 {
        batch = Value::Array(vec![batch]);
    }
    let refused = boundary().open_request(&mut batch, ALICE);
    // Taken apart by hand: to drop it whole would recurse.
    while let Value::Array(mut items) = batch {
        batch = items.pop().unwrap();
    }
    assert_eq!(refused.unwrap_err().response(), refusal(Value::Null));
}

#[test]
fn other_messages_are_left_alone() {
    let boundary = boundary();
    for method in [
        "tools/list",
        "initialize",
        "completion/complete",
        "tasks/get",
        "tools/call ",
        "Tools/Call",
        "tools/call\0",
        "",
    ] {
        for state in [json!("junk"), json!(5), json!(null)] {
            let message = with_state(&request(method), state);
            let message = with_answers(&message, json!({"confirm": accept()}));
            let (seen, round) = opened(&boundary, message.clone(), ALICE);
            assert_eq!(seen, message);
            let task = asks_for(&["confirm"], Value::Null);
            assert_eq!(sealed(&boundary, &round, task.clone()), task);
            // No other method has states, and a plain one must not leave.
            assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
        }
    }
    for message in [
        json!(null),
        json!("tools/call"),
        json!({}),
        json!({"method": 5, "params": {"requestState": "junk"}}),
        json!({"method": ["tools/call"], "params": {"requestState": "junk"}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"requestState": "junk"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": null}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "requestState"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["requestState"]}),
    ] {
        let (seen, _) = opened(&boundary, message.clone(), ALICE);
        assert_eq!(seen, message);
    }
}

/// A framework may forgive it, so the boundary must not depend on it.
#[test]
fn a_message_that_is_not_quite_json_rpc_is_looked_into_all_the_same() {
    let boundary = boundary();
    let mut message = with_state(&request("tools/call"), "junk");
    message["jsonrpc"] = json!("1.0");
    message["more"] = json!({"state": "theirs"});
    assert_eq!(refused(&boundary, message.clone(), ALICE), refusal(7));
    message.as_object_mut().unwrap().remove("jsonrpc");
    assert_eq!(refused(&boundary, message, ALICE), refusal(7));
}
