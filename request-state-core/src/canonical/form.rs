//! The buffer that the canonical form is written into, and the members of its open objects.

use serde::Serialize;

use super::writer::{Place, Writer};
use crate::problem::Problem;

/// The members of params that change between the rounds of one request, so no part of what it is.
const VOLATILE: [&[u8]; 3] = [b"_meta", b"inputResponses", b"requestState"];

pub(super) struct Form {
    pub(super) out: Vec<u8>,
    /// The members of every open object, the innermost object's last.
    members: Vec<Member>,
    /// Where the text of the last string starts.
    text: usize,
    /// The head of the last key.
    head: u64,
}

/// Where a member stands in `out`; one that is no part of the form ends where it starts.
struct Member {
    /// The first bytes of its key, to compare at once.
    head: u64,
    start: usize,
    end: usize,
}

/// An open object.
pub(super) struct Frame {
    /// Where its first member starts in `out`.
    start: usize,
    /// Its first member in `members`.
    first: usize,
    is_root: bool,
    next: Next,
    /// Where the value of its last member starts in `out`.
    value: usize,
    /// The head of its last key.
    last_head: u64,
    /// Whether every key so far was greater than the one before.
    is_sorted: bool,
    /// Whether a member is no part of the form.
    has_gaps: bool,
}

/// What an open object waits for.
#[derive(PartialEq, Eq)]
enum Next {
    Key,
    Value,
    /// A value that is no part of the form.
    Skipped,
}

impl Form {
    /// An empty form, with room for that of typical params.
    pub(super) fn new() -> Self {
        Self {
            out: Vec::with_capacity(1024),
            members: Vec::with_capacity(32),
            text: 0,
            head: 0,
        }
    }

    /// An empty form that allocates when it is written to.
    pub(super) fn empty() -> Self {
        Self {
            out: Vec::new(),
            members: Vec::new(),
            text: 0,
            head: 0,
        }
    }

    /// The text of a key, as [`string`](Self::string) writes it, and its head.
    #[inline]
    pub(super) fn key_text(&mut self, text: &str) {
        // From `text`, not from the copy: reading what was just written would wait for the write.
        self.head = head(text.as_bytes());
        let length = text.len();
        if length > size_of::<u64>() {
            return self.string(text);
        }
        // The head is all of the text, and copied faster than a slice of some length.
        let [a, b, c, d, e, f, g, h] = self.head.to_be_bytes();
        let spelled = [b'S', length as u8, a, b, c, d, e, f, g, h];
        self.text = self.out.len().saturating_add(2);
        self.out.extend_from_slice(&spelled);
        self.out.truncate(self.text.saturating_add(length));
    }

