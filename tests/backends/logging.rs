//! Each refusal is one event with its exact reason, and no event says anything secret.

use std::io::Write;
use std::sync::{Arc, Mutex};

use request_state::{
    AesGcmCodec, Binding, DecodeError, Disclosure, EncodeError, Keyring, RequestStateCodec, Sealer,
};
use serde_json::{Value, json};

use crate::fixtures::{Call, at, codecs, key, keys, typed};

const NOW: u64 = 1_790_000_000_000;

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

fn refusal<C: RequestStateCodec>(
    sealer: &Sealer<C>,
    token: &str,
    binding: &Binding,
    now: u64,
) -> String {
    logged(|| assert!(sealer.open_at::<u64>(token, binding, at(now)).is_err()))
}

#[test]
fn each_reason_is_logged_by_name() {
    let call = Call::default();
    let bob = Call {
        principal: Some("user:bob"),
        ..call.clone()
    }
    .binding();
    let other_amount = Call {
        params: json!({"name": "x"}),
        ..call.clone()
    }
    .binding();
    let other_method = Call {
        method: "prompts/get",
        ..call.clone()
    }
    .binding();
    let binding = call.binding();
    for (name, codec) in codecs(&keys()) {
        for disclosure in [Disclosure::Opaque, Disclosure::Typed] {
            let sealer = Sealer::builder("billing", &codec)
                .disclosure(disclosure)
                .build()
                .unwrap();
            let token = sealer.seal_at(&1, &binding, at(NOW)).unwrap();
            let forged = token.replace("2026-10", "2026-07");
            let unknown = token.replace("2026-10", "2026-09");
            let short = "2026-10.AAAA.AAAA";
            let text = sealer.seal_at("text", &binding, at(NOW)).unwrap();
            let long = "x".repeat(65_537);
            let either = |opaque, typed| match codec.disclosure() {
                Disclosure::Opaque => opaque,
                Disclosure::Typed => typed,
            };
            for (token, binding, now, reason) in [
                (&*long, &binding, NOW, "too_long"),
                ("2026-10.+", &binding, NOW, "malformed"),
                (short, &binding, NOW, "malformed"),
                ("", &binding, NOW, "malformed"),
                (&unknown, &binding, NOW, "unknown_key"),
                (&forged, &binding, NOW, "unauthentic"),
                (
                    &token,
                    &other_method,
                    NOW,
                    either("unauthentic", "other_context"),
                ),
                (&token, &bob, NOW, either("principal", "other_context")),
                (
                    &token,
                    &other_amount,
                    NOW,
                    either("request", "other_context"),
                ),
                (&token, &binding, NOW + 300_000, "expired"),
                (&token, &binding, NOW - 60_001, "minted_in_future"),
                (&text, &binding, NOW, "state"),
            ] {
                let log = refusal(&sealer, token, binding, now);
                let event = format!("reason=\"{reason}\"");
                assert!(log.contains(&event), "{name}: {reason}: {log}");
                assert_eq!(log.lines().count(), 1, "{log}");
                let level = if reason == "expired" { "INFO" } else { "WARN" };
                let start = format!("{level} request_state: requestState rejected");
                assert!(log.trim_start().starts_with(&start), "{log}");
                for field in ["server=\"billing\"", "version=\"2026-07-28\""] {
                    assert!(log.contains(field), "{log}");
                }
                assert!(
                    log.contains(&format!("method=\"{}\"", binding.method())),
                    "{log}"
                );
            }
        }
    }
}

#[test]
fn the_kid_is_logged_where_it_is_one() {
    let binding = Call::default().binding();
    let sealer = typed(AesGcmCodec::new(&keys())).build().unwrap();
    for (token, kid) in [
        ("2026-09.AAAA", Some("2026-09")),
        ("2026-10.!", Some("2026-10")),
        ("2026 10.AAAA", None),
        ("no-dot", None),
        (".AAAA", None),
        ("\n.AAAA", None),
        (&format!("{}.AAAA", "k".repeat(65)), None),
        (&format!("{}.AAAA", "k".repeat(64)), Some(&*"k".repeat(64))),
        (&format!("long.{}", "A".repeat(70_000)), Some("long")),
    ] {
        let log = refusal(&sealer, token, &binding, NOW);
        match kid {
            Some(kid) => assert!(log.contains(&format!("kid=\"{kid}\"")), "{log}"),
            None => assert!(!log.contains("kid="), "{log}"),
        }
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.len() < 250, "{log}");
    }
}

#[test]
fn a_method_cannot_forge_a_line() {
    let call = Call {
        method: "tools/call\nWARN request_state: forged",
        ..Call::default()
    };
    let sealer = typed(AesGcmCodec::new(&keys())).build().unwrap();
    let log = refusal(&sealer, "junk", &call.binding(), NOW);
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn a_codec_that_is_unavailable_says_so_and_what_it_says_stays_inside() {
    struct Down;
    impl RequestStateCodec for Down {
        fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
            Err(EncodeError::Unavailable(
                "https://kms.internal?token=hunter2".into(),
            ))
        }
        fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
            Err(DecodeError::Unavailable(
                "https://kms.internal?token=hunter2".into(),
            ))
        }
    }
    let sealer = typed(Down).build().unwrap();
    let binding = Call::default().binding();
    let log = refusal(&sealer, "k.AAAA", &binding, NOW);
    assert!(
        log.contains("reason=\"unavailable\"") && !log.contains("hunter2"),
        "{log}"
    );
    let error = sealer.seal(&1, &binding).unwrap_err();
    assert_eq!(error.to_string(), "the codec could not encode");
}

#[test]
fn no_event_says_anything_secret() {
    let secrets = [
        "TOP-SECRET-STATE",
        "DE02120300000000202051",
        "user:alice",
        "AQEBAQEB",
        "010101",
    ];
    let call = Call::default();
    let bob = Call {
        principal: Some("user:bob"),
        ..call.clone()
    };
    let stranger = Keyring::new([("2026-10", key(9))]).unwrap();
    for at_codec in 0..codecs(&keys()).len() {
        let sealer_of = |keys: &Keyring| {
            let codec = codecs(keys).into_iter().nth(at_codec).unwrap().1;
            Sealer::new("billing", codec).unwrap()
        };
        let mut tokens = Vec::new();
        let log = logged(|| {
            let sealer = sealer_of(&keys());
            let token = sealer
                .seal(&json!(["TOP-SECRET-STATE"]), &call.binding())
                .unwrap();
            assert!(sealer.open::<Value>(&token, &call.binding()).is_ok());
            assert!(sealer.open::<u8>(&token, &call.binding()).is_err());
            assert!(sealer.open::<Value>(&token, &bob.binding()).is_err());
            assert!(sealer.open::<Value>(&token[1..], &call.binding()).is_err());
            assert!(
                sealer
                    .open::<Value>(&token.replace('.', ":"), &call.binding())
                    .is_err()
            );
            assert!(
                sealer_of(&stranger)
                    .open::<Value>(&token, &call.binding())
                    .is_err()
            );
            tokens.push(token);
        });
        assert_eq!(log.lines().count(), 5, "{log}");
        for secret in secrets {
            assert!(!log.contains(secret), "{secret} in {log}");
        }
        for token in tokens {
            let body = token.split('.').nth(1).unwrap();
            assert!(!log.contains(&body[..8]), "a token in {log}");
        }
    }
}
