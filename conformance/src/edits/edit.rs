//! One edit of a token.

/// A token that somebody changed, and how.
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

/// `text` with the characters from `start` to before `end` replaced by `with`.
pub(crate) fn splice(text: &str, start: usize, end: usize, with: &str) -> String {
    let head = text.chars().take(start);
    head.chain(with.chars())
        .chain(text.chars().skip(end))
        .collect()
}
