//! What the operator is told: never a state, a token, a principal or a param.

use std::fmt::Display;

/// A request was refused before its token was looked at.
pub(super) fn refused(reason: &'static str, method: &'static str) {
    #[cfg(feature = "tracing")]
    tracing::warn!(target: "request_state", reason, method, "requestState refused");
    #[cfg(not(feature = "tracing"))]
    let _ = (reason, method);
}

/// A request with a state was refused because it cannot be bound.
pub(super) fn unbound(method: &str, cause: &impl Display) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: "request_state", reason = "binding", method, %cause, "requestState refused"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (method, cause);
}

/// A response became an error because its state could not be sealed.
pub(super) fn not_sealed(method: &str, cause: &impl Display) {
    #[cfg(feature = "tracing")]
    tracing::error!(
        target: "request_state", reason = "seal", method, %cause, "requestState not sealed"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (method, cause);
}
