//! Ways around the typed requests of rmcp: what it takes for something else reaches other handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use request_state::Boundary;
use request_state_rmcp::SealedService;
use serde_json::{Value, json};

use crate::kit::*;

#[tokio::test]
async fn a_state_that_is_no_string_is_refused() {
    for method in METHODS {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        for state in [
            json!(5),
            json!(true),
            json!(["x"]),
            json!({"step": 2}),
            json!(1.5),
        ] {
            let message = retry(&request(method), state);
            assert_eq!(raw.ask(&message).await, refusal(), "{message}");
        }
        assert_eq!(wizard.seen(), [] as [Value; 0]);
    }
}

/// Params that are not what rmcp expects make a custom request, whose handler is another one.
#[tokio::test]
async fn a_custom_request_of_the_three_methods_is_opened_or_refused() {
    for method in METHODS {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let mut odd = request(method);
        odd["params"]["inputResponses"] = json!({"confirm": {}});
        odd["params"]["name"] = json!(["transfer"]);
        odd["params"]["uri"] = json!(["transfer"]);
        let token = raw.token(&odd).await;
        assert_eq!(wizard.seen().len(), 1, "it is a custom request");

        let with = |state: &Value| {
            let mut message = odd.clone();
            message["params"]["requestState"] = state.clone();
            message
        };
        for state in [json!("junk"), json!(""), json!(PLAIN), json!(5), json!({})] {
            assert_eq!(raw.ask(&with(&state)).await, refusal(), "{state}");
        }
        let mut other = with(&json!(token));
        other["params"]["name"] = json!(["other"]);
        assert_eq!(raw.ask(&other).await, refusal());
        assert_eq!(wizard.seen(), [] as [Value; 0]);

        let answer = raw.ask(&with(&json!(token))).await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        let seen = wizard.seen();
        assert_eq!(seen[0]["custom"]["requestState"], PLAIN);

        raw.ask(&with(&Value::Null)).await;
        assert!(
            !wizard.seen()[0]["custom"]
                .as_object()
                .unwrap()
                .contains_key("requestState")
        );
    }
}

/// Neither for a typed request nor for a custom one is the version of the boundary a guess at what
/// the message meant to name.
#[tokio::test]
async fn a_version_that_is_no_string_is_not_guessed_at() {
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    for first in [request("tools/call"), odd] {
        let boundary = Boundary::new(sealer()).version("2026-07-28");
        let (server, wizard) = sealed_by(boundary, ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let token = raw.token(&first).await;
        wizard.seen();
        for version in [json!(20260728), json!(null), json!(["2026-07-28"])] {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": version});
            let mut again = retry(&first, token.clone());
            again["params"]["_meta"] = meta.clone();
            assert_eq!(raw.ask(&again).await, refusal(), "{again}");
            assert_eq!(wizard.seen(), [] as [Value; 0]);
            let mut asks = first.clone();
            asks["params"]["_meta"] = meta;
            assert_eq!(raw.ask(&asks).await, internal_error(), "{asks}");
            wizard.seen();
        }
    }
}

/// A session that has agreed on no version has none, whatever the boundary says.
#[tokio::test]
async fn a_session_without_a_version_asks_nothing() {
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    for first in [request("tools/call"), odd] {
        let boundary = Boundary::new(sealer()).version("2026-07-28");
        let (server, _) = sealed_by(boundary, ALICE);
        let mut raw = Raw::connect(server, None);
        assert_eq!(raw.ask(&first).await, internal_error(), "{first}");
    }
}

#[tokio::test]
async fn other_custom_requests_are_left_alone() {
    let (server, wizard) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    for method in ["tools/call ", "Tools/Call", "acme/call"] {
        let mut message = request("tools/call");
        message["method"] = json!(method);
        for state in [json!("theirs"), json!(5), json!(null)] {
            message["params"]["requestState"] = state;
            let answer = raw.ask(&message).await;
            if message["params"]["requestState"].is_null() {
                // It asks, which no other method may: the plain state must not leave.
                assert_eq!(answer, internal_error());
            } else {
                assert_eq!(answer["result"]["requestState"], PLAIN, "{answer}");
            }
            assert_eq!(wizard.seen(), [json!({"custom": message["params"]})]);
        }
    }
}

/// As the docs of `principal` say: once for each request of the three methods, also for a custom one.
#[tokio::test]
async fn who_asks_is_asked_once_and_only_where_a_state_may_be() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = SealedService::new(Wizard::default(), sealer()).principal(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(named(ALICE))
    });
    let mut raw = Raw::connect(server, MODERN);
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    for message in METHODS.map(request).into_iter().chain([odd]) {
        raw.token(&message).await;
        assert_eq!(asked.swap(0, Ordering::Relaxed), 1, "{message}");
    }
    for method in ["acme/call", "Tools/Call", "tools/list"] {
        let mut message = request("tools/call");
        message["method"] = json!(method);
        raw.ask(&message).await;
        assert_eq!(asked.load(Ordering::Relaxed), 0, "{method}");
    }
}

/// To rmcp, a request without an id is a notification.
#[tokio::test]
async fn a_notification_of_the_three_methods_loses_state_and_answers() {
    for method in METHODS {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let token = raw.token(&request(method)).await;
        wizard.seen();
        for state in [json!(token), json!("junk"), json!(5), json!(null)] {
            let mut message = retry(&request(method), state.clone());
            message.as_object_mut().unwrap().remove("id");
            raw.send(&message.to_string()).await;
            let mut expected = message["params"].clone();
            let members = expected.as_object_mut().unwrap();
            members.remove("requestState");
            members.remove("inputResponses");
            assert_eq!(wizard.next().await, [json!({"notification": expected})]);
        }
        // Another method's is none of our business.
        let theirs = json!({"requestState": "theirs"});
        let message = json!({"jsonrpc": "2.0", "method": "acme/note", "params": theirs});
        raw.send(&message.to_string()).await;
        assert_eq!(wizard.next().await, [json!({"notification": theirs})]);
    }
}

/// rmcp knows no batches and no null for an id. Should it learn them, this fails, and the wrapper has
/// to be looked at.
#[tokio::test]
async fn what_rmcp_does_not_know_reaches_no_handler() {
    let again = retry(&request("tools/call"), "junk");
    let mut null_id = again.clone();
    null_id["id"] = Value::Null;
    let mut odd_id = again.clone();
    odd_id["id"] = json!({"x": 1});
    for message in [json!([again, request("tools/call")]), null_id, odd_id] {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        raw.send(&message.to_string()).await;
        // Whatever rmcp says to it, the next request is answered after that.
        let mut answer = raw.ask(&request("tools/call")).await;
        while answer["id"] != 1 {
            answer = raw.receive().await;
        }
        assert_eq!(wizard.seen(), [Value::Null]);
    }
}

/// The last one wins in a `Value`, but a typed request must not have two.
#[tokio::test]
async fn two_states_are_refused() {
    for method in METHODS {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let token = raw.token(&request(method)).await;
        wizard.seen();
        for (one, other) in [("junk", "junk"), (&*token, "junk"), (PLAIN, PLAIN)] {
            let params = request(method)["params"].to_string();
            let params = params.strip_suffix('}').unwrap();
            raw.send(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params},"requestState":"{one}","requestState":"{other}"}}}}"#
            ))
            .await;
            assert_eq!(raw.receive().await, refusal());
        }
        assert_eq!(wizard.seen(), [] as [Value; 0]);
    }
}
