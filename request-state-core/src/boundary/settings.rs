//! The boundary, and its settings.

use std::fmt;
use std::time::Duration;

use crate::codec::RequestStateCodec;
use crate::sealer::Sealer;

/// A layer between the transport and the handlers of a server. Handlers read and write `requestState` as a
/// plain string, and clients see only tokens. An answer reaches a handler only if it was asked for.
///
/// Call [`open_request`](Self::open_request) before the handler and [`seal_response`](Self::seal_response)
/// after it. Both take JSON-RPC messages. A framework with its own types for requests calls
/// [`open`](Self::open), [`answers`](Self::answers) and [`seal`](Self::seal) instead. The policy is the same.
///
/// # What a handler can rely on
///
/// A handler that finds an answer in `inputResponses` can rely on this: this server asked the same user (if
/// there is a principal) for exactly this name, about exactly this request, within the TTL.
///
/// The kind of the question is bound, but it is not compared with the shape of the answer. The wording and the
/// schema of the question are not bound. There is only the client's word for what the user saw, and for the
/// answer.
///
/// # What happens to a request
///
/// The boundary handles only requests of `tools/call`, `prompts/get` and `resources/read`, and changes only
/// `params.requestState` and `params.inputResponses`:
///
/// | `requestState` | `requestState` for the handler | `inputResponses` for the handler |
/// |---|---|---|
/// | absent or null | absent | absent (see [`answers_without_state`](Self::answers_without_state)) |
/// | a token for this request and principal, in time | the plain string, or absent if the handler wrote none | the answers whose names were asked for when the token was issued |
/// | the same, but expired | absent: it starts over (see [`restart_expired`](Self::restart_expired)) | absent |
/// | any other string, including the empty string | rejected | |
/// | not a string | rejected | |
/// | anything but null, if the request cannot be bound | rejected | |
/// | anything, in a message without an id | absent: a rejection could not be reported to anybody | absent |
/// | anything but null, in a batch | the batch is rejected as a whole | |
/// | a string, if the codec cannot tell | an internal error, -32603 | |
///
/// An answer that is not an object is removed. If no answer is left, `inputResponses` is removed.
///
/// A request cannot be bound in these cases:
///
/// - It names no protocol version, and neither the [`Sender`](crate::Sender) nor [`version`](Self::version)
///   gives one, or the version is empty.
/// - Its `_meta` is neither an object nor null, or the version in it is not a string.
/// - The principal is empty, or missing although it is [required](Self::require_principal), or the sender is
///   [unidentified](crate::Sender::unidentified).
/// - The params cannot be digested (see [`BindingError`](crate::BindingError)).
///
/// Such a request passes if it has no state. In that case only a result that asks for input fails.
///
/// Only strings and numbers count as ids: MCP allows no other value, not even null. A message without an id in
/// a batch loses its state and its answers, and has no influence on the other messages.
///
/// # What happens to a response
///
/// A result of the three methods whose `resultType` is `input_required` always leaves with a token. The token
/// contains the names and kinds of the questions, and the handler's state if it wrote one. A result with this
/// `resultType` becomes the error -32603 without detail in these cases:
///
/// - It has neither questions nor a state, more questions than fit, or a state that is not a string.
/// - It cannot be sealed for another reason.
/// - It is in the response to a batch, or to a message without an id.
/// - It has a state, and is in the response to another method.
///
/// So no plain state leaves the server. Everything else passes byte for byte.
///
/// # What is bound
///
/// The principal, the protocol version, the method, the server's name, the params as they arrived, and the name
/// and kind of each question are bound.
///
/// Of the params, `requestState`, `inputResponses` and `_meta` are not bound. A client sets `_meta` anew in
/// each round. So a handler that acts on a member of `_meta` acts on its value in this round, and not on what
/// the user was asked about.
///
/// Without a principal, a state is bound to the request alone: whoever holds the token and sends the same
/// request is accepted. This lasts for the sealer's [`anonymous_ttl`](crate::SealerBuilder::anonymous_ttl), by
/// default 60 seconds.
///
/// # What it costs
///
/// Each request of the three methods is digested once, before the handler can change it. This is also true
/// without a state, since the response may have one. Of other messages, only the method is read. The page
/// [Performance](https://docs.rs/request-state/latest/request_state/manual/performance/) has figures.
///
/// # What is logged
///
/// The boundary emits an event with the target `request_state` and a `reason` for each rejection, for each
/// request that starts over or loses answers, and for each response that could not be sealed. The page
/// [Operations](https://docs.rs/request-state/latest/request_state/manual/operations/#the-events) lists the
/// events. No event contains a state, a token, a principal, a param or an answer.
///
/// # Example
///
/// ```
/// use request_state_core::{Boundary, RequestStateCodec, Sealer};
/// use serde_json::{Value, json};
///
/// fn serve<C: RequestStateCodec>(boundary: &Boundary<C>, mut request: Value, user: &str) -> Value {
///     let round = match boundary.open_request(&mut request, Some(user)) {
///         Ok(round) => round,
///         Err(refusal) => return refusal.response(),
///     };
///     let mut response = handle(&request);
///     boundary.seal_response(&round, &mut response);
///     response
/// }
///
/// /// Knows nothing of tokens. What is in `inputResponses` was asked for.
/// fn handle(request: &Value) -> Value {
///     let result = match request.pointer("/params/inputResponses/confirm/action") {
///         Some(action) => json!({"resultType": "complete", "action": action}),
///         None => json!({"resultType": "input_required", "inputRequests": {
///             "confirm": {"method": "elicitation/create", "params": {"message": "Really?"}},
///         }}),
///     };
///     json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
/// }
///
/// # use request_state_core::*;
/// # struct Plain;
/// # impl RequestStateCodec for Plain {
/// #     fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
/// #         wire::token("k", &[payload])
/// #     }
/// #     fn decode(&self, token: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
/// #         wire::parts(token).map(|(_, [payload])| payload)
/// #     }
/// # }
/// # let codec = Plain;
/// let boundary = Boundary::new(Sealer::new("billing", codec)?);
/// let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
///     "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, "name": "transfer",
///     "inputResponses": {"confirm": {"action": "accept"}},
/// }});
/// // Nobody was asked yet: the answer does not reach the handler, and it asks.
/// let asked = serve(&boundary, request.clone(), "user:alice");
/// assert_eq!(asked["result"]["resultType"], "input_required");
///
/// request["params"]["requestState"] = asked["result"]["requestState"].clone();
/// let done = serve(&boundary, request.clone(), "user:alice");
/// assert_eq!(done["result"]["action"], "accept");
///
/// request["params"]["requestState"] = "anything".into();
/// let rejected = serve(&boundary, request, "user:alice");
/// assert_eq!(rejected["error"]["code"], -32602);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Boundary<C> {
    pub(super) sealer: Sealer<C>,
    pub(super) version: Option<String>,
    pub(super) restart_expired: bool,
    pub(super) require_principal: bool,
    pub(super) answers_without_state: AnswersWithoutState,
    pub(super) max_rounds: u16,
    pub(super) max_flow_ms: u64,
}

