//! Codecs that are right, and built as ours are not: the suite demands what a codec promises, and
//! nothing of its format.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

#[allow(dead_code, reason = "faulty.rs uses the rest")]
mod faulty {
    pub mod base;
}

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use faulty::base::{joined, mac};
use request_state_conformance::suite;
use request_state_core::{DecodeError, Disclosure, EncodeError, Keyring, RequestStateCodec, wire};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

/// ChaCha20-Poly1305: `nonce[12] ‖ ciphertext ‖ tag[16]`.
fn seal(
    key: &[u8; 32],
    extra: &[u8],
    payload: &[u8],
    context: &[u8],
) -> Result<Vec<u8>, EncodeError> {
    Ok(seal_with(wire::random()?, key, extra, payload, context))
}

fn seal_with(
    nonce: [u8; 12],
    key: &[u8; 32],
    extra: &[u8],
    payload: &[u8],
    context: &[u8],
) -> Vec<u8> {
    let mut text = payload.to_vec();
    let aad = Aad::from(joined(&[extra, context]));
    cipher(key)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text)
        .unwrap();
    [&nonce[..], &text].concat()
}

fn open(
    key: &[u8; 32],
    extra: &[u8],
    sealed: &[u8],
    context: &[u8],
) -> Result<Vec<u8>, DecodeError> {
    let (nonce, text) = sealed.split_first_chunk().ok_or(DecodeError::Malformed)?;
    let mut text = text.to_vec();
    let aad = Aad::from(joined(&[extra, context]));
    let opened = cipher(key).open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut text);
    opened
        .map(|payload| payload.to_vec())
        .map_err(|_| DecodeError::Unauthentic)
}

fn cipher(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).unwrap())
}

fn key_of(keys: &Keyring, kid: &str) -> Option<[u8; 32]> {
    Some(*keys.get(kid)?.derive("correct v1"))
}

fn base64url(bytes: &[u8]) -> Result<String, EncodeError> {
    Ok(wire::token("", &[bytes])?.split_off(1))
}

/// A token without a kid: it tries every key. One part, no dot.
struct Kidless(Vec<[u8; 32]>);

impl Kidless {
    fn new(keys: &Keyring) -> Self {
        Self(
            keys.iter()
                .map(|(_, key)| *key.derive("correct v1"))
                .collect(),
        )
    }
}

impl RequestStateCodec for Kidless {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        base64url(&seal(&self.0[0], b"", payload, context)?)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let sealed = wire::decode_base64url(token)?;
        let mut result = Err(DecodeError::Malformed);
        for key in &self.0 {
            result = open(key, b"", &sealed, context);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// In hexadecimal, with a version in front of the kid, a time and padding of a random length:
/// `v1.kid.hex(time[8] ‖ sealed)`.
struct Hex(Keyring);

impl RequestStateCodec for Hex {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, key) = self.0.sealing();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
            .to_be_bytes();
        let padding = usize::from(wire::random::<1>()?[0] % 32);
        let padded = [&[padding as u8][..], &vec![0; padding], payload].concat();
        let extra = joined(&[kid.as_bytes(), &now]);
        let sealed = seal(&key.derive("correct v1"), &extra, &padded, context)?;
        let hex: String = now
            .iter()
            .chain(&sealed)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(format!("v1.{kid}.{hex}"))
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, hex) = token
            .strip_prefix("v1.")
            .and_then(|rest| rest.split_once('.'))
            .ok_or(DecodeError::Malformed)?;
        let digits = hex.bytes().map(|byte| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(DecodeError::Malformed),
        });
        let digits = digits.collect::<Result<Vec<u8>, _>>()?;
        let (pairs, rest) = digits.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        let (now, sealed) = bytes
            .split_first_chunk::<8>()
            .ok_or(DecodeError::Malformed)?;
        if !rest.is_empty() {
            return Err(DecodeError::Malformed);
        }
        let key = key_of(&self.0, kid).ok_or(DecodeError::UnknownKey)?;
        let padded = open(&key, &joined(&[kid.as_bytes(), now]), sealed, context)?;
        Ok(padded[1 + usize::from(padded[0])..].to_vec())
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// Encrypts and is typed: the tag is of the token alone, and a MAC of the context stands inside, each
/// part on its own between dots.
struct TypedAndEncrypted(Keyring);

