//! What a state is bound to, what cannot be bound, and what has expired.

use std::time::Duration;

use request_state_core::{Binding, Boundary, Request, Sealer};
use serde_json::{Value, json};

use crate::kit::*;

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
    let binding = Binding::new(Request {
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