impl<C: RequestStateCodec> Boundary<C> {
    /// Creates a boundary that seals and opens with `sealer`.
    #[must_use]
    pub fn new(sealer: Sealer<C>) -> Self {
        const HOUR_MS: u64 = 3_600_000;
        Self {
            max_flow_ms: sealer.max_ttl_ms().max(HOUR_MS),
            sealer,
            version: None,
            restart_expired: true,
            require_principal: false,
            answers_without_state: AnswersWithoutState::Remove,
            max_rounds: 32,
        }
    }

    /// Returns the name of the server, which is that of the [`Sealer`].
    #[must_use]
    pub fn server(&self) -> &str {
        self.sealer.server()
    }

    /// Sets the protocol version of messages whose `_meta` names none, such as `2025-11-25`. Default: none, so
    /// that such a message cannot be bound.
    ///
    /// If the version differs between messages, by a header or by session, pass it with
    /// [`Sender::version`](crate::Sender::version). That version takes precedence, and so does the version of a
    /// [`Request`](crate::Request).
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets whether a request with an expired state starts over instead of being rejected. The state must be
    /// authentic, and for this request and principal. Default: `true`.
    ///
    /// The handler then sees the request without state and answers, and asks again. The event `restarted` is
    /// logged. [`Round::restarted_from`](crate::Round::restarted_from) returns the id of the expired flow. An
    /// effect that is guarded by that id is not guarded by the id of the new flow.
    #[must_use]
    pub fn restart_expired(mut self, restart: bool) -> Self {
        self.restart_expired = restart;
        self
    }

    /// Sets whether every request must have a principal, so that no request is anonymous by mistake. Default:
    /// `false`.
    ///
    /// A state that comes with an anonymous request is then rejected, and no state is sealed for the request.
    /// The reason in the log is `unidentified`.
    #[must_use]
    pub fn require_principal(mut self, require: bool) -> Self {
        self.require_principal = require;
        self
    }

    /// Sets what happens to answers in a request without a state. Default: [`AnswersWithoutState::Remove`].
    ///
    /// [`Allow`](AnswersWithoutState::Allow) is for servers that must support clients that lose states. The
    /// handler then sees answers that nobody asked for, and must check each with
    /// [`Round::is_asked`](crate::Round::is_asked). In a request with a state, even an expired state, answers
    /// that were not asked for are always removed.
    #[must_use]
    pub fn answers_without_state(mut self, answers: AnswersWithoutState) -> Self {
        self.answers_without_state = answers;
        self
    }

    /// Sets the maximum number of rounds in a flow, which is how often a handler may ask before it must answer.
    /// Default: 32. The clients of the official SDKs stop at 10. With 0, no handler may ask.
    ///
    /// If a handler asks once more, its client gets the error -32603, and the reason in the log is `rounds`.
    #[must_use]
    pub fn max_rounds(mut self, rounds: u16) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Sets the maximum age of a flow, from its first question on, in whole milliseconds; a fraction is
    /// dropped. Default: one hour or the sealer's longest TTL, whichever is longer.
    ///
    /// No token opens after that, however fresh it is. If a handler asks in a flow of that age, its client gets
    /// the error -32603, and the reason in the log is `flow`. All replicas should have the same limit: each
    /// enforces its own.
    #[must_use]
    pub fn max_flow(mut self, age: Duration) -> Self {
        self.max_flow_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        self
    }
}

/// The treatment of `inputResponses` in a request without a state, in which nobody was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswersWithoutState {
    /// The answers are removed, and the handler asks.
    #[default]
    Remove,
    /// The answers reach the handler, **which must not take them for answers to its questions**.
    Allow,
}

impl<C: RequestStateCodec> From<Sealer<C>> for Boundary<C> {
    /// Creates a boundary with the default policy.
    fn from(sealer: Sealer<C>) -> Self {
        Self::new(sealer)
    }
}

impl<C> fmt::Debug for Boundary<C> {
    /// Prints the policy and not the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boundary")
            .field("sealer", &self.sealer)
            .field("version", &self.version)
            .field("restart_expired", &self.restart_expired)
            .field("require_principal", &self.require_principal)
            .field("answers_without_state", &self.answers_without_state)
            .field("max_rounds", &self.max_rounds)
            .field("max_flow_ms", &self.max_flow_ms)
            .finish()
    }
}
