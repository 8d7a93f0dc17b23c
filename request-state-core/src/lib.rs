//! The core of [`request-state`](https://docs.rs/request-state): the codec trait, the canonical
//! digest of a request, the keyring and the sealer.
//!
//! Servers depend on `request-state`, which brings this crate and the backends. Depend on this one
//! to write a codec: implement [`RequestStateCodec`], with [`aead`] and [`wire`] if they help.
//!
//! | to | see |
//! |---|---|
//! | seal and open a state | [`Sealer`] |
//! | say what a token is bound to | [`Binding`], [`Request`] |
//! | let a token count once | [`Sealer::open_once`], [`MemoryStore`] |
//! | do both at a server's boundary, so that handlers need not | [`Boundary`] |
//! | let each round count once there, and repeat its answer | [`OnceBoundary`], [`RedemptionStore`] |
//! | hold and rotate keys | [`Keyring`], [`Key`] |
//! | write a codec | [`RequestStateCodec`], [`aead`], [`wire`] |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))] // clippy.toml cannot say it

pub mod aead;
pub mod wire;

mod binding;
mod boundary;
mod claims;
mod codec;
mod error;
mod keys;
mod log;
mod once;
mod principal;
mod problem;
mod reason;
mod sealer;
mod value;

pub use binding::{Binding, BindingError, Request};
pub use boundary::{
    AnswerAgain, AnswerFilter, AnswersWithoutState, Boundary, FlowId, Incoming, Kept, OnceBoundary,
    Opened, Question, QuestionKind, Refusal, Reply, Round, Sender, Token,
};
pub use codec::{BoxError, DecodeError, Disclosure, EncodeError, RequestStateCodec};
pub use error::OpenError;
pub use keys::{Key, KeyError, KeyText, Keyring, KeyringError, Prepared};
pub use once::{
    Claim, Claimed, Entry, MemoryStore, RedeemError, Redemption, RedemptionStore, StoreError,
    StoreFuture,
};
pub use principal::{Principal, Unidentified};
pub use problem::Problem;
pub use sealer::{ConfigError, SealError, Sealer, SealerBuilder};
