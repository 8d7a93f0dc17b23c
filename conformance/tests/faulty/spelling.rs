//! A token may be written in more ways than one.

use request_state_core::{DecodeError, wire};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED};
use super::fault::{Fault, step};

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "ignores the spare bits of base64",
            "spelling::spare_bits",
            Steps {
                part: lenient,
                ..ENCRYPTED
            },
        ),
        step(
            "ignores the spare bits of base64 in long tokens",
            "spelling::spare_bits",
            Steps {
                part: |text| match text.len() {
                    0..600 => wire::decode_base64url(text),
                    _ => lenient(text),
                },
                ..ENCRYPTED
            },
        ),
        step(
            "drops line ends in long tokens",
            "tampering::long_tokens",
            Steps {
                part: |text| match text.len() {
                    0..2_100 => wire::decode_base64url(text),
                    _ => wire::decode_base64url(&text.replace('\n', "")),
                },
                ..SIGNED
            },
        ),
        step(
            "forgives one character at the end of a part",
            "tampering::extensions",
            Steps {
                part: |text| {
                    let decoded = wire::decode_base64url(text);
                    decoded.or_else(|_| {
                        let mut text = text.to_owned();
                        text.pop();
                        lenient(&text)
                    })
                },
                ..SIGNED
            },
        ),
        step(
            "takes padding",
            "spelling::padding",
            Steps {
                part: |text| wire::decode_base64url(text.trim_end_matches('=')),
                ..SIGNED
            },
        ),
        step(
            "takes right padding only",
            "spelling::padding",
            Steps {
                part: |text| match text.len() % 4 {
                    0 => wire::decode_base64url(
                        text.strip_suffix("==")
                            .or(text.strip_suffix('='))
                            .unwrap_or(text),
                    ),
                    _ => wire::decode_base64url(text),
                },
                ..ENCRYPTED
            },
        ),
        step(
            "takes + and / for - and _",
            "spelling::other_alphabets",
            Steps {
                part: |text| wire::decode_base64url(&text.replace('+', "-").replace('/', "_")),
                ..SIGNED
            },
        ),
        step(
            "takes the other alphabet, where all of a part is in it",
            "spelling::other_alphabets",
            Steps {
                part: |text| match text.contains(['-', '_']) {
                    true => wire::decode_base64url(text),
                    false => wire::decode_base64url(&text.replace('+', "-").replace('/', "_")),
                },
                ..TYPED
            },
        ),
        step(
            "trims a token",
            "spelling::white_space",
            Steps {
                read: |token| Ok(token.trim().to_owned()),
                ..SIGNED
            },
        ),
        step(
            "drops white space within a part",
            "spelling::white_space",
            Steps {
                part: |text| {
                    wire::decode_base64url(&text.split_ascii_whitespace().collect::<String>())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "drops what stands behind white space",
            "tampering::extensions",
            Steps {
                read: |token| {
                    Ok(token
                        .split_ascii_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_owned())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "reads a token up to its first zero byte",
            "tampering::extensions",
            Steps {
                read: |token| Ok(token.split('\0').next().unwrap_or_default().to_owned()),
                ..SIGNED
            },
        ),
        step(
            "drops zero-width spaces",
            "spelling::white_space",
            Steps {
                read: |token| Ok(token.replace('\u{200b}', "")),
                ..SIGNED
            },
        ),
        step(
            "drops line ends",
            "spelling::white_space",
            Steps {
                read: |token| Ok(token.lines().collect()),
                ..TYPED
            },
        ),
        step(
            "takes the same token twice",
            "tampering::extensions",
            Steps {
                read: |token| {
                    let (one, two) = token
                        .split_at_checked(token.len() / 2)
                        .unwrap_or((token, ""));
                    Ok(if one == two {
                        one.to_owned()
                    } else {
                        token.to_owned()
                    })
                },
                ..ENCRYPTED
            },
        ),
        step(
            "takes a list of tokens, and opens the first",
            "tampering::extensions",
            Steps {
                read: |token| Ok(token.split(',').next().unwrap_or_default().to_owned()),
                ..SIGNED
            },
        ),
        step(
            "takes more parts than there are",
            "tampering::extensions",
            Steps {
                read: |token| Ok(token.split('.').take(3).collect::<Vec<_>>().join(".")),
                ..ENCRYPTED
            },
        ),
        step(
            "takes a dot at the end",
            "tampering::extensions",
            Steps {
                read: |token| Ok(token.strip_suffix('.').unwrap_or(token).to_owned()),
                ..SIGNED
            },
        ),
        step(
            "takes a quoted token",
            "spelling::escapes",
            Steps {
                read: |token| Ok(token.trim_matches('"').to_owned()),
                ..SIGNED
            },
        ),
        step(
            "takes %2E for a dot",
            "spelling::escapes",
            Steps {
                read: |token| Ok(token.replace("%2E", ".")),
                ..ENCRYPTED
            },
        ),
        step(
            "takes a full-width dot for a dot",
            "spelling::escapes",
            Steps {
                read: |token| Ok(token.replace('\u{ff0e}', ".")),
                ..TYPED
            },
        ),
        step(
            "takes a part in hexadecimal as well",
            "spelling::other_encodings",
            Steps {
                part: |text| {
                    wire::decode_base64url(text)
                        .ok()
                        .filter(|_| !is_hex(text))
                        .or_else(|| from_hex(text))
                        .ok_or(DecodeError::Malformed)
                },
                ..SIGNED
            },
        ),
        step(
            "takes the parts in either order",
            "tampering::moved_dots",
            Steps {
                read: |token| match token.split('.').collect::<Vec<_>>()[..] {
                    // The tag is of 43 characters.
                    [kid, tag, sealed] if tag.len() == 43 && sealed.len() != 43 => {
                        Ok([kid, sealed, tag].join("."))
                    }
                    _ => Ok(token.to_owned()),
                },
                ..SIGNED
            },
        ),
    ]
}

fn is_hex(text: &str) -> bool {
    text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = (0..text.len()).step_by(2);
    is_hex(text)
        .then(|| {
            pairs
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
                .collect()
        })
        .flatten()
}

/// Decodes base64url without a look at the bits that are left over.
fn lenient(text: &str) -> Result<Vec<u8>, DecodeError> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut head = text.to_owned();
    let last = head.pop().and_then(|last| DIGITS.find(last));
    // Two bits are left over, or four, or none: with them cleared, the strict decoder takes it.
    let cleared = [1, 4, 16].map(|spare| Some(DIGITS.as_bytes()[last? / spare * spare]));
    let texts = cleared
        .into_iter()
        .flatten()
        .map(|digit| format!("{head}{}", char::from(digit)));
    let mut decoded = texts.filter_map(|text| wire::decode_base64url(&text).ok());
    decoded
        .next()
        .map_or_else(|| wire::decode_base64url(text), Ok)
}
