//! No other string decodes to the payload of a token.

use crate::edits;
use crate::edits::Edit;
use crate::kit::{Genuine, Kit};
use crate::random::Random;
use crate::stop::{Stop, Verdict};
use crate::token::URL_SAFE;
use crate::token::{to_base64url, to_hex};

const CONTEXT: &[u8] = b"context";

/// Tries `respell` on tokens of payloads of many lengths, so that every length of the remainder
/// occurs.
fn try_spellings(kit: &Kit<'_>, respell: impl Fn(&str) -> Vec<Edit>) -> Verdict {
    let codec = kit.codec()?;
    for length in (0..=8).chain([100, 1_000]) {
        let payload = Random::new(length as u64).bytes(length);
        let genuine = Genuine::new(&codec, &payload, CONTEXT)?;
        genuine.must_be_the_only_spelling(kit, &codec, respell(&genuine.text))?;
    }
    Ok(())
}

/// Returns every position where a part ends: before each dot, and at the end.
fn ends(text: &str) -> Vec<usize> {
    let dots = text.match_indices('.').map(|(at, _)| at);
    dots.chain([text.len()]).collect()
}

/// Returns `text` with all of its parts re-encoded, and with all but the first re-encoded. The
/// first part may be a kid, which another encoding would change to a different kid.
fn each_part(about: &str, text: &str, respell: impl Fn(&str) -> String) -> [Edit; 2] {
    let all: Vec<String> = text.split('.').map(&respell).collect();
    let head = text.split('.').take(1).map(str::to_owned);
    let tail: Vec<String> = head.chain(text.split('.').skip(1).map(&respell)).collect();
    [
        Edit::new(format!("every part {about}"), all.join(".")),
        Edit::new(format!("every part but the first {about}"), tail.join(".")),
    ]
}

pub(crate) fn spare_bits(kit: &Kit<'_>) -> Verdict {
    try_spellings(kit, |text| {
        let last_characters = ends(text).into_iter().filter_map(|end| end.checked_sub(1));
        let replaced = last_characters.flat_map(|at| {
            URL_SAFE.chars().map(move |new| {
                let changed = edits::splice(text, at, at + 1, new.encode_utf8(&mut [0; 4]));
                Edit::new(
                    format!("a part's last character, at {at}, as {new}"),
                    changed,
                )
            })
        });
        replaced.collect()
    })
}

pub(crate) fn padding(kit: &Kit<'_>) -> Verdict {
    try_spellings(kit, |text| {
        let mut edits = Vec::new();
        for with in ["=", "==", "===", "====", "A=", "AA==", "A", "%3D", "%3D%3D"] {
            for at in ends(text) {
                let padded = edits::splice(text, at, at, with);
                edits.push(Edit::new(format!("{with:?} at {at}"), padded));
            }
            edits.extend(each_part("with the same padding", text, |part| {
                format!("{part}{with}")
            }));
        }
        // As an encoder with padding would have written it.
        edits.extend(each_part("padded to a multiple of four", text, |part| {
            format!("{part:=<0$}", part.len().next_multiple_of(4))
        }));
        edits
    })
}

pub(crate) fn other_alphabets(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    // The two characters in which the alphabets differ are rare, so this searches for tokens with
    // both.
    for _ in 0..40 {
        let genuine = Genuine::new(&codec, &[0xfb; 24], CONTEXT)?;
        let text = &genuine.text;
        let mut edits = Vec::new();
        for (about, from, to) in [
            ("in the alphabet of base64", '-', "+"),
            ("with + for -", '-', "+"),
            ("with / for _", '_', "/"),
            ("with ~ for -", '-', "~"),
            ("with , for _", '_', ","),
            ("with _ for -", '-', "_"),
        ] {
            edits.extend(each_part(about, text, |part| part.replace(from, to)));
            for (at, _) in text.match_indices(from) {
                let changed = edits::splice(text, at, at + 1, to);
                edits.push(Edit::new(format!("{about}, at {at} only"), changed));
            }
        }
        edits.extend(each_part("in the alphabet of base64", text, |part| {
            part.replace('-', "+").replace('_', "/")
        }));
        edits.extend(each_part("in upper case", text, str::to_uppercase));
        edits.extend(each_part("in lower case", text, str::to_lowercase));
        genuine.must_be_the_only_spelling(kit, &codec, edits)?;
    }
    Ok(())
}

