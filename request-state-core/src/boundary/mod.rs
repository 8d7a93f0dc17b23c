//! The boundary: opens what comes in and seals what goes out, so that handlers see plain strings.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the policy, and the face for frameworks that have requests as types |
//! | `message.rs` | the face for JSON-RPC messages |
//! | `json_rpc.rs` | what a message is, and where its state stands |
//! | `round.rs` | what is kept between a request and its response |
//! | `log.rs` | what the operator is told |

mod json_rpc;
mod log;
mod message;
mod round;

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;

use self::round::Kind;
pub use self::round::{Opened, Refusal, Round};
use crate::binding::{Binding, Request};
use crate::codec::RequestStateCodec;
use crate::reason::{OpenError, Reason};
use crate::sealer::{SealError, Sealer};

/// Stands between the transport and the handlers of a server: a handler reads and writes
/// `requestState` as a plain string, and clients see only tokens.
///
/// [`open_request`](Self::open_request) goes before the handler and
/// [`seal_response`](Self::seal_response) after it. Both take JSON-RPC messages. A framework that
/// has requests as types of its own calls [`open`](Self::open) and [`seal`](Self::seal) instead;
/// the policy is the same.
///
/// # What happens to a request
///
/// Only `tools/call`, `prompts/get` and `resources/read` are looked into, and of those only
/// `params.requestState`:
///
/// | `requestState` | what happens |
/// |---|---|
/// | absent or null | the handler sees no such member: a null is removed |
/// | a token for this request and principal, in time | the handler sees the plain string |
/// | any other string, the empty one included | refused |
/// | not a string | refused |
/// | anything, where the request cannot be bound | refused |
/// | anything, in a message without an id | removed: nobody could be told of a refusal |
/// | anything but null, in a batch | the batch is refused as a whole |
///
/// A request cannot be bound when it names no protocol version and [`version`](Self::version) gives
/// none, or `_meta` names one that is not a string or is no object itself; when the principal is empty; and when the
/// params cannot be digested (see [`BindingError`](crate::BindingError)). Without a state such a
/// request passes, and only an answer that needs a seal fails.
///
/// An id that is neither a string nor a number is no id: MCP allows no other, not even null. A
/// message without an id in a batch loses its state, and the others are judged without it.
///
/// # What happens to a response
///
/// Only `requestState` in a result whose `resultType` is `input_required` is looked at, in the
/// response to one of the three methods: a string is sealed for the request of the round, and null
/// stays. What is not a string, or cannot be sealed, or stands in the response to a batch or to a
/// message without an id, turns the response into the error -32603 without detail, so that no plain
/// state leaves. Everything else passes byte for byte.
///
/// # What is bound
///
/// The principal, the protocol version, the method, the server's name and the params as they
/// arrived. With no principal, a state is bound to the request alone: whoever holds the token and
/// sends the same request is served, for the sealer's
/// [`anonymous_ttl`](crate::SealerBuilder::anonymous_ttl), 60 seconds unless you say otherwise.
///
/// # What it costs
///
/// Each request of the three methods is digested once, before the handler may change it, also when
/// it carries no state: its answer may. Other messages cost a look at their method.
/// `docs/performance.md` has figures.
///
/// # What is logged
///
/// Each refusal is an event of target `request_state` with a `reason`: those of
/// [`Sealer::open`], and `not_a_string`, `binding` and `batch`. A response that could not be sealed
/// is an event of level error with the reason `seal` and the cause. No event has a state, a token,
/// a principal or a param in it.
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
/// /// Knows nothing of tokens.
/// fn handle(request: &Value) -> Value {
///     let result = match request["params"]["requestState"].as_str() {
///         None => json!({"resultType": "input_required", "requestState": "asked"}),
///         Some(state) => json!({"resultType": "complete", "was": state}),
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
/// }});
/// let asked = serve(&boundary, request.clone(), "user:alice");
/// let token = &asked["result"]["requestState"];
/// assert_ne!(token, "asked");
///
/// request["params"]["requestState"] = token.clone();
/// let done = serve(&boundary, request.clone(), "user:alice");
/// assert_eq!(done["result"]["was"], "asked");
///
/// request["params"]["requestState"] = "asked".into();
/// let refused = serve(&boundary, request, "user:alice");
/// assert_eq!(refused["error"]["code"], -32602);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Boundary<C> {
    sealer: Sealer<C>,
    /// Empty: none.
    version: String,
    restart_expired: bool,
}

