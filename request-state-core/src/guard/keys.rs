//! The keys of the maps that are open, to find one that is emitted twice.

use serde::Serialize;

use super::{NUMBER, RAW_VALUE};
use crate::canonical::{key_at, spell_key};
use crate::problem::Problem;

/// The keys of every open map, the innermost map's last.
#[derive(Default)]
pub(super) struct Keys {
    /// As they are spelled: two keys of different types may be one in JSON.
    spelled: Vec<u8>,
    /// Where each starts.
    starts: Vec<usize>,
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Adds a key to the innermost map, and gives its spelling.
    pub(super) fn push<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<&str, Problem> {
        if self.starts.is_empty() {
            // Enough for most states, so that neither grows.
            self.spelled.reserve(512);
            self.starts.reserve(64);
        }
        let start = self.spelled.len();
        spell_key(&mut self.spelled, key)?;
        self.starts.push(start);
        match std::str::from_utf8(key_at(&self.spelled, start)) {
            Ok(NUMBER | RAW_VALUE) => Err(Problem::ReservedKey),
            Ok(text) => Ok(text),
            Err(_) => Err(Problem::Key),
        }
    }

    /// Forgets the keys from the one numbered `first` on; false when two of them are the same.
    pub(super) fn close(&mut self, first: usize) -> bool {
        let spelled = &self.spelled;
        let key = |start: &usize| key_at(spelled, *start);
        let starts = self.starts.get_mut(first..).unwrap_or_default();
        let start = starts.first().map_or(spelled.len(), |start| *start);
        // Most maps come sorted.
        let mut unique = starts.is_sorted_by(|a, b| key(a) < key(b));
        if !unique {
            starts.sort_unstable_by(|a, b| key(a).cmp(key(b)));
            unique = starts.is_sorted_by(|a, b| key(a) < key(b));
        }
        self.starts.truncate(first);
        self.spelled.truncate(start);
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_key_that_an_object_has_twice() {
        for (keys, unique) in [
            (&[][..], true),
            (&["a"], true),
            (&["a", "b", "c"], true),
            (&["c", "a", "b"], true),
            (&["a", "ab", ""], true),
            (&["a", "a"], false),
            (&["b", "a", "c", "b"], false),
            (&["", "a", ""], false),
        ] {
            let mut open = Keys::default();
            keys.iter()
                .for_each(|key| assert_eq!(&open.push(key).unwrap(), key));
            assert_eq!(open.close(0), unique, "{keys:?}");
            assert_eq!(open.len(), 0);
        }
    }

    #[test]
    fn an_inner_object_has_keys_of_its_own() {
        let mut open = Keys::default();
        open.push("a").unwrap();
        let inner = open.len();
        open.push("a").unwrap();
        open.push("b").unwrap();
        assert!(open.close(inner));
        open.push("b").unwrap();
        let inner = open.len();
        assert!(open.close(inner));
        open.push("a").unwrap();
        assert!(!open.close(0));
    }
}
