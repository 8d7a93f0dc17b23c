//! The laws that the suite tries on chosen values, on any values: states, params, principals, edits.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod oracle;
mod texts;

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use request_state_aesgcm::AesGcmCodec;
use request_state_core::{
    Binding, Disclosure, Key, Keyring, OpenError, Request, RequestStateCodec, Sealer,
};
use request_state_hmac::HmacCodec;
use request_state_ring::RingCodec;
use serde_json::{Value, json};

type Codec = Box<dyn RequestStateCodec>;

fn backends(keys: &Keyring) -> [Codec; 4] {
    [
        Box::new(AesGcmCodec::new(keys)),
        Box::new(HmacCodec::new(keys)),
        Box::new(RingCodec::new(keys)),
        Box::new(RingCodec::chacha20_poly1305(keys)),
    ]
}

fn keys() -> Keyring {
    Keyring::new([
        ("2026-10", Key::from([1; 32])),
        ("2026-07", Key::from([2; 32])),
    ])
    .unwrap()
}

fn sealers(server: &str) -> impl Iterator<Item = Sealer<Codec>> {
    let typed = |codec| Sealer::builder(server, codec).disclosure(Disclosure::Typed);
    backends(&keys())
        .map(|codec| typed(codec).build().unwrap())
        .into_iter()
}

/// Everything that a token is bound to.
#[derive(Clone, Debug, PartialEq)]
struct Bound {
    server: String,
    version: String,
    method: String,
    principal: Option<String>,
}

impl Bound {
    fn binding(&self, params: &Value) -> Binding {
        Binding::new(Request {
            version: &self.version,
            method: &self.method,
            params,
            principal: self.principal.as_deref(),
        })
        .unwrap()
    }
}

fn bound() -> impl Strategy<Value = Bound> {
    // Few letters, so that two of them are often almost the same.
    let name = || "[ab/\0é]{1,4}";
    let fields = (name(), name(), name(), proptest::option::of(name()));
    fields.prop_map(|(server, version, method, principal)| Bound {
        server,
        version,
        method,
        principal,
    })
}

