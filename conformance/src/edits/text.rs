//! Edits of a token's characters.

use super::edit::{Edit, splice};
use crate::token::{FOREIGN, Token, URL_SAFE};

/// Replaces each character of `text` with every other character, URL-safe and foreign.
pub(crate) fn characters(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (at, old) in text.chars().enumerate() {
        for new in URL_SAFE
            .chars()
            .chain(FOREIGN.chars())
            .filter(|new| *new != old)
        {
            let mut buffer = [0; 4];
            edits.push(Edit::new(
                format!("character {at} changed from {old:?} to {new:?}"),
                splice(text, at, at + 1, new.encode_utf8(&mut buffer)),
            ));
        }
    }
    edits
}

/// Cuts off every length from either end, removes a few characters at every position, and removes
/// bytes at every position of a part.
pub(crate) fn cuts(text: &str) -> Vec<Edit> {
    let token = Token::parse(text);
    let length = text.chars().count();
    let mut edits = Vec::new();
    for kept in 0..length {
        edits.push(Edit::new(
            format!("the first {kept} characters"),
            splice(text, kept, length, ""),
        ));
        edits.push(Edit::new(
            format!("the last {kept} characters"),
            splice(text, 0, length - kept, ""),
        ));
        for gap in 1..=4 {
            edits.push(Edit::new(
                format!("{gap} characters cut at {kept}"),
                splice(text, kept, kept + gap, ""),
            ));
        }
    }
    for (index, part) in token.parts.iter().enumerate() {
        for end in 1..=part.bytes.len() {
            for start in 0..end {
                edits.push(Edit::new(
                    format!("bytes {start} to {end} of part {index} cut"),
                    token.with_part(index, |bytes| drop(bytes.drain(start..end))),
                ));
            }
        }
        let mut without = token.clone();
        without.parts.remove(index);
        edits.push(Edit::new(format!("part {index} cut"), without.text()));
    }
    edits
}

/// Inserts something at every position: characters, bytes, and copies of the existing text.
pub(crate) fn insertions(text: &str) -> Vec<Edit> {
    let token = Token::parse(text);
    let mut edits = Vec::new();
    for at in 0..=text.chars().count() {
        for with in ["A", "-", "_", "AAAA", "0"]
            .into_iter()
            .chain(FOREIGN.split("").filter(|c| !c.is_empty()))
        {
            edits.push(Edit::new(
                format!("{with:?} inserted at {at}"),
                splice(text, at, at, with),
            ));
        }
        for length in [1, 2, 4] {
            let again: String = text.chars().skip(at).take(length).collect();
            edits.push(Edit::new(
                format!("{again:?} at {at} doubled"),
                splice(text, at, at, &again),
            ));
        }
    }
    for index in token.encoded_indices() {
        let length = token.parts.get(index).map_or(0, |part| part.bytes.len());
        for at in 0..=length {
            for with in [&[0][..], &[255], b"A", b"\n", &[0; 3], &[0; 16], &[255; 32]] {
                edits.push(Edit::new(
                    format!(
                        "{} bytes of {:?} inserted at byte {at} of part {index}",
                        with.len(),
                        with.first()
                    ),
                    token.with_part(index, |bytes| {
                        drop(bytes.splice(at..at, with.iter().copied()))
                    }),
                ));
            }
        }
    }
    edits
}
