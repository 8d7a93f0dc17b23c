//! For messages of any shape: no state reaches a handler unopened, no answer that nobody asked for, and
//! no state leaves unsealed.

use proptest::prelude::*;
use request_state_core::Boundary;
use serde_json::{Map, Value, json};

use crate::kit::*;

/// What handlers write in plain, in every test of this file.
const PLAIN: &str = "PLAIN-STATE";

/// Any JSON, made of the words that the boundary looks for.
fn value() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("tools/call"),
        Just("requestState"),
        Just("input_required"),
        Just("elicitation/create"),
        Just("ledger.0"),
        Just("ledger.1"),
        Just("junk"),
        Just(VERSION),
    ];
    let key = prop_oneof![
        Just("method"),
        Just("params"),
        Just("id"),
        Just("requestState"),
        Just("inputRequests"),
        Just("inputResponses"),
        Just("confirm"),
        Just("result"),
        Just("resultType"),
        Just("_meta"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, move |inner| {
        let member = (key.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            proptest::collection::vec(member, 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// A message that is mostly a request of the three methods, with parts that are anything.
fn message() -> impl Strategy<Value = Value> {
    let method = prop_oneof![
        8 => proptest::sample::select(&METHODS[..]).prop_map(Value::from),
        1 => value(),
    ];
    let id = prop_oneof![6 => Just(json!(7)), 1 => value()];
    let state = prop_oneof![
        3 => Just(json!("ledger.0")),
        2 => (0..4).prop_map(|number| json!(format!("ledger.{number}"))),
        1 => value(),
    ];
    let meta = prop_oneof![
        6 => Just(json!({"io.modelcontextprotocol/protocolVersion": VERSION})),
        1 => value(),
    ];
    let name = prop_oneof![6 => Just(json!("transfer")), 1 => value()];
    let answers = prop_oneof![
        2 => Just(json!({"confirm": {"action": "accept"}})),
        1 => value(),
    ];
    (
        method,
        id,
        state,
        meta,
        name,
        answers,
        [(); 4].map(|()| proptest::bool::weighted(0.85)),
    )
        .prop_map(
            |(
                method,
                id,
                state,
                meta,
                name,
                answers,
                [has_id, has_state, has_meta, has_answers],
            )| {
                let arguments = json!({"amount": 10});
                let mut message = json!({
                    "jsonrpc": "2.0",
                    "method": method,
                    "params": {"name": name, "arguments": arguments},
                });
                for (has, pointer, member, value) in [
                    (has_id, "", "id", id),
                    (has_state, "/params", "requestState", state),
                    (has_meta, "/params", "_meta", meta),
                    (has_answers, "/params", "inputResponses", answers),
                ] {
                    if has {
                        message.pointer_mut(pointer).unwrap()[member] = value;
                    }
                }
                message
            },
        )
}

fn anything() -> impl Strategy<Value = Value> {
    let batch = |inner: BoxedStrategy<Value>| {
        proptest::collection::vec(inner, 0..4)
            .prop_map(Value::from)
            .boxed()
    };
    let one = message().boxed();
    prop_oneof![
        6 => one.clone(),
        2 => batch(one.clone()),
        1 => batch(batch(one)),
        1 => value(),
    ]
}

/// What a handler would take for the state of a request: in the message itself and, should the
/// framework take it for a batch, in each element.
fn states(seen: &Value) -> Vec<Value> {
    members(seen, "requestState")
}

/// A member of the params, where it is not null.
fn members(seen: &Value, name: &str) -> Vec<Value> {
    match seen {
        Value::Array(items) => items.iter().flat_map(|item| members(item, name)).collect(),
        _ if METHODS.iter().any(|method| seen["method"] == *method) => {
            let state = &seen["params"][name];
            Vec::from_iter((!state.is_null()).then(|| state.clone()))
        }
        _ => Vec::new(),
    }
}

/// A boundary whose ledger has one token for each of the three methods, and one that is Bob's.
fn boundary_with_tokens(restart: bool) -> Boundary<Ledger> {
    let boundary = boundary().version(VERSION).restart_expired(restart);
    for method in METHODS {
        ask(&boundary, &request(method), ALICE, PLAIN);
    }
    ask(
        &boundary,
        &request("tools/call"),
        Some("user:bob"),
        "STATE-OF-BOB",
    );
    boundary
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_state_reaches_a_handler_unopened(message in anything(), restart in any::<bool>()) {
        let boundary = boundary_with_tokens(restart);
        let mut seen = message.clone();
        let opened = boundary.open_request(&mut seen, ALICE);
        // None of the tokens asked anything.
        prop_assert!(members(&seen, "inputResponses").is_empty());
        if opened.is_ok() {
            let states = states(&seen);
            if states.is_empty() {
                return Ok(());
            }
            // It was opened: it is what a genuine token for this very request holds, and a batch is
            // never opened.
            prop_assert_eq!(&states, &[json!(PLAIN)]);
            let number = METHODS.iter().position(|method| message["method"] == *method).unwrap();
            let token = json!(format!("ledger.{number}"));
            prop_assert_eq!(&message["params"]["requestState"], &token);
            prop_assert_eq!(&message["params"]["name"], "transfer");
            prop_assert!(message["id"].is_number() || message["id"].is_string());
            // Nothing else has changed.
            let mut back = seen;
            back["params"]["requestState"] = token;
            let mut message = message;
            message["params"].as_object_mut().unwrap().remove("inputResponses");
            prop_assert_eq!(back, message);
        }
    }

    #[test]
    fn no_state_leaves_unsealed(
        message in anything(),
        state in prop_oneof![3 => Just(json!(PLAIN)), 1 => Just(json!([PLAIN]))],
        shape in 0..4,
        id in value(),
    ) {
        let boundary = boundary_with_tokens(false);
        let mut seen = message.clone();
        let Ok(round) = boundary.open_request(&mut seen, ALICE) else { return Ok(()) };
        let mut one = asks(state);
        one["id"] = id;
        let response = match shape {
            0 => json!([one]),
            1 => json!([[one.clone()], 1, one]),
            _ => one,
        };
        let seen = sealed(&boundary, &round, response);
        prop_assert!(!seen.to_string().contains(PLAIN), "{}", seen);
    }

    #[test]
    fn any_response_is_answered_and_any_state_in_it_is_sealed(response in value()) {
        let boundary = boundary();
        let (_, round) = opened(&boundary, request("tools/call"), ALICE);
        let seen = sealed(&boundary, &round, response.clone());
        let result = &response["result"];
        let is_ours = result["resultType"] == "input_required";
        if !response.is_array() {
            prop_assert_eq!(seen == response, !is_ours);
        }
    }
}

/// The law above is no use if its messages are all refused or all without a state.
#[test]
fn the_messages_are_of_every_kind() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let boundary = boundary_with_tokens(false);
    let (mut opened, mut refused, mut without) = (0, 0, 0);
    for _ in 0..2000 {
        let mut message = anything().new_tree(&mut runner).unwrap().current();
        match boundary.open_request(&mut message, ALICE) {
            Ok(_) if states(&message).is_empty() => without += 1,
            Ok(_) => opened += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        opened > 100 && refused > 200 && without > 200,
        "{opened} {refused} {without}"
    );
}
