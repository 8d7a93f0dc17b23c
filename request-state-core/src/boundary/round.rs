//! The record of a request until its response is sealed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::flow::{FlowId, Position};
use super::held::Held;
use super::question::Question;
use crate::binding::{Binding, BindingError};
use crate::log::RequestId;
use crate::once::{Redemption, StoreError};
use crate::sealer::SealError;

/// An accepted request, whose response is still to be sealed.
///
/// It contains the digest of the request and the flow's position and questions from the token. It contains
/// neither the params nor the state. A handler that acts on an answer can check [`flow`](Self::flow) and
/// [`asked`](Self::asked).
#[derive(Clone, Debug)]
#[must_use = "without the round the response is not sealed, and the plain state leaves"]
pub struct Round {
    pub(super) kind: Kind,
    /// One of the three methods, if known. For the log.
    pub(super) method: Option<&'static str>,
    pub(super) id: Option<RequestId>,
    /// The position of the flow, according to the token that came with the request.
    pub(super) position: Option<Position>,
    /// The time from which no token of that flow opens, in milliseconds since 1970.
    pub(super) keep_until_ms: Option<u64>,
    /// Sorted by name, since a client may send any number of answers to look up.
    pub(super) asked: Vec<Question<'static>>,
    /// The position of the flow whose state had expired.
    pub(super) restarted_from: Option<Position>,
    /// With single use, the claim that made this request the first of its round.
    pub(super) claim: Option<Arc<Held>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A request whose response may carry a state.
    Request(Binding),
    /// The same, but nothing can be sealed for it. The version is for the log.
    Unbound {
        error: BindingError,
        version: Option<Box<str>>,
    },
    /// A batch, or a message without an id. No state can be sealed for it.
    NoRequest,
    /// A message of another method, or without a method.
    Other,
}

impl Round {
    /// Creates the round of a request of another method, or without a method. Nothing can be sealed for it.
    ///
    /// For frameworks that pass the responses of such requests to the boundary too, so that no plain state
    /// leaves the server.
    pub fn uncovered() -> Self {
        Self::of(Kind::Other, None, None)
    }

    pub(super) fn of(kind: Kind, method: Option<&'static str>, id: Option<RequestId>) -> Self {
        Self {
            kind,
            method,
            id,
            position: None,
            keep_until_ms: None,
            asked: Vec::new(),
            restarted_from: None,
            claim: None,
        }
    }

    /// Returns the id of the flow that the request continues.
    ///
    /// Returns `None` if the request came without a token, or with an expired token. In this flow, nobody was
    /// asked anything yet then, and an effect has no idempotency key.
    ///
    /// See [`FlowId`] for how to use it.
    #[must_use]
    pub fn flow(&self) -> Option<FlowId> {
        Some(self.position?.flow)
    }

    /// Returns the number of the round whose questions the request answers, counted from 1. Returns `None` if
    /// [`flow`](Self::flow) does.
    #[must_use]
    pub fn number(&self) -> Option<u16> {
        Some(self.position?.round)
    }

    /// Returns the questions of that round, sorted by name: this server asked this user these questions about
    /// exactly this request. Empty if [`flow`](Self::flow) returns `None`.
    ///
    /// The questions of earlier rounds are not included. Keep the answers to those in the state.
    #[must_use]
    pub fn asked(&self) -> &[Question<'static>] {
        &self.asked
    }

    /// Returns `true` if a question of that round has this name. There need not be an answer: a client can send
    /// the token without an answer.
    #[must_use]
    pub fn is_asked(&self, name: &str) -> bool {
        Question::is_among(&self.asked, name)
    }

    /// Returns the id of the flow whose state had expired, if the request came with an expired state and starts
    /// over.
    ///
    /// The new flow gets an id of its own. **An effect that is guarded by the old id is not guarded by the new
    /// one**: before it asks again, a handler with effects must look up whether the old flow had its effect.
    /// Behind [`Boundary::once`](super::Boundary::once), the old flow did not have its effect in this round.
    /// See [`Boundary::restart_expired`](super::Boundary::restart_expired).
    #[must_use]
    pub fn restarted_from(&self) -> Option<FlowId> {
        Some(self.restarted_from?.flow)
    }

