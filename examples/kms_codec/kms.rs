//! A stand-in for the client of your key management service. It wraps data keys, in memory.

use std::error::Error;
use std::fmt;

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit;
use request_state::{Key, Keyring, Prepared, aead, wire};

use crate::codec::{decrypt, encrypt};

const LABEL: &str = "example.com v1 fake kms";

/// The service. Its master key never leaves it. A clone is another connection to the same service.
#[derive(Clone)]
pub struct Kms {
    master: Prepared<XChaCha20Poly1305>,
    pub is_reachable: bool,
}

#[derive(Debug)]
pub enum KmsError {
    /// The service did not wrap this key.
    NotOurs,
    /// The service did not answer, so nothing is known about the key.
    Unreachable,
}

impl Kms {
    /// The length of a wrapped data key in bytes: here `m.` and 72 bytes in base64url.
    pub const WRAPPED_LEN: usize = 98;

    /// Starts a service with a fresh master key.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let keys = Keyring::new([("m", Key::generate()?)])?;
        Ok(Self {
            master: keys.prepare(|key| XChaCha20Poly1305::new((&*key.derive(LABEL)).into())),
            is_reachable: true,
        })
    }

    /// Generates a data key. Returns it in plain and wrapped.
    pub fn generate_data_key(&self) -> Result<([u8; 32], Vec<u8>), KmsError> {
        self.answer()?;
        let key = wire::random().map_err(|_| KmsError::Unreachable)?;
        let wrapped = aead::seal(&self.master, LABEL, &key, b"", encrypt);
        let wrapped = wrapped.map_err(|_| KmsError::Unreachable)?;
        Ok((key, wrapped.into_bytes()))
    }

    /// Unwraps a data key that this service wrapped.
    pub fn unwrap(&self, wrapped: &[u8]) -> Result<[u8; 32], KmsError> {
        self.answer()?;
        let wrapped = std::str::from_utf8(wrapped).map_err(|_| KmsError::NotOurs)?;
        let key = aead::open(&self.master, LABEL, wrapped, b"", decrypt);
        let key = key.map_err(|_| KmsError::NotOurs)?;
        key.try_into().map_err(|_| KmsError::NotOurs)
    }

    fn answer(&self) -> Result<(), KmsError> {
        self.is_reachable.then_some(()).ok_or(KmsError::Unreachable)
    }
}

impl fmt::Display for KmsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOurs => "the key management service did not wrap this key",
            Self::Unreachable => "the key management service does not answer",
        })
    }
}

impl Error for KmsError {}