pub(crate) fn white_space(kit: &Kit<'_>) -> Verdict {
    const WHITE: [&str; 14] = [
        " ", "\t", "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\0", "\u{85}", "\u{a0}", "\u{200b}",
        "\u{2003}", "\u{2060}", "\u{feff}",
    ];
    try_spellings(kit, |text| {
        let length = text.len();
        let mut edits = Vec::new();
        for white in WHITE {
            let inside = ends(text).into_iter();
            let inside = inside.flat_map(|end| [end, (end + 1).min(length), end.saturating_sub(2)]);
            for at in inside.chain([0, 1]) {
                let spaced = edits::splice(text, at, at, white);
                edits.push(Edit::new(format!("{white:?} at {at}"), spaced));
            }
            for more in ["A", "extra", text] {
                let behind = format!("{text}{white}{more}");
                edits.push(Edit::new(format!("{white:?} and more behind"), behind));
                let in_front = format!("{more}{white}{text}");
                edits.push(Edit::new(format!("more and {white:?} in front"), in_front));
            }
        }
        // In lines, as MIME and PEM write base64.
        for (width, end) in [4, 16, 64, 76]
            .into_iter()
            .flat_map(|width| [(width, "\n"), (width, "\r\n")])
        {
            edits.extend(each_part("in lines", text, |part| {
                let characters: Vec<char> = part.chars().collect();
                let lines = characters
                    .chunks(width)
                    .map(|line| line.iter().collect::<String>());
                lines.collect::<Vec<_>>().join(end)
            }));
        }
        edits
    })
}

pub(crate) fn escapes(kit: &Kit<'_>) -> Verdict {
    try_spellings(kit, |text| {
        let mut edits = Vec::new();
        edits.extend(each_part("percent-encoded", text, |part| {
            part.bytes().map(|byte| format!("%{byte:02X}")).collect()
        }));
        edits.extend(each_part("escaped as in JSON", text, |part| {
            part.bytes().map(|byte| format!("\\u{byte:04x}")).collect()
        }));
        // The same letters in the full-width forms for East Asian text, which normalization maps
        // back.
        edits.extend(each_part("full-width", text, |part| {
            let wide = part
                .chars()
                .map(|char| char::from_u32(u32::from(char) + 0xfee0));
            wide.map(|char| char.unwrap_or(' ')).collect()
        }));
        edits.extend(each_part("encoded once more", text, |part| {
            to_base64url(part.as_bytes())
        }));
        edits.extend(each_part("reversed", text, |part| {
            part.chars().rev().collect()
        }));
        edits.extend(each_part("quoted", text, |part| format!("\"{part}\"")));
        for (what, whole) in [
            ("quoted", format!("\"{text}\"")),
            ("in brackets", format!("[\"{text}\"]")),
            ("after a scheme", format!("Bearer {text}")),
            ("as a data URL", format!("data:,{text}")),
        ] {
            edits.push(Edit::new(what, whole));
        }
        for dot in [
            "%2E", "%2e", "\\u002e", "\u{ff0e}", "\u{3002}", "|", "/", ":", "$", "-", "_", ",",
            "..", "...", "",
        ] {
            edits.push(Edit::new(
                format!("{dot:?} for dots"),
                text.replace('.', dot),
            ));
        }
        // Cyrillic and Arabic characters that look alike.
        for (plain, alike) in [
            ("a", "а"),
            ("A", "А"),
            ("c", "с"),
            ("e", "е"),
            ("o", "о"),
            ("0", "٠"),
        ] {
            edits.push(Edit::new(
                format!("a character that resembles {plain}"),
                text.replace(plain, alike),
            ));
        }
        edits
    })
}

pub(crate) fn other_encodings(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    let pieces = genuine.pieces();
    let mut edits = Vec::new();
    for index in pieces.encoded_indices() {
        let bytes = pieces.parts.get(index).map_or(&[][..], |part| &part.bytes);
        for (what, spelled) in [
            ("hexadecimal", to_hex(bytes)),
            ("upper-case hexadecimal", to_hex(bytes).to_uppercase()),
            ("base64url", to_base64url(bytes)),
            ("plain text", String::from_utf8_lossy(bytes).into_owned()),
        ] {
            let parts = genuine.text.split('.').enumerate();
            let parts = parts.map(|(at, part)| if at == index { spelled.as_str() } else { part });
            let changed = parts.collect::<Vec<_>>().join(".");
            edits.push(Edit::new(format!("part {index} in {what}"), changed));
        }
    }
    if edits.is_empty() {
        return Err(Stop::NotApplicable(
            "no part of a token is base64url or hexadecimal",
        ));
    }
    genuine.must_be_the_only_spelling(kit, &codec, edits)
}
