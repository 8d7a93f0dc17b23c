//! The wrapper and its settings.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use request_state_core::{Principal, RedemptionStore, RequestStateCodec, Unidentified};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::any_boundary::AnyBoundary;
use crate::asks::Asks;
use crate::gate::Gate;

/// A server whose handlers write and read plain states, while its clients see only tokens.
///
/// It implements [`ServerHandler`](rmcp::ServerHandler) and wraps another `ServerHandler`, so you
/// can use it wherever you used the wrapped one: with `serve` over stdio, and in rmcp's
/// `StreamableHttpService`. Every method reaches the wrapped handler. To wrap an rmcp service that
/// is not a `ServerHandler`, such as a `Router`, use [`AnyService`](crate::AnyService).
///
/// # Example
///
/// ```
/// use request_state::{DefaultCodec, Keyring, Sealer};
/// use request_state_rmcp::SealedService;
/// use rmcp::ServerHandler;
///
/// #[derive(Clone)]
/// struct Bank;
///
/// impl ServerHandler for Bank {
///     // call_tool reads `request.request_state`, and answers an `InputRequiredResult`.
/// }
///
/// let keys = Keyring::ephemeral()?; // in production: Keyring::from_env("REQUEST_STATE_KEYS")?
/// let sealer = Sealer::new("bank", DefaultCodec::new(&keys))?;
/// let server = SealedService::new(Bank, sealer); // instead of Bank
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// rmcp's own feature `request-state` is unrelated. It is a struct that each handler calls to seal
/// and to open: see [how it
/// differs](https://docs.rs/request-state/latest/request_state/manual/differences/).
///
/// # What a handler can rely on
///
/// Every answer that reaches the handler belongs to a question that this server asked. The server
/// asked it of the same user, about exactly this request. See
/// [`Boundary`](request_state_core::Boundary). The extensions of the request's context hold the
/// [`Round`](request_state_core::Round). It has the ID of the flow, which is the idempotency key
/// for external effects, and the questions that were asked.
///
/// A tool that asks, and acts on the answer. It needs no state: the token holds the names and kinds of the
/// questions.
///
/// ```
/// use request_state::Round;
/// use rmcp::handler::server::common::Extension;
/// use rmcp::handler::server::tool::InputResponses;
/// use rmcp::model::*;
/// use rmcp::{ErrorData, tool, tool_router};
///
/// #[derive(Clone)]
/// struct Shop;
///
/// #[tool_router]
/// impl Shop {
///     #[tool(description = "Places the order, after the user has confirmed")]
///     async fn order(
///         &self,
///         InputResponses(answers): InputResponses,
///         Extension(round): Extension<Round>,
///     ) -> Result<CallToolResponse, ErrorData> {
///         let answer = answers.and_then(|mut answers| answers.remove("confirm"));
///         let (Some(answer), Some(flow)) = (answer, round.flow()) else {
///             return Ok(InputRequiredResult::from_input_requests([("confirm".into(), ask()?)].into()).into());
///         };
///         let text = if answer["action"] == "accept" {
///             format!("ordered, with the idempotency key order:{flow}")
///         } else {
///             "not confirmed".to_owned()
///         };
///         Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
///     }
/// }
///
/// fn ask() -> Result<InputRequest, ErrorData> {
///     let schema = ElicitationSchema::builder().build();
///     Ok(InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
///         meta: None,
///         message: "Really order?".to_owned(),
///         requested_schema: schema.map_err(|error| ErrorData::internal_error(error, None))?,
///     })))
/// }
/// ```
///
/// Without macros, read `request.input_responses`, and get the round with `context.extensions.get::<Round>()`.
///
/// # What is bound
///
/// - The principal that [`principal`](Self::principal) or [`http_identity`](Self::http_identity)
///   returns. **Without either, a state is bound to the request alone**: anyone who holds the token
///   and sends the same request is served, for the sealer's
///   [`anonymous_ttl`](request_state_core::SealerBuilder::anonymous_ttl), 60 seconds by default.
///   That suits a server with one user, such as one on stdio. A server over HTTP that has neither
///   logs one warning, unless you call [`anonymous`](Self::anonymous).
/// - The protocol version that the request's `_meta` names, or else the version of the session.
///   Without either, a state is rejected and none can be sealed.
///   [`Boundary::version`](request_state_core::Boundary::version) is not used.
/// - The method, the server's name, and the params as rmcp parsed them. These are the members that
///   rmcp's types have, without `_meta`, which clients set anew in each round. Other members do not
///   reach any handler. Another server behind the same address may bind the JSON itself. The two
///   agree as long as clients send no such members.
/// - The name and the kind of each question.
///
/// # Requests that rmcp does not recognize
///
/// rmcp treats a `tools/call` with params that it does not expect, such as a `requestState` that is
/// a number, as a custom request. It treats one without an ID as a custom notification. Both are
/// covered: the state and the answers of a custom request are opened or rejected, and those of a
/// custom notification are removed.
///
/// # Cost and blocking
///
/// Each request of the three methods is digested once, which takes microseconds. A codec that calls
/// a key service blocks the task that serves the request while it waits.
#[derive(Clone)]
pub struct SealedService<S, C> {
    pub(crate) inner: S,
    pub(crate) gate: Gate<C>,
}

