//! What the transport knows of a message: who sent it, and under which protocol version.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::binding::{Binding, BindingError, Request};
use crate::log::RequestId;
use crate::principal::{Principal, Unidentified};

/// Who sent a JSON-RPC message, and what the transport says of it.
///
/// `Some(name)` and `None` convert to a named and an anonymous sender, and so does a
/// [`Principal`].
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

/// What the transport says of the protocol version of a message whose `_meta` names none.
#[derive(Clone, Copy, Debug)]
enum Version<'a> {
    /// Nothing: it is that of the boundary.
    OfBoundary,
    /// Its name, or that there is none.
    Given(Option<&'a str>),
}

impl<'a> Sender<'a> {
    /// Creates a sender whom the server could not identify, though it should have.
    ///
    /// A state that comes with the message is rejected, and none is sealed for it. `error` says what
    /// was missing; it is logged.
    #[must_use]
    pub fn unidentified(error: Unidentified) -> Self {
        Self {
            principal: Err(error),
            version: Version::OfBoundary,
        }
    }

    /// Sets the protocol version of a message whose `_meta` names none.
    ///
    /// It takes precedence over [`Boundary::version`](super::Boundary::version), and the version
    /// that the message itself names over both.
    #[must_use]
    pub fn version(self, version: &'a str) -> Self {
        self.given_version(Some(version))
    }

    /// Declares that a message whose `_meta` names no protocol version has none, whatever the
    /// [boundary](super::Boundary::version)'s is. A state that comes with it is rejected, and none is
    /// sealed for it.
    #[must_use]
    pub fn no_version(self) -> Self {
        self.given_version(None)
    }

    pub(super) fn given_version(mut self, version: Option<&'a str>) -> Self {
        self.version = Version::Given(version);
        self
    }

    /// Returns the version that counts, where the boundary's is `of_boundary`.
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
    /// `None` is anonymous; see [`Request::principal`].
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
    /// Prints no name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("identified", &self.principal.is_ok())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A request that a framework received, for [`Boundary::open`](super::Boundary::open).
///
/// A [`Request`] converts to it. Add what else the framework knows.
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
    /// Where the `sender` does not say which protocol version the request has, it is that of the
    /// [boundary](super::Boundary::version).
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

    /// Sets the JSON-RPC id, which is logged, shortened to 32 characters. A value that is neither a
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

/// The `requestState` that came with a request.
#[derive(Clone, Copy)]
pub enum Token<'a> {
    /// There is none, or it is null.
    Absent,
    /// A string.
    Text(&'a str),
    /// Anything else: always rejected.
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
    /// Prints nothing of the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::Text(_) => "Text(..)",
            Self::NotAString => "NotAString",
        })
    }
}
