//! The sender of a message, and its protocol version according to the transport.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::binding::{Binding, BindingError, Request};
use crate::log::RequestId;
use crate::principal::{Principal, Unidentified};

/// The sender of a JSON-RPC message, and the protocol version that the transport gives.
///
/// `Some(name)` converts to a named sender, and `None` to an anonymous sender. A `&Principal` converts
/// too (see [`Principal`]).
///
/// # Examples
///
/// ```
/// use request_state_core::Sender;
///
/// // From the `MCP-Protocol-Version` header, where messages do not name their version.
/// let sender = Sender::from(Some("user:alice")).version("2025-11-25");
/// ```
#[derive(Clone)]
pub struct Sender<'a> {
    principal: Result<Option<&'a str>, Unidentified>,
    version: Version<'a>,
}

/// The protocol version that the transport gives for a message whose `_meta` names none.
#[derive(Clone, Copy, Debug)]
enum Version<'a> {
    /// No information: the version of the boundary applies.
    OfBoundary,
    /// The version, or `None` if the message has none.
    Given(Option<&'a str>),
}

impl<'a> Sender<'a> {
    /// Creates a sender that the server could not identify, although it should have.
    ///
    /// A state that comes with the message is rejected, and no state is sealed for it. `error` describes what
    /// was missing, and is logged.
    #[must_use]
    pub fn unidentified(error: Unidentified) -> Self {
        Self {
            principal: Err(error),
            version: Version::OfBoundary,
        }
    }

    /// Sets the protocol version of a message whose `_meta` names none.
    ///
    /// It takes precedence over [`Boundary::version`](super::Boundary::version). A version in the message
    /// itself takes precedence over both.
    #[must_use]
    pub fn version(self, version: &'a str) -> Self {
        self.given_version(Some(version))
    }

    /// Declares that a message has no protocol version if its `_meta` names none, whatever the [boundary's
    /// version](super::Boundary::version) is. A state that comes with the message is rejected, and no state is
    /// sealed for it.
    #[must_use]
    pub fn no_version(self) -> Self {
        self.given_version(None)
    }

    pub(super) fn given_version(mut self, version: Option<&'a str>) -> Self {
        self.version = Version::Given(version);
        self
    }

    /// Returns the version that applies if the boundary's is `of_boundary`.
    pub(super) fn version_or<'v>(&self, of_boundary: Option<&'v str>) -> Option<&'v str>
    where
        'a: 'v,
    {
        match self.version {
            Version::OfBoundary => of_boundary,
            Version::Given(version) => version,
        }
    }
}

impl<'a> From<Option<&'a str>> for Sender<'a> {
    /// Converts a name, or `None` for an anonymous sender; see [`Request::principal`].
    fn from(principal: Option<&'a str>) -> Self {
        Self {
            principal: Ok(principal),
            version: Version::OfBoundary,
        }
    }
}

impl<'a> From<&'a Principal> for Sender<'a> {
    fn from(principal: &'a Principal) -> Self {
        principal.name().into()
    }
}

impl fmt::Debug for Sender<'_> {
    /// Prints whether the sender was identified, and not the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("identified", &self.principal.is_ok())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A request that a framework received, for [`Boundary::open`](super::Boundary::open).
///
/// A [`Request`] converts to it. Add the id and the name if the framework knows them.
///
/// # Examples
///
/// ```
/// use request_state_core::{Incoming, Sender, Unidentified};
/// use serde_json::json;
///
/// let params = json!({"name": "transfer"});
/// let sender = Sender::unidentified(Unidentified::new("no session")).version("2026-07-28");
/// let incoming = Incoming::new("tools/call", &params, sender).id(&json!(7)).name("transfer");
/// ```
pub struct Incoming<'a, P: ?Sized> {
    method: &'a str,
    params: &'a P,
    sender: Sender<'a>,
    pub(super) id: Option<RequestId>,
    pub(super) name: Option<&'a str>,
}

impl<'a, P: ?Sized> Incoming<'a, P> {
    /// Creates a request of `method` with `params` as they arrived, as in [`Request`].
    ///
    /// If `sender` has no protocol version for the request, that of the [boundary](super::Boundary::version)
    /// applies.
    #[must_use]
    pub fn new(method: &'a str, params: &'a P, sender: impl Into<Sender<'a>>) -> Self {
        Self {
            method,
            params,
            sender: sender.into(),
            id: None,
            name: None,
        }
    }

    /// Sets the JSON-RPC id for the log, which shows at most 32 characters of it. A value that is neither a
    /// string nor a number is ignored.
    #[must_use]
    pub fn id(mut self, id: &Value) -> Self {
        self.id = RequestId::of(id);
        self
    }

    /// Sets the name of the tool or prompt, or the URI of the resource, for the filter of
    /// [`OnceBoundary::only`](super::OnceBoundary::only).
    #[must_use]
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    pub(super) fn method(&self) -> &'a str {
        self.method
    }

    pub(super) fn sender(&self) -> &Sender<'a> {
        &self.sender
    }
}

impl<P: Serialize + ?Sized> Incoming<'_, P> {
    pub(super) fn bind(
        &self,
        version: Option<&str>,
        require_principal: bool,
    ) -> Result<Binding, BindingError> {
        let principal = match &self.sender.principal {
            Ok(principal) => *principal,
            Err(error) => return Err(BindingError::Unidentified(error.clone())),
        };
        let version = version.ok_or(BindingError::NoVersion)?;
        if require_principal && principal.is_none() {
            return Err(BindingError::NoPrincipal);
        }
        Binding::new(Request {
            version,
            method: self.method,
            params: self.params,
            principal,
        })
    }
}

impl<'a, P: ?Sized> From<Request<'a, P>> for Incoming<'a, P> {
    fn from(request: Request<'a, P>) -> Self {
        let sender = Sender::from(request.principal).version(request.version);
        Self::new(request.method, request.params, sender)
    }
}

impl<P: ?Sized> fmt::Debug for Incoming<'_, P> {
    /// Prints neither the params nor the principal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("method", &self.method)
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}

/// The `requestState` of a request.
#[derive(Clone, Copy)]
pub enum Token<'a> {
    /// No `requestState`, or null.
    Absent,
    /// A string.
    Text(&'a str),
    /// Any other value. It is always rejected.
    NotAString,
}

impl<'a> Token<'a> {
    pub(super) fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(token) => Some(token),
            Self::Absent | Self::NotAString => None,
        }
    }
}

impl<'a> From<Option<&'a str>> for Token<'a> {
    fn from(token: Option<&'a str>) -> Self {
        token.map_or(Self::Absent, Self::Text)
    }
}

impl<'a> From<Option<&'a Value>> for Token<'a> {
    fn from(token: Option<&'a Value>) -> Self {
        match token {
            None | Some(Value::Null) => Self::Absent,
            Some(Value::String(token)) => Self::Text(token),
            Some(_) => Self::NotAString,
        }
    }
}

impl fmt::Debug for Token<'_> {
    /// Prints the variant and not the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::Text(_) => "Text(..)",
            Self::NotAString => "NotAString",
        })
    }
}
