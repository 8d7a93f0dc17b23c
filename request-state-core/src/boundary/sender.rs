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
    pub(super) principal: Result<Option<&'a str>, Unidentified>,
    pub(super) version: Option<&'a str>,
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
            version: None,
        }
    }

    /// Sets the protocol version of a message whose `_meta` names none. An empty version means that
    /// the message has none, whatever the boundary's is.
    ///
    /// It takes precedence over [`Boundary::version`](super::Boundary::version), and the version
    /// that the message itself names over both.
    #[must_use]
    pub fn version(mut self, version: &'a str) -> Self {
        self.version = Some(version);
        self
    }
}

impl<'a> From<Option<&'a str>> for Sender<'a> {
    /// `None` is anonymous; see [`Request::principal`].
    fn from(principal: Option<&'a str>) -> Self {
        Self {
            principal: Ok(principal),
            version: None,
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
pub struct Incoming<'a, P: ?Sized> {
    pub(super) request: Request<'a, P>,
    pub(super) id: Option<RequestId>,
    pub(super) name: Option<&'a str>,
    pub(super) unidentified: Option<Unidentified>,
}

impl<'a, P: ?Sized> Incoming<'a, P> {
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

    /// Marks the sender as one that the server could not identify, though it should have. The principal of
    /// the request is then ignored; a state that comes with it is rejected, and none is sealed for
    /// it.
    #[must_use]
    pub fn unidentified(mut self, error: Unidentified) -> Self {
        self.unidentified = Some(error);
        self
    }
}

impl<P: Serialize + ?Sized> Incoming<'_, P> {
    pub(super) fn bind(&self, require_principal: bool) -> Result<Binding, BindingError> {
        if let Some(error) = &self.unidentified {
            return Err(BindingError::Unidentified(error.clone()));
        }
        if require_principal && self.request.principal.is_none() {
            return Err(BindingError::NoPrincipal);
        }
        Binding::new(self.request)
    }
}

impl<'a, P: ?Sized> From<Request<'a, P>> for Incoming<'a, P> {
    fn from(request: Request<'a, P>) -> Self {
        Self {
            request,
            id: None,
            name: None,
            unidentified: None,
        }
    }
}

impl<P: ?Sized> fmt::Debug for Incoming<'_, P> {
    /// Prints neither the params nor the principal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("request", &self.request)
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
