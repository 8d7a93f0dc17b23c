//! The members of the objects that are open: keys and values in turn, in order, and no key twice.

use std::cmp::Ordering;

use super::output::{Closing, Member, Output};
use crate::problem::Problem;

/// How many members there is room for at first: enough for most values.
const ROOM: usize = 32;

/// The members of every open object, the innermost object's last.
#[derive(Default)]
pub(super) struct Members(Vec<Member>);

/// An open object.
pub(super) struct Frame {
    /// Where its first member starts in the output.
    start: usize,
    /// The number of its first member in [`Members`].
    first: usize,
    /// Whether it is the value itself, of which members are left out.
    is_root: bool,
    next: Next,
    /// Where the value of its last member starts in the output.
    value: usize,
    /// The head of its last key.
    last_head: u64,
    /// Whether every key so far was greater than the one before. Most maps come so, and none of their keys is
    /// there twice then.
    is_sorted: bool,
    /// One bit for each field, chosen by its name. A field whose bit is not there yet is new.
    seen: u64,
    /// Whether a key may be there twice, should the keys not come sorted.
    may_repeat: bool,
    /// Whether a member was left out.
    has_gaps: bool,
}

/// What an open object waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Key,
    Value,
    /// A value that is left out.
    Skipped,
}

impl Frame {
    #[inline]
    pub(super) fn next(&self) -> Next {
        self.next
    }

    /// Passes over a value that is left out.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.next = Next::Key;
    }

    /// Notes the name of a field or variant.
    #[inline(always)] // into derived code, where `name` is a constant and so is its bit
    pub(super) fn see(&mut self, name: &str) {
        let bit = bit(name);
        self.may_repeat |= self.seen & bit != 0;
        self.seen |= bit;
    }

    /// Notes a key that is not looked into until the object ends.
    #[inline]
    pub(super) fn see_any(&mut self) {
        self.may_repeat = true;
    }

    #[inline]
    pub(super) fn is_empty(&self, members: &Members) -> bool {
        members.0.len() == self.first
    }
}

impl Members {
    /// Begins an object behind all that is in `out`.
    #[inline]
    pub(super) fn open(&mut self, out: &[u8], is_root: bool) -> Frame {
        if self.0.capacity() == 0 {
            self.0.reserve(ROOM);
        }
        Frame {
            start: out.len(),
            first: self.0.len(),
            is_root,
            next: Next::Key,
            value: 0,
            last_head: 0,
            is_sorted: true,
            seen: 0,
            may_repeat: false,
            has_gaps: false,
        }
    }

    /// Adds a key, which was written to `out` from `start` on.
    #[inline]
    pub(super) fn add<O: Output>(
        &mut self,
        frame: &mut Frame,
        out: &[u8],
        start: usize,
        head: u64,
    ) -> Result<(), Problem> {
        if head <= frame.last_head && frame.is_sorted {
            // A head of 0 is also that of the empty key, which may be the first.
            if let Some(last) = self.of(frame)?.last() {
                frame.is_sorted = head == frame.last_head
                    && O::order(out, last.start, start).ok_or(Problem::Invariant)?
                        == Ordering::Less;
            }
        }
        frame.last_head = head;
        frame.value = out.len();
        frame.next = Next::Value;
        if O::LEAVES_OUT && frame.is_root && O::is_left_out(out, start).ok_or(Problem::Invariant)? {
            frame.next = Next::Skipped;
            frame.has_gaps = true;
        }
        self.0.push(Member {
            head,
            start,
            end: start,
        });
        Ok(())
    }

    /// Notes that the value of the last key was written to `out`.
    #[inline]
    pub(super) fn end_value<O: Output>(
        &mut self,
        frame: &mut Frame,
        out: &[u8],
    ) -> Result<(), Problem> {
        // What a variant carries is written even where the variant's name is that of a member to be left
        // out; it ends where it starts then.
        if std::mem::replace(&mut frame.next, Next::Key) == Next::Skipped {
            return Ok(());
        }
        let member = self.0.last_mut().ok_or(Problem::Invariant)?;
        if O::LEAVES_OUT && frame.is_root {
            let is_absent = O::is_absent(out, member.start, frame.value);
            if is_absent.ok_or(Problem::Invariant)? {
                frame.has_gaps = true;
                return Ok(());
            }
        }
        member.end = out.len();
        Ok(())
    }

    /// The innermost object, to be closed.
    #[inline]
    pub(super) fn closing(&mut self, frame: &Frame) -> Result<Closing<'_>, Problem> {
        Ok(Closing {
            start: frame.start,
            members: self.of(frame)?,
            is_sorted: frame.is_sorted,
            may_repeat: frame.may_repeat,
            has_gaps: frame.has_gaps,
        })
    }

    fn of(&mut self, frame: &Frame) -> Result<&mut [Member], Problem> {
        self.0.get_mut(frame.first..).ok_or(Problem::Invariant)
    }

    /// Ends the innermost object.
    #[inline]
    pub(super) fn close(&mut self, frame: &Frame) {
        self.0.truncate(frame.first);
    }
}

/// The first eight bytes of a key, zeros behind a shorter one: in the order of the keys, where they differ.
#[inline]
pub(super) fn head(key: &[u8]) -> u64 {
    if let Some(head) = key.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    // Two halves that may overlap, where a loop would take a step for each byte.
    let length = key.len();
    match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
            let shift = 8usize.wrapping_sub(length).wrapping_mul(8) as u32;
            u64::from(first).wrapping_shl(32) | u64::from(last).wrapping_shl(shift)
        }
        _ => key.iter().zip([56, 48, 40]).fold(0, |head, (byte, shift)| {
            head | u64::from(*byte).wrapping_shl(shift)
        }),
    }
}

