//! The members of open objects: checks that keys and values alternate and that no key repeats, and notes the order.

use std::cmp::Ordering;

use super::output::{Closing, Member, Output};
use crate::problem::Problem;

/// The initial capacity, in members. It is enough for most values.
const ROOM: usize = 32;

/// The members of every open object. Those of the innermost object are last.
#[derive(Default)]
pub(super) struct Members(Vec<Member>);

/// An open object.
pub(super) struct Frame {
    /// Where its first member starts in the output.
    start: usize,
    /// The index of its first member in [`Members`].
    first: usize,
    /// Whether this object is the root, whose members may be omitted.
    is_root: bool,
    next: Next,
    /// Where the value of its last member starts in the output.
    value: usize,
    /// The head of its last key.
    last_head: u64,
    /// Whether every key so far was greater than the one before. Most maps arrive in this order, and then no key
    /// repeats.
    is_sorted: bool,
    /// A set of bits, one for each field name so far, chosen by the name. A field is new if its bit is not set.
    seen: u64,
    /// Whether a key may repeat, unless the keys arrive sorted.
    may_repeat: bool,
    /// Whether a member was omitted.
    has_gaps: bool,
}

/// The next part that an open object expects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Key,
    Value,
    /// A value to omit.
    Skipped,
}

impl Frame {
    #[inline]
    pub(super) fn next(&self) -> Next {
        self.next
    }

    /// Notes that the value was omitted.
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

    /// Notes a key whose bytes are not compared until the object ends.
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
    /// Begins an object at the end of `out`.
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
            // The head of the empty key is 0 as well, and it may be the first key.
            if let Some(last) = self.of(frame)?.last() {
                frame.is_sorted = head == frame.last_head
                    && O::order(out, last.start, start).ok_or(Problem::Invariant)?
                        == Ordering::Less;
            }
        }
        frame.last_head = head;
        frame.value = out.len();
        frame.next = Next::Value;
        if O::OMITS_MEMBERS
            && frame.is_root
            && O::omits_key(out, start).ok_or(Problem::Invariant)?
        {
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
        // The contents of a variant are written even if the name of the variant is one of a member to omit.
        // The member then ends where it starts.
        if std::mem::replace(&mut frame.next, Next::Key) == Next::Skipped {
            return Ok(());
        }
        let member = self.0.last_mut().ok_or(Problem::Invariant)?;
        if O::OMITS_MEMBERS && frame.is_root {
            let omits_value = O::omits_value(out, member.start, frame.value);
            if omits_value.ok_or(Problem::Invariant)? {
                frame.has_gaps = true;
                return Ok(());
            }
        }
        member.end = out.len();
        Ok(())
    }

    /// Returns the innermost object, to be closed.
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

/// Returns the first eight bytes of a key, padded with zeros. If two heads differ, their order is that of the keys.
#[inline]
pub(super) fn head(key: &[u8]) -> u64 {
    if let Some(head) = key.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    // Two halves, which may overlap. A loop would take a step for each byte.
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

/// Returns one of 64 bits, chosen by the name.
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

    /// Writes a map with these keys. Each value is a number, or a map.
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

    /// Writes a struct with these fields.
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

    /// Returns `true` if a key repeats. Both outputs must agree.
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
            // Sorted by their heads, but not by their escaped text.
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
            // With members around it, and inside another object.
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
        // More names than bits, and one of them again at the end.
        let names: Vec<_> = (0..200).rev().map(|n: u32| leaked(n.to_string())).collect();
        assert!(!repeats(&Fields(&names, None)));
        for again in [0, 137, 199] {
            let twice = [&names[..], &names[again..=again]].concat();
            assert!(repeats(&Fields(&twice, None)));
        }
        // Two different names with the same bit.
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
