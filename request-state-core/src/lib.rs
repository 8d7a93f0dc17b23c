//! The core of [`request-state`](https://docs.rs/request-state): the codec trait, the canonical digest of a request, the
//! keyring, the sealer and the boundary.
//!
//! Servers depend on `request-state`, which re-exports this crate and the backends. Depend on this crate to write a
//! codec or a store.
//!
//! | to | see |
//! |---|---|
//! | protect a server, with no code in its handlers | [`Boundary`] |
//! | accept each round once, and repeat its answer | [`OnceBoundary`], [`RedemptionStore`] |
//! | seal and open a state yourself | [`Sealer`] |
//! | bind a token to a request and a principal | [`Binding`], [`Request`] |
//! | accept a token once | [`Sealer::open_once`], [`MemoryStore`] |
//! | hold and rotate keys | [`Keyring`], [`Key`] |
//! | write a codec | [`RequestStateCodec`], [`aead`], [`wire`] |
//!
//! The [manual](https://docs.rs/request-state/latest/request_state/manual/index.html) has one page for each subject.
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
