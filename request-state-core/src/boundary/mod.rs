//! The boundary: opens what comes in and seals what goes out, so that handlers see plain strings
//! and only answers to what they asked.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the policy |
//! | `message.rs` | the API for JSON-RPC messages |
//! | `typed.rs` | the API for frameworks that have requests as types |
//! | `json_rpc.rs` | the parts of a message |
//! | `sender.rs` | what the transport knows of a request |
//! | `answers.rs` | which answers reach the handler |
//! | `question.rs` | names and kinds of questions |
//! | `flow.rs` | the flow, and the layout of a token's body |
//! | `round.rs` | what is kept between a request and its response |
//! | `refusal.rs` | the answer to a request that is rejected |
//! | `once.rs` | single use: settings, and the API for JSON-RPC messages |
//! | `redeem.rs` | single use: the redemption of a round, and the typed API |
//! | `again.rs` | single use: the answers that are kept |

mod again;
mod answers;
mod flow;
mod json_rpc;
mod message;
mod once;
mod question;
mod redeem;
mod refusal;
mod round;
mod sender;
mod typed;

use std::fmt;
use std::time::Duration;

pub use self::again::{AnswerAgain, Kept, Reply};
pub use self::answers::{AnswerFilter, AnswersWithoutState};
pub use self::flow::FlowId;
pub use self::once::OnceBoundary;
pub use self::question::{Question, QuestionKind};
pub use self::refusal::Refusal;
pub use self::round::{Opened, Round};
pub use self::sender::{Incoming, Sender, Token};
use crate::codec::RequestStateCodec;
use crate::sealer::Sealer;

