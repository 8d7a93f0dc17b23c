//! The keys of the objects that are open, to find one that is emitted twice.

/// The keys of every open object, the innermost object's last.
#[derive(Default)]
pub(super) struct Keys {
    text: Vec<u8>,
    spans: Vec<Span>,
}

/// Where a key stands in `text`.
struct Span {
    start: usize,
    end: usize,
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn push(&mut self, key: &str) {
        if self.spans.is_empty() {
            // Enough for most states, so that neither grows.
            self.text.reserve(512);
            self.spans.reserve(64);
        }
        let start = self.text.len();
        self.text.extend_from_slice(key.as_bytes());
        let end = self.text.len();
        self.spans.push(Span { start, end });
    }

    /// Forgets the keys from the one numbered `first` on; false when two of them are the same.
    pub(super) fn close(&mut self, first: usize) -> bool {
        let text = &self.text;
        let key = |span: &Span| text.get(span.start..span.end).unwrap_or_default();
        let spans = self.spans.get_mut(first..).unwrap_or_default();
        let start = spans.first().map_or(text.len(), |span| span.start);
        // Most objects come sorted.
        let mut unique = spans.is_sorted_by(|a, b| key(a) < key(b));
        if !unique {
            spans.sort_unstable_by(|a, b| key(a).cmp(key(b)));
            unique = spans.is_sorted_by(|a, b| key(a) < key(b));
        }
        self.spans.truncate(first);
        self.text.truncate(start);
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
            keys.iter().for_each(|key| open.push(key));
            assert_eq!(open.close(0), unique, "{keys:?}");
            assert_eq!(open.len(), 0);
        }
    }

    #[test]
    fn an_inner_object_has_keys_of_its_own() {
        let mut open = Keys::default();
        open.push("a");
        let inner = open.len();
        open.push("a");
        open.push("b");
        assert!(open.close(inner));
        open.push("b");
        let inner = open.len();
        assert!(open.close(inner));
        open.push("a");
        assert!(!open.close(0));
    }
}
