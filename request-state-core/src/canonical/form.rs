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
    /// Where the members of an unsorted object are put in order.
    spare: Vec<u8>,
    /// Where the text of the last string starts.
    text: usize,
}

/// Where a member stands in `out`: its start, its key's text, its value, its end.
struct Member {
    start: usize,
    text: usize,
    value: usize,
    end: usize,
    /// Whether it is part of the form.
    salient: bool,
}

/// An open object.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// Where its first member starts in `out`.
    start: usize,
    /// Its first member in `members`.
    first: usize,
    is_root: bool,
}

impl Form {
    /// A form that is appended to `out`.
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self {
            out,
            members: Vec::with_capacity(32),
            spare: Vec::new(),
            text: 0,
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        let length = text.len();
        self.out
            .extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
        self.out.push(b':');
        self.text = self.out.len();
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn open(&mut self, is_root: bool) -> Frame {
        self.out.push(b'{');
        Frame {
            start: self.out.len(),
            first: self.members.len(),
            is_root,
        }
    }

    pub(super) fn key<T: Serialize + ?Sized>(
        &mut self,
        frame: Frame,
        key: &T,
    ) -> Result<(), Problem> {
        let start = self.out.len();
        key.serialize(Writer {
            form: self,
            place: Place::Key,
        })?;
        let end = self.out.len();
        let salient = !(frame.is_root && VOLATILE.contains(&span(&self.out, self.text, end)));
        self.members.push(Member {
            start,
            text: self.text,
            value: end,
            end,
            salient,
        });
        Ok(())
    }

    pub(super) fn value<T: Serialize + ?Sized>(
        &mut self,
        frame: Frame,
        value: &T,
    ) -> Result<(), Problem> {
        match self.members.get(frame.first..).and_then(<[_]>::last) {
            Some(member) if !member.salient => return Ok(()),
            Some(member) if member.value == self.out.len() => {}
            // A value without a key, or a second one: no serializer of a JSON value does that.
            _ => return Err(Problem::Serialize),
        }
        value.serialize(Writer {
            form: self,
            place: Place::Value,
        })?;
        self.end_value(frame);
        Ok(())
    }

    pub(super) fn end_value(&mut self, frame: Frame) {
        let end = self.out.len();
        if let Some(member) = self.members.last_mut() {
            member.end = end;
            // Absent and null are the same request, but only at the top.
            if frame.is_root && span(&self.out, member.value, end) == b"n" {
                member.salient = false;
            }
        }
    }

    pub(super) fn close(&mut self, frame: Frame) -> Result<(), Problem> {
        let out = &self.out;
        let members = self.members.get_mut(frame.first..).unwrap_or_default();
        let key = |member: &Member| span(out, member.text, member.value);
        let mut in_place = members.iter().all(|member| member.salient);
        if !members.is_sorted_by(|a, b| key(a) < key(b)) {
            in_place = false;
            members.sort_unstable_by(|a, b| key(a).cmp(key(b)));
            if !members.is_sorted_by(|a, b| key(a) < key(b)) {
                return Err(Problem::DuplicateKey);
            }
        }
        if members.iter().any(|m| m.salient && m.value == m.end) {
            return Err(Problem::Serialize);
        }
        if !in_place {
            self.spare.clear();
            for member in members.iter().filter(|member| member.salient) {
                self.spare
                    .extend_from_slice(span(out, member.start, member.end));
            }
            self.out.truncate(frame.start);
            self.out.extend_from_slice(&self.spare);
        }
        self.members.truncate(frame.first);
        self.out.push(b'}');
        Ok(())
    }
}

fn span(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}
