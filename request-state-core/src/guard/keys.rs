//! The keys of the maps that are open, to find one that is emitted twice.

use serde::Serialize;

use super::{NUMBER, RAW_VALUE};
use crate::canonical::Keys as Spelled;
use crate::problem::Problem;

/// The keys of every open map, the innermost map's last, as they are spelled: two keys of different
/// types may be one in JSON.
#[derive(Default)]
pub(super) struct Keys(Spelled);

/// The keys of one open map.
pub(super) struct MapKeys {
    /// Where they start in [`Keys`].
    start: usize,
    /// Where the last one starts.
    last: usize,
    /// The head of the last one.
    last_head: u64,
    /// Whether every key so far was greater than the one before: no key comes twice then, and it
    /// takes no more than one comparison a key to see that. Most maps come sorted.
    is_sorted: bool,
}

impl Keys {
    /// Begins a map.
    #[inline]
    pub(super) fn open(&self) -> MapKeys {
        MapKeys {
            start: self.0.end(),
            last: self.0.end(),
            last_head: 0,
            is_sorted: true,
        }
    }

    /// Adds a key to `map`, the innermost one.
    #[inline]
    pub(super) fn push<T>(&mut self, map: &mut MapKeys, key: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        let start = self.0.end();
        let (text, head) = self.0.push(key)?;
        if text == NUMBER.as_bytes() || text == RAW_VALUE.as_bytes() {
            return Err(Problem::ReservedKey);
        }
        if head <= map.last_head && map.is_sorted && start > map.start {
            map.is_sorted = self.0.at(map.last) < self.0.at(start);
        }
        map.last = start;
        map.last_head = head;
        Ok(())
    }

    /// Ends `map`, the innermost one; false when it has a key twice.
    #[inline]
    pub(super) fn close(&mut self, map: &MapKeys) -> bool {
        let unique = map.is_sorted || self.are_unique(map.start);
        self.0.truncate(map.start);
        unique
    }

    fn are_unique(&self, start: usize) -> bool {
        let mut keys: Vec<&[u8]> = self.0.from(start).collect();
        keys.sort_unstable();
        keys.is_sorted_by(|a, b| a < b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_key_that_an_object_has_twice() {
        let long =
            "a key longer than a head and, spelled, than one byte of length can say: ".repeat(2);
        let longer = [long.as_str(), "b"].concat();
        for (keys, unique) in [
            (&[][..], true),
            (&["a"], true),
            (&[""], true),
            (&["a", "b", "c"], true),
            (&["c", "a", "b"], true),
            (&["a", "ab", ""], true),
            (&["", "\0", "\0\0"], true),
            (&["\0", ""], true),
            (&[&long, &longer], true),
            (&[&longer, &long], true),
            (&["a", "a"], false),
            (&["", ""], false),
            (&["b", "a", "c", "b"], false),
            (&["", "a", ""], false),
            (&["a", "b", "b"], false),
            (&["b", "a", "a"], false),
            (&[&long, &long], false),
            (&[&longer, &long, "a", &longer], false),
        ] {
            let mut open = Keys::default();
            let mut map = open.open();
            keys.iter()
                .for_each(|key| open.push(&mut map, key).unwrap());
            assert_eq!(open.close(&map), unique, "{keys:?}");
            assert_eq!(open.0.end(), 0);
        }
    }

    #[test]
    fn an_inner_object_has_keys_of_its_own() {
        let mut open = Keys::default();
        let mut outer = open.open();
        open.push(&mut outer, "a").unwrap();
        let mut inner = open.open();
        open.push(&mut inner, "a").unwrap();
        open.push(&mut inner, "b").unwrap();
        assert!(open.close(&inner));
        open.push(&mut outer, "b").unwrap();
        let inner = open.open();
        assert!(open.close(&inner));
        open.push(&mut outer, "a").unwrap();
        assert!(!open.close(&outer));
    }

    #[test]
    fn an_inner_object_that_is_not_sorted_is_looked_at_alone() {
        let mut open = Keys::default();
        let mut outer = open.open();
        open.push(&mut outer, "a").unwrap();
        let mut inner = open.open();
        ["b", "a"]
            .iter()
            .for_each(|key| open.push(&mut inner, key).unwrap());
        assert!(open.close(&inner));
        assert!(open.close(&outer));
    }

    /// Only maps that do not come sorted are looked at as a whole.
    #[test]
    fn the_order_of_keys_is_seen_whatever_their_heads() {
        for (keys, sorted) in [
            (["12345678", "123456789"], true),
            (["123456789", "12345678"], false),
            (["12345678a", "12345678b"], true),
            (["12345678b", "12345678a"], false),
            (["1", "1\0"], true),
            (["1\0", "1"], false),
        ] {
            let mut open = Keys::default();
            let mut map = open.open();
            keys.iter()
                .for_each(|key| open.push(&mut map, key).unwrap());
            assert_eq!(map.is_sorted, sorted, "{keys:?}");
        }
    }
}
