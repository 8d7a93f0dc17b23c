//! Events for the operator. They never contain a state, a token, a principal or a param.

use std::fmt;

use serde_json::{Number, Value};

use crate::once::StoreError;
use crate::reason::{Reason, io_kind};

/// The maximum number of characters that an event shows of a string from a client.
const SHOWN: usize = 32;

/// Returns the start of `text`, as much as an event may show.
pub(crate) fn cut(text: &str) -> &str {
    match text.char_indices().nth(SHOWN) {
        None => text,
        // `end` is the start of a character. Otherwise, nothing would be shown.
        Some((end, _)) => text.get(..end).unwrap_or_default(),
    }
}

/// A JSON-RPC id, shortened, for matching an event to its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestId {
    Number(Number),
    Text(Box<str>),
}

impl RequestId {
    /// Returns the id, or `None` for a value that is neither a string nor a number.
    pub(crate) fn of(id: &Value) -> Option<Self> {
        match id {
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(cut(text).into())),
            _ => None,
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An event about one request. Every event has the target `request_state` and these fields.
#[derive(Clone, Copy)]
pub(crate) struct Event<'a> {
    /// The name of this server.
    pub(crate) server: &'a str,
    /// The protocol version of the request, if known.
    pub(crate) version: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) id: Option<&'a RequestId>,
}

impl Event<'_> {
    /// Logs that a token or a request was rejected. The kid is that of `token`, if the token starts with a kid.
    pub(crate) fn rejected(self, reason: Reason, token: Option<&str>) {
        let kid = token.and_then(|token| Some(crate::wire::split_kid(token).ok()?.0));
        self.emit(reason, kid, None, "requestState rejected");
    }

    /// Logs that a request with a state was rejected because of `cause`.
    pub(crate) fn not_bound(self, reason: Reason, cause: &dyn fmt::Display) {
        self.emit(reason, None, Some(cause), "requestState rejected");
    }

    /// Logs that a request cannot be answered because of the store. The text of `error` is fixed.
    pub(crate) fn unavailable(self, error: &StoreError) {
        let reason = Reason::Unavailable(io_kind(error));
        self.emit(reason, None, Some(error), "requestState not redeemed");
    }

    /// Logs that a request was repeated whose round had been redeemed.
    pub(crate) fn repeated(self, reason: Reason, cause: Option<&dyn fmt::Display>) {
        let message = match reason {
            Reason::AnsweredAgain => "requestState redeemed before: the same answer again",
            _ => "requestState redeemed before",
        };
        self.emit(reason, None, cause, message);
    }

    /// Logs that the answer to a request was not kept for repetitions. The client gets it nevertheless.
    pub(crate) fn not_kept(self, cause: &dyn fmt::Display) {
        self.emit(Reason::AnswerNotKept, None, Some(cause), "answer not kept");
    }

    /// Logs that a request was served without its expired state, or without some of its answers.
    pub(crate) fn served(self, reason: Reason) {
        let message = match reason {
            Reason::Restarted(_) => "requestState expired: the request starts over",
            _ => "inputResponses removed",
        };
        self.emit(reason, None, None, message);
    }

    /// Logs that a response could not be sealed because of `cause`, and became an error.
    pub(crate) fn not_sealed(self, reason: Reason, cause: &dyn fmt::Display) {
        self.emit(reason, None, Some(cause), "requestState not sealed");
    }

    /// Emits the event at a level that depends on what an operator must do. An outage or a handler's mistake is
    /// an error. A possible attack or a wrong setting is a warning. Events that honest users cause are info or
    /// lower.
    #[cfg(feature = "tracing")]
    fn emit(
        self,
        reason: Reason,
        kid: Option<&str>,
        cause: Option<&dyn fmt::Display>,
        message: &str,
    ) {
        let (mut late_ms, mut answers, mut io) = (None, None, None);
        match reason {
            Reason::Expired(ms) | Reason::Restarted(ms) => late_ms = Some(ms),
            Reason::AnswersWithoutState(count)
            | Reason::AnswersNotAsked(count)
            | Reason::AnswersNotAnObject(count) => answers = Some(count),
            Reason::Unavailable(kind) => io = kind,
            _ => {}
        }
        let id = self.id.map(ToString::to_string);
        // In `tracing`, a level belongs to the call site, so each level has its own.
        macro_rules! event {
            ($level:ident) => {
                tracing::event!(
                    target: "request_state",
                    tracing::Level::$level,
                    reason = reason.as_str(),
                    server = self.server,
                    version = self.version.map(cut),
                    method = self.method.map(cut),
                    id = id.as_deref().map(cut),
                    kid,
                    late_ms,
                    answers,
                    io = io.map(tracing::field::debug),
                    cause = cause.map(tracing::field::display),
                    "{message}"
                )
            };
        }
        match reason {
            Reason::AnswersNotAsked(_) | Reason::AnswersNotAnObject(_) => event!(DEBUG),
            Reason::Expired(_)
            | Reason::Restarted(_)
            | Reason::Flow
            | Reason::InProgress
            | Reason::AnsweredAgain => event!(INFO),
            Reason::Unavailable(_) | Reason::Seal => event!(ERROR),
            _ => event!(WARN),
        }
    }

    #[cfg(not(feature = "tracing"))]
    fn emit(
        self,
        reason: Reason,
        kid: Option<&str>,
        cause: Option<&dyn fmt::Display>,
        message: &str,
    ) {
        let Self {
            server,
            version,
            method,
            id,
        } = self;
        let _ = (server, version, method, id);
        let _ = (reason.as_str(), kid, cause.is_some(), message);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_chose_is_cut_between_characters() {
        assert_eq!(cut(""), "");
        assert_eq!(cut(&"é".repeat(32)), "é".repeat(32));
        assert_eq!(cut(&"é".repeat(33)), "é".repeat(32));
    }

    #[test]
    fn an_id_is_a_string_or_a_number() {
        let shown = |id: Value| RequestId::of(&id).map(|id| id.to_string());
        assert_eq!(shown(json!(7)).as_deref(), Some("7"));
        assert_eq!(shown(json!("a")).as_deref(), Some("a"));
        assert_eq!(shown(json!("a".repeat(40))), Some("a".repeat(32)));
        for id in [json!(null), json!(true), json!([1]), json!({"a": 1})] {
            assert_eq!(shown(id), None);
        }
    }
}
