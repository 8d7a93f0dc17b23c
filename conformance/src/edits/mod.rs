//! What an attacker does to a token: every way of changing one that the suite knows, as lists.
//!
//! Character edits change the text. Byte edits change what the text encodes, and write it back in
//! the same encoding, so that a strict decoder lets them through to what must refuse them.

mod bytes;

pub(crate) use bytes::{bits, blind_spots, overwritten, pairs, pieces};

use crate::kit::Edit;
use crate::token::Token;

/// The characters that a token may consist of.
pub(crate) const URL_SAFE: &str =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

/// Characters of which no token consists, of one to four bytes.
pub(crate) const FOREIGN: &str = "=+/ \n\0~%,:\u{7f}éₐ😀";

/// `text` with the characters from `start` to before `end` replaced by `with`.
pub(crate) fn splice(text: &str, start: usize, end: usize, with: &str) -> String {
    let head = text.chars().take(start);
    head.chain(with.chars())
        .chain(text.chars().skip(end))
        .collect()
}

/// Every character of `text` replaced by every other, URL-safe and foreign.
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

/// Every cut from either end, every gap of a few characters, and every gap in the bytes of a part.
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

/// Something put in at every place: characters, bytes, and what stands there already.
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

/// Something in front of a token or behind it, or of one of its parts.
pub(crate) fn extensions(text: &str) -> Vec<Edit> {
    const MORE: [&str; 44] = [
        ".", "..", "=", "==", "A", "AA", "AAA", "AAAA", "-", "_", "0", " ", "  ", "\t", "\n",
        "\r\n", "\r", "\0", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{200b}", "\u{feff}",
        "\u{2028}", "é", "\"", "'", ",", ";", ":", "&", "?", "#", "/", "+", "%", "%00", "%20",
        ".A", ".AAAA", "A.", " extra", "\nextra",
    ];
    let token = Token::parse(text);
    let mut edits = Vec::new();
    for more in MORE {
        edits.push(Edit::new(
            format!("{more:?} behind"),
            format!("{text}{more}"),
        ));
        edits.push(Edit::new(
            format!("{more:?} in front"),
            format!("{more}{text}"),
        ));
        edits.push(Edit::new(
            format!("{more:?} around"),
            format!("{more}{text}{more}"),
        ));
        let in_dots = text.replace('.', &format!("{more}."));
        edits.push(Edit::new(format!("{more:?} before each dot"), in_dots));
        let in_dots = text.replace('.', &format!(".{more}"));
        edits.push(Edit::new(format!("{more:?} after each dot"), in_dots));
    }
    let ascii = (0..128u8).map(|byte| char::from(byte).to_string());
    for between in ascii.chain(["", "..", "==", "||", ", "].map(str::to_owned)) {
        edits.push(Edit::new(
            format!("doubled with {between:?} between"),
            format!("{text}{between}{text}"),
        ));
        edits.push(Edit::new(
            format!("{between:?} and more behind"),
            format!("{text}{between}A.A.A"),
        ));
        edits.push(Edit::new(
            format!("more and {between:?} in front"),
            format!("A.A.A{between}{text}"),
        ));
    }
    // Of 256 and 65,536 bytes, for a length that is kept in one byte or two.
    for index in token.encoded_indices() {
        for length in (1..=70).chain([256, 65_536]) {
            for byte in [0, 255] {
                edits.push(Edit::new(
                    format!("{length} bytes of {byte} behind part {index}"),
                    token.with_part(index, |bytes| bytes.resize(bytes.len() + length, byte)),
                ));
                edits.push(Edit::new(
                    format!("{length} bytes of {byte} in front of part {index}"),
                    token.with_part(index, |bytes| drop(bytes.splice(0..0, vec![byte; length]))),
                ));
            }
        }
        edits.push(Edit::new(
            format!("part {index} doubled"),
            token.with_part(index, |bytes| bytes.extend_from_within(..)),
        ));
    }
    edits
}

/// Some of every kind, for cases where each try costs more; and every place once.
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
