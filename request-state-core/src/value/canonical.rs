//! The canonical form of request params: equal JSON values have equal bytes, different ones do not.
//!
//! | value | form |
//! |---|---|
//! | null, true, false | `n`, `t`, `f` |
//! | number | `N`, its digits and exponent, `,` (see `number.rs`) |
//! | string | `S`, its length in bytes as LEB128, its UTF-8 bytes |
//! | array | `[`, the values, `]` |
//! | object | `{`, for each member the key as a string and the value, `}` |
//!
//! Members are sorted by the bytes of their keys. Every form determines where it ends, so no two values have the
//! same form. Strings are prefixed with their length. JSON would have to check every byte for one to escape.
//!
//! LEB128 is seven bits a byte, the lowest first, with the high bit set in all bytes but the last.
//!
//! One pass writes into one buffer. If the members of an object arrive unsorted, they are sorted when the object
//! ends.

use std::cmp::Ordering;

use super::number;
use super::output::{Closing, Output};
use crate::problem::Problem;

/// The members of params that change between the rounds of one request, so they do not belong to its digest.
const VOLATILE: [&[u8]; 3] = [b"_meta", b"inputResponses", b"requestState"];

/// The canonical form.
pub(super) struct Canonical;

impl Output for Canonical {
    const ROOT: &'static str = "params";
    const MAX_LEVEL: u32 = 128;
    /// A client may send such a key.
    const REJECTS_RESERVED: bool = false;
    const OMITS_MEMBERS: bool = true;

    const INLINES_FIELDS: bool = false;

    #[inline]
    fn null(out: &mut Vec<u8>) {
        out.push(b'n');
    }

    #[inline]
    fn boolean(out: &mut Vec<u8>, value: bool) {
        out.push(if value { b't' } else { b'f' });
    }

    #[inline]
    fn integer<I: itoa::Integer>(out: &mut Vec<u8>, value: I) -> Result<(), Problem> {
        number::write_integer(out, itoa::Buffer::new().format(value));
        Ok(())
    }

    #[inline]
    fn float64(out: &mut Vec<u8>, value: f64) -> Result<(), Problem> {
        number::write_f64(out, value)
    }

    #[inline]
    fn float32(out: &mut Vec<u8>, value: f32) -> Result<(), Problem> {
        number::write_f32(out, value)
    }

