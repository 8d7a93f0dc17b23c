//! Additions in front of a token or behind it.

use super::edit::Edit;
use crate::token::Token;

/// Adds something in front of a token or behind it, or in front of or behind one of its parts.
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
    // Additions of 256 and 65,536 bytes are for lengths that are kept in one byte or two.
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
