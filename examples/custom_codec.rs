//! A codec of your own: XChaCha20-Poly1305, tested with the conformance suite.
//!
//! `cargo run --example custom_codec` prints the report. `cargo test --example custom_codec` runs a
//! test for each case.
//!
//! To write another codec based on it, change three things:
//!
//! - the cipher and the length of its nonce, which is 24 bytes here;
//! - the label: your name, a version, and the algorithm. It separates your keys and tokens from
//!   those of every other codec, so change it whenever you change the tokens;
//! - the two functions at the end, which call the cipher.
//!
//! For a codec that is not an AEAD, or that keeps its keys elsewhere, see `docs/custom-codec.md`.

use std::process::ExitCode;

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use request_state::{DecodeError, EncodeError, Keyring, Prepared, RequestStateCodec, aead};

const LABEL: &str = "example.com v1 xchacha20-poly1305";

/// The codec. A nonce of 24 random bytes does not repeat, however often a key seals, so seals need
/// not be counted.
#[derive(Clone, Debug)]
struct XChaChaCodec(Prepared<XChaCha20Poly1305>);

impl XChaChaCodec {
    fn new(keys: &Keyring) -> Self {
        Self(keys.prepare(|key| XChaCha20Poly1305::new((&*key.derive(LABEL)).into())))
    }
}

impl RequestStateCodec for XChaChaCodec {
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

/// Encrypts `text` in place, and returns the tag.
fn encrypt(
    cipher: &XChaCha20Poly1305,
    nonce: &[u8; 24],
    aad: &[u8],
    text: &mut [u8],
) -> Option<[u8; aead::TAG_LEN]> {
    let tag = cipher.encrypt_inout_detached(&(*nonce).into(), aad, text.into());
    tag.map(Into::into).ok()
}

/// Decrypts `text` in place, and returns `true` if the tag is correct.
fn decrypt(
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

fn main() -> ExitCode {
    let report = request_state_conformance::check(XChaChaCodec::new);
    println!("{report}");
    if report.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
request_state_conformance::suite!(xchacha20_poly1305, XChaChaCodec::new);
