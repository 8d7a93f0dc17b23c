//! The error for a token that does not open.

use std::fmt;

/// An error that can be returned when opening a token.
///
/// All variants print the same text, so a client that sees the error learns nothing about the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The token is not valid: it is malformed, too long, forged, or names an unknown key. Also returned for an
    /// authentic token that cannot be used, because a clock ahead of this server's clock issued it or its state
    /// is of another type. With [`Disclosure::Opaque`](crate::Disclosure::Opaque), returned for every
    /// rejection.
    Invalid,
    /// The token was issued for another principal, request or server.
    Mismatch,
    /// The token was issued for this principal and request, and has expired.
    Expired,
}

impl OpenError {
    /// The JSON-RPC error code of a rejection: invalid params.
    pub const CODE: i32 = -32602;

    /// The JSON-RPC error message of a rejection, whatever its cause. [`Display`] prints it too.
    ///
    /// [`Display`]: std::fmt::Display
    pub const MESSAGE: &'static str = "Invalid or expired requestState";

    /// The member `reason` in the JSON-RPC error data of a rejection.
    pub const REASON: &'static str = "invalid_request_state";
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MESSAGE)
    }
}

impl std::error::Error for OpenError {}
