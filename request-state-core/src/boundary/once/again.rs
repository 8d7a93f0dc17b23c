//! The answer for a repeated request.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::boundary::refusal::Refusal;

/// The policy for [`OnceBoundary::answer_again`](crate::OnceBoundary::answer_again).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use request_state_core::AnswerAgain;
///
/// let policy = AnswerAgain::new()
///     .max_len(256 * 1024)
///     .in_progress_limit(Duration::from_secs(300));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct AnswerAgain {
    pub(super) max_len: usize,
    pub(super) in_progress_limit: Duration,
    pub(super) readable: bool,
}

impl AnswerAgain {
    /// Creates the default policy: answers of at most 64 KiB, and an in-progress limit of 60 seconds.
    pub fn new() -> Self {
        Self {
            max_len: 64 * 1024,
            in_progress_limit: Duration::from_secs(60),
            readable: false,
        }
    }

    /// Sets the maximum length of a kept answer, as JSON in bytes. Default: 65,536.
    ///
    /// A longer answer is sent and not kept. A repetition of its request then gets the error
    /// `request_state_outcome_unknown`.
    pub fn max_len(mut self, bytes: usize) -> Self {
        self.max_len = bytes;
        self
    }

    /// Sets how long after the first presentation a repetition gets the error `request_state_in_progress`.
    /// Default: 60 seconds.
    ///
    /// From then on, a repetition gets the error `request_state_outcome_unknown`, until there is an answer
    /// after all. Set the limit to the longest time that your handlers take.
    pub fn in_progress_limit(mut self, limit: Duration) -> Self {
        self.in_progress_limit = limit;
        self
    }

    /// Allows a codec that does not encrypt. Whoever can read the store can then read the answers.
    pub fn allow_readable(mut self) -> Self {
        self.readable = true;
        self
    }
}

impl Default for AnswerAgain {
    fn default() -> Self {
        Self::new()
    }
}

/// The response to a request that the handler must not see.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A rejection, or an error because the request cannot be answered.
    Refused(Refusal),
    /// The answer to the first presentation.
    Kept(Kept),
}

impl Reply {
    /// Returns the whole JSON-RPC response to the request.
    ///
    /// Its id is that of the message that was passed to [`open_request`](crate::OnceBoundary::open_request). A
    /// `Reply` that [`open`](crate::OnceBoundary::open) returned has no id.
    #[must_use]
    pub fn response(&self) -> Value {
        match self {
            Self::Refused(refusal) => refusal.response(),
            Self::Kept(kept) => kept.response(),
        }
    }

    pub(super) fn with_id(self, id: Value) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.with_id(id)),
            Self::Kept(kept) => Self::Kept(Kept { id, ..kept }),
        }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A kept answer.
#[derive(Clone, PartialEq)]
pub struct Kept {
    pub(super) id: Value,
    pub(super) outcome: Outcome<Value>,
}

impl Kept {
    /// Returns the `result` or the `error` of the kept response.
    ///
    /// # Errors
    ///
    /// Returns the `error`, an object with `code` and `message`, if the first presentation got an error.
    pub fn outcome(self) -> Result<Value, Value> {
        match self.outcome {
            Outcome::Result(result) => Ok(result),
            Outcome::Error(error) => Err(error),
        }
    }

    fn response(&self) -> Value {
        let id = &self.id;
        match &self.outcome {
            Outcome::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Outcome::Error(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        }
    }
}

impl fmt::Debug for Kept {
    /// Prints whether the answer is an error, and nothing else of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("is_error", &matches!(self.outcome, Outcome::Error(_)))
            .finish_non_exhaustive()
    }
}

/// The result or the error of a response. It is kept as one byte, 0 for a result and 1 for an error, followed
/// by the value as JSON.
#[derive(Clone, PartialEq)]
pub(super) enum Outcome<T> {
    Result(T),
    Error(T),
}

impl<'a> Outcome<&'a Value> {
    /// Returns the outcome of a JSON-RPC response.
    pub(super) fn of(response: &'a Value) -> Option<Self> {
        match (response.get("result"), response.get("error")) {
            (Some(result), _) => Some(Self::Result(result)),
            (None, Some(error)) => Some(Self::Error(error)),
            (None, None) => None,
        }
    }

    pub(super) fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        let (kind, value) = match self {
            Self::Result(result) => (0, result),
            Self::Error(error) => (1, error),
        };
        let mut payload = vec![kind];
        serde_json::to_writer(&mut payload, value)?;
        Ok(payload)
    }
}

impl Outcome<Value> {
    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let (kind, json) = payload.split_first()?;
        let value = serde_json::from_slice(json).ok()?;
        match kind {
            0 => Some(Self::Result(value)),
            1 => Some(Self::Error(value)),
            _ => None,
        }
    }
}