impl<C: RequestStateCodec> Boundary<C> {
    /// A boundary that seals and opens with `sealer`.
    #[must_use]
    pub fn new(sealer: Sealer<C>) -> Self {
        Self {
            sealer,
            version: String::new(),
            restart_expired: false,
        }
    }

    /// The protocol version of messages whose `_meta` names none, such as `2025-11-25`. Default:
    /// none, and then such a message cannot be bound.
    ///
    /// [`open`](Self::open) takes the version with each request and does not use this one.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Whether a state that is ours in every way but has expired lets the handler start over,
    /// instead of a refusal. Default: no.
    ///
    /// The handler then sees the request without a state and without `inputResponses`, which answer
    /// questions that it no longer remembers. The event `expired` is logged all the same.
    #[must_use]
    pub fn restart_expired(mut self, restart: bool) -> Self {
        self.restart_expired = restart;
        self
    }

    /// Whether requests of `method` may carry a state: whether it is `tools/call`, `prompts/get` or
    /// `resources/read`, to the letter.
    #[must_use]
    pub fn covers(&self, method: &str) -> bool {
        json_rpc::covered(method).is_some()
    }

    /// Digests `request` and opens the `token` that came with it, if any.
    ///
    /// For frameworks: call it for each request of a method that is [covered](Self::covers), with
    /// the params as they arrived. An empty version stands for none. When the [round says that it
    /// was restarted](Round::restarted), the handler must not see the request's `inputResponses`.
    ///
    /// For a `requestState` that is not a string, pass the empty string, which is never a token. For
    /// one that is null, pass `None`.
    ///
    /// # Errors
    ///
    /// An [`OpenError`] when there is a token and it does not open, or the request cannot be bound.
    /// Whichever it is, the client is answered with [`OpenError::CODE`], [`OpenError::MESSAGE`] and
    /// `{"reason": OpenError::REASON}`. Without a token this never fails.
    pub fn open<P>(&self, request: Request<'_, P>, token: Option<&str>) -> Result<Opened, OpenError>
    where
        P: Serialize + ?Sized,
    {
        let method = request.method;
        let bound = Binding::new(request);
        let (state, restarted) = match (token, &bound) {
            (None, _) => (None, false),
            (Some(_), Err(error)) => {
                log::unbound(method, error);
                return Err(OpenError::Invalid);
            }
            (Some(token), Ok(binding)) => {
                match self.sealer.try_open(token, binding, SystemTime::now()) {
                    Ok(plain) => (Some(plain), false),
                    Err(reason) => {
                        let error = self.sealer.refuse(reason, binding, token);
                        if reason != Reason::Expired || !self.restart_expired {
                            return Err(error);
                        }
                        (None, true)
                    }
                }
            }
        };
        let covered = json_rpc::covered(method).unwrap_or_default();
        let round = Round {
            restarted,
            ..Round::of(Kind::Request(bound), covered)
        };
        Ok(Opened { round, state })
    }

    /// Seals the `plain` state that the handler wrote in its answer to the request of `round`.
    ///
    /// The token opens to the same string, and [`Sealer::open`] reads it as a `String` too.
    ///
    /// # Errors
    ///
    /// A [`SealError`], which has been logged: answer the client with the error -32603, and without
    /// detail.
    pub fn seal(&self, round: &Round, plain: &str) -> Result<String, SealError> {
        let sealed = round
            .binding()
            .and_then(|binding| self.sealer.seal(plain, binding));
        if let Err(error) = &sealed {
            log::not_sealed(round.method, error);
        }
        sealed
    }
}

impl<C> fmt::Debug for Boundary<C> {
    /// Prints the policy, and nothing of the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boundary")
            .field("sealer", &self.sealer)
            .field("version", &self.version)
            .field("restart_expired", &self.restart_expired)
            .finish()
    }
}
