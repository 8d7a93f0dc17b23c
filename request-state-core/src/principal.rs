//! The sender of a request, according to the server's authentication.

use std::borrow::Cow;
use std::fmt;

/// The sender of a request: a named user, or an anonymous sender.
///
/// # Examples
///
/// ```
/// use request_state_core::Principal;
///
/// let (issuer, subject) = ("https://id.example", "alice");
/// let alice = Principal::Named(format!("{issuer}|{subject}"));
/// assert_eq!(alice.name(), Some("https://id.example|alice"));
/// assert_eq!(Principal::Anonymous.name(), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Principal {
    /// A named user. The name is one stable, unambiguous string for each user, such as `iss|sub` of a verified
    /// token. It is not empty.
    Named(String),
    /// An anonymous sender. A token is then bound to the request alone: whoever holds the token and sends the
    /// same request is accepted.
    Anonymous,
}

impl Principal {
    /// Returns the name in the form of [`Request::principal`](crate::Request::principal).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Anonymous => None,
        }
    }
}

impl fmt::Debug for Principal {
    /// Prints the variant and not the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named(_) => "Named(..)",
            Self::Anonymous => "Anonymous",
        })
    }
}

/// The error of a server that cannot identify the sender of a request, although it should.
///
/// It is not the same as [`Principal::Anonymous`]. A state that comes with the request is rejected, and no
/// state is sealed for it. So a missing or misplaced authentication layer does not make every user anonymous.
///
/// # Examples
///
/// ```
/// use request_state_core::Unidentified;
///
/// let error = Unidentified::new("no session: the session layer must run first");
/// assert_eq!(error.to_string(), "no session: the session layer must run first");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing}")]
pub struct Unidentified {
    missing: Cow<'static, str>,
}

impl Unidentified {
    /// Creates the error. `missing` describes what is missing and who should have provided it. It is logged, so
    /// it must not contain a secret. Clients never see it.
    pub fn new(missing: impl Into<Cow<'static, str>>) -> Self {
        Self {
            missing: missing.into(),
        }
    }
}