impl<S, C: RequestStateCodec> SealedService<S, C> {
    /// Wraps `handler`, which is a [`ServerHandler`](rmcp::ServerHandler) or an
    /// [`AnyService`](crate::AnyService).
    ///
    /// `boundary` is a [`Sealer`](request_state_core::Sealer). To set a policy of your own, pass a
    /// [`Boundary`](request_state_core::Boundary) or an
    /// [`OnceBoundary`](request_state_core::OnceBoundary) instead. States are not bound to a
    /// principal unless you call [`principal`](Self::principal) or
    /// [`http_identity`](Self::http_identity). Create the service once and clone it for each session; its
    /// clones share the keys and the store: `StreamableHttpService::new(move || Ok(server.clone()), ..)`. With
    /// single use, a service that is created within that closure has a new store for each request, so every
    /// answer is unavailable.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state::{ConfigError, RequestStateCodec, Sealer};
    /// # use request_state_rmcp::SealedService;
    /// # fn example<S, C: RequestStateCodec>(handler: S, sealer: Sealer<C>) {
    /// use request_state::Boundary;
    ///
    /// let boundary = Boundary::new(sealer).max_rounds(8).require_principal(true);
    /// let server = SealedService::new(handler, boundary);
    /// # }
    /// ```
    #[must_use]
    pub fn new(handler: S, boundary: impl Into<AnyBoundary<C>>) -> Self {
        let gate = Gate {
            boundary: boundary.into(),
            asks: Asks::Nobody,
        };
        Self {
            inner: handler,
            gate,
        }
    }

