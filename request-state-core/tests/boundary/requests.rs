//! What a handler gets to see of a request.

use std::time::Duration;

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
        assert!(!round.restarted());
        for plain in ["asked", "", "{\"step\":2}", "\u{0}\"\\é\u{10ffff}", "null"] {
            let token = ask(&boundary, &first, ALICE, plain);
            let mut retry = with_state(&first, token);
            retry["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
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
        opened(&boundary, reformatted, ALICE).0["params"]["requestState"],
        "asked"
    );
}

#[test]
fn null_is_absent() {
    let boundary = boundary();
    for method in METHODS {
        let (seen, round) = opened(&boundary, with_state(&request(method), Value::Null), ALICE);
        assert_eq!(seen, request(method));
        assert!(!round.restarted());
        assert_ne!(sealed(&boundary, &round, asks("asked")), asks("asked"));
    }
}

#[test]
fn what_is_not_a_string_is_refused() {
    let boundary = boundary().restart_expired(true);
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
                let (mut message, mut expected) =
                    (with_state(&first, state.clone()), first.clone());
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
    let boundary = boundary().restart_expired(true);
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
        with_state(&notification, "junk"),
        listing,
        [5, [with_state(&notification, 5)]],
        null,
    ]);
    let (seen, _) = opened(&boundary, batch, ALICE);
    let expected = json!([
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
            let (seen, round) = opened(&boundary, message.clone(), ALICE);
            assert_eq!(seen, message);
            assert_eq!(sealed(&boundary, &round, asks("theirs")), asks("theirs"));
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
    message["more"] = json!({"requestState": "theirs"});
    assert_eq!(refused(&boundary, message.clone(), ALICE), refusal(7));
    message.as_object_mut().unwrap().remove("jsonrpc");
    assert_eq!(refused(&boundary, message, ALICE), refusal(7));
}

#[test]
fn the_version_comes_from_the_message_or_is_given() {
    let set = |message: &Value, version: Option<Value>| {
        let mut message = message.clone();
        let meta = message
            .pointer_mut("/params/_meta")
            .unwrap()
            .as_object_mut()
            .unwrap();
        match version {
            Some(version) => meta.insert("io.modelcontextprotocol/protocolVersion".into(), version),
            None => meta.remove("io.modelcontextprotocol/protocolVersion"),
        };
        message
    };
    let first = request("tools/call");
    let unnamed = set(&first, None);
    let sealer = sealer();
    let token = token(&sealer, &first, ALICE, "asked", Duration::ZERO);
    let boundary = Boundary::new(sealer);
    let retry = with_state(&first, token);

    // The message names none.
    assert_eq!(refused(&boundary, set(&retry, None), ALICE), refusal(7));
    let given = boundary.version(VERSION);
    opened(&given, set(&retry, None), ALICE);
    let older = given.version("2025-11-25");
    assert_eq!(refused(&older, set(&retry, None), ALICE), refusal(7));
    let older_token = ask(&older, &unnamed, ALICE, "asked");
    opened(&older, with_state(&unnamed, older_token.clone()), ALICE);
    // `_meta` may be absent or null altogether.
    for meta in [Some(Value::Null), None] {
        let mut message = with_state(&first, older_token.clone());
        let params = message["params"].as_object_mut().unwrap();
        match meta {
            Some(meta) => params.insert("_meta".into(), meta),
            None => params.remove("_meta"),
        };
        opened(&older, message, ALICE);
    }
    // It names one: what is given is not asked.
    opened(&older, retry.clone(), ALICE);
    assert_eq!(
        refused(&older, with_state(&first, older_token.clone()), ALICE),
        refusal(7)
    );
    // It names something that is none: nothing stands in for it.
    for version in [json!(null), json!(20260728), json!([VERSION]), json!("")] {
        let message = set(&retry, Some(version.clone()));
        assert_eq!(refused(&older, message, ALICE), refusal(7), "{version}");
        let (_, round) = opened(&older, set(&first, Some(version)), ALICE);
        assert_eq!(sealed(&older, &round, asks("plain")), internal_error(7));
    }
    for meta in [json!(5), json!("x"), json!([])] {
        let mut message = with_state(&first, older_token.clone());
        message["params"]["_meta"] = meta;
        assert_eq!(refused(&older, message, ALICE), refusal(7));
    }
}

#[test]
fn params_that_cannot_be_digested_pass_only_without_a_state() {
    let boundary = boundary();
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let mut undigestible = vec![deep];
    // Only a serde_json that keeps numbers as text can hold this one.
    undigestible.extend(serde_json::from_str::<Value>("1e99999999999999999999"));
    for arguments in undigestible {
        let mut message = request("tools/call");
        message["params"]["arguments"] = arguments;
        assert_eq!(
            refused(&boundary, with_state(&message, "junk"), ALICE),
            refusal(7)
        );
        let (seen, round) = opened(&boundary, message.clone(), ALICE);
        assert_eq!(seen, message);
        assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
        let complete = json!({"id": 7, "result": {"resultType": "complete"}});
        assert_eq!(sealed(&boundary, &round, complete.clone()), complete);
    }
}

#[test]
fn an_expired_state_starts_over_where_the_server_asks_for_it() {
    for method in METHODS {
        let first = request(method);
        let sealer = sealer();
        let late = token(&sealer, &first, ALICE, "asked", Duration::from_secs(301));
        let mut retry = with_state(&first, late.clone());
        retry["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
        let boundary = Boundary::new(sealer);
        assert_eq!(
            refused(&boundary, retry.clone(), ALICE),
            refusal(7),
            "off by default"
        );

        let boundary = boundary.restart_expired(true);
        let (seen, round) = opened(&boundary, retry.clone(), ALICE);
        assert_eq!(seen, first, "neither the state nor the answers");
        assert!(round.restarted());
        let again = sealed(&boundary, &round, asks("again"));
        let again = with_state(&first, again["result"]["requestState"].clone());
        assert_eq!(
            opened(&boundary, again, ALICE).0["params"]["requestState"],
            "again"
        );

        // Expired and something else: refused.
        assert_eq!(
            refused(&boundary, retry.clone(), Some("user:bob")),
            refusal(7)
        );
        assert_eq!(refused(&boundary, retry.clone(), None), refusal(7));
        let mut other = retry.clone();
        other["params"]["arguments"]["amount"] = json!(11);
        assert_eq!(refused(&boundary, other, ALICE), refusal(7));
        assert_eq!(
            refused(&boundary, json!([retry]), ALICE),
            refusal(Value::Null)
        );
        let junk = with_state(&first, format!("{late}0"));
        assert_eq!(refused(&boundary, junk, ALICE), refusal(7));
    }
}

#[test]
fn a_request_that_does_not_start_over_keeps_its_answers() {
    let boundary = boundary().restart_expired(true);
    let mut message = request("tools/call");
    message["params"]["inputResponses"] = json!({"confirm": {}});
    let (seen, _) = opened(&boundary, with_state(&message, Value::Null), ALICE);
    assert_eq!(seen, message);
}

#[test]
fn a_codec_that_fails_refuses() {
    let boundary = Boundary::new(Sealer::new("billing", Down).unwrap()).restart_expired(true);
    let message = with_state(&request("tools/call"), "k.AAAA");
    assert_eq!(refused(&boundary, message, ALICE), refusal(7));
}

#[test]
fn a_state_that_is_not_text_is_refused() {
    let sealer = sealer();
    let first = request("tools/call");
    let binding = request_state_core::Binding::new(request_state_core::Request {
        version: VERSION,
        method: "tools/call",
        params: &first["params"],
        principal: ALICE,
    });
    let token = sealer.seal(&json!({"step": 2}), &binding.unwrap()).unwrap();
    let boundary = Boundary::new(sealer);
    assert_eq!(
        refused(&boundary, with_state(&first, token), ALICE),
        refusal(7)
    );
}

#[test]
fn anonymous_is_nobody_and_lives_shorter() {
    let sealer = sealer();
    let first = request("tools/call");
    let fresh = token(&sealer, &first, None, "asked", Duration::from_secs(30));
    let late = token(&sealer, &first, None, "asked", Duration::from_secs(61));
    let boundary = Boundary::new(sealer);
    opened(&boundary, with_state(&first, fresh.clone()), None);
    assert_eq!(
        refused(&boundary, with_state(&first, late), None),
        refusal(7)
    );
    assert_eq!(
        refused(&boundary, with_state(&first, fresh), ALICE),
        refusal(7)
    );
}
