//! A changed token is rejected, for every position and every kind of change.

use std::time::Duration;

use request_state_core::RequestStateCodec;

use crate::edits;
use crate::edits::Edit;
use crate::kit::{Genuine, Kit, must_open, must_refuse, must_refuse_context};
use crate::random::Random;
use crate::rings::KIDS;
use crate::stop::{Stop, Verdict};
use crate::token::FOREIGN;
use crate::token::Token;

const CONTEXT: &[u8] = b"context";

fn genuine(codec: &dyn RequestStateCodec, length: usize) -> Result<Genuine, Stop> {
    Genuine::new(codec, &Random::new(length as u64).bytes(length), CONTEXT)
}

/// Tries `edits` on a token with a payload of `length` bytes.
fn try_edits(kit: &Kit<'_>, length: usize, edits: impl Fn(&str) -> Vec<Edit>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = genuine(&codec, length)?;
    genuine.must_be_the_only_spelling(kit, &codec, edits(&genuine.text))
}

pub(crate) fn every_character(kit: &Kit<'_>) -> Verdict {
    // A length that leaves bits of the last character unused, for a nonce of 12 or 16 bytes.
    try_edits(kit, 6, edits::characters)
}

pub(crate) fn every_bit(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let long = Random::new(22).bytes(1_000);
    let contexts = [CONTEXT, b"", &long];
    for (length, context) in [0, 1, 5, 16, 31, 64, 100]
        .into_iter()
        .zip(contexts.iter().cycle())
    {
        let genuine = Genuine::new(&codec, &Random::new(length as u64).bytes(length), context)?;
        genuine.must_be_the_only_spelling(kit, &codec, edits::bits(&genuine.pieces()))?;
    }
    Ok(())
}

pub(crate) fn two_places(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 5, |text| edits::pairs(&Token::parse(text)))
}

pub(crate) fn weak_sums(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 24, |text| {
        let token = Token::parse(text);
        let changed = edits::blind_spots(&token.body()).into_iter();
        changed
            .map(|(about, body)| Edit::new(about, token.with_body(|to| to.copy_from_slice(&body))))
            .collect()
    })
}

pub(crate) fn overwritten(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 5, |text| {
        edits::overwritten(&Token::parse(text), 10_000)
    })
}

pub(crate) fn cuts(kit: &Kit<'_>) -> Verdict {
    for length in [0, 8] {
        try_edits(kit, length, edits::cuts)?;
    }
    Ok(())
}

pub(crate) fn insertions(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 3, edits::insertions)
}

pub(crate) fn extensions(kit: &Kit<'_>) -> Verdict {
    for length in [0, 3, 10] {
        try_edits(kit, length, edits::extensions)?;
    }
    Ok(())
}

pub(crate) fn short_texts_around(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 3, edits::short_texts)
}

pub(crate) fn words_around(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 3, |text| {
        // The codec's own words are included: its kids, the start of its tokens, and the names in
        // its code.
        let heads = text.split('.').filter(|part| part.len() <= 16);
        let heads = heads.chain(KIDS).map(str::to_owned);
        let own: Vec<String> = heads.chain(kit.words_of_its_type()).collect();
        edits::words(text, &own)
    })
}

pub(crate) fn moved_dots(kit: &Kit<'_>) -> Verdict {
    try_edits(kit, 8, |text| {
        let mut edits = Vec::new();
        for (at, _) in text.char_indices().filter(|(_, char)| *char == '.') {
            let without = edits::splice(text, at, at + 1, "");
            edits.push(Edit::new(
                format!("the dot at {at} left out"),
                without.clone(),
            ));
            for to in 0..=without.len() {
                let moved = edits::splice(&without, to, to, ".");
                edits.push(Edit::new(format!("the dot at {at} moved to {to}"), moved));
            }
        }
        // The bytes behind the dots, moved from one part into the next.
        let token = Token::parse(text);
        let indices = token.encoded_indices();
        for (from, to) in indices.iter().zip(indices.iter().skip(1)) {
            let mut halves = token.parts.iter().skip(*from);
            let left = halves.next().map_or(&[][..], |part| &part.bytes);
            let right = token.parts.get(*to).map_or(&[][..], |part| &part.bytes);
            let both = [left, right].concat();
            for at in 0..=both.len() {
                let mut moved = token.clone();
                for (index, bytes) in [(*from, both.get(..at)), (*to, both.get(at..))] {
                    if let Some(part) = moved.parts.get_mut(index) {
                        part.bytes = bytes.unwrap_or_default().to_vec();
                    }
                }
                edits.push(Edit::new(
                    format!("parts {from} and {to} divided at byte {at}"),
                    moved.text(),
                ));
            }
        }
        // The parts in another order.
        for (a, b) in (0..token.parts.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let mut swapped = token.clone();
            swapped.parts.swap(a, b);
            edits.push(Edit::new(
                format!("parts {a} and {b} swapped"),
                swapped.text(),
            ));
        }
        edits
    })
}