impl RequestStateCodec for TypedAndEncrypted {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, key) = self.0.sealing();
        let key = key.derive("correct v1");
        let inner = [&mac(&key, &joined(&[b"context", context]))[..], payload].concat();
        let sealed = seal(&key, kid.as_bytes(), &inner, b"")?;
        let (sealed, tag) = sealed.split_last_chunk::<16>().unwrap();
        let (nonce, text) = sealed.split_first_chunk::<12>().unwrap();
        wire::token(kid, &[tag, nonce, text])
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [tag, nonce, text]) = wire::parts(token)?;
        if tag.len() != 16 || nonce.len() != 12 || text.len() < 32 {
            return Err(DecodeError::Malformed);
        }
        let key = key_of(&self.0, kid).ok_or(DecodeError::UnknownKey)?;
        let inner = open(&key, kid.as_bytes(), &[nonce, text, tag].concat(), b"")?;
        let (noted, payload) = inner
            .split_first_chunk::<32>()
            .ok_or(DecodeError::Malformed)?;
        if mac(&key, &joined(&[b"context", context])) != *noted {
            return Err(DecodeError::OtherContext);
        }
        Ok(payload.to_vec())
    }

    fn encrypts(&self) -> bool {
        true
    }

    fn disclosure(&self) -> Disclosure {
        Disclosure::Typed
    }
}

/// Envelope encryption, as with a key management service: a key for each token, which the service
/// wraps. It takes no keyring. It encrypts, and does not say so, as it may.
#[derive(Clone)]
struct Envelope {
    service: std::sync::Arc<[u8; 32]>,
}

impl Envelope {
    fn connect() -> Self {
        Self {
            service: std::sync::Arc::new([9; 32]),
        }
    }
}

impl RequestStateCodec for Envelope {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let key = wire::random::<32>()?;
        let wrapped = seal(&self.service, b"wrapped", &key, b"")?;
        let sealed = seal(&key, b"sealed", payload, context)?;
        base64url(&[wrapped, sealed].concat())
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let bytes = wire::decode_base64url(token)?;
        let (wrapped, sealed) = bytes
            .split_first_chunk::<60>()
            .ok_or(DecodeError::Malformed)?;
        let key = open(&self.service, b"wrapped", wrapped, b"")?;
        open(&key.try_into().unwrap(), b"sealed", sealed, context)
    }
}

/// Names a key by a hash of it, so that operators need not agree on names: a key has 32 random bytes, of
/// which nobody guesses any.
struct NamedByHash(Vec<[u8; 32]>);

impl NamedByHash {
    fn new(keys: &Keyring) -> Self {
        Self(
            keys.iter()
                .map(|(_, key)| *key.derive("correct v1"))
                .collect(),
        )
    }

    fn name(key: &[u8; 32]) -> [u8; 12] {
        *mac(key, b"name").first_chunk().unwrap()
    }
}

impl RequestStateCodec for NamedByHash {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let key = &self.0[0];
        let name = Self::name(key);
        let sealed = seal(key, &name, payload, context)?;
        wire::token(&base64url(&name)?, &[&sealed])
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (name, sealed) = token.split_once('.').ok_or(DecodeError::Malformed)?;
        let (name, sealed) = (
            wire::decode_base64url(name)?,
            wire::decode_base64url(sealed)?,
        );
        if name.len() != 12 || sealed.len() < 28 {
            return Err(DecodeError::Malformed);
        }
        let mut keys = self.0.iter();
        let key = keys
            .find(|key| Self::name(key)[..] == name)
            .ok_or(DecodeError::UnknownKey)?;
        open(key, &name, &sealed, context)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// Counts its nonces behind a random number of its own, as NIST SP 800-38D has it in section 8.2.1: each
/// codec has its own 8 bytes, and seals up to 2^32 times.
struct Counting {
    keys: Keyring,
    own: [u8; 8],
    count: AtomicU32,
}

impl Counting {
    fn new(keys: &Keyring) -> Self {
        Self {
            keys: keys.clone(),
            own: wire::random().unwrap(),
            count: AtomicU32::new(0),
        }
    }
}

impl RequestStateCodec for Counting {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        if count == u32::MAX {
            return Err(EncodeError::KeyExhausted);
        }
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&self.own);
        nonce[8..].copy_from_slice(&count.to_be_bytes());
        let (kid, key) = self.keys.sealing();
        let key = key.derive("correct v1");
        wire::token(
            kid,
            &[&seal_with(nonce, &key, kid.as_bytes(), payload, context)],
        )
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [sealed]) = wire::parts(token)?;
        if sealed.len() < 28 {
            return Err(DecodeError::Malformed);
        }
        let key = key_of(&self.keys, kid).ok_or(DecodeError::UnknownKey)?;
        open(&key, kid.as_bytes(), &sealed, context)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

suite!(kidless, Kidless::new);
suite!(
    named_by_hash,
    NamedByHash::new,
    accepting: ["appearance::the_key_is_not_visible"]
);
suite!(
    counting,
    Counting::new,
    accepting: ["freshness::no_counter", "appearance::enough_of_it_is_random"]
);
suite!(hex_with_time_and_padding, |keys| Hex(keys.clone()));
suite!(typed_and_encrypted, |keys| TypedAndEncrypted(keys.clone()));
suite!(envelope, keyless: Envelope::connect);
