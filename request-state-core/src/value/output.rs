//! The trait that the canonical form and JSON implement.

use std::cmp::Ordering;

use serde::Serialize;

use crate::problem::Problem;

/// An output of the walker: how it writes scalars and keys, and how it closes an object.
///
/// The walker itself writes brackets and braces, which both outputs have.
pub(super) trait Output {
    /// The name of the value in the path of an error.
    const ROOT: &'static str;

    /// The maximum depth of arrays and objects.
    const MAX_LEVEL: u32;

    /// Whether an object with a key reserved by serde_json is an error, because it would not read back as an
    /// object.
    const REJECTS_RESERVED: bool;

    /// Whether the code that writes a field is inlined for each field of a struct, so that the name is a constant,
    /// or is one function for all. A function is faster if it writes more than a few bytes.
    const INLINES_FIELDS: bool;

    fn null(out: &mut Vec<u8>);

    fn boolean(out: &mut Vec<u8>, value: bool);

    fn integer<I: itoa::Integer + Serialize>(out: &mut Vec<u8>, value: I) -> Result<(), Problem>;

    /// `value` is finite.
    fn float64(out: &mut Vec<u8>, value: f64) -> Result<(), Problem>;

    /// `value` is finite.
    fn float32(out: &mut Vec<u8>, value: f32) -> Result<(), Problem>;

    fn string(out: &mut Vec<u8>, text: &str) -> Result<(), Problem>;

    /// Writes a number, given its text. Returns an error if the text is not a number.
    fn number(out: &mut Vec<u8>, text: &str) -> Result<(), Problem>;

    /// Writes a key. `head` is its first eight bytes as a number (see [`Member::head`]).
    fn key(out: &mut Vec<u8>, text: &str, head: u64) -> Result<(), Problem>;

    /// Writes the separator of two items or two members.
    fn separate(out: &mut Vec<u8>);

    /// Writes the separator of a key and its value.
    fn assign(out: &mut Vec<u8>);

    /// Compares the keys that were written at `a` and `b`, which are equal if they are the same key. It stops at
    /// the first difference, because a long key may be compared with each of many others.
    fn order(out: &[u8], a: usize, b: usize) -> Option<Ordering>;

    /// Whether members of the root object can be omitted.
    const OMITS_MEMBERS: bool;

    /// Returns whether the member of the root object whose key was written at `start` is omitted. It is called
    /// only for members of the root.
    fn omits_key(out: &[u8], start: usize) -> Option<bool>;

    /// Returns whether that member is omitted because of its value, which was written from `value` on.
    fn omits_value(out: &[u8], start: usize, value: usize) -> Option<bool>;

    /// Ends the innermost object, except for its brace. Checks that no key repeats.
    fn close(out: &mut Vec<u8>, object: Closing<'_>) -> Result<(), Problem>;
}

/// The range of a member in the output. An omitted member ends where it starts.
pub(super) struct Member {
    /// The first eight bytes of its key as a number, for a fast comparison.
    pub(super) head: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An object with all its members, to be closed.
pub(super) struct Closing<'a> {
    /// Where its first member starts in the output.
    pub(super) start: usize,
    pub(super) members: &'a mut [Member],
    /// Whether the members arrived sorted by their keys. Then no key repeats.
    pub(super) is_sorted: bool,
    /// Whether a key may repeat, unless the members arrived sorted.
    pub(super) may_repeat: bool,
    /// Whether a member is omitted.
    pub(super) has_gaps: bool,
}

impl<'a> Closing<'a> {
    /// Sorts the members by their keys.
    ///
    /// # Errors
    ///
    /// Returns [`Problem::DuplicateKey`] if a key repeats.
    pub(super) fn sort<O: Output>(self, out: &[u8]) -> Result<&'a [Member], Problem> {
        let members = self.members;
        members.sort_unstable_by_key(|member| member.head);
        if !members.is_sorted_by(|a, b| a.head < b.head) {
            // Some keys have the same head.
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