    /// Returns the record of this round's redemption, as a store keeps it, or `None` for a request that came
    /// without a token or starts over.
    ///
    /// For handlers that redeem in the transaction of their effect, without
    /// [`Boundary::once`](super::Boundary::once): insert the id, under a unique constraint, together with the
    /// effect. If the id exists already, the round was redeemed before. A request that starts over has an
    /// [`expired_redemption`](Self::expired_redemption) instead.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state_core::Round;
    /// # fn example(round: &Round) {
    /// if let Some(redemption) = round.redemption() {
    ///     let (id, keep_until) = (redemption.id, redemption.keep_until);
    ///     // begin; insert into redeemed (id, keep_until) values (..); update accounts ..; commit
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn redemption(&self) -> Option<Redemption> {
        self.redemption_of(self.position?)
    }

    /// Returns the record of the round whose state had expired, or `None` for a request that does not [start
    /// over](Self::restarted_from).
    ///
    /// For handlers that store each [`redemption`](Self::redemption) themselves, together with the outcome of
    /// its round. Before you ask again, insert this id too, as a round that was closed unanswered. If the id
    /// exists already, its row has the outcome of the round. A presentation that arrives later, at a replica
    /// whose clock is behind, finds the row and must do nothing.
    #[must_use]
    pub fn expired_redemption(&self) -> Option<Redemption> {
        self.redemption_of(self.restarted_from?)
    }

    fn redemption_of(&self, position: Position) -> Option<Redemption> {
        Some(Redemption {
            id: position.redemption_id(),
            keep_until: UNIX_EPOCH.checked_add(Duration::from_millis(self.keep_until_ms?))?,
        })
    }

    /// Releases the round, so that the same token opens again. For handlers that know that nothing has
    /// happened.
    ///
    /// Returns `false` if there is nothing to release: this request did not redeem the round, the round has
    /// been released, its handler has asked a further question, or its answer has been recorded.
    ///
    /// If this method is not called, a round stays used whatever happens to its request. A handler must not ask
    /// after it has called this method, whatever the method returned: sealing then fails with
    /// [`SealError::Released`](crate::SealError::Released).
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store does not answer. The round may then stay used, or become free at
    /// any later time, so do not act on anything afterwards.
    pub async fn release(&self) -> Result<bool, StoreError> {
        match &self.claim {
            Some(claim) => claim.release().await,
            None => Ok(false),
        }
    }

    pub(super) fn binding(&self) -> Result<&Binding, SealError> {
        match &self.kind {
            Kind::Request(binding) => Ok(binding),
            Kind::Unbound { error, .. } => Err(SealError::Binding(error.clone())),
            Kind::NoRequest => Err(SealError::NoRequest),
            Kind::Other => Err(SealError::Uncovered),
        }
    }

    /// Returns the method of the request, if known.
    pub(super) fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request(binding) => Some(binding.method()),
            _ => self.method,
        }
    }

    /// Returns the protocol version of the request, if known.
    pub(super) fn version(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request(binding) => Some(binding.version()),
            Kind::Unbound { version, .. } => version.as_deref(),
            Kind::NoRequest | Kind::Other => None,
        }
    }
}

/// An accepted request, which [`Boundary::open`](super::Boundary::open) returns.
#[derive(Clone)]
#[must_use = "without the round the response is not sealed, and the plain state leaves"]
#[non_exhaustive]
pub struct Opened {
    /// The round, for sealing the response.
    pub round: Round,
    /// The plain state, as the handler wrote it. `None` if the request came without a token, if the handler
    /// wrote no state, or if the state had expired and the request starts over.
    pub state: Option<String>,
}

impl fmt::Debug for Opened {
    /// Prints the round and not the state.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}
