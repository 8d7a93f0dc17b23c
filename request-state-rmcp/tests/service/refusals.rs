//! Everybody else: one error, to the letter, and nothing reaches a handler.

use std::time::Duration;

use request_state::{
    Boundary, DecodeError, EncodeError, RequestStateCodec, Sealer, Sender, Unidentified,
};
use request_state_rmcp::SealedService;
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use crate::kit::*;

/// A state of the wizard's, sealed from the JSON of the request: what is bound is the JSON, not
/// what rmcp makes of it. It was asked for `confirm`.
fn sealed_earlier(message: &Value, version: &str, plain: &str, age: Duration) -> String {
    let boundary = Boundary::new(sealer_at(move || now() - age));
    let sender = Sender::from(ALICE).version(version);
    let round = boundary.open_request(&mut message.clone(), sender).unwrap();
    let mut response = json!({"id": 1, "result": {
        "resultType": "input_required",
        "inputRequests": {"confirm": {"method": "elicitation/create"}},
        "requestState": plain,
    }});
    boundary.seal_response(&round, &mut response);
    let token = response["result"]["requestState"].as_str();
    token.expect("a token").to_owned()
}

#[tokio::test]
async fn a_token_is_of_use_to_nobody_else_and_for_nothing_else() {
    for method in METHODS {
        let first = request(method);
        let (server, wizard) = sealed(ALICE);
        let mut alice = Raw::connect(server, MODERN);
        let token = alice.token(&first).await;
        wizard.seen();
        let good = retry(&first, token.clone());

        for user in [BOB, None, Some("")] {
            let (server, other) = sealed(user);
            let mut raw = Raw::connect(server, MODERN);
            assert_eq!(raw.ask(&good).await, refusal(), "{user:?}");
            assert_eq!(other.seen(), [] as [Value; 0]);
        }

        let mut other_params = good.clone();
        match method {
            "resources/read" => other_params["params"]["uri"] = json!("bank://other"),
            "prompts/get" => other_params["params"]["arguments"]["amount"] = json!("11"),
            _ => other_params["params"]["arguments"]["amount"] = json!(11),
        }
        let mut bad = vec![other_params];
        for at in [0, 8, token.len() / 2, token.len() - 1] {
            let mut bytes = token.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            bad.push(retry(&first, String::from_utf8(bytes).unwrap()));
        }
        for state in [
            "",
            "junk",
            "PLAIN-STATE 2",
            &token[1..],
            &format!("{token}="),
        ] {
            bad.push(retry(&first, state));
        }
        for message in bad {
            assert_eq!(alice.ask(&message).await, refusal(), "{message}");
        }
        assert_eq!(wizard.seen(), [] as [Value; 0], "no handler saw any of it");
        alice.token(&good).await;
        assert_eq!(wizard.seen(), ["PLAIN-STATE 1"]);
    }
}

#[tokio::test]
async fn a_rejection_can_be_found_again_in_the_log() {
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    for mut message in METHODS.map(request).into_iter().chain([odd]) {
        message["id"] = json!("call-77");
        let (server, _) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let log = Log::start();
        raw.ask(&retry(&message, "junk")).await;
        let log = log.text();
        let method = message["method"].as_str().unwrap();
        for field in [
            r#"server="bank""#,
            r#"version="2026-07-28""#,
            r#"id="call-77""#,
            method,
        ] {
            assert!(log.contains(field), "{field}: {log}");
        }
    }
}

#[tokio::test]
async fn one_method_does_not_open_what_another_sealed() {
    let (server, _) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    let mut call = request("tools/call");
    call["params"]["arguments"] = json!({"amount": "10"});
    let token = raw.token(&call).await;
    assert_eq!(
        raw.ask(&retry(&request("prompts/get"), token)).await,
        refusal()
    );
}

#[tokio::test]
async fn an_expired_state_starts_over_or_is_refused() {
    for method in METHODS {
        let first = request(method);
        let age = Duration::from_secs(301);
        let late = sealed_earlier(&first, "2026-07-28", "PLAIN-STATE 2", age);
        let fresh = sealed_earlier(&first, "2026-07-28", "PLAIN-STATE 2", Duration::ZERO);
        for restart in [false, true] {
            let boundary = Boundary::new(sealer()).restart_expired(restart);
            let (server, wizard) = sealed_by(boundary, ALICE);
            let mut raw = Raw::connect(server, MODERN);
            let answer = raw.ask(&retry(&first, late.clone())).await;
            if restart {
                assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
                // As in a first round. With the answers, the wizard would have gone on.
                assert_eq!(wizard.seen(), [Value::Null]);
            } else {
                assert_eq!(answer, refusal());
                assert_eq!(wizard.seen(), [] as [Value; 0]);
            }
            let answer = raw.ask(&retry(&first, fresh.clone())).await;
            assert!(answer["result"].is_object(), "{answer}");
            assert_eq!(wizard.seen(), ["PLAIN-STATE 2"]);
        }
    }
}

#[tokio::test]
async fn without_a_principal_the_request_is_bound_and_nobody_else() {
    let first = request("tools/call");
    let server = || SealedService::new(Wizard::default(), sealer());
    let token = Raw::connect(server(), MODERN).token(&first).await;
    // Anybody's, for this request.
    let mut another = Raw::connect(server(), MODERN);
    let answer = another.ask(&retry(&first, token.clone())).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    // Nobody's who has a name.
    let (alices, _) = sealed(ALICE);
    let answer = Raw::connect(alices, MODERN)
        .ask(&retry(&first, token))
        .await;
    assert_eq!(answer, refusal());
}