pub(crate) fn long_tokens(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for (length, tries) in [(1_500, 200), (48_000, 24)] {
        let genuine = genuine(&codec, length)?;
        let token = genuine.pieces();
        let body = token.body().len();
        let mut random = Random::new(20);
        // The ends, where a check may stop early, and positions throughout.
        let ends = (0..tries / 4).flat_map(|at| [at, body.saturating_sub(1 + at)]);
        let places: Vec<usize> = ends
            .chain((0..tries / 2).map(|_| random.below(body.max(1))))
            .collect();
        let mut edits: Vec<Edit> = places
            .into_iter()
            .map(|at| {
                let changed = token.with_body(|body| {
                    if let Some(byte) = body.get_mut(at) {
                        *byte ^= 1 << (at % 8);
                    }
                });
                Edit::new(format!("a bit of byte {at} of {body}"), changed)
            })
            .collect();
        // Characters that no decoder may skip, for a decoder that processes long texts in strides.
        let characters = genuine.text.len();
        for foreign in FOREIGN.chars() {
            let at = random.below(characters);
            let foreign = foreign.to_string();
            for (about, end) in [("in the place of", at + 1), ("in front of", at)] {
                let changed = edits::splice(&genuine.text, at, end, &foreign);
                edits.push(Edit::new(
                    format!("{foreign:?} {about} character {at}"),
                    changed,
                ));
            }
        }
        for kept in [characters / 2, characters - 4, characters - 1] {
            edits.push(Edit::new(
                format!("the first {kept} characters"),
                edits::splice(&genuine.text, kept, characters, ""),
            ));
        }
        genuine.must_be_the_only_spelling(kit, &codec, edits)?;
    }
    Ok(())
}

pub(crate) fn rare_tokens(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(21);
    for number in kit.paced_for(Duration::from_secs(10), (0..3_000).collect::<Vec<usize>>()) {
        let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
        let token = genuine.pieces();
        let mut edits = Vec::new();
        for index in token.encoded_indices() {
            // The first byte and the last byte in turn.
            let (about, front) = match number % 2 {
                0 => ("at the end", false),
                _ => ("at the front", true),
            };
            let less = token.with_part(index, |bytes| {
                let cut = if front {
                    0
                } else {
                    bytes.len().saturating_sub(1)
                };
                drop(bytes.splice(cut..bytes.len().min(cut + 1), []));
            });
            let more = token.with_part(index, |bytes| {
                let at = if front { 0 } else { bytes.len() };
                bytes.insert(at, 0);
            });
            edits.push(Edit::new(
                format!("a byte less of part {index} {about}"),
                less,
            ));
            edits.push(Edit::new(
                format!("a zero more in part {index} {about}"),
                more,
            ));
        }
        let length = token.body().len().max(1);
        for _ in 0..2 {
            let (at, bit) = (random.below(length), random.below(8));
            let changed = token.with_body(|body| {
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            });
            edits.push(Edit::new(format!("bit {bit} of byte {at}"), changed));
        }
        for edit in edits.into_iter().filter(|edit| edit.token != genuine.text) {
            must_refuse(&codec, &edit.token, CONTEXT, || edit.about)?;
        }
        must_refuse_context(&codec, &genuine.text, b"other", || {
            "one of thousands under another context".into()
        })?;
        must_open(
            &codec,
            &genuine.text,
            CONTEXT,
            &genuine.payload,
            "one of thousands",
        )?;
    }
    Ok(())
}

pub(crate) fn pieces_of_two(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let one = Genuine::new(&codec, b"pay 100\0", CONTEXT)?;
    for (about, other) in [
        (
            "another payload",
            Genuine::new(&codec, b"pay 999\0", CONTEXT)?,
        ),
        (
            "a longer payload",
            Genuine::new(&codec, b"pay 999,000\0", CONTEXT)?,
        ),
        (
            "another context",
            Genuine::new(&codec, b"pay 999\0", b"another")?,
        ),
    ] {
        for mut edit in kit.paced(edits::pieces(&one.pieces(), &other.pieces())) {
            edit.about = format!("{}, the other having {about}", edit.about);
            for context in [&one.context, &other.context] {
                must_refuse(&codec, &edit.token, context, || edit.about.clone())?;
                if one.context == other.context {
                    break;
                }
            }
        }
        must_open(&codec, &one.text, CONTEXT, &one.payload, "after all edits")?;
    }
    Ok(())
}