    #[inline]
    fn string(out: &mut Vec<u8>, text: &str) -> Result<(), Problem> {
        let mut length = text.len();
        if length < 0x80 {
            // Most strings are this short. One check of the capacity serves both bytes.
            out.extend_from_slice(&[b'S', length as u8]);
        } else {
            out.push(b'S');
            while length >= 0x80 {
                out.push(length as u8 | 0x80); // the low seven bits, and "more follow"
                length >>= 7;
            }
            out.push(length as u8);
        }
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[inline]
    fn number(out: &mut Vec<u8>, text: &str) -> Result<(), Problem> {
        number::write_text(out, text)
    }

    /// Writes a key as a string. Its `S` is needed: without it, the length of a key could be read as the end of
    /// the object.
    #[inline]
    fn key(out: &mut Vec<u8>, text: &str, head: u64) -> Result<(), Problem> {
        let length = text.len();
        if length > size_of::<u64>() {
            return Self::string(out, text);
        }
        // The head holds the whole text, and copying it is faster than copying a slice of unknown length.
        let [a, b, c, d, e, f, g, h] = head.to_be_bytes();
        let end = out.len().saturating_add(2).saturating_add(length);
        out.extend_from_slice(&[b'S', length as u8, a, b, c, d, e, f, g, h]);
        out.truncate(end);
        Ok(())
    }

    #[inline]
    fn separate(_: &mut Vec<u8>) {}

    #[inline]
    fn assign(_: &mut Vec<u8>) {}

    #[inline]
    fn order(out: &[u8], a: usize, b: usize) -> Option<Ordering> {
        Some(key_at(out, a)?.cmp(key_at(out, b)?))
    }

    #[inline]
    fn omits_key(out: &[u8], start: usize) -> Option<bool> {
        Some(VOLATILE.contains(&key_at(out, start)?))
    }

    /// Omits a null, and `arguments` without members: a client may send them in one round and not in another.
    #[inline]
    fn omits_value(out: &[u8], start: usize, value: usize) -> Option<bool> {
        Some(match out.get(value..)? {
            b"n" => true,
            b"{}" => key_at(out, start)? == b"arguments",
            _ => false,
        })
    }

    #[inline]
    fn close(out: &mut Vec<u8>, object: Closing<'_>) -> Result<(), Problem> {
        if !object.is_sorted {
            sort(out, object)
        } else if object.has_gaps {
            close_gaps(out, &object)
        } else {
            Ok(())
        }
    }
}

/// Returns the key that was written at `start`.
#[inline]
fn key_at(out: &[u8], start: usize) -> Option<&[u8]> {
    let (_, mut rest) = out.get(start..)?.split_first()?; // the `S`
    let (mut length, mut shift) = (0usize, 0);
    while let Some((byte, text)) = rest.split_first() {
        rest = text;
        length |= usize::from(byte & 0x7f).wrapping_shl(shift);
        shift = shift.wrapping_add(7);
        if *byte < 0x80 {
            break;
        }
    }
    rest.get(..length)
}

/// Closes the gaps that omitted members left in an object.
fn close_gaps(out: &mut Vec<u8>, object: &Closing<'_>) -> Result<(), Problem> {
    let mut end = object.start;
    for member in &*object.members {
        let range = member.start..member.end;
        if out.get(range.clone()).is_none() || range.start < end {
            return Err(Problem::Invariant);
        }
        let length = range.len();
        out.copy_within(range, end);
        end = end.checked_add(length).ok_or(Problem::Invariant)?;
    }
    out.truncate(end);
    Ok(())
}

/// Sorts the members of an object: copies them to the end of the output in order, and moves the copy into place.
fn sort(out: &mut Vec<u8>, object: Closing<'_>) -> Result<(), Problem> {
    let start = object.start;
    let members = object.sort::<Canonical>(out)?;
    let copy = out.len();
    let unsorted = copy.checked_sub(start).ok_or(Problem::Invariant)?;
    out.reserve(unsorted);
    for member in members {
        let range = member.start..member.end;
        if out.get(range.clone()).is_none() {
            return Err(Problem::Invariant);
        }
        out.extend_from_within(range);
    }
    let length = out.len().checked_sub(copy).ok_or(Problem::Invariant)?;
    out.copy_within(copy.., start);
    let end = start.checked_add(length);
    out.truncate(end.ok_or(Problem::Invariant)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use crate::value::canonical_form;

    /// Parses a canonical form. Each form parses back to the value that was written, so no two values have the
    /// same form.
    struct Reader<'a>(&'a [u8]);

    impl Reader<'_> {
        fn byte(&mut self) -> u8 {
            let (byte, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            *byte
        }

        fn text(&mut self) -> String {
            let (mut length, mut shift) = (0, 0);
            loop {
                let byte = self.byte();
                length |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let (text, rest) = self.0.split_at(length);
            self.0 = rest;
            String::from_utf8(text.to_vec()).unwrap()
        }

        fn value(&mut self) -> Value {
            let tag = self.byte();
            self.tagged(tag)
        }

        fn tagged(&mut self, tag: u8) -> Value {
            match tag {
                b'n' => Value::Null,
                b't' => true.into(),
                b'f' => false.into(),
                b'S' => self.text().into(),
                b'N' => {
                    let end = self.0.iter().position(|byte| *byte == b',').unwrap();
                    let number = std::str::from_utf8(&self.0[..end]).unwrap();
                    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
                    let power = 10i64.pow(exponent.parse().unwrap());
                    self.0 = &self.0[end + 1..];
                    (digits.parse::<i64>().unwrap() * power).into()
                }
                b'[' => {
                    let mut items = Vec::new();
                    loop {
                        match self.byte() {
                            b']' => return items.into(),
                            tag => items.push(self.tagged(tag)),
                        }
                    }
                }
                b'{' => {
                    let mut members = Map::new();
                    loop {
                        match self.byte() {
                            b'}' => return members.into(),
                            b'S' => {
                                let key = self.text();
                                assert!(members.insert(key, self.value()).is_none());
                            }
                            tag => panic!("{tag:#x} starts a key"),
                        }
                    }
                }
                tag => panic!("{tag:#x} starts a value"),
            }
        }
    }

    /// Text made of the bytes that forms consist of. Its length is such a byte, too.
    fn text() -> impl Strategy<Value = String> {
        let lengths = prop_oneof![0..4usize, 76..126usize, 126..130usize, Just(16_384)];
        let piece = "[nt{}SN,\u{0}\u{1}\u{2}\u{7d}é]{1,3}";
        (lengths, piece).prop_map(|(length, piece)| {
            let mut text = piece.repeat(length / piece.len() + 1);
            while text.len() > length {
                text.pop();
            }
            text
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((text(), inner), 0..4)
                    .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_form_reads_back_as_the_value_that_was_written(value in value()) {
            let params = serde_json::json!({ "x": value });
            let form = canonical_form(&params).unwrap();
            let mut reader = Reader(&form);
            let read = reader.value();
            prop_assert!(reader.0.is_empty());
            prop_assert_eq!(&read, &if value.is_null() { serde_json::json!({}) } else { params });
        }
    }

    #[test]
    fn a_length_is_never_taken_for_the_end_of_an_object() {
        let key = "n".repeat(125);
        let form = canonical_form(&serde_json::json!({ "a": { key: Value::Null } })).unwrap();
        assert!(form.windows(3).any(|bytes| bytes == *b"{S}"));
    }
}
