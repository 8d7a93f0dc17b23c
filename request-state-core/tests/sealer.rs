//! What a sealer adds to a codec: how long a token opens, how long it may be, which check decides, and
//! what a refusal says. On codecs of every kind: with claims in the payload or in the context, and with or
//! without a typed error for another context.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use request_state_core::{
    Binding, DecodeError, Disclosure, EncodeError, Key, Keyring, OpenError, Prepared, Request,
    RequestStateCodec, SealError, Sealer, SealerBuilder, aead,
};
use serde_json::json;
use sha2::Sha256;

const LABEL: &str = "sealer tests v1";

/// Authenticates, claims to encrypt or not, and is typed or not. The tag covers a MAC of the context in
/// front of the payload, so that another context can be told from a forgery.
struct Codec {
    keys: Prepared<[u8; 32]>,
    encrypts: bool,
    disclosure: Disclosure,
    /// The context and the payload that were encoded last.
    seen: Mutex<(Vec<u8>, Vec<u8>)>,
}

fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(&part.len().to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn tag(key: &[u8; 32], nonce: &[u8; 24], aad: &[u8], text: &[u8]) -> [u8; aead::TAG_LEN] {
    *mac(key, &[nonce, aad, text]).first_chunk().unwrap()
}

impl RequestStateCodec for Codec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        *self.seen.lock().unwrap() = (context.to_vec(), payload.to_vec());
        let (_, key) = self.keys.sealing();
        let noted = [&mac(key, &[b"context", context])[..], payload].concat();
        aead::seal::<_, 24>(&self.keys, LABEL, &noted, b"", |key, nonce, aad, text| {
            Some(tag(key, nonce, aad, text))
        })
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let noted = aead::open::<_, 24>(
            &self.keys,
            LABEL,
            token,
            b"",
            |key, nonce, aad, received, text| tag(key, nonce, aad, text) == *received,
        )?;
        let (_, key) = self.keys.sealing();
        let (note, payload) = noted
            .split_first_chunk::<32>()
            .ok_or(DecodeError::Malformed)?;
        if mac(key, &[b"context", context]) != *note {
            return Err(match self.disclosure {
                Disclosure::Typed => DecodeError::OtherContext,
                Disclosure::Opaque => DecodeError::Unauthentic,
            });
        }
        Ok(payload.to_vec())
    }

    fn encrypts(&self) -> bool {
        self.encrypts
    }

    fn disclosure(&self) -> Disclosure {
        self.disclosure
    }
}

/// A codec of every kind.
fn codecs() -> Vec<Codec> {
    let keys = Keyring::new([("2026-10", Key::from([7; 32]))]).unwrap();
    let kinds = [false, true].into_iter().flat_map(|encrypts| {
        [Disclosure::Opaque, Disclosure::Typed].map(|disclosure| (encrypts, disclosure))
    });
    let codecs = kinds.map(|(encrypts, disclosure)| Codec {
        keys: keys.prepare(|key| *key.derive(LABEL)),
        encrypts,
        disclosure,
        seen: Mutex::default(),
    });
    codecs.collect()
}

fn typed<C: RequestStateCodec>(codec: C) -> SealerBuilder<C> {
    Sealer::builder("billing", codec).disclosure(Disclosure::Typed)
}

/// A request that a test changes where it wants to.
#[derive(Clone)]
struct Asked {
    method: &'static str,
    principal: Option<&'static str>,
    amount: u32,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            method: "tools/call",
            principal: Some("user:alice"),
            amount: 10,
        }
    }
}

impl Asked {
    fn binding(&self) -> Binding {
        Binding::new(Request {
            version: "2026-07-28",
            method: self.method,
            params: &json!({"arguments": {"amount": self.amount, "to": "bob"}}),
            principal: self.principal,
        })
        .unwrap()
    }
}

const MS: Duration = Duration::from_millis(1);

/// A time with a fraction of a millisecond, which must not count.
fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::new(1_800_000_000, 123_999_999)
}