/// One of 64 bits, the same for the same name.
#[inline(always)] // as `see`
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
    use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

    use super::*;
    use crate::value::{canonical_form, write};

    #[test]
    fn a_head_is_the_first_eight_bytes_with_zeros_behind() {
        for key in [
            "",
            "a",
            "ab",
            "abc",
            "abcd",
            "abcde",
            "abcdef",
            "abcdefg",
            "abcdefgh",
            "éééééé",
        ] {
            let mut first = [0; 8];
            for (to, from) in first.iter_mut().zip(key.bytes()) {
                *to = from;
            }
            assert_eq!(head(key.as_bytes()), u64::from_be_bytes(first), "{key}");
        }
    }

    /// A map with these keys and a number for each, or with a map in the place of it.
    struct Entries<'a>(&'a [&'a str], Option<&'a Entries<'a>>);

    impl Serialize for Entries<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for key in self.0 {
                match self.1 {
                    Some(inner) => map.serialize_entry(key, inner)?,
                    None => map.serialize_entry(key, &0)?,
                }
            }
            map.end()
        }
    }

    /// A struct with these fields.
    struct Fields<'a>(&'a [&'static str], Option<&'a Fields<'a>>);

    impl Serialize for Fields<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut open = serializer.serialize_struct("Fields", self.0.len())?;
            for name in self.0 {
                match self.1 {
                    Some(inner) => open.serialize_field(name, inner)?,
                    None => open.serialize_field(name, &0)?,
                }
            }
            open.end()
        }
    }

    /// Whether a key is there twice. Both outputs must find the same.
    #[track_caller]
    fn repeats<T: Serialize>(value: &T) -> bool {
        #[derive(serde::Serialize)]
        struct Params<'a, T> {
            x: &'a T,
        }
        let (mut json, params) = (Vec::new(), Params { x: value });
        let outcomes = [write(&mut json, value), canonical_form(&params).map(drop)];
        let [json, form] = outcomes.map(|result| match result {
            Ok(()) => false,
            Err((_, problem)) => {
                assert_eq!(problem, Problem::DuplicateKey);
                true
            }
        });
        assert_eq!(json, form);
        json
    }

    fn leaked(text: String) -> &'static str {
        text.leak()
    }

    #[test]
    fn finds_a_key_that_an_object_has_twice() {
        let long = leaked("a key that takes more than one byte to say its length: ".repeat(3));
        let longer = leaked([long, "b"].concat());
        for (keys, is_twice) in [
            (&[][..], false),
            (&["a"], false),
            (&[""], false),
            (&["a", "b", "c"], false),
            (&["c", "a", "b"], false),
            (&["a", "ab", ""], false),
            (&["", "\0", "\0\0"], false),
            (&["\0", ""], false),
            (&["\"", "\\", "\\\"", "\n"], false),
            (&[long, longer], false),
            (&[longer, long], false),
            (&["12345678a", "12345678b", "12345678"], false),
            // In the order of their heads, and not in that of what serde_json escapes them to.
            (&["Z", "\n", "Z"], true),
            (&["a\"", "a#", "a\""], true),
            (&["12345678\"", "12345678z", "12345678\""], true),
            (&["z", "a", "12345678a", "12345678b"], false),
            (&["x\"b", "x\"a", "x\"b\""], false),
            (&["z", "a", "12345678b", "12345678a", "12345678b"], true),
            (&["a", "a"], true),
            (&["", ""], true),
            (&["b", "a", "c", "b"], true),
            (&["", "a", ""], true),
            (&["a", "b", "b"], true),
            (&["b", "a", "a"], true),
            (&["\"\\", "z", "\"\\"], true),
            (&[long, long], true),
            (&[longer, long, "a", longer], true),
        ] {
            assert_eq!(repeats(&Entries(keys, None)), is_twice, "{keys:?}");
            assert_eq!(repeats(&Fields(keys, None)), is_twice, "{keys:?}");
            // Around others, and among others.
            let inner = ["z", "a"];
            let around = Entries(keys, Some(&Entries(&inner, None)));
            assert_eq!(repeats(&around), is_twice, "{keys:?}");
            let around = Fields(keys, Some(&Fields(&inner, None)));
            assert_eq!(repeats(&around), is_twice, "{keys:?}");
            let among = Entries(&inner, Some(&Entries(keys, None)));
            assert_eq!(repeats(&among), is_twice, "{keys:?}");
        }
    }

    #[test]
    fn an_inner_object_has_keys_of_its_own() {
        let keys = ["b", "a", "c"];
        assert!(!repeats(&Entries(
            &keys,
            Some(&Entries(&keys, Some(&Entries(&keys, None))))
        )));
        assert!(!repeats(&Fields(
            &keys,
            Some(&Fields(&keys, Some(&Fields(&keys, None))))
        )));
    }

    #[test]
    fn names_that_share_a_bit_are_told_apart() {
        // More names than bits, the last one first.
        let names: Vec<_> = (0..200).rev().map(|n: u32| leaked(n.to_string())).collect();
        assert!(!repeats(&Fields(&names, None)));
        for again in [0, 137, 199] {
            let twice = [&names[..], &names[again..=again]].concat();
            assert!(repeats(&Fields(&twice, None)));
        }
        // Two names of one bit, and nothing else.
        let shared = |one: &&&'static str| {
            names
                .iter()
                .any(|other| other > *one && bit(other) == bit(one))
        };
        let one = names.iter().find(shared).unwrap();
        let other = names
            .iter()
            .find(|other| *other > one && bit(other) == bit(one));
        let other = other.unwrap();
        assert!(!repeats(&Fields(&[other, one], None)));
        assert!(repeats(&Fields(&[other, one, other], None)));
    }
}