fn alice() -> Bound {
    Bound {
        server: "billing".into(),
        version: "2026-07-28".into(),
        method: "tools/call".into(),
        principal: Some("user:alice".into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Two requests are one exactly when their params denote one JSON value.
    #[test]
    fn params(one in texts::params(), other in texts::params()) {
        let same = oracle::salient(&one) == oracle::salient(&other);
        let (one, other) = (alice().binding(&one), alice().binding(&other));
        for sealer in sealers("billing") {
            let token = sealer.seal(&1, &one).unwrap();
            prop_assert_eq!(sealer.open::<u32>(&token, &one), Ok(1));
            prop_assert_eq!(sealer.open::<u32>(&token, &other).ok(), same.then_some(1));
        }
    }

    /// However a client spells them anew.
    #[test]
    fn params_spelled_anew(value in texts::params(), seed in any::<u64>()) {
        let again = texts::respelled(&value, seed);
        prop_assert_eq!(oracle::salient(&value), oracle::salient(&again));
        let (one, other) = (alice().binding(&value), alice().binding(&again));
        for sealer in sealers("billing") {
            prop_assert_eq!(sealer.open::<u32>(&sealer.seal(&1, &one).unwrap(), &other), Ok(1));
        }
    }

    /// One change at one place makes another request, unless the place is not salient.
    #[test]
    fn params_changed_in_one_place(value in texts::params(), seed in any::<u64>()) {
        let other = texts::changed(&value, seed);
        let same = oracle::salient(&value) == oracle::salient(&other);
        let (one, other) = (alice().binding(&value), alice().binding(&other));
        for sealer in sealers("billing") {
            let token = sealer.seal(&1, &one).unwrap();
            prop_assert_eq!(sealer.open::<u32>(&token, &other).is_ok(), same);
        }
    }

    /// A token opens for the principal, the request and the server it was sealed for, and for no other.
    #[test]
    fn bindings(one in bound(), other in bound()) {
        let params = json!({"name": "transfer"});
        for (sealing, opening) in sealers(&one.server).zip(sealers(&other.server)) {
            let token = sealing.seal(&1, &one.binding(&params)).unwrap();
            prop_assert_eq!(sealing.open::<u32>(&token, &one.binding(&params)), Ok(1));
            let opened = opening.open::<u32>(&token, &other.binding(&params));
            prop_assert_eq!(opened.is_ok(), one == other);
        }
    }

    /// A state comes back as it was.
    #[test]
    fn states(state in texts::params(), numbers in proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO, 0..5)) {
        let binding = alice().binding(&json!({}));
        for sealer in sealers("billing") {
            let token = sealer.seal(&(&state, &numbers), &binding).unwrap();
            let (same_state, same_numbers) = sealer.open::<(Value, Vec<f64>)>(&token, &binding).unwrap();
            prop_assert_eq!(&same_state, &state);
            let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&same_numbers), bits(&numbers));
        }
    }

    /// A token opens from a minute before it was sealed until its TTL has passed, to the millisecond.
    #[test]
    fn times(ttl in 1u64..1_000_000, sealed in 1_000_000u64..4_000_000_000, after in -100_000i64..1_100_000, nanos in 0u32..1_000_000) {
        let time = |ms: u64| UNIX_EPOCH + Duration::from_millis(ms) + Duration::from_nanos(nanos.into());
        let binding = alice().binding(&json!({}));
        for codec in backends(&keys()) {
            let sealer = Sealer::builder("billing", codec).ttl(Duration::from_millis(ttl));
            let sealer = sealer.disclosure(Disclosure::Typed).build().unwrap();
            let token = sealer.seal_at(&1, &binding, time(sealed)).unwrap();
            let opened = sealer.open_at::<u32>(&token, &binding, time(sealed.saturating_add_signed(after)));
            let expected = match after {
                ..-60_000 => Err(OpenError::Invalid),
                _ if after >= ttl as i64 => Err(OpenError::Expired),
                _ => Ok(1),
            };
            prop_assert_eq!(opened, expected);
        }
    }

    /// No edit of a token opens, and no edit is told from another: all are invalid.
    #[test]
    fn edits(edits in proptest::collection::vec(texts::edit(), 1..4), state in ".{0,60}") {
        let binding = alice().binding(&json!({}));
        for sealer in sealers("billing") {
            let token = sealer.seal(&state, &binding).unwrap();
            let changed = edits.iter().fold(token.clone(), |token, edit| edit.apply(&token));
            let expected = if changed == token { Ok(state.clone()) } else { Err(OpenError::Invalid) };
            prop_assert_eq!(sealer.open::<String>(&changed, &binding), expected);
        }
    }

    /// What one context sealed opens under the same and under no other.
    #[test]
    fn contexts(payload in any::<Vec<u8>>(), one in "[ab\0]{0,5}", other in "[ab\0]{0,5}") {
        for codec in backends(&keys()) {
            let token = codec.encode(&payload, one.as_bytes()).unwrap();
            prop_assert_eq!(codec.decode(&token, one.as_bytes()).unwrap(), payload.clone());
            prop_assert_eq!(codec.decode(&token, other.as_bytes()).is_ok(), one == other);
        }
    }

    /// Any text is refused, by every backend, with an error that says nothing of another context.
    #[test]
    fn junk(text in ".{0,300}") {
        for codec in backends(&keys()) {
            let refused = codec.decode(&text, b"context");
            prop_assert!(!matches!(refused, Ok(_) | Err(request_state_core::DecodeError::OtherContext)));
        }
    }

    /// What any key of a ring sealed opens under every ring that has the key under the same kid.
    #[test]
    fn rings(one in ring(), other in ring()) {
        for (sealing, opening) in backends(&one).iter().zip(&backends(&other)) {
            let token = sealing.encode(b"payload", b"context").unwrap();
            let (kid, key) = one.sealing();
            prop_assert_eq!(opening.decode(&token, b"context").is_ok(), other.get(kid) == Some(key));
        }
    }
}

/// A ring of one to three keys out of four, under kids out of four.
fn ring() -> impl Strategy<Value = Keyring> {
    let order = || Just([0u8, 1, 2, 3]).prop_shuffle();
    (order(), order(), 1usize..=3).prop_map(|(kids, keys, count)| {
        let kid = |kid: u8| ["a", "ab", "A", "b"][usize::from(kid)];
        let entries = kids.into_iter().zip(keys).take(count);
        Keyring::new(entries.map(|(at, key)| (kid(at), Key::from([key; 32])))).unwrap()
    })
}
