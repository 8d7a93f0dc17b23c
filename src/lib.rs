//! Seals the `requestState` of MCP multi round-trip requests.
//!
//! Everything of [`request_state_core`] is here, and the codecs of the enabled features. Start at
//! [`Sealer`].
//!
#![doc = include_str!("links.md")]
#![doc = include_str!("../docs/drawings/rustdoc.md")]
//!
#![cfg_attr(
    all(feature = "aes-gcm", feature = "hmac", feature = "ring"),
    doc = include_str!("../README.md")
)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod manual;

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
