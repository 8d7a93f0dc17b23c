//! The error that a server returns for a token that does not open.

use std::fmt;

/// The error of a token that does not open.
///
/// All three print the same text, so that an error shown to a client tells it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The token is not valid: it is malformed, too long, forged, or names an unknown key. Also for an
    /// authentic token that cannot be used, because a clock ahead of this one issued it or its state is of
    /// another type. Under
    /// [`Disclosure::Opaque`](crate::Disclosure::Opaque), every rejection.
    Invalid,
    /// The token was issued for another principal, request or server.
    Mismatch,
    /// The token was issued for this principal and request, and has expired.
    Expired,
}

impl OpenError {
    /// The JSON-RPC error code of a rejection: invalid params.
    pub const CODE: i32 = -32602;

    /// The JSON-RPC error message of a rejection, whatever its cause. Also what [`Display`] prints.
    ///
    /// [`Display`]: std::fmt::Display
    pub const MESSAGE: &'static str = "Invalid or expired requestState";

    /// The member `reason` of a refusal's JSON-RPC error data.
    pub const REASON: &'static str = "invalid_request_state";
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MESSAGE)
    }
}

impl std::error::Error for OpenError {}
