//! What is kept between a request and its response.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::flow::{FlowId, Position};
use super::question::Question;
use super::redeem::Held;
use crate::binding::{Binding, BindingError};
use crate::log::RequestId;
use crate::once::{Redemption, StoreError};
use crate::sealer::SealError;

/// A request that was let through, and what its response is sealed for.
///
/// It holds the digest of the request and what its token says of the flow, and neither the params
/// nor the state. A handler that acts on an answer can read [`flow`](Self::flow) and
/// [`asked`](Self::asked).
#[derive(Clone, Debug)]
#[must_use = "without the round the response is not sealed, and the plain state leaves"]
pub struct Round {
    pub(super) kind: Kind,
    /// For the log: one of the three, if it is known.
    pub(super) method: Option<&'static str>,
    pub(super) id: Option<RequestId>,
    /// Where the token that came with the request says that the flow is.
    pub(super) position: Option<Position>,
    /// When no token of that flow opens any more, in milliseconds since 1970.
    pub(super) keep_until_ms: Option<u64>,
    /// Sorted by name: a client may send any number of answers to look up.
    pub(super) asked: Vec<Question<'static>>,
    /// Where the flow was whose state had expired.
    pub(super) restarted_from: Option<Position>,
    /// With single use, the claim by which this request is the first.
    pub(super) claim: Option<Arc<Held>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A request that may be answered with a state.
    Request(Binding),
    /// The same, but nothing can be sealed for it. The version is for the log.
    Unbound {
        error: BindingError,
        version: Option<Box<str>>,
    },
    /// A batch, or a message without an id: nothing that a state could be sealed for.
    NoRequest,
    /// A message of another method, or none.
    Other,
}

impl Round {
    /// Creates the round of a request of another method, or of none: for a framework that has its
    /// responses sealed all the same, so that no plain state leaves. Nothing can be sealed for it.
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

    /// Returns the id of the flow that the request continues, or `None` for a request that came
    /// without a token or with one that has expired: nobody was asked anything yet, and an effect has
    /// no idempotency key.
    ///
    /// See [`FlowId`] for how to use it.
    #[must_use]
    pub fn flow(&self) -> Option<FlowId> {
        Some(self.position?.flow)
    }

    /// Returns the number of the round whose questions the request answers, counted from 1, or
    /// `None` where [`flow`](Self::flow) is.
    #[must_use]
    pub fn number(&self) -> Option<u16> {
        Some(self.position?.round)
    }

    /// Returns the questions of that round: what this user was asked, by this server, about exactly
    /// this request, sorted by name. Empty where [`flow`](Self::flow) is `None`.
    ///
    /// Those of earlier rounds are not among them. What was answered then belongs into the state.
    #[must_use]
    pub fn asked(&self) -> &[Question<'static>] {
        &self.asked
    }

    /// Returns `true` if a question of that round has this name. It says nothing of an answer: a
    /// client can send the token without one.
    #[must_use]
    pub fn is_asked(&self, name: &str) -> bool {
        Question::is_among(&self.asked, name)
    }

    /// Returns the flow whose state had expired, if the request came with one and starts over.
    ///
    /// The new flow gets an id of its own. **An effect that is guarded by the old id is not guarded
    /// by the new one**: a handler with effects must look up whether the old flow had its effect
    /// before it asks again. Behind [`Boundary::once`](super::Boundary::once), it did not have it in this
    /// round. See [`Boundary::restart_expired`](super::Boundary::restart_expired).
    #[must_use]
    pub fn restarted_from(&self) -> Option<FlowId> {
        Some(self.restarted_from?.flow)
    }

    /// Returns what a store keeps of the redemption of this round, or `None` for a request that came
    /// without a token.
    ///
    /// For handlers that redeem in the transaction of their effect, without
    /// [`Boundary::once`](super::Boundary::once): insert the id, under a unique constraint, together
    /// with the effect. If it is there already, the round was redeemed. A request that starts over has
    /// an [`expired_redemption`](Self::expired_redemption) instead.
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

    /// Returns what a store keeps of the round whose state had expired, or `None` for a request that does
    /// not [start over](Self::restarted_from).
    ///
    /// For handlers that keep [`redemption`](Self::redemption) themselves, each with what became of its
    /// round: insert this id too, as a round that was closed unanswered, before you ask again. If it is there
    /// already, what was kept says what became of the round. A presentation that arrives later, at a replica
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

    /// Gives the round back, so that the same token opens again: for a handler that knows that
    /// nothing has happened. Returns `false` where there is nothing to give back: the round was not
    /// redeemed by this request, has been given back, or its handler has asked a further question.
    ///
    /// Without this, a round stays used whatever becomes of its request. A handler that has given it back
    /// must not ask: that is an error at seal.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when the store does not answer. The round may then stay used, or come free at any
    /// later time: act on nothing after it.
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

    /// The method of the request, as far as it is known.
    pub(super) fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request(binding) => Some(binding.method()),
            _ => self.method,
        }
    }

    /// The protocol version of the request, as far as it is known.
    pub(super) fn version(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request(binding) => Some(binding.version()),
            Kind::Unbound { version, .. } => version.as_deref(),
            Kind::NoRequest | Kind::Other => None,
        }
    }
}

/// What [`Boundary::open`](super::Boundary::open) let through.
#[derive(Clone)]
#[must_use = "without the round the response is not sealed, and the plain state leaves"]
#[non_exhaustive]
pub struct Opened {
    /// What the response is sealed for.
    pub round: Round,
    /// The plain state, as the handler wrote it. `None` when the request came without a token, when
    /// the handler wrote no state, and when the state had expired and the handler starts over.
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
