//! The binding of a token: its request, and the principal who makes the request.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::principal::Unidentified;
use crate::problem::Problem;
use crate::reason::Reason;
use crate::value;

/// The methods whose requests may carry a state and whose results may be `input_required`.
pub(crate) const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// The protocol version of most requests.
const CURRENT_VERSION: &str = "2026-07-28";

/// The length of a principal digest, in bytes.
pub(crate) const PRINCIPAL_LEN: usize = 16;

/// The length of a request digest, in bytes.
pub(crate) const REQUEST_LEN: usize = 32;

/// A request as it arrived, from which a [`Binding`] is made.
///
/// # Example
///
/// ```
/// use request_state_core::{Binding, Request};
/// use serde_json::json;
///
/// let params = json!({"name": "transfer", "arguments": {"amount": 10}});
/// let binding = Binding::new(Request {
///     version: "2026-07-28",
///     method: "tools/call",
///     params: &params,
///     principal: Some("user:alice"),
/// })?;
/// # Ok::<(), request_state_core::BindingError>(())
/// ```
pub struct Request<'a, P: ?Sized> {
    /// The protocol version of the request, from its `_meta`. Not empty.
    pub version: &'a str,
    /// The JSON-RPC method: `tools/call`, `prompts/get` or `resources/read`. Not empty.
    pub method: &'a str,
    /// All params of the request: a `serde_json::Value`, or any type that serializes to the same
    /// object. `&()` if there are none.
    ///
    /// The digest omits the top-level members `_meta`, `inputResponses` and `requestState`, which change
    /// between rounds. It also omits top-level members that are null, and a top-level `arguments` without
    /// members.
    pub params: &'a P,
    /// The authenticated user: one stable, unambiguous string for each user, such as `iss|sub` of a
    /// verified token. Never pass a name that the client merely claims. `None` is an anonymous request:
    /// its token is not bound to a user and has a shorter TTL.
    pub principal: Option<&'a str>,
}

// Derived, these would require the same traits of `P`.
impl<P: ?Sized> Copy for Request<'_, P> {}

impl<P: ?Sized> Clone for Request<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> fmt::Debug for Request<'_, P> {
    /// Prints neither the params nor the principal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("version", &self.version)
            .field("method", &self.method)
            .field("anonymous", &self.principal.is_none())
            .finish_non_exhaustive()
    }
}

/// The digest of one request and its principal. States are sealed and opened under it.
///
/// A binding borrows nothing from the request. Make one for each round: open the token that came with the
/// request under it, and seal the next token under it.
///
/// Two requests have the same binding exactly when they have the same version, method and principal, and
/// their params are the same JSON value. The order of keys and the notation of numbers (`10`, `10.0`, `1e1`)
/// and strings (`"\u0041"`, `"A"`) make no difference. Every digit of a 64-bit integer does. The digest sees
/// what the parser returned: unless its `arbitrary_precision` is on, serde_json rounds larger integers and
/// all other numbers to doubles. The page
/// [token format](https://docs.rs/request-state/latest/request_state/manual/token_format/index.html) has the
/// rules, and their limits.
#[derive(Clone)]
pub struct Binding {
    version: Cow<'static, str>,
    method: Cow<'static, str>,
    anonymous: bool,
    principal: [u8; PRINCIPAL_LEN],
    request: [u8; REQUEST_LEN],
}

impl Binding {
    /// Digests a request.
    ///
    /// # Errors
    ///
    /// Returns a [`BindingError`] when the version, the method or the principal is empty, or the params
    /// cannot be digested. It says what is wrong and where.
    ///
    /// # Examples
    ///
    /// ```
    /// use request_state_core::{Binding, Request};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Params {
    ///     name: &'static str,
    ///     amount: f64,
    /// }
    ///
    /// let mut request = Request {
    ///     version: "2026-07-28",
    ///     method: "tools/call",
    ///     params: &Params { name: "transfer", amount: 10.0 },
    ///     principal: Some("user:alice"),
    /// };
    /// assert!(Binding::new(request).is_ok());
    ///
    /// request.params = &Params { name: "transfer", amount: f64::NAN };
    /// let error = Binding::new(request).unwrap_err();
    /// assert_eq!(error.to_string(), "params.amount: NaN and infinity are not valid in JSON");
    /// ```
    pub fn new<P: Serialize + ?Sized>(request: Request<'_, P>) -> Result<Self, BindingError> {
        if request.version.is_empty() {
            return Err(BindingError::EmptyVersion);
        }
        if request.method.is_empty() {
            return Err(BindingError::EmptyMethod);
        }
        if request.principal == Some("") {
            return Err(BindingError::EmptyPrincipal);
        }
        Ok(Self {
            version: kept(request.version, &[CURRENT_VERSION]),
            method: kept(request.method, &METHODS),
            anonymous: request.principal.is_none(),
            principal: principal_digest(request.principal),
            request: request_digest(request.params)?,
        })
    }

