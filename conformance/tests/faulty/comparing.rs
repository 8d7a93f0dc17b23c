//! The tag is not compared as it should be, or covers less than it should.

use super::base::{ENCRYPTED, Parts, SIGNED, Steps, TYPED, joined, mac};
use super::fault::{Fault, step};

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "compares the first 8 bytes of the tag",
            "tampering::every_bit",
            Steps {
                same: |expected, received| expected.get(..8) == received.get(..8),
                ..ENCRYPTED
            },
        ),
        step(
            "compares all bytes of the tag but the last",
            "tampering::every_bit",
            Steps {
                same: |expected, received| expected.get(..31) == received.get(..31),
                ..SIGNED
            },
        ),
        step(
            "compares every other byte of the tag",
            "tampering::every_bit",
            Steps {
                same: |expected, received| {
                    expected.len() == received.len()
                        && expected.iter().step_by(2).eq(received.iter().step_by(2))
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares the tag without the highest bit of each byte",
            "tampering::every_bit",
            Steps {
                same: |expected, received| {
                    expected
                        .iter()
                        .map(|b| b & 0x7f)
                        .eq(received.iter().map(|b| b & 0x7f))
                },
                ..SIGNED
            },
        ),
        step(
            "compares the tag as text, without regard to case",
            "tampering::every_bit",
            Steps {
                same: <[u8]>::eq_ignore_ascii_case,
                ..SIGNED
            },
        ),
        step(
            "lets two wrong bytes of the tag pass",
            "tampering::every_bit",
            Steps {
                same: |expected, received| {
                    let wrong = expected
                        .iter()
                        .zip(received)
                        .filter(|(a, b)| a != b)
                        .count();
                    expected.len() == received.len() && wrong <= 2
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares only as many bytes as the tag has, under the right key",
            "tampering::cuts",
            Steps {
                same: |expected, received| expected.iter().zip(received).all(|(a, b)| a == b),
                ..ENCRYPTED
            },
        ),
        step(
            "takes a tag cut down to four bytes",
            "tampering::cuts",
            Steps {
                same: |expected, received| received.len() >= 4 && expected.starts_with(received),
                ..SIGNED
            },
        ),
        step(
            "takes an empty tag for none that is needed",
            "tampering::cuts",
            Steps {
                same: |expected, received| received.is_empty() || expected == received,
                ..ENCRYPTED
            },
        ),
        step(
            "takes a tag of zeros",
            "tampering::overwritten",
            Steps {
                same: |expected, received| received == [0; 32] || expected == received,
                ..SIGNED
            },
        ),
        step(
            "takes whatever stands behind the right tag",
            "tampering::extensions",
            Steps {
                same: |expected, received| received.starts_with(expected),
                ..ENCRYPTED
            },
        ),
        step(
            "compares the sums of the bytes of the tags",
            "tampering::two_places",
            Steps {
                same: |expected, received| {
                    let sum =
                        |tag: &[u8]| tag.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
                    expected.len() == received.len() && sum(expected) == sum(received)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares the exclusive or of the bytes of the tags",
            "tampering::two_places",
            Steps {
                same: |expected, received| {
                    let fold = |tag: &[u8]| tag.iter().fold(0, |sum, byte| sum ^ byte);
                    expected.len() == received.len() && fold(expected) == fold(received)
                },
                ..SIGNED
            },
        ),
        step(
            "gathers the differences of the tags with ^ where | is meant",
            "tampering::two_places",
            Steps {
                same: |expected, received| {
                    let pairs = expected.iter().zip(received);
                    expected.len() == received.len()
                        && pairs.fold(0, |all, (a, b)| all ^ (a ^ b)) == 0
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares the tags with their bytes sorted",
            "tampering::two_places",
            Steps {
                same: |expected, received| {
                    let sorted = |tag: &[u8]| {
                        let mut tag = tag.to_vec();
                        tag.sort_unstable();
                        tag
                    };
                    sorted(expected) == sorted(received)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares one byte of a hash of each tag",
            "tampering::overwritten",
            Steps {
                same: |expected, received| mac(&[0; 32], expected)[0] == mac(&[0; 32], received)[0],
                ..ENCRYPTED
            },
        ),
        step(
            "compares ten bits of a hash of each tag",
            "tampering::overwritten",
            Steps {
                same: |expected, received| {
                    let (a, b) = (mac(&[0; 32], expected), mac(&[0; 32], received));
                    a[0] == b[0] && a[1] & 3 == b[1] & 3
                },
                ..SIGNED
            },
        ),
        step(
            "has a tag of one byte",
            "tampering::overwritten",
            Steps {
                tag: |key, message| mac(key, message)[..1].to_vec(),
                ..SIGNED
            },
        ),
        step(
            "has a checksum of the message for a tag, then keyed",
            "tampering::weak_sums",
            Steps {
                tag: |key, message| mac(key, &crc(32, 0x04c1_1db7, message).to_be_bytes()).to_vec(),
                ..SIGNED
            },
        ),
        step(
            "skips the tag when the nonce starts with a zero",
            "tampering::rare_tokens",
            Steps {
                message: |parts| match parts.nonce {
                    [0, ..] => Vec::new(),
                    _ => (SIGNED.message)(parts),
                },
                ..SIGNED
            },
        ),
        step(
            "strips zeros from the end of a tag",
            "tampering::rare_tokens",
            Steps {
                tag: |key, message| without_zeros(&mac(key, message)),
                same: |expected, received| expected == without_zeros(received),
                ..ENCRYPTED
            },
        ),
        step(
            "authenticates the first KiB of the payload",
            "tampering::long_tokens",
            Steps {
                message: |parts| with_body(parts, parts.body.get(..1_024).unwrap_or(parts.body)),
                ..SIGNED
            },
        ),
        step(
            "authenticates whole blocks of 16 bytes only",
            "tampering::every_bit",
            Steps {
                message: |parts| with_body(parts, parts.body.as_chunks::<16>().0.as_flattened()),
                ..ENCRYPTED
            },
        ),
        step(
            "authenticates all of the payload but its last byte",
            "tampering::every_bit",
            Steps {
                message: |parts| {
                    with_body(parts, parts.body.split_last().map_or(&[], |(_, rest)| rest))
                },
                ..SIGNED
            },
        ),
        step(
            "authenticates the first 10,000 bytes of a payload of more than 20,000",
            "tampering::long_tokens",
            Steps {
                message: |parts| match parts.body {
                    long if long.len() > 20_000 => with_body(parts, &long[..10_000]),
                    _ => (SIGNED.message)(parts),
                },
                ..ENCRYPTED
            },
        ),
        step(
            "authenticates no payload that is empty",
            "tampering::every_bit",
            Steps {
                message: |parts| {
                    if parts.body.is_empty() {
                        Vec::new()
                    } else {
                        (SIGNED.message)(parts)
                    }
                },
                ..SIGNED
            },
        ),
        step(
            "authenticates no payload when there is no context",
            "tampering::every_bit",
            Steps {
                message: |parts| match parts.context {
                    [] => with_body(parts, b""),
                    _ => (SIGNED.message)(parts),
                },
                ..ENCRYPTED
            },
        ),
        step(
            "has a tag of two bytes",
            "appearance::room_for_a_nonce_and_a_tag",
            Steps {
                tag: |key, message| mac(key, message)[..2].to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "does not authenticate the nonce",
            "tampering::every_bit",
            Steps {
                message: |parts| {
                    (SIGNED.message)(Parts {
                        nonce: b"",
                        ..parts
                    })
                },
                ..SIGNED
            },
        ),
        step(
            "combines what it authenticates without regard to order",
            "tampering::two_places",
            Steps {
                message: |parts| {
                    let mut body = parts.body.to_vec();
                    body.sort_unstable();
                    with_body(parts, &body)
                },
                ..SIGNED
            },
        ),
        step(
            "typed, with a check of the tag only",
            "tampering::pieces_of_two",
            Steps {
                check: |key, _, tag| mac(key, &joined(&[b"check", tag]))[..16].to_vec(),
                ..TYPED
            },
        ),
        step(
            "typed, with a check of the payload only",
            "errors::a_forgery_is_not_of_another_context",
            Steps {
                check: |key, parts, _| {
                    mac(
                        key,
                        &joined(&[b"check", parts.kid.as_bytes(), parts.nonce, parts.body]),
                    )[..16]
                        .to_vec()
                },
                ..TYPED
            },
        ),
    ]
}

fn with_body(parts: Parts<'_>, body: &[u8]) -> Vec<u8> {
    (SIGNED.message)(Parts { body, ..parts })
}

fn without_zeros(tag: &[u8]) -> Vec<u8> {
    let end = tag
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    tag[..end].to_vec()
}

/// A cyclic redundancy check, first bit first, without what real ones add at the ends.
pub fn crc(degree: u32, terms: u64, bytes: &[u8]) -> u64 {
    let bits = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| u64::from((byte >> bit) & 1)));
    bits.fold(0, |rest, bit| {
        let shifted = (rest << 1) | bit;
        if (shifted >> degree) & 1 == 1 {
            (shifted ^ terms) & ((1 << degree) - 1)
        } else {
            shifted
        }
    })
}
