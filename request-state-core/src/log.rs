//! What the operator is told: never a state, a token, a principal or a param.

use std::fmt;

use serde_json::{Number, Value};

use crate::once::StoreError;
use crate::reason::{Reason, io_kind};

/// The most characters of a string that a client chose.
const SHOWN: usize = 32;

/// The start of `text` that an event may show.
pub(crate) fn cut(text: &str) -> &str {
    match text.char_indices().nth(SHOWN) {
        None => text,
        // A character begins there. If it did not, nothing is shown rather than all.
        Some((end, _)) => text.get(..end).unwrap_or_default(),
    }
}

/// A JSON-RPC id, shortened, so that an event can be matched to its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestId {
    Number(Number),
    Text(Box<str>),
}

impl RequestId {
    /// Returns `None` for a value that is neither a string nor a number.
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

/// An event about one request. All of target `request_state`, with these fields.
#[derive(Clone, Copy)]
pub(crate) struct Event<'a> {
    /// This server's name.
    pub(crate) server: &'a str,
    /// The protocol version of the request, as far as it is known.
    pub(crate) version: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) id: Option<&'a RequestId>,
}

impl Event<'_> {
    /// A token or a request was rejected. The kid is that of `token`, if it starts with one.
    pub(crate) fn rejected(self, reason: Reason, token: Option<&str>) {
        let kid = token.and_then(|token| Some(crate::wire::split_kid(token).ok()?.0));
        self.emit(reason, kid, None, "requestState rejected");
    }

    /// A request with a state was rejected, because of `cause`.
    pub(crate) fn not_bound(self, reason: Reason, cause: &dyn fmt::Display) {
        self.emit(reason, None, Some(cause), "requestState rejected");
    }

    /// A request cannot be answered, because of the store: the text of `error` is fixed.
    pub(crate) fn unavailable(self, error: &StoreError) {
        let reason = Reason::Unavailable(io_kind(error));
        self.emit(reason, None, Some(error), "requestState not redeemed");
    }

    /// A request whose round was redeemed came again.
    pub(crate) fn repeated(self, reason: Reason, cause: Option<&dyn fmt::Display>) {
        let message = match reason {
            Reason::AnsweredAgain => "requestState redeemed before: the same answer again",
            _ => "requestState redeemed before",
        };
        self.emit(reason, None, cause, message);
    }

    /// The answer to a request is given, and not kept for its repetitions.
    pub(crate) fn not_kept(self, cause: &dyn fmt::Display) {
        self.emit(Reason::AnswerNotKept, None, Some(cause), "answer not kept");
    }

    /// A request was served without some of what it came with.
    pub(crate) fn served(self, reason: Reason) {
        let message = match reason {
            Reason::Restarted(_) => "requestState expired: the request starts over",
            _ => "inputResponses removed",
        };
        self.emit(reason, None, None, message);
    }

    /// A response became an error because it could not be sealed, because of `cause`.
    pub(crate) fn not_sealed(self, reason: Reason, cause: &dyn fmt::Display) {
        self.emit(reason, None, Some(cause), "requestState not sealed");
    }

    /// Levels by what an operator must do: an outage or a handler's mistake is an error; what may
    /// be an attack or a wrong setting, a warning; what happens to honest users, no more than info.
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
        // A level belongs to the place in the text where an event is made, so each has its own.
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
