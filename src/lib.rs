//! Protects MCP multi round-trip requests: seals the `requestState`, and passes an answer on only if the server asked
//! for it.
//!
//! To protect a server, start at [`Boundary`]. To seal a string yourself, start at [`Sealer`]. The [`manual`] has one
//! page for each subject. This crate re-exports [`request_state_core`] and the codecs of the enabled features.
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
