//! The digests of principals and requests, in every build of serde_json.

use std::collections::BTreeSet;

use request_state::{Binding, BindingError, Request, Sealer};
use serde_json::{Value, json};

use crate::file::{LevelVector, Vectors};
use crate::recorder::Recorder;

/// The digests of a principal and of params, in hexadecimal. They have no public function, since a
/// digest confirms a guess; but a codec that encrypts is handed them in the payload, and one that
/// does not, at the end of the context.
fn digests(principal: Option<&str>, params: &Value) -> Result<(String, String), BindingError> {
    let binding = Binding::new(Request {
        version: "v",
        method: "m",
        params,
        principal,
    })?;
    let [payload, context] = [true, false].map(|encrypts| {
        let recorder = Recorder::new(encrypts);
        let sealer = Sealer::new("s", &recorder).unwrap();
        sealer.seal(&(), &binding).unwrap();
        let (payload, context) = recorder.seen();
        if encrypts { payload } else { context }
    });
    // layout[1] ‖ expires_at_ms[8] ‖ principal[16] ‖ request[32] ‖ "null"
    let digests = &payload[2 * 9..2 * 57];
    assert!(context.ends_with(digests));
    let (principal, request) = digests.split_at(2 * 16);
    Ok((principal.to_owned(), request.to_owned()))
}

/// The digest of params that are JSON text, if serde_json parses it and it has one.
fn request_digest(text: &str) -> Option<String> {
    let params: Value = serde_json::from_str(text).ok()?;
    digests(None, &params).ok().map(|(_, request)| request)
}

/// Whether a feature of serde_json is on, which any crate of a build can do.
fn enabled(feature: &str) -> bool {
    let is_number = |text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_number());
    match feature {
        "arbitrary_precision" => is_number("1e400"),
        "raw_value" => is_number(r#"{"$serde_json::private::RawValue":"1"}"#),
        other => panic!("unknown feature {other}"),
    }
}

#[test]
fn principals_have_the_digests_written() {
    let principals = Vectors::read().principals;
    for vector in &principals {
        let (principal, _) = digests(vector.principal.as_deref(), &Value::Null).unwrap();
        assert_eq!(principal, vector.digest, "{:?}", vector.principal);
    }
    let distinct: BTreeSet<_> = principals.iter().map(|vector| &vector.digest).collect();
    assert_eq!(distinct.len(), principals.len());
}

#[test]
fn requests_have_the_digests_written() {
    let groups = Vectors::read().digests;
    for group in &groups {
        assert!(!group.params.is_empty());
        for text in &group.params {
            let digest = request_digest(text);
            assert_eq!(
                digest.as_deref(),
                Some(&*group.digest),
                "{}: {text}",
                group.note
            );
        }
    }
    let distinct: BTreeSet<_> = groups.iter().map(|group| &group.digest).collect();
    assert_eq!(distinct.len(), groups.len(), "two groups share a digest");
}

#[test]
fn requests_have_the_digests_written_for_this_build() {
    let vectors = Vectors::read().digests_by_feature;
    assert!(!vectors.is_empty());
    for vector in &vectors {
        let expected = if enabled(&vector.feature) {
            &vector.with
        } else {
            &vector.without
        };
        let expected = expected.as_ref().map(|vector| vector.digest.clone());
        assert_eq!(
            request_digest(&vector.params),
            expected,
            "{}",
            vector.params
        );
    }
}

#[test]
fn other_params_have_no_digest() {
    let texts = Vectors::read().params_without_digest;
    assert!(!texts.is_empty());
    for text in &texts {
        let params: Value = serde_json::from_str(text).unwrap();
        let error = digests(None, &params).unwrap_err();
        assert!(matches!(error, BindingError::Params { .. }), "{text}");
    }
}

#[test]
fn what_is_not_json_has_no_digest() {
    let texts = Vectors::read().unparsable;
    assert!(!texts.is_empty());
    for text in &texts {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
}

/// Built here, since serde_json parses no more than 127 levels.
#[test]
fn params_nest_as_deeply_as_written() {
    let vectors = Vectors::read().levels;
    assert!(vectors.iter().any(|vector| vector.digest.is_none()));
    for LevelVector {
        levels,
        parses,
        parses_in_message,
        parses_in_batch,
        digest,
    } in vectors
    {
        let arrays = (2..levels).fold(json!([]), |inner, _| json!([inner]));
        let params = if levels == 1 {
            json!({})
        } else {
            json!({ "a": arrays })
        };
        let request = digests(None, &params).ok().map(|(_, request)| request);
        assert_eq!(request, digest, "{levels} levels");
        let is_read = |text: &Value| serde_json::from_str::<Value>(&text.to_string()).is_ok();
        assert_eq!(is_read(&params), parses, "{levels} levels");
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params});
        assert_eq!(is_read(&message), parses_in_message, "{levels} levels");
        let batch = json!([message]);
        assert_eq!(is_read(&batch), parses_in_batch, "{levels} levels");
    }
}
