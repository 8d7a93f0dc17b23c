//! Seals the `requestState` of MCP multi round-trip requests.
//!
//! Everything of [`request_state_core`] is here, and the codecs of the enabled features. Start at
//! [`Sealer`].
#![cfg_attr(
    all(feature = "aes-gcm", feature = "hmac", feature = "ring"),
    doc = include_str!("../README.md")
)]
#![forbid(unsafe_code)]

pub use request_state_core::*;

#[cfg(feature = "aes-gcm")]
pub use request_state_aesgcm::AesGcmCodec;
#[cfg(feature = "hmac")]
pub use request_state_hmac::HmacCodec;
#[cfg(feature = "ring")]
pub use request_state_ring::RingCodec;

#[cfg(any(feature = "aes-gcm", feature = "ring"))]
mod default_codec;
#[cfg(any(feature = "aes-gcm", feature = "ring"))]
pub use default_codec::DefaultCodec;

/// So that its code is compiled and run.
#[cfg(all(doctest, feature = "aes-gcm"))]
#[doc = include_str!("../docs/custom-codec.md")]
struct CustomCodecPage;

/// Likewise.
#[cfg(doctest)]
#[doc = include_str!("../docs/custom-store.md")]
struct CustomStorePage;
