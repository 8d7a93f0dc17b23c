//! What a state is bound to, and what cannot be bound.

use std::sync::Arc;

use request_state_core::{Binding, Boundary, Principal, Request, Sealer, Sender, Unidentified};
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
    let boundary = boundary();
    let token = ask(&boundary, &first, ALICE, "asked");
    let retry = with_state(&first, token);

    // The message names none.
    assert_eq!(refused(&boundary, set(&retry, None), ALICE), refusal(7));
    let given = boundary.version(VERSION);
    passes(&given, set(&retry, None), ALICE);
    let older = given.version("2025-11-25");
    assert_eq!(refused(&older, set(&retry, None), ALICE), refusal(7));
    let older_token = ask(&older, &unnamed, ALICE, "asked");
    // The transport names one for this message: it goes before that of the boundary.
    let newer = Sender::from(ALICE).version(VERSION);
    passes(&older, set(&retry, None), newer.clone());
    assert_eq!(
        refused(
            &older,
            with_state(&unnamed, older_token.clone()),
            newer.clone()
        ),
        refusal(7)
    );
    passes(&older, with_state(&unnamed, older_token.clone()), ALICE);
    // The transport says that there is none: that of the boundary does not stand in for it.
    let none = Sender::from(ALICE).no_version();
    let message = with_state(&unnamed, older_token.clone());
    assert_eq!(refused(&older, message, none), refusal(7));
    // `_meta` may be absent or null altogether.
    for meta in [Some(Value::Null), None] {
        let mut message = with_state(&first, older_token.clone());
        let params = message["params"].as_object_mut().unwrap();
        match meta {
            Some(meta) => params.insert("_meta".into(), meta),
            None => params.remove("_meta"),
        };
        passes(&older, message, ALICE);
    }
    // It names one: what is given is not asked.
    passes(&older, retry.clone(), ALICE);
    passes(
        &older,
        retry.clone(),
        Sender::from(ALICE).version("2025-11-25"),
    );
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
fn who_must_have_a_principal_is_not_anonymous_by_an_oversight() {
    let boundary = boundary().require_principal(true);
    let first = request("tools/call");
    let retry = with_state(&first, ask(&boundary, &first, ALICE, "asked"));
    passes(&boundary, retry.clone(), ALICE);
    assert_eq!(refused(&boundary, retry, None), refusal(7));
    let (seen, round) = opened(&boundary, first.clone(), None);
    assert_eq!(seen, first);
    assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
}

#[test]
fn who_could_not_be_identified_is_not_anonymous_either() {
    let boundary = boundary();
    let first = request("tools/call");
    let unknown = Sender::unidentified(Unidentified::new("no session"));
    for principal in [None, ALICE] {
        let retry = with_state(&first, ask(&boundary, &first, principal, "asked"));
        assert_eq!(refused(&boundary, retry, unknown.clone()), refusal(7));
    }
    let (seen, round) = opened(&boundary, first.clone(), unknown);
    assert_eq!(seen, first);
    assert_eq!(sealed(&boundary, &round, asks("plain")), internal_error(7));
}

#[test]
fn a_principal_is_its_name() {
    let boundary = boundary();
    let first = request("tools/call");
    let retry = with_state(&first, ask(&boundary, &first, ALICE, "asked"));
    passes(
        &boundary,
        retry.clone(),
        &Principal::Named("user:alice".into()),
    );
    assert_eq!(refused(&boundary, retry, &Principal::Anonymous), refusal(7));
}

#[test]
fn an_outage_is_no_refusal() {
    let boundary = Boundary::new(Sealer::new("billing", Down).unwrap());
    let message = with_state(&request("tools/call"), "k.AAAA");
    assert_eq!(refused(&boundary, message, ALICE), internal_error(7));
}

#[test]
fn tokens_of_a_sealer_and_of_a_boundary_are_not_the_same() {
    let codec = Arc::new(Ledger::default());
    let sealer = Sealer::new("billing", codec).unwrap();
    let first = request("tools/call");
    let binding = Binding::new(Request {
        version: VERSION,
        method: "tools/call",
        params: &first["params"],
        principal: ALICE,
    })
    .unwrap();
    let alone = sealer.seal("asked", &binding).unwrap();
    let boundary = Boundary::new(sealer.clone());
    assert_eq!(
        refused(&boundary, with_state(&first, alone), ALICE),
        refusal(7)
    );
    let token = ask(&boundary, &first, ALICE, "asked");
    assert!(sealer.open::<serde_json::Value>(&token, &binding).is_err());
    passes(&boundary, with_state(&first, token), ALICE);
}

#[test]
fn arguments_that_are_absent_null_or_empty_are_one_request() {
    let boundary = boundary();
    let with = |arguments: Option<Value>| {
        let mut message = request("tools/call");
        let params = message["params"].as_object_mut().unwrap();
        match arguments {
            Some(arguments) => params.insert("arguments".into(), arguments),
            None => params.remove("arguments"),
        };
        message
    };
    let same = [with(None), with(Some(Value::Null)), with(Some(json!({})))];
    for asked in &same {
        let token = ask(&boundary, asked, ALICE, "asked");
        for retry in &same {
            passes(&boundary, with_state(retry, token.clone()), ALICE);
        }
        for other in [
            json!([]),
            json!(""),
            json!(false),
            json!({"a": null}),
            json!({"": {}}),
        ] {
            let retry = with_state(&with(Some(other)), token.clone());
            assert_eq!(refused(&boundary, retry, ALICE), refusal(7));
        }
    }
}