#[track_caller]
fn is(result: Result<u32, OpenError>, expected: Result<u32, OpenError>, about: &str) {
    assert_eq!(result, expected, "{about}");
}

#[test]
fn a_token_opens_to_the_millisecond() {
    for codec in &codecs() {
        let principals = [Some("user:alice"), None];
        for (principal, other_ttl) in principals.into_iter().zip([1_000, 5_000]) {
            for ttl in [1, 2, 999, 1_000, 60_000, 300_000] {
                let binding = Asked {
                    principal,
                    ..Asked::default()
                }
                .binding();
                let (own, other) = (Duration::from_millis(ttl), Duration::from_millis(other_ttl));
                // Each kind of request has a TTL of its own.
                let builder = match principal {
                    Some(_) => typed(codec).ttl(own).anonymous_ttl(other),
                    None => typed(codec).ttl(other).anonymous_ttl(own),
                };
                let sealer = builder.build().unwrap();
                let token = sealer.seal_at(&1, &binding, noon()).unwrap();
                let open_after = |after: Duration| sealer.open_at(&token, &binding, noon() + after);
                let about =
                    |when: &str| format!("with a TTL of {ttl} ms, principal {principal:?}, {when}");
                is(open_after(Duration::ZERO), Ok(1), &about("at once"));
                is(
                    open_after(own - MS),
                    Ok(1),
                    &about("one millisecond before"),
                );
                is(
                    open_after(own),
                    Err(OpenError::Expired),
                    &about("at the end"),
                );
                is(
                    open_after(own + MS),
                    Err(OpenError::Expired),
                    &about("one millisecond after"),
                );
                // The times count in whole milliseconds: 123.999999 is 123.
                let early = UNIX_EPOCH + Duration::new(1_800_000_000, 123_000_000);
                let last = early + own - Duration::from_nanos(1);
                is(
                    sealer.open_at(&token, &binding, last),
                    Ok(1),
                    &about("in the last nanosecond"),
                );
                is(
                    sealer.open_at(&token, &binding, early + own),
                    Err(OpenError::Expired),
                    &about("right then"),
                );
            }
        }
    }
}

#[test]
fn five_minutes_with_a_principal_and_one_without() {
    for codec in &codecs() {
        for (principal, seconds) in [(Some("user:alice"), 300), (None, 60)] {
            let binding = Asked {
                principal,
                ..Asked::default()
            }
            .binding();
            let sealer = typed(codec).build().unwrap();
            let token = sealer.seal_at(&1, &binding, noon()).unwrap();
            let end = noon() + Duration::from_secs(seconds);
            is(
                sealer.open_at(&token, &binding, end - MS),
                Ok(1),
                "before the default TTL ends",
            );
            is(
                sealer.open_at(&token, &binding, end),
                Err(OpenError::Expired),
                "when the default TTL ends",
            );
        }
    }
}

#[test]
fn a_token_from_the_future_is_of_another_clock_or_policy() {
    for codec in &codecs() {
        let binding = Asked::default().binding();
        let sealer = typed(codec).ttl(Duration::from_secs(10)).build().unwrap();
        let token = sealer.seal_at(&1, &binding, noon()).unwrap();
        let minute = Duration::from_secs(60);
        is(
            sealer.open_at(&token, &binding, noon() - minute),
            Ok(1),
            "minted a minute ahead",
        );
        is(
            sealer.open_at(&token, &binding, noon() - minute - MS),
            Err(OpenError::Invalid),
            "minted more than a minute ahead",
        );
        // A sealer with a longer TTL is another policy.
        let longer = typed(codec).ttl(Duration::from_secs(71)).build().unwrap();
        let token = longer.seal_at(&1, &binding, noon()).unwrap();
        is(
            sealer.open_at(&token, &binding, noon()),
            Err(OpenError::Invalid),
            "minted under another policy",
        );
        let before = UNIX_EPOCH - MS;
        is(
            sealer.open_at(&token, &binding, before),
            Err(OpenError::Invalid),
            "opened before 1970",
        );
        let sealed = sealer.seal_at(&1, &binding, before);
        assert!(
            matches!(sealed, Err(SealError::Clock)),
            "sealed before 1970: {sealed:?} instead of an error of the clock"
        )
    }
}