    /// The text of the last string.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        self.out.get(self.text..).unwrap_or_default()
    }

    /// The head of the last key.
    #[inline]
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// `S`, its length as LEB128, and the text.
    ///
    /// The `S` is not for show before a key: without it, the length of one could be read as the end
    /// of its object.
    #[inline]
    pub(super) fn string(&mut self, text: &str) {
        let mut length = text.len();
        if length < 0x80 {
            // Most are as short as that: one look at the buffer's capacity for both bytes.
            self.out.extend_from_slice(&[b'S', length as u8]);
        } else {
            self.out.push(b'S');
            while length >= 0x80 {
                self.out.push(length as u8 | 0x80); // the low seven bits, and "more follow"
                length >>= 7;
            }
            self.out.push(length as u8);
        }
        self.text = self.out.len();
        self.out.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(super) fn open(&mut self, is_root: bool) -> Frame {
        self.out.push(b'{');
        Frame {
            start: self.out.len(),
            first: self.members.len(),
            is_root,
            next: Next::Key,
            value: 0,
            last_head: 0,
            is_sorted: true,
            has_gaps: false,
        }
    }

    #[inline]
    pub(super) fn key<T: Serialize + ?Sized>(
        &mut self,
        frame: &mut Frame,
        key: &T,
    ) -> Result<(), Problem> {
        let start = self.out.len();
        key.serialize(Writer {
            form: self,
            place: Place::Key,
        })?;
        self.note_key(frame, start)
    }

    /// The name of a field or variant, which needs no spelling.
    #[inline]
    pub(super) fn name(&mut self, frame: &mut Frame, name: &'static str) -> Result<(), Problem> {
        let start = self.out.len();
        self.key_text(name);
        self.note_key(frame, start)
    }

    #[inline]
    fn note_key(&mut self, frame: &mut Frame, start: usize) -> Result<(), Problem> {
        // A key after a key: no serializer of a JSON value does that.
        if frame.next != Next::Key {
            return Err(Problem::Serialize);
        }
        let (key, head) = (self.text(), self.head);
        if head <= frame.last_head && frame.is_sorted {
            let previous = self.members.get(frame.first..).and_then(<[_]>::last);
            frame.is_sorted = previous.is_none_or(|last| key_at(&self.out, last.start) < key);
        }
        frame.last_head = head;
        frame.value = self.out.len();
        frame.next = Next::Value;
        if frame.is_root && VOLATILE.contains(&key) {
            frame.next = Next::Skipped;
            frame.has_gaps = true;
        }
        self.members.push(Member {
            head,
            start,
            end: start,
        });
        Ok(())
    }

    #[inline]
    pub(super) fn value<T: Serialize + ?Sized>(
        &mut self,
        frame: &mut Frame,
        value: &T,
    ) -> Result<(), Problem> {
        match frame.next {
            // A value without a key, or a second one.
            Next::Key => return Err(Problem::Serialize),
            Next::Skipped => frame.next = Next::Key,
            Next::Value => {
                value.serialize(Writer {
                    form: self,
                    place: Place::Value,
                })?;
                self.end_value(frame);
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn end_value(&mut self, frame: &mut Frame) {
        // What a variant carries is written even where the variant's name is that of a member to
        // be left out; it ends where it starts then.
        if std::mem::replace(&mut frame.next, Next::Key) == Next::Skipped {
            return;
        }
        let end = self.out.len();
        if let Some(member) = self.members.last_mut() {
            // Absent and null are the same request, but only at the top.
            if frame.is_root && is_absent(&self.out, member.start, frame.value) {
                frame.has_gaps = true;
            } else {
                member.end = end;
            }
        }
    }

    #[inline]
    pub(super) fn close(&mut self, frame: Frame) -> Result<(), Problem> {
        if frame.next != Next::Key {
            return Err(Problem::Serialize);
        }
        if !frame.is_sorted {
            self.sort(&frame)?;
        } else if frame.has_gaps {
            self.close_gaps(&frame);
        }
        self.members.truncate(frame.first);
        self.out.push(b'}');
        Ok(())
    }

    /// Moves the members of an object together.
    fn close_gaps(&mut self, frame: &Frame) {
        let mut end = frame.start;
        for member in self.members.get(frame.first..).unwrap_or_default() {
            self.out.copy_within(member.start..member.end, end);
            end = end.saturating_add(member.end.saturating_sub(member.start));
        }
        self.out.truncate(end);
    }

    /// Puts the members of an object in order.
    fn sort(&mut self, frame: &Frame) -> Result<(), Problem> {
        let out = &mut self.out;
        let members = self.members.get_mut(frame.first..).unwrap_or_default();
        members.sort_unstable_by_key(|member| member.head);
        if !members.is_sorted_by(|a, b| a.head < b.head) {
            // Some keys begin alike.
            members.sort_unstable_by(|a, b| key_at(out, a.start).cmp(key_at(out, b.start)));
            if !members.is_sorted_by(|a, b| key_at(out, a.start) < key_at(out, b.start)) {
                return Err(Problem::DuplicateKey);
            }
        }
        // They are copied in order behind all that is there, and then moved into its place.
        let copy = out.len();
        out.reserve(copy.saturating_sub(frame.start));
        for member in members.iter() {
            out.extend_from_within(member.start..member.end);
        }
        let length = out.len().saturating_sub(copy);
        out.copy_within(copy.., frame.start);
        out.truncate(frame.start.saturating_add(length));
        Ok(())
    }
}

/// Whether a member of the root is the same as none: a null, and `arguments` without members, which
/// clients send or leave out as their code path has it.
#[inline]
fn is_absent(out: &[u8], key: usize, value: usize) -> bool {
    match out.get(value..) {
        Some(b"n") => true,
        Some(b"{}") => key_at(out, key) == b"arguments",
        _ => false,
    }
}

/// The text of the string that is written from `start` on.
#[inline]
pub(super) fn key_at(out: &[u8], start: usize) -> &[u8] {
    let key = out.get(start..).and_then(split_key);
    key.map(|(key, _)| key).unwrap_or_default()
}

/// The text of the string that `out` starts with, and what follows.
#[inline]
pub(super) fn split_key(out: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, mut rest) = out.split_first()?; // the `S`
    let (mut length, mut shift) = (0usize, 0);
    while let Some((byte, text)) = rest.split_first() {
        rest = text;
        length |= usize::from(byte & 0x7f).wrapping_shl(shift);
        shift = shift.wrapping_add(7);
        if *byte < 0x80 {
            break;
        }
    }
    rest.split_at_checked(length)
}

/// The first eight bytes of a key, zeros behind a shorter one: in the order of the keys, where they
/// differ.
#[inline]
pub(crate) fn head(key: &[u8]) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
