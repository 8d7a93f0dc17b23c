//! The response to a request that the handler must not see.

use std::fmt;

use serde_json::{Value, json};

use crate::error::OpenError;

/// The code of a JSON-RPC internal error.
const INTERNAL_ERROR: i32 = -32603;

/// A request that the handler must not see, with the response for the client.
///
/// Either the request was rejected, with the same response for every cause, or the server is unable to answer
/// it. It is unable if the codec or the store is unavailable. Where [answers are
/// kept](super::OnceBoundary::answer_again), it is also unable if the answer to an earlier presentation is
/// missing. The log has the cause.
///
/// | | [`code`](Self::code) | [`message`](Self::message) | [`data`](Self::data) |
/// |---|---|---|---|
/// | rejected | -32602 | `Invalid or expired requestState` | `{"reason": "invalid_request_state"}` |
/// | unavailable | -32603 | `Internal error` | none |
/// | in progress | -32603 | `Internal error` | `{"reason": "request_state_in_progress"}` |
/// | answer lost | -32603 | `Internal error` | `{"reason": "request_state_outcome_unknown"}` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A string or a number. Null for a batch, and in the typed API.
    id: Value,
    cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Rejected,
    Unavailable,
    InProgress,
    OutcomeUnknown,
}

impl Refusal {
    pub(super) fn rejected() -> Self {
        Self::of(Cause::Rejected)
    }

    pub(super) fn unavailable() -> Self {
        Self::of(Cause::Unavailable)
    }

    pub(super) fn in_progress() -> Self {
        Self::of(Cause::InProgress)
    }

    /// Creates the response to a repetition whose answer is lost. For frameworks that cannot convert a [kept
    /// answer](super::Kept) to their types.
    #[must_use]
    pub fn outcome_unknown() -> Self {
        Self::of(Cause::OutcomeUnknown)
    }

    fn of(cause: Cause) -> Self {
        Self {
            id: Value::Null,
            cause,
        }
    }

    pub(super) fn with_id(self, id: Value) -> Self {
        Self { id, ..self }
    }

    /// Returns the JSON-RPC error code: -32602 for a rejection, -32603 otherwise.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self.cause {
            Cause::Rejected => OpenError::CODE,
            _ => INTERNAL_ERROR,
        }
    }

    /// Returns the JSON-RPC error message.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self.cause {
            Cause::Rejected => OpenError::MESSAGE,
            _ => "Internal error",
        }
    }

    /// Returns the JSON-RPC error data, if there is any.
    #[must_use]
    pub fn data(&self) -> Option<Value> {
        let reason = match self.cause {
            Cause::Rejected => OpenError::REASON,
            Cause::Unavailable => return None,
            Cause::InProgress => "request_state_in_progress",
            Cause::OutcomeUnknown => "request_state_outcome_unknown",
        };
        Some(json!({"reason": reason}))
    }

    /// Returns the whole JSON-RPC response to the request or the batch.
    ///
    /// Its id is that of the message that [`open_request`](super::Boundary::open_request) rejected. A `Refusal`
    /// that [`open`](super::Boundary::open) returned has no id: use the other three methods.
    #[must_use]
    pub fn response(&self) -> Value {
        let mut error = json!({"code": self.code(), "message": self.message()});
        if let (Some(data), Some(error)) = (self.data(), error.as_object_mut()) {
            error.insert("data".into(), data);
        }
        json!({"jsonrpc": "2.0", "id": self.id, "error": error})
    }
}

impl fmt::Display for Refusal {
    /// Prints the [`message`](Self::message).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Refusal {}