/// Stands between the transport and the handlers of a server: a handler reads and writes
/// `requestState` as a plain string, clients see only tokens, and answers reach the handler only
/// where they were asked for.
///
/// [`open_request`](Self::open_request) goes before the handler and
/// [`seal_response`](Self::seal_response) after it. Both take JSON-RPC messages. A framework that
/// has requests as types of its own calls [`open`](Self::open), [`answers`](Self::answers) and
/// [`seal`](Self::seal) instead. The policy is the same.
///
/// # What a handler can rely on
///
/// A handler that finds an answer in `inputResponses` can rely on this: the same user (where there
/// is a principal) was asked for exactly this name, by this server, about exactly this request, a
/// moment ago. The kind of the question is bound, and not compared with the shape of the answer. The wording and the schema of the question are not bound: what the user saw is the
/// client's word, and so is the answer.
///
/// # What happens to a request
///
/// Only `tools/call`, `prompts/get` and `resources/read` are read, and of those only
/// `params.requestState` and `params.inputResponses`:
///
/// | `requestState` | what the handler sees of it | of `inputResponses` |
/// |---|---|---|
/// | absent or null | nothing | nothing (see [`answers_without_state`](Self::answers_without_state)) |
/// | a token for this request and principal, in time | the plain string, or nothing if it wrote none | the answers whose names were asked for when the token was issued |
/// | the same, but expired | nothing: it starts over (see [`restart_expired`](Self::restart_expired)) | nothing |
/// | any other string, the empty one included | rejected | |
/// | not a string | rejected | |
/// | anything, where the request cannot be bound | rejected | |
/// | anything, in a message without an id | nothing: nobody could be told of a rejection | nothing |
/// | anything but null, in a batch | the batch is rejected as a whole | |
/// | a string, and the codec cannot tell | an internal error, -32603 | |
///
/// An answer that is not an object is removed. `inputResponses` without an answer left in it is
/// removed.
///
/// A request cannot be bound when it names no protocol version and neither the [`Sender`] nor
/// [`version`](Self::version) gives one, or `_meta` names one that is not a string or is not an
/// object itself; when the principal is empty, or missing though it is
/// [required](Self::require_principal); and when the params cannot be digested (see
/// [`BindingError`](crate::BindingError)). Without a state such a request passes, and only a result
/// that asks for input fails.
///
/// An id that is neither a string nor a number does not count as one: MCP allows no other, not even
/// null. A message without an id in a batch loses its state and its answers, and the others are
/// judged without it.
///
/// # What happens to a response
///
/// A result of the three methods whose `resultType` is `input_required` always leaves with a token:
/// it says which questions were asked, and holds the handler's state if it wrote one. A result with
/// neither questions nor a state, with more questions than fit, with a state that is not a string,
/// or that cannot be sealed, becomes the error -32603 without detail. So does one in the response to
/// a batch or to a message without an id, and one with a state in the response to another method: no
/// plain state leaves. Everything else passes byte for byte.
///
/// # What is bound
///
/// The principal, the protocol version, the method, the server's name and the params as they
/// arrived, and the name and kind of each question. Of the params, `_meta` is not bound, since a client
/// sets it anew in each round, and neither are `requestState` and `inputResponses`: a handler that acts on
/// a member of `_meta` acts on what this round says, not on what the user was asked about. With no principal, a state is bound to the
/// request alone: whoever holds the token and sends the same request is served, for the sealer's
/// [`anonymous_ttl`](crate::SealerBuilder::anonymous_ttl), 60 seconds unless you say otherwise.
///
/// # What it costs
///
/// Each request of the three methods is digested once, before the handler may change it, also when
/// it carries no state: its answer may. Of other messages only the method is read.
/// [Performance](https://docs.rs/request-state/latest/request_state/manual/performance/) has figures.
///
/// # What is logged
///
/// Each rejection, each request that starts over, and each request that lost answers is an event of
/// target `request_state` with a `reason`, and so is each response that could not be sealed.
/// [Operations](https://docs.rs/request-state/latest/request_state/manual/operations/#the-events) lists them. No event has a state, a token, a principal, a param or an answer
/// in it.
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
/// #         wire::decode_base64url(wire::split_kid(token)?.1)
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
    sealer: Sealer<C>,
    version: Option<String>,
    restart_expired: bool,
    require_principal: bool,
    answers_without_state: AnswersWithoutState,
    max_rounds: u16,
    max_flow_ms: u64,
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

    /// Returns the name of the server, as its [`Sealer`] has it.
    #[must_use]
    pub fn server(&self) -> &str {
        self.sealer.server()
    }

    /// Sets the protocol version of messages whose `_meta` names none, such as `2025-11-25`. Default:
    /// none, and then such a message cannot be bound.
    ///
    /// Where it differs from message to message, in a header or by session, pass it with
    /// [`Sender::version`], which takes precedence. [`open`](Self::open) takes the version with each
    /// request and does not use this one.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets whether a request whose state is authentic, for this request and principal, but has
    /// expired, starts over instead of being rejected. Default: `true`.
    ///
    /// The handler then sees the request without state and answers, and asks again; the event
    /// `restarted` is logged. [`Round::restarted_from`] names the flow that has expired: an effect
    /// that is guarded by its id is not guarded by the id of the new flow.
    #[must_use]
    pub fn restart_expired(mut self, restart: bool) -> Self {
        self.restart_expired = restart;
        self
    }

    /// Sets whether every request must have a principal, so that no request is anonymous by an
    /// oversight. Default: `false`.
    ///
    /// A state that comes with an anonymous request is then rejected, and none is sealed for it. The
    /// reason in the log is `unidentified`.
    #[must_use]
    pub fn require_principal(mut self, require: bool) -> Self {
        self.require_principal = require;
        self
    }

    /// Sets what happens to answers in a request that carries no state. Default:
    /// [`AnswersWithoutState::Remove`].
    ///
    /// [`Allow`](AnswersWithoutState::Allow) is for servers that must live with clients that lose
    /// states. The handler then sees answers that nobody asked for, and must tell by
    /// [`Round::is_asked`]. With a state, even an expired one, answers that were not asked for are
    /// removed all the same.
    #[must_use]
    pub fn answers_without_state(mut self, answers: AnswersWithoutState) -> Self {
        self.answers_without_state = answers;
        self
    }

    /// Sets how many rounds a flow may have: how often a handler may ask before it must answer.
    /// Default: 32. The clients of the official SDKs stop at 10. With 0, no handler may ask.
    ///
    /// A handler that asks once more gets the error -32603 for its client, and `rounds` in the log.
    #[must_use]
    pub fn max_rounds(mut self, rounds: u16) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Sets how long a flow may take, from its first question on, in whole milliseconds; a fraction
    /// is dropped. Default: one hour or the sealer's longest TTL, whichever is longer.
    ///
    /// No token opens after that, however fresh. A handler that asks in a flow that old gets the
    /// error -32603 for its client, and `flow` in the log. All replicas should have the same limit:
    /// each enforces its own.
    #[must_use]
    pub fn max_flow(mut self, age: Duration) -> Self {
        self.max_flow_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        self
    }
}

impl<C: RequestStateCodec> From<Sealer<C>> for Boundary<C> {
    /// Creates a boundary with the default policy.
    fn from(sealer: Sealer<C>) -> Self {
        Self::new(sealer)
    }
}

impl<C> fmt::Debug for Boundary<C> {
    /// Prints the policy, and nothing of the codec.
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