#[test]
fn the_limit_of_a_tokens_length_passes_and_one_byte_more_does_not() {
    for codec in &codecs() {
        let binding = Asked::default().binding();
        let state = "s".repeat(400);
        let long = typed(codec)
            .build()
            .unwrap()
            .seal(&state, &binding)
            .unwrap();
        let exact = typed(codec).max_token_len(long.len()).build().unwrap();
        let opened = exact.open::<String>(&long, &binding);
        assert_eq!(opened.as_ref(), Ok(&state), "a token of just the limit");
        let shorter = typed(codec).max_token_len(long.len() - 1).build().unwrap();
        let opened = shorter.open::<String>(&long, &binding);
        assert_eq!(
            opened,
            Err(OpenError::Invalid),
            "one byte more than the limit"
        );
        let least = typed(codec).max_token_len(64).build().unwrap();
        let sealed = least.seal(&state, &binding);
        assert!(
            matches!(sealed, Err(SealError::TooLong { .. })),
            "{sealed:?}"
        );
    }
}

#[test]
fn a_handler_finds_what_it_stored() {
    for codec in &codecs() {
        let sealer = typed(codec).build().unwrap();
        let binding = Asked::default().binding();
        for text in [
            "",
            "plain",
            "\0\u{1}\u{7f}",
            "é e\u{301} 😀",
            "\"\\/",
            "a\r\nb",
            " \u{2028} ",
        ] {
            let opened = sealer.open::<String>(&sealer.seal(text, &binding).unwrap(), &binding);
            assert!(
                opened.as_deref() == Ok(text),
                "{text:?} came back as {opened:?}"
            );
        }
        for number in [
            0.1,
            -0.0,
            1e300,
            5e-324,
            9_007_199_254_740_993.0,
            f64::MAX,
            1.0 / 3.0,
        ] {
            let opened = sealer.open::<f64>(&sealer.seal(&number, &binding).unwrap(), &binding);
            assert!(
                opened.map(f64::to_bits) == Ok(number.to_bits()),
                "{number} came back as {opened:?}"
            );
        }
        let whole = (
            u64::MAX,
            i64::MIN,
            Some(()),
            vec![vec![1u8]; 3],
            [true, false],
        );
        let opened = sealer.open(&sealer.seal(&whole, &binding).unwrap(), &binding);
        // JSON has one null for both.
        let expected = (whole.0, whole.1, None::<()>, whole.3, whole.4);
        assert_eq!(opened, Ok(expected));
    }
}

#[test]
fn the_first_check_that_fails_decides() {
    for codec in &codecs() {
        let sealer = typed(codec).build().unwrap();
        let right = Asked::default();
        let wrong = Asked {
            principal: Some("user:mallory"),
            ..Asked::default()
        };
        let (binding, other) = (right.binding(), wrong.binding());
        // Whether the sealer can tell another principal's token from a forgery.
        let mismatch = if codec.encrypts() || codec.disclosure() == Disclosure::Typed {
            OpenError::Mismatch
        } else {
            OpenError::Invalid
        };
        let token = sealer.seal_at(&1, &binding, noon()).unwrap();
        let changed = format!("{token}=");
        let (late, early) = (
            noon() + Duration::from_secs(900),
            noon() - Duration::from_secs(900),
        );
        is(
            sealer.open_at(&changed, &other, late),
            Err(OpenError::Invalid),
            "malformed, another's, too late",
        );
        is(
            sealer.open_at(&token, &other, late),
            Err(mismatch),
            "another's, too late",
        );
        is(
            sealer.open_at(&token, &other, early),
            Err(mismatch),
            "another's, minted ahead",
        );
        let as_text = |result: Result<String, OpenError>| result.map(|_| 0);
        is(
            as_text(sealer.open_at(&token, &other, noon())),
            Err(mismatch),
            "another's, another type",
        );
        is(
            as_text(sealer.open_at(&token, &binding, late)),
            Err(OpenError::Expired),
            "too late, another type",
        );
        is(
            as_text(sealer.open_at(&token, &binding, noon())),
            Err(OpenError::Invalid),
            "another type",
        );
        is(
            sealer.open_at(&token, &binding, noon()),
            Ok(1),
            "after all refusals",
        )
    }
}

