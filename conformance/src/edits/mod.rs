//! The changes that an attacker can make to a token: every kind that the suite knows, as lists of
//! edits.
//!
//! Character edits change the text. Byte edits change the bytes that the text encodes, and write
//! them back in the same encoding. A strict decoder therefore passes them on to the code that must
//! reject them.

mod bytes;
mod edit;
mod extensions;
mod text;
mod words;

pub(crate) use bytes::{bits, blind_spots, overwritten, pairs, pieces};
pub(crate) use edit::{Edit, splice};
pub(crate) use extensions::extensions;
pub(crate) use text::{characters, cuts, insertions};
pub(crate) use words::{short_texts, words};

use crate::token::Token;

/// Returns some edits of every kind, for cases in which each try costs more, and an edit at every
/// position once.
pub(crate) fn sample(text: &str, count: usize) -> Vec<Edit> {
    let token = Token::parse(text);
    let mut edits = Vec::new();
    for kind in [
        characters(text),
        bits(&token),
        pairs(&token),
        cuts(text),
        insertions(text),
        extensions(text),
        overwritten(&token, count),
    ] {
        let step = (7 * kind.len()).div_ceil(count).max(1);
        edits.extend(kind.into_iter().step_by(step));
    }
    for (at, old) in text.char_indices() {
        let new = if old == 'B' { "C" } else { "B" };
        let changed = splice(text, at, at + 1, new);
        edits.push(Edit::new(
            format!("character {at} changed to {new}"),
            changed,
        ));
    }
    edits.extend(bits(&token).into_iter().step_by(7));
    edits.retain(|edit| edit.token != text);
    edits
}
