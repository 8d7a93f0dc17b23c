//! Why a token was refused: for the operator exactly, for the caller as far as disclosure allows.

use crate::codec::{DecodeError, Disclosure};

/// The answer to a token that does not open.
///
/// All three print the same text, so that an error shown to a client tells it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Not a token of ours: malformed, too long, forged, under an unknown key. Or ours, and of no
    /// use: minted by a clock ahead of this one, or holding a state of another type. Under
    /// [`Disclosure::Opaque`], any refusal.
    Invalid,
    /// A token of ours for another principal, request or server.
    Mismatch,
    /// A token of ours for this principal and request, too late.
    Expired,
}

impl OpenError {
    /// The JSON-RPC error code of a refusal: invalid params.
    pub const CODE: i32 = -32602;

    /// The JSON-RPC error message of a refusal, whatever its cause. Also what [`Display`] prints.
    ///
    /// [`Display`]: std::fmt::Display
    pub const MESSAGE: &'static str = "Invalid or expired requestState";

    /// The member `reason` of a refusal's JSON-RPC error data.
    pub const REASON: &'static str = "invalid_request_state";
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::MESSAGE)
    }
}

impl std::error::Error for OpenError {}

/// The first check that failed, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooLong,
    Malformed,
    UnknownKey,
    Unauthentic,
    Unavailable,
    OtherContext,
    Principal,
    Request,
    Expired,
    MintedInFuture,
    State,
}

impl Reason {
    /// The fixed word in the log.
    #[cfg(feature = "tracing")]
    fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown_key",
            Self::Unauthentic => "unauthentic",
            Self::Unavailable => "unavailable",
            Self::OtherContext => "other_context",
            Self::Principal => "principal",
            Self::Request => "request",
            Self::Expired => "expired",
            Self::MintedInFuture => "minted_in_future",
            Self::State => "state",
        }
    }

    /// What the caller learns.
    pub(crate) fn disclose(self, disclosure: Disclosure) -> OpenError {
        match (disclosure, self) {
            (Disclosure::Opaque, _) => OpenError::Invalid,
            (Disclosure::Typed, Self::OtherContext | Self::Principal | Self::Request) => {
                OpenError::Mismatch
            }
            (Disclosure::Typed, Self::Expired) => OpenError::Expired,
            (Disclosure::Typed, _) => OpenError::Invalid,
        }
    }

    /// Tells the operator.
    #[cfg(feature = "tracing")]
    pub(crate) fn log(self, method: &str, token: &str) {
        let reason = self.as_str();
        match crate::wire::split_kid(token) {
            Ok((kid, _)) => {
                tracing::warn!(target: "request_state", reason, method, kid, "requestState refused");
            }
            Err(_) => {
                tracing::warn!(target: "request_state", reason, method, "requestState refused");
            }
        }
    }

    #[cfg(not(feature = "tracing"))]
    pub(crate) fn log(self, _method: &str, _token: &str) {}
}

impl From<DecodeError> for Reason {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Malformed => Self::Malformed,
            DecodeError::UnknownKey => Self::UnknownKey,
            DecodeError::Unauthentic => Self::Unauthentic,
            DecodeError::OtherContext => Self::OtherContext,
            DecodeError::Unavailable(_) => Self::Unavailable,
        }
    }
}
