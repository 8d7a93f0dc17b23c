//! How a case ends before its end.

use std::any::Any;

use request_state_core::{BindingError, ConfigError, KeyringError, SealError};

/// Why a case went no further.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The codec broke a promise: what it did.
    Failed(String),
    /// The codec does what most that do it are wrong to do, and a correct one may: what it does, and when
    /// to accept it.
    Suspicious(String),
    /// The case says nothing about this codec: why.
    NotApplicable(&'static str),
}

/// What a case answers. Cases do not panic: a suite that anyone runs on a codec of their own must
/// finish, and tell what it found.
pub(crate) type Verdict = Result<(), Stop>;

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

// What the suite makes for itself, from constants. An error here is the suite's own.

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

/// A state of the suite's own that a sealer does not seal: most often the codec's error.
impl From<SealError> for Stop {
    fn from(error: SealError) -> Self {
        Self::Failed(format!("a sealer could not seal: {error}"))
    }
}

/// Fails the case with `text` unless `holds`.
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(Stop::Failed(text()))
    }
}

/// Calls the codec suspicious, for what `text` says, unless `holds`.
pub(crate) fn suspect(holds: bool, text: impl FnOnce() -> String) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(Stop::Suspicious(text()))
    }
}

/// The panic that ends a case after a call that took too long: what took how long.
pub(crate) struct TooSlow(pub(crate) String);

/// What a panic said.
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
