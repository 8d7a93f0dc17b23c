//! The wrapper and its settings.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use request_state_core::{Boundary, RequestStateCodec, Sealer};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::gate::Gate;

/// A server whose handlers write and read plain states, while its clients see only tokens.
///
/// It is a [`ServerHandler`](rmcp::ServerHandler) around another one, so it goes wherever that one
/// went: to `serve` over stdio, and into rmcp's `StreamableHttpService`. Every method reaches the
/// wrapped handler. An rmcp service that is not a `ServerHandler`, such as a `Router`, is wrapped
/// with [`AnyService`](crate::AnyService).
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
/// # What is bound
///
/// - The principal that [`principal`](Self::principal) or [`http_identity`](Self::http_identity)
///   names. **Without either, or where what you gave them answers `None`, a state is bound to the
///   request alone**:
///   whoever holds the token and sends the same request is served, for the sealer's
///   [`anonymous_ttl`](request_state_core::SealerBuilder::anonymous_ttl), 60 seconds unless you say
///   otherwise. That suits a server with one user, as on stdio.
/// - The protocol version that the request's `_meta` names, else the one of the session. With
///   neither, a state is refused and none can be sealed.
/// - The method, the server's name, and the params as rmcp parsed them: the members that its types
///   know. Those it does not know reach no handler. Another server behind the same address that
///   binds the JSON itself agrees as long as clients send no such members.
///
/// # What rmcp does not take for a request
///
/// A `tools/call` whose params are not what rmcp expects, for instance with a `requestState` that is
/// a number, is a custom request to it; one without an id is a custom notification. Both are
/// covered: a state in the one is opened or refused, in the other removed.
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
    /// [`AnyService`](crate::AnyService). States are sealed and opened with `sealer`, and bound to
    /// no principal unless you say who is asking.
    ///
    /// Make the sealer once and clone it for each session; its clones share the keys.
    #[must_use]
    pub fn new(handler: S, sealer: Sealer<C>) -> Self {
        let gate = Gate {
            boundary: Boundary::new(sealer),
            principal: Arc::new(|_| None),
        };
        Self {
            inner: handler,
            gate,
        }
    }

    /// Says who makes a request: one stable, unambiguous string for each user, as the server's
    /// authentication says, or `None` for an anonymous request.
    ///
    /// It is asked once for each `tools/call`, `prompts/get` and `resources/read`. An empty string is
    /// a mistake and not anonymous: a state is then refused, and none can be sealed.
    ///
    /// # Example
    ///
    /// A process that serves one user over stdio:
    ///
    /// ```
    /// # use request_state::RequestStateCodec;
    /// # use request_state_rmcp::SealedService;
    /// # fn example<S, C: RequestStateCodec>(server: SealedService<S, C>) {
    /// let server = server.principal(|_context| std::env::var("USER").ok());
    /// # }
    /// ```
    #[must_use]
    pub fn principal(
        mut self,
        principal: impl Fn(&RequestContext<RoleServer>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.gate.principal = Arc::new(principal);
        self
    }

    /// Takes the principal from the identity that an HTTP authentication layer left in the request's
    /// extensions, as a value of type `T`.
    ///
    /// A request without such a value, or with one of another type, is not anonymous: nobody has said
    /// who is asking, so a state that comes with it is refused, and none can be sealed. For users who
    /// have not logged in, let the layer leave a value too, and answer `None`.
    ///
    /// Name the issuer beside the subject where there is more than one.
    ///
    /// # Example
    ///
    /// ```
    /// # use request_state::RequestStateCodec;
    /// # use request_state_rmcp::SealedService;
    /// #[derive(Clone)]
    /// struct User {
    ///     issuer: String,
    ///     subject: String,
    /// }
    ///
    /// # fn example<S, C: RequestStateCodec>(server: SealedService<S, C>) {
    /// let server =
    ///     server.http_identity(|user: &User| Some(format!("{}|{}", user.issuer, user.subject)));
    /// # }
    /// ```
    #[must_use]
    pub fn http_identity<T: Send + Sync + 'static>(
        self,
        name: impl Fn(&T) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.principal(move |context| {
            let parts = context.extensions.get::<Parts>();
            match parts.and_then(|parts| parts.extensions.get::<T>()) {
                Some(identity) => name(identity),
                // A layer that is missing, or in the wrong place, must not make everybody anonymous.
                None => Some(String::new()),
            }
        })
    }

    /// Whether a state that is ours in every way but has expired lets the handler start over,
    /// instead of a refusal. Default: no. See [`Boundary::restart_expired`].
    #[must_use]
    pub fn restart_expired(mut self, restart: bool) -> Self {
        self.gate.boundary = self.gate.boundary.restart_expired(restart);
        self
    }
}

impl<S, C> fmt::Debug for SealedService<S, C> {
    /// Prints the policy, and nothing of the handler and the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedService")
            .field("boundary", &self.gate.boundary)
            .finish_non_exhaustive()
    }
}
