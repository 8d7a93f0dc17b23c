//! What the operator reads, and what nobody does.
#![cfg(feature = "tracing")]

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use request_state_core::{Boundary, Sealer};
use serde_json::{Value, json};

use crate::kit::*;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything that is logged, at any level, while `work` runs.
fn logged(work: impl FnOnce()) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn each_refusal_is_one_event_with_its_reason() {
    let sealer = sealer();
    let first = request("tools/call");
    let good = token(&sealer, &first, ALICE, "asked", Duration::ZERO);
    let late = token(&sealer, &first, ALICE, "asked", Duration::from_secs(301));
    let boundary = Boundary::new(sealer);
    let retry = with_state(&first, good);
    let mut unnamed = retry.clone();
    unnamed["params"]["_meta"] = Value::Null;
    for (message, principal, reason) in [
        (with_state(&first, "junk"), ALICE, "malformed"),
        (with_state(&first, late), ALICE, "expired"),
        (retry.clone(), Some("user:bob"), "principal"),
        (with_state(&first, 5), ALICE, "not_a_string"),
        (json!([retry, [retry]]), ALICE, "batch"),
        (unnamed, ALICE, "binding"),
        (retry.clone(), Some(""), "binding"),
    ] {
        let log = logged(|| drop(refused(&boundary, message, principal)));
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(
            log.contains("WARN request_state: requestState refused"),
            "{log}"
        );
        assert!(log.contains(&format!("reason=\"{reason}\"")), "{log}");
        assert!(log.contains("method=\"tools/call\""), "{log}");
    }
}

#[test]
fn starting_over_is_logged_as_expired() {
    let sealer = sealer();
    let first = request("tools/call");
    let late = token(&sealer, &first, ALICE, "asked", Duration::from_secs(301));
    let boundary = Boundary::new(sealer).restart_expired(true);
    let log = logged(|| drop(opened(&boundary, with_state(&first, late), ALICE)));
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("reason=\"expired\""), "{log}");
}

#[test]
fn a_seal_that_fails_is_logged_with_its_cause() {
    let down = Boundary::new(Sealer::new("billing", Down).unwrap());
    let (_, round) = opened(&down, request("prompts/get"), ALICE);
    let (_, batch) = opened(&down, json!([request("prompts/get")]), ALICE);
    for (round, state, cause) in [
        (&round, json!("asked"), "the codec could not encode"),
        (&round, json!(5), "the handler's requestState is no string"),
        (
            &batch,
            json!("asked"),
            "there is no request to seal a requestState for",
        ),
    ] {
        let log = logged(|| drop(sealed(&down, round, asks(state))));
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(
            log.contains("ERROR request_state: requestState not sealed"),
            "{log}"
        );
        assert!(
            log.contains("reason=\"seal\"") && log.contains(cause),
            "{log}"
        );
    }
    let log = logged(|| drop(sealed(&down, &round, asks("asked"))));
    assert!(log.contains("method=\"prompts/get\""), "{log}");
}

#[test]
fn no_event_says_anything_secret() {
    let boundary = boundary();
    let mut message = request("tools/call");
    message["params"]["arguments"]["to"] = json!("DE02120300000000202051");
    let log = logged(|| {
        let token = ask(&boundary, &message, ALICE, "TOP-SECRET-STATE");
        let retry = with_state(&message, token);
        opened(&boundary, retry.clone(), ALICE);
        refused(&boundary, retry.clone(), Some("user:bob"));
        refused(&boundary, retry.clone(), Some(""));
        refused(&boundary, json!([retry]), ALICE);
        refused(
            &boundary,
            with_state(&message, json!({"TOP-SECRET-STATE": 1})),
            ALICE,
        );
        let mut deep = json!("TOP-SECRET-STATE");
        for _ in 0..200 {
            deep = json!({"DE02120300000000202051": deep});
        }
        let mut undigestible = retry;
        undigestible["params"]["arguments"] = deep;
        refused(&boundary, undigestible, ALICE);
        let (_, round) = opened(&boundary, message.clone(), ALICE);
        sealed(&boundary, &round, asks(json!(["TOP-SECRET-STATE"])));
        let (_, round) = opened(&boundary, json!([message]), ALICE);
        sealed(&boundary, &round, asks("TOP-SECRET-STATE"));
    });
    assert_eq!(log.lines().count(), 7, "{log}");
    for secret in [
        "TOP-SECRET-STATE",
        "DE0212",
        "alice",
        "bob",
        "ledger.0",
        "hunter2",
    ] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}
