//! Who sent a request, as the server's authentication says.

use std::borrow::Cow;
use std::fmt;

/// Who sent a request: a user with a name, or nobody in particular.
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
    /// One stable, unambiguous string for each user, such as `iss|sub` of a verified token. Not
    /// empty.
    Named(String),
    /// Nobody in particular. A token is then bound to the request alone: whoever holds it and sends
    /// the same request is served.
    Anonymous,
}

impl Principal {
    /// Returns the name, as [`Request::principal`](crate::Request::principal) takes it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Anonymous => None,
        }
    }
}

impl fmt::Debug for Principal {
    /// Prints no name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named(_) => "Named(..)",
            Self::Anonymous => "Anonymous",
        })
    }
}

/// The error of a server that cannot tell who sent a request, though it should.
///
/// It is not the same as [`Principal::Anonymous`]: a state that comes with the request is rejected
/// and none is sealed for it, so that an authentication layer that is missing or in the wrong place
/// does not make every user anonymous.
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
    /// Creates the error. `missing` says what is missing and who should have provided it. It is
    /// logged, so it must not be secret; clients never see it.
    pub fn new(missing: impl Into<Cow<'static, str>>) -> Self {
        Self {
            missing: missing.into(),
        }
    }
}
