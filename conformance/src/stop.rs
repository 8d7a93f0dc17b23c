//! The ways in which a case ends early.

use std::any::Any;

use request_state_core::{BindingError, ConfigError, KeyringError, SealError};

/// The reason why a case ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The codec broke its contract. The text describes the failure.
    Failed(String),
    /// Most codecs that do this are wrong, but a correct codec may do it. The text describes the
    /// finding, and when to accept it.
    Suspicious(String),
    /// The case does not apply to this codec. The text gives the reason.
    NotApplicable(&'static str),
}

/// The result of a case. Cases do not panic: the suite must finish and report its findings on any
/// codec.
pub(crate) type Verdict = Result<(), Stop>;

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

// The suite makes these values from constants. An error here is a fault of the suite.

impl From<KeyringError> for Stop {
    fn from(error: KeyringError) -> Self {
        Self::Failed(format!("the suite could not make a keyring: {error}"))
    }
}

impl From<BindingError> for Stop {
    fn from(error: BindingError) -> Self {
        Self::Failed(format!("the suite could not make a binding: {error}"))
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::Failed(format!("the suite could not make a sealer: {error}"))
    }
}

/// The error of a sealer that does not seal one of the suite's own states. The usual cause is an
/// error of the codec.
impl From<SealError> for Stop {
    fn from(error: SealError) -> Self {
        Self::Failed(format!("a sealer could not seal: {error}"))
    }
}

/// Fails the case with `text` unless `holds` is `true`.
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(Stop::Failed(text()))
    }
}

/// Marks the codec as suspicious, with `text`, unless `holds` is `true`.
pub(crate) fn suspect(holds: bool, text: impl FnOnce() -> String) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(Stop::Suspicious(text()))
    }
}

/// The panic that ends a case after a call that took too long. The text names the call and its
/// duration.
pub(crate) struct TooSlow(pub(crate) String);

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    if let Some(TooSlow(text)) = panic.downcast_ref() {
        return text.clone();
    }
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("(no message)"))
}