#[tokio::test]
async fn a_server_may_require_a_principal() {
    for method in METHODS {
        let first = request(method);
        let (server, _) = sealed(None);
        let token = Raw::connect(server, MODERN).token(&first).await;
        let strict = || Boundary::new(sealer()).require_principal(true);
        let (server, wizard) = sealed_by(strict(), None);
        let never_told = SealedService::new(wizard.clone(), strict());
        for server in [server, never_told] {
            let log = Log::start();
            let mut raw = Raw::connect(server, MODERN);
            assert_eq!(raw.ask(&first).await, internal_error());
            wizard.seen();
            assert_eq!(raw.ask(&retry(&first, token.clone())).await, refusal());
            assert_eq!(wizard.seen(), [] as [Value; 0]);
            let log = log.text();
            assert_eq!(log.matches(r#"reason="unidentified""#).count(), 2, "{log}");
        }
        let (server, _) = sealed_by(strict(), ALICE);
        Raw::connect(server, MODERN).token(&first).await;
    }
}

/// In a typed request and in a custom one.
#[tokio::test]
async fn a_token_is_of_use_to_who_was_asked() {
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    for first in METHODS.map(request).into_iter().chain([odd]) {
        for asked in [ALICE, BOB, None] {
            let token = Raw::connect(sealed(asked).0, MODERN).token(&first).await;
            let again = retry(&first, token);
            for user in [ALICE, BOB, None] {
                let (server, wizard) = sealed(user);
                let answer = Raw::connect(server, MODERN).ask(&again).await;
                assert_eq!(answer == refusal(), user != asked, "{user:?} {again}");
                assert_eq!(wizard.seen().is_empty(), user != asked);
            }
            // Who is unidentified is not anonymous.
            let wizard = Wizard::default();
            let server = SealedService::new(wizard.clone(), sealer())
                .principal(|_| Err(Unidentified::new("no session")));
            let mut raw = Raw::connect(server, MODERN);
            assert_eq!(raw.ask(&again).await, refusal(), "{again}");
            assert_eq!(wizard.seen(), [] as [Value; 0]);
            assert_eq!(raw.ask(&first).await, internal_error(), "{first}");
        }
    }
}

#[tokio::test]
async fn an_older_version_opens_its_own_and_nothing_else() {
    let first = request("tools/call");
    let old = sealed_earlier(&first, "2025-11-25", "PLAIN-STATE 2", Duration::ZERO);
    let new = sealed_earlier(&first, "2026-07-28", "PLAIN-STATE 2", Duration::ZERO);
    for (version, state, opens) in [
        (Some(ProtocolVersion::V_2025_11_25), old.as_str(), true),
        (Some(ProtocolVersion::V_2025_11_25), &new, false),
        (Some(ProtocolVersion::V_2025_11_25), "junk", false),
        (Some(ProtocolVersion::V_2026_07_28), &new, true),
        (Some(ProtocolVersion::V_2026_07_28), &old, false),
        // A session that has agreed on no version.
        (None, &new, false),
        (None, &old, false),
    ] {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, version.clone());
        let answer = raw.ask(&retry(&first, state)).await;
        if opens {
            assert_eq!(
                answer["result"]["content"][0]["text"], "done",
                "{version:?} {answer}"
            );
            assert_eq!(wizard.seen(), ["PLAIN-STATE 2"]);
        } else {
            assert_eq!(answer, refusal(), "{version:?}");
            assert_eq!(wizard.seen(), [] as [Value; 0]);
        }
    }
}

#[tokio::test]
async fn a_version_that_is_no_string_is_none() {
    let first = request("tools/call");
    let state = sealed_earlier(&first, "2026-07-28", "PLAIN-STATE 2", Duration::ZERO);
    let (server, wizard) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    for version in [json!(20260728), json!(null), json!(["2026-07-28"])] {
        let mut message = retry(&first, state.clone());
        message["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": version});
        assert_eq!(raw.ask(&message).await, refusal());
    }
    assert_eq!(wizard.seen(), [] as [Value; 0]);
}

#[tokio::test]
async fn a_state_that_cannot_be_sealed_is_an_error_without_detail() {
    let (server, _) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    let mut too_long = request("tools/call");
    too_long["params"]["name"] = json!("too_long");
    assert_eq!(raw.ask(&too_long).await, internal_error());

    // No principal is a choice, an empty one a mistake.
    let (server, _) = sealed(Some(""));
    for method in METHODS {
        let mut raw = Raw::connect(server.clone(), MODERN);
        assert_eq!(raw.ask(&request(method)).await, internal_error());
    }
}

#[tokio::test]
async fn a_codec_that_fails_says_nothing() {
    struct Down;
    impl RequestStateCodec for Down {
        fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
            Err(EncodeError::Unavailable("hunter2".into()))
        }
        fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
            Err(DecodeError::Unavailable("hunter2".into()))
        }
    }
    for method in METHODS {
        let server = SealedService::new(Wizard::default(), Sealer::new("bank", Down).unwrap());
        let mut raw = Raw::connect(server, MODERN);
        assert_eq!(raw.ask(&request(method)).await, internal_error());
        let answer = raw.ask(&retry(&request(method), "k.AAAA")).await;
        assert_eq!(answer, internal_error(), "an outage is not a refusal");
    }
}

#[test]
fn the_wrapper_can_be_shared_and_prints_nothing_secret() {
    fn shown<T: Clone + std::fmt::Debug + Send + Sync + 'static>(value: T) -> String {
        format!("{value:?}")
    }
    let shown = shown(sealed(ALICE).0);
    assert!(
        shown.contains("bank") && !shown.contains("alice"),
        "{shown}"
    );
}
