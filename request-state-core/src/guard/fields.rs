//! The fields of the structs that are open, to find two of one name.
//!
//! Their names stand in the program's text, and yet two may be the same: by a `rename`, or when the
//! tag of an enum has the name of a field in what a variant carries.

use std::cell::{Cell, RefCell};

use crate::canonical::head;

/// How many fields of open structs need no allocation: enough for most states.
const ROOM: usize = 32;

/// The fields of every open struct, the innermost struct's last.
pub(super) struct Fields {
    room: [Cell<&'static str>; ROOM],
    /// Those that have no room.
    more: RefCell<Vec<&'static str>>,
    count: Cell<usize>,
}

/// The fields of one open struct.
pub(super) struct StructFields {
    /// The number of its first field in [`Fields`].
    first: usize,
    /// One bit for each field, chosen by its name: a field whose bit is not there yet is new, and
    /// needs no comparison.
    seen: u64,
}

impl StructFields {
    pub(super) fn is_empty(&self) -> bool {
        self.seen == 0
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            room: [const { Cell::new("") }; ROOM],
            more: RefCell::default(),
            count: Cell::new(0),
        }
    }
}

impl Fields {
    /// Begins a struct.
    #[inline]
    pub(super) fn open(&self) -> StructFields {
        StructFields {
            first: self.count.get(),
            seen: 0,
        }
    }

    /// Adds a field to `fields`, the innermost struct's; false when one of that name is there.
    #[inline(always)] // into derived code, where `name` is a constant and so is its bit
    pub(super) fn push(&self, fields: &mut StructFields, name: &'static str) -> bool {
        let bit = bit(name);
        let unique = fields.seen & bit == 0 || self.is_new(fields.first, name);
        fields.seen |= bit;
        let count = self.count.get();
        match self.room.get(count) {
            Some(place) => place.set(name),
            None => self.push_more(name),
        }
        self.count.set(count.saturating_add(1));
        unique
    }

    #[cold]
    fn push_more(&self, name: &'static str) {
        self.more.borrow_mut().push(name);
    }

    #[cold]
    fn is_new(&self, first: usize, name: &'static str) -> bool {
        let more = self.more.borrow();
        let room = self.room.iter().map(Cell::get).take(self.count.get());
        !room
            .chain(more.iter().copied())
            .skip(first)
            .any(|sibling| sibling == name)
    }

    /// Ends `fields`, the innermost struct's.
    #[inline]
    pub(super) fn close(&self, fields: &StructFields) {
        if self.count.get() > ROOM {
            self.more
                .borrow_mut()
                .truncate(fields.first.saturating_sub(ROOM));
        }
        self.count.set(fields.first);
    }
}

/// One of 64 bits, the same for the same name.
#[inline(always)] // as `push`
fn bit(name: &str) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15; // spreads whatever differs over the upper bits
    let length = name.len() as u64;
    1u64.wrapping_shl(
        (head(name.as_bytes()) ^ length)
            .wrapping_mul(GOLDEN)
            .wrapping_shr(58) as u32,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether all names are new.
    fn are_new(open: &Fields, names: &[&'static str]) -> bool {
        let mut fields = open.open();
        let new = names.iter().all(|name| open.push(&mut fields, name));
        open.close(&fields);
        new
    }

    #[test]
    fn finds_a_name_that_a_struct_has_twice() {
        let open = Fields::default();
        assert!(are_new(&open, &[]));
        assert!(are_new(&open, &["b", "", "a", "\0"]));
        assert!(are_new(
            &open,
            &["longer than a head 1", "longer than a head 2"]
        ));
        assert!(!are_new(&open, &["a", "b", "a"]));
        assert!(!are_new(&open, &["", ""]));
        assert!(!are_new(
            &open,
            &["longer than a head", "b", "longer than a head"]
        ));
        assert_eq!(open.count.get(), 0);
        assert!(open.more.borrow().is_empty());
    }

    #[test]
    fn names_that_share_a_bit_are_told_apart() {
        // More names than bits.
        let names: Vec<&'static str> = (0..200).map(|n| &*n.to_string().leak()).collect();
        let open = Fields::default();
        assert!(are_new(&open, &names));
        assert!(!are_new(&open, &[&names[..], &["137"]].concat()));
    }

    /// Two names of one bit.
    fn sharing_a_bit() -> (&'static str, &'static str) {
        let names = (0..65).map(|n| &*n.to_string().leak());
        let mut seen: Vec<&'static str> = Vec::new();
        for name in names {
            if let Some(other) = seen.iter().find(|other| bit(other) == bit(name)) {
                return (*other, name);
            }
            seen.push(name);
        }
        panic!("65 names, 64 bits")
    }

    #[test]
    fn only_siblings_are_compared() {
        let (one, other) = sharing_a_bit();
        let open = Fields::default();
        let mut outer = open.open();
        assert!(open.push(&mut outer, one));
        // Its bit is seen, and so names are compared: with this struct's alone.
        assert!(are_new(&open, &[other, one]));
        // What an inner struct left behind is no sibling.
        assert!(open.push(&mut outer, other));
        assert!(!open.push(&mut outer, one));
    }

    #[test]
    fn structs_beyond_the_room_come_and_go() {
        let (one, other) = sharing_a_bit();
        for before in [0, 1, ROOM - 2, ROOM - 1, ROOM, ROOM + 1, 3 * ROOM] {
            let open = Fields::default();
            let mut outer = open.open();
            for n in 0..before {
                assert!(open.push(&mut outer, &*format!("field {n}").leak()));
            }
            for _ in 0..3 {
                let names: Vec<_> = (0..ROOM).map(|n| &*format!("inner {n}").leak()).collect();
                assert!(are_new(&open, &names));
                assert!(are_new(&open, &[one, other]));
                assert!(!are_new(&open, &[one, other, one]));
            }
            assert!(open.push(&mut outer, one));
            assert!(open.push(&mut outer, other));
            assert!(!open.push(&mut outer, other));
            if before > 0 {
                assert!(!open.push(&mut outer, "field 0"));
            }
            open.close(&outer);
            assert_eq!(open.count.get(), 0);
            assert!(open.more.borrow().is_empty());
        }
    }

    #[test]
    fn an_inner_struct_has_fields_of_its_own() {
        let open = Fields::default();
        let mut outer = open.open();
        assert!(open.push(&mut outer, "a"));
        assert!(are_new(&open, &["a", "b"]));
        assert!(open.push(&mut outer, "b"));
        assert!(!open.push(&mut outer, "a"));
    }
}
