//! Edits of the bytes that a token's text encodes.

use super::edit::{Edit, splice};
use crate::random::Random;
use crate::token::Token;

/// Flips each bit of the encoded bytes.
pub(crate) fn bits(token: &Token) -> Vec<Edit> {
    let length = token.body().len();
    let all = (0..length).flat_map(|at| (0..8).map(move |bit| (at, 1u8 << bit)));
    all.map(|(at, mask)| {
        Edit::new(
            format!("byte {at} xor {mask:#04x}"),
            token.with_body(|body| xor_at(body, at, &[mask])),
        )
    })
    .collect()
}

/// Changes two bytes so that a weak sum of all bytes stays the same: swaps them, flips the same bit
/// in both, or increments one and decrements the other.
pub(crate) fn pairs(token: &Token) -> Vec<Edit> {
    let length = token.body().len();
    let mut edits = Vec::new();
    for (a, b) in (0..length).flat_map(|b| (0..b).map(move |a| (a, b))) {
        edits.push(Edit::new(
            format!("bytes {a} and {b} swapped"),
            token.with_body(|body| body.swap(a, b)),
        ));
        for mask in [0x01, 0x80] {
            edits.push(Edit::new(
                format!("bytes {a} and {b} both xor {mask:#04x}"),
                token.with_body(|body| {
                    xor_at(body, a, &[mask]);
                    xor_at(body, b, &[mask]);
                }),
            ));
        }
        edits.push(Edit::new(
            format!("byte {a} one up and byte {b} one down"),
            token.with_body(|body| {
                add_at(body, a, 1);
                add_at(body, b, 255);
            }),
        ));
    }
    edits
}

/// Returns differences that a checksum used instead of a hash does not detect: the generator of a
/// cyclic redundancy check, in either order of bits, and changes that keep the sums of Adler and
/// Fletcher.
pub(crate) fn blind_spots(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    /// The degree and the lower terms of CRC-8, CRC-16/IBM, CRC-16/CCITT, CRC-24, CRC-32 and
    /// CRC-32C.
    const GENERATORS: [(u32, u64); 6] = [
        (8, 0x07),
        (16, 0x8005),
        (16, 0x1021),
        (24, 0x86_4cfb),
        (32, 0x04c1_1db7),
        (32, 0x1edc_6f41),
    ];
    let mut changed = Vec::new();
    for at in 0..bytes.len() {
        for (degree, terms) in GENERATORS {
            // Starting at the first bit of a byte: the leading term, then the others.
            let first_bits = (((1u64 << degree) | terms) << (63 - degree)).to_be_bytes();
            let last_bits = first_bits.map(u8::reverse_bits);
            for (order, mask) in [("first", first_bits), ("last", last_bits)] {
                let used = degree.div_ceil(8) as usize + usize::from(degree % 8 == 0);
                if at + used <= bytes.len() {
                    let mut bytes = bytes.to_vec();
                    xor_at(&mut bytes, at, mask.get(..used).unwrap_or_default());
                    let about =
                        format!("CRC generator {terms:#x}, {order} bit first, at byte {at}");
                    changed.push((about, bytes));
                }
            }
        }
        if at + 3 <= bytes.len() {
            let mut bytes = bytes.to_vec();
            add_at(&mut bytes, at, 1);
            add_at(&mut bytes, at + 1, 254);
            add_at(&mut bytes, at + 2, 1);
            changed.push((format!("bytes {at} to {} by +1, -2, +1", at + 2), bytes));
        }
    }
    changed
}

/// Overwrites a few bytes at a random place with random bytes, `count` times. Also sets every
/// stretch of bytes to zeros, and to ones.
pub(crate) fn overwritten(token: &Token, count: usize) -> Vec<Edit> {
    let mut random = Random::new(2);
    let length = token.body().len();
    let mut edits = Vec::new();
    if length == 0 {
        return edits;
    }
    for _ in 0..count {
        let start = random.below(length);
        let end = length.min(start + 1 + random.below(8));
        let new = random.bytes(end - start);
        edits.push(Edit::new(
            format!("bytes {start} to {end} overwritten at random"),
            token.with_body(|body| overwrite(body, start, &new)),
        ));
    }
    for end in 1..=length {
        for start in 0..end {
            for byte in [0, 255] {
                edits.push(Edit::new(
                    format!("bytes {start} to {end} set to {byte}"),
                    token.with_body(|body| overwrite(body, start, &vec![byte; end - start])),
                ));
            }
        }
    }
    edits
}

/// Combines pieces of two tokens of the same form in every way.
pub(crate) fn pieces(one: &Token, other: &Token) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (text, other_text) = (one.text(), other.text());
    // At every position in the text.
    for at in 0..=text.len().max(other_text.len()) {
        edits.push(Edit::new(
            format!("characters up to {at} of one, from there on of the other"),
            splice(&text, at, usize::MAX, &splice(&other_text, 0, at, "")),
        ));
    }
    // Part by part: each part from either token, at the positions of all others.
    for choice in 0..1usize << one.parts.len().min(6) {
        let parts = one.parts.iter().zip(&other.parts).enumerate();
        let parts = parts.map(|(at, (a, b))| if (choice >> at) & 1 == 0 { a } else { b }.clone());
        let mixed = Token {
            parts: parts.collect(),
        };
        edits.push(Edit::new(
            format!("parts of both, by the bits of {choice:#b}"),
            mixed.text(),
        ));
    }
    for index in one.encoded_indices() {
        let Some((a, b)) = one.parts.get(index).zip(other.parts.get(index)) else {
            continue;
        };
        // The head of one token and the tail of the other, of any lengths.
        for start in 0..=a.bytes.len() {
            for tail in 0..=b.bytes.len() {
                let head = a.bytes.iter().take(start);
                let joined: Vec<u8> = head.chain(b.bytes.iter().skip(tail)).copied().collect();
                for (whose, rest) in [("one", one), ("other", other)] {
                    edits.push(Edit::new(
                        format!("part {index}: {start} bytes of one, from {tail} on of the other; the rest of {whose}"),
                        rest.with_part(index, |bytes| joined.clone_into(bytes)),
                    ));
                }
            }
        }
    }
    // A stretch of one token in the middle of the other.
    let (body, other_body) = (one.body(), other.body());
    if body.len() == other_body.len() {
        for end in 1..=body.len() {
            for start in 0..end {
                let middle = other_body.get(start..end).unwrap_or_default();
                edits.push(Edit::new(
                    format!("bytes {start} to {end} of the other in the middle of one"),
                    one.with_body(|body| overwrite(body, start, middle)),
                ));
            }
        }
    }
    edits.retain(|edit| edit.token != text && edit.token != other_text);
    edits
}

fn xor_at(bytes: &mut [u8], at: usize, mask: &[u8]) {
    for (byte, mask) in bytes.iter_mut().skip(at).zip(mask) {
        *byte ^= mask;
    }
}

fn add_at(bytes: &mut [u8], at: usize, add: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = byte.wrapping_add(add);
    }
}

fn overwrite(bytes: &mut [u8], start: usize, new: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(start).zip(new) {
        *byte = *new;
    }
}