    /// Returns the method of the request, unchanged.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns `true` if the request has no principal.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.anonymous
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn principal(&self) -> &[u8; PRINCIPAL_LEN] {
        &self.principal
    }

    pub(crate) fn request(&self) -> &[u8; REQUEST_LEN] {
        &self.request
    }
}

/// Returns `name`, to be kept: without an allocation if it is one of `common`.
fn kept(name: &str, common: &[&'static str]) -> Cow<'static, str> {
    match common.iter().find(|common| **common == name) {
        Some(common) => Cow::Borrowed(common),
        None => Cow::Owned(name.to_owned()),
    }
}

impl fmt::Debug for Binding {
    /// Prints neither digest: with a digest, anyone can confirm a guess.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("method", &self.method())
            .field("anonymous", &self.anonymous)
            .finish_non_exhaustive()
    }
}

/// Returns SHA-256 after a first block: the label, and zeros up to 64 bytes.
///
/// It is a whole block, so that it is hashed once for the process and not for every request.
pub(crate) fn labelled(label: &[u8]) -> Sha256 {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(label) {
        *to = *from;
    }
    Sha256::new_with_prefix(block)
}

static REQUEST: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 request"));
static PRINCIPAL: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 principal"));

/// `SHA-256(block(label) ‖ canonical params)`.
fn request_digest<P: Serialize + ?Sized>(params: &P) -> Result<[u8; REQUEST_LEN], BindingError> {
    let form = value::canonical_form(params)
        .map_err(|(path, problem)| BindingError::Params { path, problem })?;
    Ok(REQUEST.clone().chain_update(form).finalize().into())
}

/// The first 16 bytes of `SHA-256(block(label) ‖ presence byte ‖ name)`: the digest of "no principal" is not that
/// of any name.
fn principal_digest(principal: Option<&str>) -> [u8; PRINCIPAL_LEN] {
    let mut hash = PRINCIPAL.clone();
    hash.update([u8::from(principal.is_some())]);
    hash.update(principal.unwrap_or_default());
    let mut digest = [0; PRINCIPAL_LEN];
    for (to, from) in digest.iter_mut().zip(hash.finalize()) {
        *to = from;
    }
    digest
}

/// Why a request cannot be digested.
///
/// It shows no principal. Of the params it shows only field names, which are in the program's source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// The protocol version is empty.
    #[error("the request's version is empty")]
    EmptyVersion,
    /// The method is empty.
    #[error("the request's method is empty")]
    EmptyMethod,
    /// The principal is an empty string. A user whose name was not found is not anonymous.
    #[error("the request's principal is empty")]
    EmptyPrincipal,
    /// The request names no protocol version, and none was given for it. Only a
    /// [`Boundary`](crate::Boundary) returns this, as the next two.
    #[error("the request names no protocol version, and the server gives none")]
    NoVersion,
    /// The request has no principal, and the server [requires
    /// one](crate::Boundary::require_principal).
    #[error("the request has no principal, and require_principal is set")]
    NoPrincipal,
    /// The server could not tell who sent the request.
    #[error("{0}")]
    Unidentified(Unidentified),
    /// The params cannot be digested.
    #[error("{path}: {problem}")]
    Params {
        /// Where in the params, such as `params.arguments.amount`.
        path: String,
        /// What is wrong there.
        problem: Problem,
    },
}

impl BindingError {
    /// The name of the error in the log.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::NoPrincipal | Self::Unidentified(_) => Reason::Unidentified,
            _ => Reason::Binding,
        }
    }
}
