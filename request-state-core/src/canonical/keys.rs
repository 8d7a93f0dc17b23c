//! Map keys one after the other, spelled as serde_json spells them.

use serde::Serialize;

use super::form::{Form, key_at, split_key};
use super::writer::{Place, Writer};
use crate::problem::Problem;

/// A list of keys.
pub(crate) struct Keys(Form);

impl Default for Keys {
    /// An empty list, which allocates when the first key comes.
    fn default() -> Self {
        Self(Form::empty())
    }
}

impl Keys {
    /// Where the next key will start.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.0.out.len()
    }

    /// Adds a key; gives its text and head.
    #[inline]
    pub(crate) fn push<T>(&mut self, key: &T) -> Result<(&[u8], u64), Problem>
    where
        T: Serialize + ?Sized,
    {
        if self.0.out.is_empty() {
            self.0.out.reserve(1024); // enough for most values, so that it does not grow
        }
        key.serialize(Writer {
            form: &mut self.0,
            place: Place::Key,
        })?;
        Ok((self.0.text(), self.0.head()))
    }

    /// The key that starts at `start`.
    #[inline]
    pub(crate) fn at(&self, start: usize) -> &[u8] {
        key_at(&self.0.out, start)
    }

    /// The keys from the one that starts at `start` on.
    pub(crate) fn from(&self, start: usize) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.0.out.get(start..).unwrap_or_default();
        std::iter::from_fn(move || {
            let (key, behind) = split_key(rest)?;
            rest = behind;
            Some(key)
        })
    }

    /// Forgets the keys from the one that starts at `start` on.
    #[inline]
    pub(crate) fn truncate(&mut self, start: usize) {
        self.0.out.truncate(start);
    }
}
