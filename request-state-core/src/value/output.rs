//! What the canonical form and JSON differ in.

use std::cmp::Ordering;

use serde::Serialize;

use crate::problem::Problem;

/// An output of the walker: how it spells scalars and keys, and what it does with an object that ends.
///
/// Both write `[` and `{` and what closes them.
pub(super) trait Output {
    /// What a value is called in the path of an error.
    const ROOT: &'static str;

    /// How deeply arrays and objects may nest.
    const MAX_LEVEL: u32;

    /// Whether an object with a name that serde_json keeps for itself is an error: read back, it would be
    /// something else.
    const REJECTS_RESERVED: bool;

    /// Whether each field of a struct is written by code of its own, in which its name is a constant, or all
    /// by one function. What is more to write than a few bytes is faster by a function.
    const INLINES_FIELDS: bool;

    fn null(out: &mut Vec<u8>);

    fn boolean(out: &mut Vec<u8>, value: bool);

    fn integer<I: itoa::Integer + Serialize>(out: &mut Vec<u8>, value: I) -> Result<(), Problem>;

    /// `value` is finite.
    fn float64(out: &mut Vec<u8>, value: f64) -> Result<(), Problem>;

    /// `value` is finite.
    fn float32(out: &mut Vec<u8>, value: f32) -> Result<(), Problem>;

    fn string(out: &mut Vec<u8>, text: &str) -> Result<(), Problem>;

    /// A number, given its text, or an error if it is not the text of a number.
    fn number(out: &mut Vec<u8>, text: &str) -> Result<(), Problem>;

    /// A key, and its first eight bytes as a number (see [`Member::head`]).
    fn key(out: &mut Vec<u8>, text: &str, head: u64) -> Result<(), Problem>;

    /// What stands between two items or two members.
    fn separate(out: &mut Vec<u8>);

    /// What stands between a key and its value.
    fn assign(out: &mut Vec<u8>);

    /// How the keys that were written at `a` and `b` compare. They are equal if they are the same key. It reads
    /// no further than where they differ: a long key may be compared with each of many.
    fn order(out: &[u8], a: usize, b: usize) -> Option<Ordering>;

    /// Whether members of the value itself, and not of what is in it, can be left out.
    const LEAVES_OUT: bool;

    /// Whether a member of params, and not of what is in them, is left out: by its key, which was written at `start`. (Other values
    /// are not asked for.)
    fn is_left_out(out: &[u8], start: usize) -> Option<bool>;

    /// Likewise by its value, which was written from `value` on, where one that is left out is the same as none.
    fn is_absent(out: &[u8], start: usize, value: usize) -> Option<bool>;

    /// Ends the innermost object, except for its brace: makes sure that no key is there twice.
    fn close(out: &mut Vec<u8>, object: Closing<'_>) -> Result<(), Problem>;
}

/// Where a member stands in the output; one that is left out ends where it starts.
pub(super) struct Member {
    /// The first eight bytes of its key as a number, to compare at once.
    pub(super) head: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An object all of whose members are there, to be closed.
pub(super) struct Closing<'a> {
    /// Where its first member starts in the output.
    pub(super) start: usize,
    pub(super) members: &'a mut [Member],
    /// Whether they came in the order of their keys, and no key twice then.
    pub(super) is_sorted: bool,
    /// Whether a key may be there twice, should they not have come so.
    pub(super) may_repeat: bool,
    /// Whether one is left out.
    pub(super) has_gaps: bool,
}

impl<'a> Closing<'a> {
    /// Puts the members in the order of their keys.
    ///
    /// # Errors
    ///
    /// [`Problem::DuplicateKey`] when one is there twice.
    pub(super) fn sort<O: Output>(self, out: &[u8]) -> Result<&'a [Member], Problem> {
        let members = self.members;
        members.sort_unstable_by_key(|member| member.head);
        if !members.is_sorted_by(|a, b| a.head < b.head) {
            // Some keys begin alike.
            let order = |a: &Member, b: &Member| O::order(out, a.start, b.start);
            members.sort_unstable_by(|a, b| {
                let by_key = || order(a, b).unwrap_or(Ordering::Equal); // is seen below
                a.head.cmp(&b.head).then_with(by_key)
            });
            for pair in members.windows(2) {
                if let [a, b] = pair
                    && a.head == b.head
                    && order(a, b).ok_or(Problem::Invariant)? == Ordering::Equal
                {
                    return Err(Problem::DuplicateKey);
                }
            }
        }
        Ok(members)
    }
}
