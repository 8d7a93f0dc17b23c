//! A single edit of a token.

/// A changed token, with a description of the change.
pub(crate) struct Edit {
    pub(crate) about: String,
    pub(crate) token: String,
}

impl Edit {
    pub(crate) fn new(about: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            token: token.into(),
        }
    }
}

/// Returns `text` with the characters from `start` up to, but not including, `end` replaced by
/// `with`.
pub(crate) fn splice(text: &str, start: usize, end: usize, with: &str) -> String {
    let head = text.chars().take(start);
    head.chain(with.chars())
        .chain(text.chars().skip(end))
        .collect()
}