    /// Makes each round count once, and records the redeemed rounds in `store`.
    ///
    /// Of any number of requests with the same token, on all replicas that share the store, one
    /// reaches the handler. To filter by method and name, or to send the same answer again, pass an
    /// [`OnceBoundary`](request_state_core::OnceBoundary) to [`new`](Self::new) instead. This
    /// method replaces an `OnceBoundary` that was passed there. A request uses up its round even if
    /// the client cancels it or disconnects. A handler that knows that nothing happened calls
    /// [`Round::release`](request_state_core::Round::release).
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state::{ConfigError, RequestStateCodec, Sealer};
    /// # use request_state_rmcp::SealedService;
    /// # fn example<S, C: RequestStateCodec>(bank: S, shop: S, sealer: Sealer<C>, other: Sealer<C>) -> Result<(), ConfigError> {
    /// use request_state::{AnswerAgain, Boundary, MemoryStore};
    ///
    /// let server = SealedService::new(bank, sealer).once(MemoryStore::new());
    ///
    /// let once = Boundary::new(other)
    ///     .once(MemoryStore::new())
    ///     .only(|_method, name| name == "order")
    ///     .answer_again(AnswerAgain::new())?;
    /// let server = SealedService::new(shop, once);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn once(mut self, store: impl RedemptionStore + 'static) -> Self {
        self.gate.boundary = self.gate.boundary.into_plain().once(store).into();
        self
    }

    /// Sets the function that returns the principal of a request: a stable, unambiguous string for
    /// each user, taken from the server's authentication, or [`Principal::Anonymous`].
    ///
    /// `principal` is called once for each `tools/call`, `prompts/get` and `resources/read`. If it
    /// returns [`Unidentified`], a state that comes with the request is rejected, and no state is
    /// sealed for it. An empty name is a mistake and has the same effect.
    ///
    /// # Examples
    ///
    /// A process that serves one user over stdio:
    ///
    /// ```
    /// # use request_state::RequestStateCodec;
    /// # use request_state_rmcp::SealedService;
    /// # fn example<S, C: RequestStateCodec>(server: SealedService<S, C>) {
    /// use request_state::{Principal, Unidentified};
    ///
    /// let server = server.principal(|_context| match std::env::var("USER") {
    ///     Ok(user) => Ok(Principal::Named(user)),
    ///     Err(_) => Err(Unidentified::new("USER is not set")),
    /// });
    /// # }
    /// ```
    #[must_use]
    pub fn principal(
        mut self,
        principal: impl Fn(&RequestContext<RoleServer>) -> Result<Principal, Unidentified>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.gate.asks = Asks::Known(Arc::new(principal));
        self
    }

    /// Takes the principal from the identity that an HTTP authentication layer left in the
    /// request's extensions, as a value of type `T`.
    ///
    /// A request without such a value, or with a value of another type, is [`Unidentified`] and not
    /// anonymous. For users who have not logged in, let the layer leave a value too, and return
    /// [`Principal::Anonymous`]. If there is more than one issuer, include it in the name in
    /// addition to the subject.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state::RequestStateCodec;
    /// # use request_state_rmcp::SealedService;
    /// use request_state::Principal;
    ///
    /// #[derive(Clone)]
    /// struct User {
    ///     issuer: String,
    ///     subject: String,
    /// }
    ///
    /// # fn example<S, C: RequestStateCodec>(server: SealedService<S, C>) {
    /// let server = server.http_identity(|user: &User| {
    ///     Ok(Principal::Named(format!("{}|{}", user.issuer, user.subject)))
    /// });
    /// # }
    /// ```
    #[must_use]
    pub fn http_identity<T: Send + Sync + 'static>(
        self,
        name: impl Fn(&T) -> Result<Principal, Unidentified> + Send + Sync + 'static,
    ) -> Self {
        self.principal(move |context| {
            let identity = std::any::type_name::<T>();
            let parts = context.extensions.get::<Parts>().ok_or_else(|| {
                Unidentified::new(format!(
                    "no HTTP request to find the identity in, of type {identity}: http_identity is \
                     for servers over HTTP"
                ))
            })?;
            let found = parts.extensions.get::<T>().ok_or_else(|| {
                Unidentified::new(format!(
                    "no {identity} in the HTTP request's extensions: the authentication layer that \
                     puts it there must run before the MCP service"
                ))
            })?;
            name(found)
        })
    }

    /// Makes every request anonymous on purpose: a state is bound to the request alone.
    ///
    /// This is the default, but the default logs one warning over HTTP.
    #[must_use]
    pub fn anonymous(self) -> Self {
        self.principal(|_| Ok(Principal::Anonymous))
    }
}

impl<S, C> fmt::Debug for SealedService<S, C> {
    /// Prints the policy, but not the handler or the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedService")
            .field("boundary", &self.gate.boundary)
            .finish_non_exhaustive()
    }
}
