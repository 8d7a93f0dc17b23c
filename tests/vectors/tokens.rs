//! The tokens that open, and those that do not.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state::{Disclosure, Keyring, OpenError, RequestStateCodec, SealError, Sealer, wire};
use serde_json::Value;

use crate::file::{ALGORITHMS, Token, Vectors, logged, parsed};
use crate::recorder::{Recorder, hex, unhex};

fn at(ms: i64) -> SystemTime {
    let distance = Duration::from_millis(ms.unsigned_abs());
    if ms < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
    }
}

/// What the caller learns of a refusal, and the event that tells the operator the reason.
fn refusal<C>(token: &Token, sealer: &Sealer<C>, now: SystemTime) -> (OpenError, String)
where
    C: RequestStateCodec,
{
    let mut error = None;
    let event = logged(|| {
        error = sealer
            .open_at::<Value>(&token.token, &token.binding(), now)
            .err();
    });
    (error.expect(&token.name), event)
}

#[track_caller]
fn assert_refused(token: &Token, keys: &Keyring, now: SystemTime, reason: &str, answer: OpenError) {
    for codec in token.codecs(keys) {
        for (disclosure, answer) in [
            (Disclosure::Typed, answer),
            (Disclosure::Opaque, OpenError::Invalid),
        ] {
            let sealer = token.sealer(&codec, disclosure);
            let (error, event) = refusal(token, &sealer, now);
            let name = &token.name;
            assert!(
                event.contains(&format!("reason=\"{reason}\"")),
                "{name}: {event}"
            );
            assert_eq!(error, answer, "{name}");
        }
    }
}

#[test]
fn keys_are_derived_as_written() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    assert!(!vectors.derived.is_empty());
    for vector in &vectors.derived {
        let derived = keys.get(&vector.kid).unwrap().derive(&vector.label);
        assert_eq!(hex(&*derived), vector.key, "{}", vector.label);
    }
}

/// What a sealer hands its codec, to the byte.
#[test]
fn payloads_and_contexts_are_as_written() {
    for token in Vectors::read().tokens() {
        let recorder = Recorder::new(token.algorithm != "hmac-sha256");
        let sealer = token.sealer(&recorder, Disclosure::Opaque);
        let state = parsed(&token.state);
        let sealed = sealer.seal_at(&state, &token.binding(), at(token.now_ms));
        sealed.expect(&token.name);
        let (payload, context) = recorder.seen();
        assert_eq!(payload, token.payload, "{}", token.name);
        assert_eq!(context, token.context, "{}", token.name);
    }
}

/// At a limit of just its length, and not at a byte less.
#[test]
fn the_limit_holds_at_seal_too() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let (sealing_kid, _) = keys.sealing();
    for mut token in vectors.tokens() {
        if token.kid != sealing_kid {
            continue;
        }
        let longest = token.token.len();
        let state = parsed(&token.state);
        for limit in [longest, longest - 1] {
            token.max_token_len = Some(limit);
            for codec in token.codecs(&keys) {
                let sealer = token.sealer(codec, Disclosure::Typed);
                match sealer.seal_at(&state, &token.binding(), at(token.now_ms)) {
                    Ok(sealed) => assert_eq!((sealed.len(), limit), (longest, longest)),
                    Err(SealError::TooLong { length, .. }) => {
                        assert_eq!((length, limit), (longest, longest - 1), "{}", token.name);
                    }
                    Err(error) => panic!("{}: {error}", token.name),
                }
            }
        }
    }
}

#[test]
fn every_codec_of_the_algorithm_decodes_the_tokens() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for token in vectors.tokens() {
        let (kid, body) = wire::split_kid(&token.token).unwrap();
        let body = wire::decode_base64url(body.split('.').next().unwrap()).unwrap();
        assert_eq!(kid, token.kid);
        assert!(hex(&body).starts_with(&token.nonce), "{}", token.name);
        let context = unhex(&token.context);
        for codec in token.codecs(&keys) {
            let payload = codec.decode(&token.token, &context).expect(&token.name);
            assert_eq!(hex(&payload), token.payload, "{}", token.name);
        }
    }
}

/// From a minute before it was sealed, to the last nanosecond before the expiry, at a limit of just
/// its length.
#[test]
fn every_token_opens_in_its_time() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let mut algorithms = BTreeSet::new();
    for mut token in vectors.tokens() {
        token.max_token_len = Some(token.token.len());
        let state = parsed(&token.state);
        let (first, end) = (at(token.now_ms - 60_000), at(token.expires_at_ms));
        for codec in token.codecs(&keys) {
            let sealer = token.sealer(codec, Disclosure::Typed);
            for now in [first, at(token.now_ms), end - Duration::from_nanos(1)] {
                let opened = sealer.open_at(&token.token, &token.binding(), now);
                assert_eq!(opened, Ok(state.clone()), "{}", token.name);
            }
        }
        let early = at(token.now_ms - 60_001);
        assert_refused(&token, &keys, early, "minted_in_future", OpenError::Invalid);
        assert_refused(&token, &keys, end, "expired", OpenError::Expired);
        algorithms.insert(token.algorithm);
    }
    assert!(algorithms.iter().eq(&ALGORITHMS));
}

#[test]
fn every_refusal_has_the_reason_and_the_answer_written() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let mut reasons = BTreeSet::new();
    for refused in &vectors.refused {
        let of = vectors
            .tokens
            .iter()
            .find(|token| token["name"] == *refused.of);
        let mut token = of.expect("a token of that name").clone();
        for (field, value) in &refused.changes {
            token[field] = value.clone();
        }
        token["name"] = format!("{}: {}", refused.of, refused.name).into();
        token["token"] = (*refused.token).into();
        let token: Token = serde_json::from_value(token).unwrap();
        let answer = match &*refused.answer {
            "Invalid" => OpenError::Invalid,
            "Mismatch" => OpenError::Mismatch,
            "Expired" => OpenError::Expired,
            other => panic!("unknown answer {other}"),
        };
        assert_refused(&token, &keys, at(token.now_ms), &refused.reason, answer);
        reasons.insert(&*refused.reason);
    }
    // All but `unavailable`, which is no token's doing.
    assert_eq!(reasons.len(), 10, "{reasons:?}");
}
