//! What a request that the handler must not see is answered with.

use std::fmt;

use serde_json::{Value, json};

use crate::reason::OpenError;

/// The code of a JSON-RPC internal error.
const INTERNAL_ERROR: i32 = -32603;

/// A request that the handler must not see.
///
/// Either it was rejected, which is one answer for every cause, or nothing is known about its token
/// because something that the codec needs did not work. The cause is in the log.
///
/// | | [`code`](Self::code) | [`message`](Self::message) | [`data`](Self::data) |
/// |---|---|---|---|
/// | rejected | -32602 | `Invalid or expired requestState` | `{"reason": "invalid_request_state"}` |
/// | unavailable | -32603 | `Internal error` | none |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A string or a number; null for a batch, and where requests are types.
    id: Value,
    is_unavailable: bool,
}

impl Refusal {
    pub(super) fn rejected() -> Self {
        Self {
            id: Value::Null,
            is_unavailable: false,
        }
    }

    pub(super) fn unavailable() -> Self {
        Self {
            id: Value::Null,
            is_unavailable: true,
        }
    }

    pub(super) fn with_id(self, id: Value) -> Self {
        Self { id, ..self }
    }

    /// Returns the JSON-RPC error code: -32602, or -32603 for an outage.
    #[must_use]
    pub fn code(&self) -> i32 {
        if self.is_unavailable {
            INTERNAL_ERROR
        } else {
            OpenError::CODE
        }
    }

    /// Returns the JSON-RPC error message.
    #[must_use]
    pub fn message(&self) -> &'static str {
        if self.is_unavailable {
            "Internal error"
        } else {
            OpenError::MESSAGE
        }
    }

    /// Returns the JSON-RPC error data, if there is any.
    #[must_use]
    pub fn data(&self) -> Option<Value> {
        (!self.is_unavailable).then(|| json!({"reason": OpenError::REASON}))
    }

    /// Returns the whole JSON-RPC message that answers the request, or the batch.
    ///
    /// Its id is that of the message that [`open_request`](super::Boundary::open_request) rejected.
    /// A refusal of [`open`](super::Boundary::open) has none: use the other three methods.
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
