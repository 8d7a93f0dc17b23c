//! The codec for those who have no reason to choose another.

use request_state_core::{DecodeError, Disclosure, EncodeError, Keyring, RequestStateCodec};

#[cfg(not(feature = "ring"))]
use request_state_aesgcm::AesGcmCodec as Fastest;
#[cfg(feature = "ring")]
use request_state_ring::RingCodec as Fastest;

/// AES-256-GCM by the fastest enabled backend: `ring` where its feature is on, else `aes-gcm`.
///
/// A type of its own and not another name for either, so that a crate that switches a feature on
/// changes neither what this is to the compiler nor what its tokens are: both backends read and
/// write the same. One thing does change: `ring` cannot wipe its keys when they are dropped, and the
/// `aes-gcm` crate does. Name `AesGcmCodec` where that matters.
///
/// # Example
///
/// ```
/// use request_state::{DefaultCodec, Keyring, Sealer};
///
/// let sealer = Sealer::new("billing", DefaultCodec::new(&Keyring::ephemeral()?))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DefaultCodec(Fastest);

impl DefaultCodec {
    /// Creates a codec that seals with the first key of `keys` and opens with every one.
    #[must_use]
    pub fn new(keys: &Keyring) -> Self {
        Self(Fastest::new(keys))
    }
}

impl RequestStateCodec for DefaultCodec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        self.0.encode(payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        self.0.decode(token, context)
    }

    fn encrypts(&self) -> bool {
        self.0.encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        self.0.disclosure()
    }
}

impl std::fmt::Debug for DefaultCodec {
    /// The same text whichever backend is enabled.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DefaultCodec(..)")
    }
}
