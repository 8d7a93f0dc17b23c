use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use request_state::{
    DecodeError, EncodeError, Key, Keyring, KeyringError, Prepared, RequestStateCodec, aead, wire,
};

use crate::kms::{Kms, KmsError};

const LABEL: &str = "example.com v1 kms xchacha20-poly1305";

/// The start of every token. It is logged as the kid.
const KID: &str = "kms";

/// Seals each token under a data key of its own, which the key management service wraps.
///
/// `"kms." base64url(nonce ‖ tag ‖ ciphertext) "." base64url(wrapped data key)`
pub struct KmsCodec(pub Kms);

impl RequestStateCodec for KmsCodec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (data_key, wrapped) = self
            .0
            .generate_data_key()
            .map_err(|error| EncodeError::Unavailable(error.into()))?;
        let keys = prepare(data_key).map_err(|error| EncodeError::Unavailable(error.into()))?;
        let context = bind(&wrapped, context);
        let sealed = aead::seal(&keys, LABEL, payload, &context, encrypt)?;
        wire::token(&sealed, &[&wrapped])
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        // The form first: a string that is not a token must not cost a call to the service.
        let (sealed, wrapped) = token.rsplit_once('.').ok_or(DecodeError::Malformed)?;
        let wrapped = wire::decode_base64url(wrapped)?;
        let (kid, _) = wire::split_kid(sealed)?;
        if kid != KID || wrapped.len() != Kms::WRAPPED_LEN {
            return Err(DecodeError::Malformed);
        }
        let data_key = self.0.unwrap(&wrapped).map_err(|error| match error {
            // The service reports that it never wrapped this: a rejection, and not an outage.
            KmsError::NotOurs => DecodeError::Unauthentic,
            KmsError::Unreachable => DecodeError::Unavailable(error.into()),
        })?;
        let keys = prepare(data_key).map_err(|error| DecodeError::Unavailable(error.into()))?;
        aead::open(&keys, LABEL, sealed, &bind(&wrapped, context), decrypt)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// Creates a keyring of the one key that this token is sealed under.
fn prepare(data_key: [u8; 32]) -> Result<Prepared<XChaCha20Poly1305>, KeyringError> {
    let keys = Keyring::new([(KID, Key::from(data_key))])?;
    Ok(keys.prepare(|key| XChaCha20Poly1305::new((&*key.derive(LABEL)).into())))
}

/// Returns the associated data, each part prefixed with its length. It contains the wrapped key: even if a
/// service wraps a key in two ways, no other token decodes.
fn bind(wrapped: &[u8], context: &[u8]) -> Vec<u8> {
    let mut bound = Vec::new();
    wire::push_prefixed(&mut bound, wrapped);
    wire::push_prefixed(&mut bound, context);
    bound
}

/// Encrypts `text` in place, and returns the tag.
pub fn encrypt(
    cipher: &XChaCha20Poly1305,
    nonce: &[u8; 24],
    aad: &[u8],
    text: &mut [u8],
) -> Option<[u8; aead::TAG_LEN]> {
    let tag = cipher.encrypt_inout_detached(&(*nonce).into(), aad, text.into());
    tag.map(Into::into).ok()
}

/// Decrypts `text` in place, and returns whether the tag is right.
pub fn decrypt(
    cipher: &XChaCha20Poly1305,
    nonce: &[u8; 24],
    aad: &[u8],
    tag: &[u8; aead::TAG_LEN],
    text: &mut [u8],
) -> bool {
    cipher
        .decrypt_inout_detached(&(*nonce).into(), aad, text.into(), &(*tag).into())
        .is_ok()
}
