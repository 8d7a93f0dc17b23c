//! Why a token was rejected: for the operator exactly, for the caller as far as disclosure allows.

use std::error::Error;
use std::io::ErrorKind;

use crate::codec::{DecodeError, Disclosure};

/// The answer to a token that does not open.
///
/// All three print the same text, so that an error shown to a client tells it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The token is not valid: it is malformed, too long, forged, or names an unknown key. Also returned
    /// for authentic tokens that cannot be used, since a clock ahead of this one minted them or they hold a
    /// state of another type, and under [`Disclosure::Opaque`] for every rejection.
    Invalid,
    /// The token is authentic, but for another principal, request or server.
    Mismatch,
    /// The token is authentic and for this principal and request, but came too late.
    Expired,
}

impl OpenError {
    /// The JSON-RPC error code of a rejection: invalid params.
    pub const CODE: i32 = -32602;

    /// The JSON-RPC error message of a rejection, whatever its cause. Also what [`Display`] prints.
    ///
    /// [`Display`]: std::fmt::Display
    pub const MESSAGE: &'static str = "Invalid or expired requestState";

    /// The member `reason` of a refusal's JSON-RPC error data.
    pub const REASON: &'static str = "invalid_request_state";
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::MESSAGE)
    }
}

impl std::error::Error for OpenError {}

/// Why a token or a request was rejected, or what was done to it: one name for each, in every API.
///
/// First come the checks of a token, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooLong,
    Malformed,
    UnknownKey,
    Unauthentic,
    /// The kind of I/O error behind the outage, if one is.
    Unavailable(Option<ErrorKind>),
    OtherContext,
    Principal,
    Request,
    /// How many milliseconds ago.
    Expired(u64),
    MintedInFuture,
    State,
    // A request that cannot be bound, or that is not a round.
    NotAString,
    Binding,
    Unidentified,
    Batch,
    // A round that was redeemed before.
    AlreadyUsed,
    AnsweredAgain,
    InProgress,
    OutcomeUnknown,
    // A request that was served. Each with a number: milliseconds since the expiry, or answers.
    Restarted(u64),
    AnswersWithoutState(usize),
    AnswersNotAsked(usize),
    AnswersNotAnObject(usize),
    // A response that was not kept, or not sealed.
    AnswerNotKept,
    Rounds,
    Flow,
    Seal,
}

impl Reason {
    /// The fixed word in the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown_key",
            Self::Unauthentic => "unauthentic",
            Self::Unavailable(_) => "unavailable",
            Self::OtherContext => "other_context",
            Self::Principal => "principal",
            Self::Request => "request",
            Self::Expired(_) => "expired",
            Self::MintedInFuture => "minted_in_future",
            Self::State => "state",
            Self::NotAString => "not_a_string",
            Self::Binding => "binding",
            Self::Unidentified => "unidentified",
            Self::Batch => "batch",
            Self::AlreadyUsed => "already_used",
            Self::AnsweredAgain => "answered_again",
            Self::InProgress => "in_progress",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Restarted(_) => "restarted",
            Self::AnswersWithoutState(_) => "answers_without_state",
            Self::AnswersNotAsked(_) => "answers_not_asked",
            Self::AnswersNotAnObject(_) => "answers_not_an_object",
            Self::AnswerNotKept => "answer_not_kept",
            Self::Rounds => "rounds",
            Self::Flow => "flow",
            Self::Seal => "seal",
        }
    }

    /// What the caller learns.
    pub(crate) fn disclose(self, disclosure: Disclosure) -> OpenError {
        match (disclosure, self) {
            (Disclosure::Opaque, _) => OpenError::Invalid,
            (Disclosure::Typed, Self::OtherContext | Self::Principal | Self::Request) => {
                OpenError::Mismatch
            }
            (Disclosure::Typed, Self::Expired(_)) => OpenError::Expired,
            (Disclosure::Typed, _) => OpenError::Invalid,
        }
    }
}

impl From<DecodeError> for Reason {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Malformed => Self::Malformed,
            DecodeError::UnknownKey => Self::UnknownKey,
            DecodeError::Unauthentic => Self::Unauthentic,
            DecodeError::OtherContext => Self::OtherContext,
            DecodeError::Unavailable(error) => Self::Unavailable(io_kind(&*error)),
        }
    }
}

/// Returns the kind of the first I/O error in the chain of `error`'s sources.
///
/// It is what an outage may say in the log: the error's text may hold a secret.
pub(crate) fn io_kind(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return Some(error.kind());
        }
        next = error.source();
    }
    None
}
