//! The reasons for rejecting a token or a request. The operator gets the exact reason, and the caller gets as
//! much as disclosure allows.

use std::error::Error;
use std::io::ErrorKind;

use crate::codec::{DecodeError, Disclosure};
use crate::error::OpenError;

/// The reason for rejecting a token or a request, or for another event about a request. All APIs use the same
/// names.
///
/// The checks of a token come first, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooLong,
    Malformed,
    UnknownKey,
    Unauthentic,
    /// The kind of the I/O error behind the outage, if there is one.
    Unavailable(Option<ErrorKind>),
    OtherContext,
    Principal,
    Request,
    /// The time since the expiry, in milliseconds.
    Expired(u64),
    MintedInFuture,
    State,
    // Requests that cannot be bound, or are not rounds.
    NotAString,
    Binding,
    Unidentified,
    Batch,
    // Rounds that were redeemed before.
    AlreadyUsed,
    AnsweredAgain,
    InProgress,
    OutcomeUnknown,
    // Requests that were served. The number is the milliseconds since the expiry, or the number of answers.
    Restarted(u64),
    AnswersWithoutState(usize),
    AnswersNotAsked(usize),
    AnswersNotAnObject(usize),
    // Responses that were not kept, or not sealed.
    AnswerNotKept,
    Rounds,
    Flow,
    Seal,
}

impl Reason {
    /// Returns the fixed word for the log.
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

    /// Returns the error for the caller.
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
/// Of an outage, the log shows only this kind: the text of the error may contain a secret.
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
