//! The token format of every AEAD codec. The codec brings the cipher.
//!
//! `kid "." base64url(nonce ‖ tag[16] ‖ ciphertext)`, with
//! `lp(label) ‖ lp(kid) ‖ lp(context)` as associated data.
//!
//! Your own codec brings a cipher, a label and the length of its nonce. See the example of [`seal`].

use crate::codec::{DecodeError, EncodeError};
use crate::keys::Prepared;
use crate::wire;

/// The length of the authentication tag, in bytes.
pub const TAG_LEN: usize = 16;

/// The minimum length of a nonce, in bytes.
///
/// With random nonces of 8 bytes, two seals of [`SEAL_LIMIT`] share a nonce with a probability of 39 %.
pub const MIN_NONCE_LEN: usize = 12;

/// The number of seals that a key with random 96-bit nonces may make (NIST SP 800-38D, section 8.3).
///
/// Beyond it, the probability that two seals share a nonce exceeds 2^-32.
pub const SEAL_LIMIT: u64 = 1 << 32;

/// Seals `payload` under the sealing key of `keys` and a fresh random nonce of `NONCE` bytes.
///
/// `label` names the algorithm. Use the label that the keys were derived under. `encrypt` gets the cipher,
/// the nonce, the associated data and the plaintext. It encrypts the plaintext in place and returns the tag,
/// or `None` if it cannot encrypt.
///
/// A nonce of fewer than [`MIN_NONCE_LEN`] bytes does not compile. With a nonce of 12 bytes, the seal is
/// counted against the key, up to [`SEAL_LIMIT`]. Longer nonces are not counted.
///
/// # Errors
///
/// Returns [`EncodeError::KeyExhausted`] at that limit, and [`EncodeError::Unavailable`] when the random
/// source or `encrypt` fails.
///
/// # Example
///
/// The structure of a codec, using a dummy cipher:
///
/// ```
/// use request_state_core::{DecodeError, EncodeError, Key, Keyring, Prepared, RequestStateCodec, aead};
///
/// struct Toy(Prepared<[u8; 32]>);
///
/// impl RequestStateCodec for Toy {
///     fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
///         aead::seal::<_, 24>(&self.0, "toy v1", payload, context, |_, _, _, _| Some([0; 16]))
///     }
///     fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
///         aead::open::<_, 24>(&self.0, "toy v1", token, context, |_, _, _, tag, _| *tag == [0; 16])
///     }
/// }
///
/// let keys = Keyring::new([("k", Key::from([7; 32]))])?;
/// let toy = Toy(keys.prepare(|key| *key.derive("toy v1")));
/// let token = toy.encode(b"state", b"context")?;
/// assert_eq!(toy.decode(&token, b"context")?, b"state");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A nonce of 12 bytes compiles, and one of 11 does not:
///
/// ```
/// use request_state_core::{EncodeError, Prepared, aead};
///
/// fn encode(keys: &Prepared<()>) -> Result<String, EncodeError> {
///     aead::seal::<_, 12>(keys, "label", b"payload", b"context", |_, _, _, _| None)
/// }
/// # let keys = request_state_core::Keyring::ephemeral()?.prepare(|_| ());
/// # assert!(encode(&keys).is_err());
/// # Ok::<(), request_state_core::KeyringError>(())
/// ```
///
/// ```compile_fail,E0080
/// use request_state_core::{EncodeError, Prepared, aead};
///
/// fn encode(keys: &Prepared<()>) -> Result<String, EncodeError> {
///     aead::seal::<_, 11>(keys, "label", b"payload", b"context", |_, _, _, _| None)
/// }
/// # let keys = request_state_core::Keyring::ephemeral()?.prepare(|_| ());
/// # assert!(encode(&keys).is_err());
/// # Ok::<(), request_state_core::KeyringError>(())
/// ```
pub fn seal<C, const NONCE: usize>(
    keys: &Prepared<C>,
    label: &str,
    payload: &[u8],
    context: &[u8],
    encrypt: impl FnOnce(&C, &[u8; NONCE], &[u8], &mut [u8]) -> Option<[u8; TAG_LEN]>,
) -> Result<String, EncodeError> {
    const { assert!(NONCE >= MIN_NONCE_LEN, "a nonce has at least 12 bytes") }
    if NONCE == MIN_NONCE_LEN {
        keys.keys().count_seals(1, SEAL_LIMIT)?;
    }
    let (kid, cipher) = keys.sealing();
    let nonce = wire::random::<NONCE>()?;
    let mut text = Vec::with_capacity(payload.len().saturating_add(NONCE.saturating_add(TAG_LEN)));
    text.extend_from_slice(&nonce);
    text.extend_from_slice(&[0; TAG_LEN]);
    text.extend_from_slice(payload);
    let parts = text
        .split_first_chunk_mut::<NONCE>()
        .and_then(|(_, rest)| rest.split_first_chunk_mut::<TAG_LEN>());
    let encrypted = parts.and_then(|(tag, text)| {
        *tag = with_associated_data(label, kid, context, |aad| {
            encrypt(cipher, &nonce, aad, text)
        })?;
        Some(())
    });
    if encrypted.is_none() {
        return Err(EncodeError::Unavailable("the cipher failed".into()));
    }
    wire::token(kid, &[&text])
}

/// Opens a token that [`seal`] made under any key of `keys`, the same `label` and the same `context`.
///
/// `decrypt` gets the cipher, the nonce, the associated data, the tag and the ciphertext. It decrypts the
/// ciphertext in place and returns `true` if the tag is right.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`], [`DecodeError::UnknownKey`] or [`DecodeError::Unauthentic`]. They are
/// checked in this order.
pub fn open<C, const NONCE: usize>(
    keys: &Prepared<C>,
    label: &str,
    token: &str,
    context: &[u8],
    decrypt: impl FnOnce(&C, &[u8; NONCE], &[u8], &[u8; TAG_LEN], &mut [u8]) -> bool,
) -> Result<Vec<u8>, DecodeError> {
    let (kid, body) = wire::split_kid(token)?;
    let mut body = wire::decode_base64url(body)?;
    let (nonce, rest) = body
        .split_first_chunk_mut::<NONCE>()
        .ok_or(DecodeError::Malformed)?;
    let (tag, text) = rest
        .split_first_chunk_mut::<TAG_LEN>()
        .ok_or(DecodeError::Malformed)?;
    let cipher = keys.get(kid).ok_or(DecodeError::UnknownKey)?;
    let is_authentic = with_associated_data(label, kid, context, |aad| {
        decrypt(cipher, nonce, aad, tag, text)
    });
    if !is_authentic {
        return Err(DecodeError::Unauthentic);
    }
    body.drain(..NONCE.saturating_add(TAG_LEN));
    Ok(body)
}

/// Calls `then` with the associated data: `lp(label) ‖ lp(kid) ‖ lp(context)`. The kid is in it, so that nobody can
/// change the kid of a token where two kids were ever given the same key.
fn with_associated_data<R>(
    label: &str,
    kid: &str,
    context: &[u8],
    then: impl FnOnce(&[u8]) -> R,
) -> R {
    wire::with_joined(&[label.as_bytes(), kid.as_bytes(), context], &[], then)
}
