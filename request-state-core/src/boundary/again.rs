//! The same answer again: what is kept of a response, and who gets it.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::Refusal;
use super::once::OnceBoundary;
use super::redeem::Held;
use super::round::Round;
use crate::codec::{DecodeError, RequestStateCodec};
use crate::log::Event;
use crate::once::{Claim, Entry};
use crate::reason::{Reason, io_kind};
use crate::wire::push_prefixed;

/// The policy of [`OnceBoundary::answer_again`].
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
    max_len: usize,
    in_progress_limit: Duration,
    pub(super) readable: bool,
}

impl AnswerAgain {
    /// Creates the default policy: answers of at most 64 KiB, and 60 seconds for the handler.
    pub fn new() -> Self {
        Self {
            max_len: 64 * 1024,
            in_progress_limit: Duration::from_secs(60),
            readable: false,
        }
    }

    /// Sets the length of the longest answer that is kept, as JSON in bytes. Default: 65,536. A longer
    /// one is given and not kept: its repetition is told that the outcome is unknown.
    pub fn max_len(mut self, bytes: usize) -> Self {
        self.max_len = bytes;
        self
    }

    /// Sets how long after the first presentation a repetition is told that it is still in progress.
    /// Default: 60 seconds. From then on, and until there is an answer after all, it is told that the
    /// outcome is unknown. Set it to how long your handlers take at most.
    pub fn in_progress_limit(mut self, limit: Duration) -> Self {
        self.in_progress_limit = limit;
        self
    }

    /// Allows a codec that does not encrypt: whoever can read the store can then read the answers.
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

/// What a request is answered with in the handler's place.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The request was rejected, or cannot be answered.
    Refused(Refusal),
    /// The answer that the first presentation got.
    Kept(Kept),
}

impl Reply {
    /// Returns the whole JSON-RPC message that answers the request.
    ///
    /// Its id is that of the message that [`OnceBoundary::open_request`] was given. A reply of
    /// [`OnceBoundary::open`] has none.
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

/// An answer that was kept.
#[derive(Clone, PartialEq)]
pub struct Kept {
    id: Value,
    outcome: Outcome<Value>,
}

impl Kept {
    /// Returns the `result` or the `error` of the response.
    ///
    /// # Errors
    ///
    /// The `error`, an object with `code` and `message`, where the first presentation got one.
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
    /// Prints nothing of the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("is_error", &matches!(self.outcome, Outcome::Error(_)))
            .finish_non_exhaustive()
    }
}

/// What a request was answered with. It is kept as one byte, 0 for a result and 1 for an error, and the
/// value as JSON.
#[derive(Clone, PartialEq)]
pub(super) enum Outcome<T> {
    Result(T),
    Error(T),
}

impl<'a> Outcome<&'a Value> {
    /// The outcome of a JSON-RPC response.
    pub(super) fn of(response: &'a Value) -> Option<Self> {
        match (response.get("result"), response.get("error")) {
            (Some(result), _) => Some(Self::Result(result)),
            (None, Some(error)) => Some(Self::Error(error)),
            (None, None) => None,
        }
    }

    fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
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
    fn read(payload: &[u8]) -> Option<Self> {
        let (kind, json) = payload.split_first()?;
        let value = serde_json::from_slice(json).ok()?;
        match kind {
            0 => Some(Self::Result(value)),
            1 => Some(Self::Error(value)),
            _ => None,
        }
    }
}

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Keeps the answer to the request of `round` for its repetitions, where [answers are given
    /// again](Self::answer_again) and the round was redeemed.
    ///
    /// For frameworks: call it after [`seal`](super::Boundary::seal) and before the answer leaves, with
    /// the `result`, or with the JSON-RPC `error` object. An answer that cannot be kept leaves all the
    /// same; that is logged.
    pub async fn keep_answer<R, E>(&self, round: &Round, answer: Result<&R, &E>)
    where
        R: Serialize + ?Sized,
        E: Serialize + ?Sized,
    {
        if self.again.is_none() || round.claim.is_none() {
            return;
        }
        let outcome = match answer {
            Ok(result) => serde_json::to_value(result).map(Outcome::Result),
            Err(error) => serde_json::to_value(error).map(Outcome::Error),
        };
        match &outcome {
            Ok(Outcome::Result(result)) => self.keep(round, Outcome::Result(result)).await,
            Ok(Outcome::Error(error)) => self.keep(round, Outcome::Error(error)).await,
            Err(_) => self.not_kept(round, &"the answer is not JSON"),
        }
    }

    pub(super) async fn keep(&self, round: &Round, outcome: Outcome<&Value>) {
        let (Some(policy), Some(held)) = (&self.again, &round.claim) else {
            return;
        };
        if held.is_released() {
            return;
        }
        let sealed = match self.seal_answer(policy, held, &outcome) {
            Ok(sealed) => sealed,
            Err(cause) => {
                self.not_kept(round, &cause);
                // An empty one says that the handler is done: its outcome is unknown at once.
                drop(held.store.record(&held.id, &held.nonce, b"").await);
                return;
            }
        };
        let recorded = held.store.record(&held.id, &held.nonce, sealed.as_bytes());
        match recorded.await {
            Ok(true) => {}
            Ok(false) => self.not_kept(round, &"the claim is gone from the store"),
            Err(error) => self.not_kept(round, &error),
        }
    }

    pub(super) fn not_kept(&self, round: &Round, cause: &dyn fmt::Display) {
        self.boundary.event(round).not_kept(cause);
    }

    fn seal_answer(
        &self,
        policy: &AnswerAgain,
        held: &Held,
        outcome: &Outcome<&Value>,
    ) -> Result<String, String> {
        let payload = outcome.write().map_err(|_| "the answer is not JSON")?;
        let (_kind, json) = payload.split_first().ok_or("the answer is empty")?;
        let (length, limit) = (json.len(), policy.max_len);
        if length > limit {
            return Err(format!(
                "the answer is {length} bytes long; the maximum is {limit}"
            ));
        }
        let context = self.answer_context(&held.id, &held.presentation);
        let sealed = self.boundary.sealer.codec().encode(&payload, &context);
        sealed.map_err(|error| error.to_string())
    }

    /// `lp(label) ‖ lp(server) ‖ id ‖ presentation`.
    ///
    /// A token's context is `lp(version) ‖ lp(method) ‖ lp(server) ‖ ..`. A client chooses the version, and so
    /// could begin one with this label. To be the same, the server would have to be named like one of the
    /// three methods, and eight bytes of a digest would have to be a length.
    fn answer_context(&self, id: &[u8; 32], presentation: &[u8; 32]) -> Vec<u8> {
        let mut context = Vec::new();
        push_prefixed(&mut context, b"request-state v1 kept answer");
        push_prefixed(&mut context, self.boundary.server().as_bytes());
        context.extend_from_slice(id);
        context.extend_from_slice(presentation);
        context
    }

    /// The reply to the same presentation of a round that was redeemed.
    pub(super) fn repeat(
        &self,
        policy: &AnswerAgain,
        claim: &Claim,
        entry: Entry,
        event: Event<'_>,
    ) -> Reply {
        let unknown = |cause: &str| {
            event.repeated(Reason::OutcomeUnknown, Some(&cause));
            Refusal::outcome_unknown().into()
        };
        let Some(sealed) = entry.answer else {
            if entry.age < policy.in_progress_limit {
                event.repeated(Reason::InProgress, None);
                return Refusal::in_progress().into();
            }
            return unknown("no answer was kept");
        };
        if sealed.is_empty() {
            return unknown("the answer could not be kept");
        }
        let context = self.answer_context(&claim.id, &claim.presentation);
        let opened = std::str::from_utf8(&sealed)
            .map_err(|_| DecodeError::Malformed)
            .and_then(|sealed| self.boundary.sealer.codec().decode(sealed, &context));
        match opened {
            Ok(payload) => match Outcome::read(&payload) {
                Some(outcome) => {
                    event.repeated(Reason::AnsweredAgain, None);
                    Reply::Kept(Kept {
                        id: Value::Null,
                        outcome,
                    })
                }
                None => unknown("the kept answer is not JSON"),
            },
            Err(DecodeError::Unavailable(error)) => {
                event.rejected(Reason::Unavailable(io_kind(&*error)), None);
                Refusal::unavailable().into()
            }
            Err(_) => unknown("the kept answer does not open; its key may be gone"),
        }
    }
}
