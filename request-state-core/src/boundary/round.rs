//! What is kept between a request and its response, and what a refused request is answered.

use std::fmt;

use serde_json::{Value, json};

use crate::binding::{Binding, BindingError};
use crate::reason::OpenError;
use crate::sealer::SealError;

/// A request that was let through, and what its response is sealed for.
///
/// It holds the digest of the request, and neither its params nor its state.
#[derive(Clone, Debug)]
pub struct Round {
    pub(super) kind: Kind,
    /// For the log; empty where it is not one of the three.
    pub(super) method: &'static str,
    pub(super) restarted: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A request that may be answered with a state.
    Request(Result<Binding, BindingError>),
    /// A batch, or a message without an id: nothing that a state could be sealed for.
    NoRequest,
    /// A message of another method, or none: whatever answers it is none of our business.
    Other,
}

impl Round {
    pub(super) fn of(kind: Kind, method: &'static str) -> Self {
        Self {
            kind,
            method,
            restarted: false,
        }
    }

    /// Whether the request came with a state that had expired, and was let through to start over.
    ///
    /// See [`Boundary::restart_expired`](super::Boundary::restart_expired).
    #[must_use]
    pub fn restarted(&self) -> bool {
        self.restarted
    }

    pub(super) fn binding(&self) -> Result<&Binding, SealError> {
        match &self.kind {
            Kind::Request(Ok(binding)) => Ok(binding),
            Kind::Request(Err(error)) => Err(SealError::Binding(error.clone())),
            Kind::NoRequest | Kind::Other => Err(SealError::NoRequest),
        }
    }
}

/// What [`Boundary::open`](super::Boundary::open) let through.
#[derive(Clone)]
#[non_exhaustive]
pub struct Opened {
    /// What the response is sealed for.
    pub round: Round,
    /// The plain state, as the handler wrote it; `None` when there was none, or it had expired and
    /// the handler is to start over.
    pub state: Option<String>,
}

impl fmt::Debug for Opened {
    /// Prints nothing of the state.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}

/// A request that the handler must not see.
///
/// Its `Display` is [`OpenError::MESSAGE`], whatever the cause, which is in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A string or a number; null for a batch.
    id: Value,
}

impl Refusal {
    pub(super) fn of(id: Value) -> Self {
        Self { id }
    }

    /// The whole JSON-RPC message that answers the request, or the batch.
    #[must_use]
    pub fn response(&self) -> Value {
        json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": {
                "code": OpenError::CODE,
                "message": OpenError::MESSAGE,
                "data": {"reason": OpenError::REASON},
            },
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(OpenError::MESSAGE)
    }
}

impl std::error::Error for Refusal {}
