//! What the canonical form and JSON differ in.

use serde::Serialize;

use super::members::{Frame, Members};
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

    /// A key, whose head (see [`Members`]) is `head`.
    fn key(out: &mut Vec<u8>, text: &str, head: u64) -> Result<(), Problem>;

    /// What stands between two items or two members.
    fn separate(out: &mut Vec<u8>);

    /// What stands between a key and its value.
    fn assign(out: &mut Vec<u8>);

    /// The key that was written at `start`. Two are the same bytes if they are the same key.
    fn key_at(out: &[u8], start: usize) -> Option<&[u8]>;

    /// Whether members of the value itself, and not of what is in it, can be left out.
    const LEAVES_OUT: bool;

    /// Whether a member of params, and not of what is in them, is left out: by its key. (Other values are not
    /// asked for.)
    fn is_left_out(key: &[u8]) -> bool;

    /// Likewise by its value, where one that is left out is the same as none.
    fn is_absent(key: &[u8], value: &[u8]) -> bool;

    /// Ends the innermost object, except for its brace: makes sure that no key is there twice.
    fn close(out: &mut Vec<u8>, members: &mut Members, frame: &Frame) -> Result<(), Problem>;
}
