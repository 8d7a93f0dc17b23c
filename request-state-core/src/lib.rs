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
//! | do both at a server's boundary, so that handlers need not | [`Boundary`] |
//! | hold and rotate keys | [`Keyring`], [`Key`] |
//! | write a codec | [`RequestStateCodec`], [`aead`], [`wire`] |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))] // clippy.toml cannot say it

pub mod aead;
pub mod wire;

mod binding;
mod boundary;
mod canonical;
mod claims;
mod codec;
mod guard;
mod key;
mod keyring;
mod log;
mod prepared;
mod principal;
mod problem;
mod reason;
mod sealer;
mod state;

pub use binding::{Binding, BindingError, Request};
pub use boundary::{
    AnswerFilter, AnswersWithoutState, Boundary, FlowId, Incoming, Opened, Question, QuestionKind,
    Refusal, Round, Sender, Token,
};
pub use codec::{BoxError, DecodeError, Disclosure, EncodeError, RequestStateCodec};
pub use key::{Key, KeyError};
pub use keyring::{Keyring, KeyringError};
pub use prepared::Prepared;
pub use principal::{Principal, Unidentified};
pub use problem::Problem;
pub use reason::OpenError;
pub use sealer::{ConfigError, SealError, Sealer, SealerBuilder};