#[test]
fn opaque_refusals_are_all_the_same() {
    for codec in &codecs() {
        let sealer = Sealer::builder("billing", codec)
            .disclosure(Disclosure::Opaque)
            .build()
            .unwrap();
        let asked = Asked::default();
        let binding = asked.binding();
        let token = sealer.seal_at(&1, &binding, noon()).unwrap();
        let late = noon() + Duration::from_secs(900);
        let invalid = Err(OpenError::Invalid);
        is(
            sealer.open_at(&token, &binding, noon()),
            Ok(1),
            "the token itself",
        );
        is(sealer.open_at("junk", &binding, noon()), invalid, "junk");
        is(sealer.open_at(&token, &binding, late), invalid, "too late");
        for other in [
            Asked {
                principal: None,
                ..asked.clone()
            },
            Asked {
                amount: 11,
                ..asked.clone()
            },
            Asked {
                method: "prompts/get",
                ..asked.clone()
            },
        ] {
            is(
                sealer.open_at(&token, &other.binding(), noon()),
                invalid,
                "for another request",
            );
        }
        // Unless told otherwise, a sealer is as its codec says.
        let expected = match codec.disclosure() {
            Disclosure::Typed => OpenError::Expired,
            Disclosure::Opaque => OpenError::Invalid,
        };
        let plain = Sealer::new("billing", codec).unwrap();
        is(
            plain.open_at(&token, &binding, late),
            Err(expected),
            "with the disclosure of the codec",
        )
    }
}

#[test]
fn every_refusal_prints_the_same() {
    for codec in &codecs() {
        let sealer = typed(codec).build().unwrap();
        let (right, wrong) = (
            Asked::default(),
            Asked {
                principal: None,
                ..Asked::default()
            },
        );
        let token = sealer.seal_at(&1, &right.binding(), noon()).unwrap();
        let late = noon() + Duration::from_secs(900);
        for result in [
            sealer.open_at::<u32>("junk", &right.binding(), noon()),
            sealer.open_at::<u32>(&token, &wrong.binding(), noon()),
            sealer.open_at::<u32>(&token, &right.binding(), late),
        ] {
            let text = result.map_or_else(|error| error.to_string(), |_| "(it opened)".into());
            assert_eq!(text, OpenError::MESSAGE);
        }
    }
}

#[test]
fn an_authentic_payload_of_another_layout_is_rejected() {
    for codec in &codecs() {
        let sealer = typed(codec).build().unwrap();
        let binding = Asked::default().binding();
        let token = sealer.seal_at(&1, &binding, noon()).unwrap();
        is(
            sealer.open_at(&token, &binding, noon()),
            Ok(1),
            "the token itself",
        );
        let (context, payload) = codec.seen.lock().unwrap().clone();
        // Somebody with the key, or an older version of a server: authentic, and not of this layout.
        for kept in 0..payload.len() {
            let token = codec.encode(&payload[..kept], &context).unwrap();
            is(
                sealer.open_at(&token, &binding, noon()),
                Err(OpenError::Invalid),
                "an authentic payload, cut",
            );
        }
        for version in [0, 2, 255] {
            let mut other = payload.clone();
            other[0] = version;
            let token = codec.encode(&other, &context).unwrap();
            is(
                sealer.open_at(&token, &binding, noon()),
                Err(OpenError::Invalid),
                "an authentic payload of another version",
            );
        }
        let longer = codec
            .encode(&[&payload[..], b" x"].concat(), &context)
            .unwrap();
        is(
            sealer.open_at(&longer, &binding, noon()),
            Err(OpenError::Invalid),
            "an authentic payload, and more",
        )
    }
}
