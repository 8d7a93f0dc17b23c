//! The guarantees that `encrypts()` implies.

use std::collections::HashSet;

use request_state_core::RequestStateCodec;

use crate::kit::{Codec, Kit, encode, must_open, must_refuse, telling_bit, telling_place};
use crate::random::Random;
use crate::rings::{KIDS, ring, ring_of};
use crate::stop::{Stop, Verdict, ensure};
use crate::token::{Token, find, to_base64url, to_hex};

const CONTEXT: &[u8] = b"context";

/// Returns a codec that encrypts. If the codec does not, the case ends here.
fn encrypting<'a>(kit: &Kit<'a>) -> Result<Codec<'a>, Stop> {
    let codec = kit.codec()?;
    if codec.encrypts() {
        Ok(codec)
    } else {
        Err(Stop::NotApplicable(
            "encrypts() is false: the payload may be read",
        ))
    }
}

fn encode_times(
    codec: &dyn RequestStateCodec,
    payload: &[u8],
    times: usize,
) -> Result<Vec<String>, Stop> {
    (0..times)
        .map(|_| encode(codec, payload, CONTEXT))
        .collect()
}

pub(crate) fn claims_do_not_change(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let claims = (codec.encrypts(), codec.disclosure());
    let stays = |codec: &dyn RequestStateCodec, when: &str| {
        let now = (codec.encrypts(), codec.disclosure());
        ensure(now == claims, || {
            format!(
                "{when}: encrypts() and disclosure() return {now:?}; before, they returned {claims:?}"
            )
        })
    };
    for _ in 0..300 {
        stays(&codec, "called again")?;
    }
    let token = encode(&codec, b"payload", CONTEXT)?;
    stays(&codec, "after an encoding")?;
    must_open(&codec, &token, CONTEXT, b"payload", "untouched")?;
    stays(&codec, "after a decoding")?;
    must_refuse(&codec, "junk", CONTEXT, || "junk".into())?;
    drop(codec.decode(&token, b"other"));
    drop(codec.decode(&format!("{token}A"), CONTEXT));
    encode(&codec, &[0; 5_000], b"")?;
    stays(&codec, "after rejections")?;
    stays(&kit.codec()?, "from a codec created again")?;
    for count in [1, 3, 20] {
        let keys = ring_of((0..count).map(|n| (format!("k{n}"), Random::new(n).key())))?;
        stays(
            &kit.codec_of(&keys),
            &format!("with a keyring of {count} keys"),
        )?;
    }
    let keys = ring()?;
    stays(
        &kit.codec_of(&keys.sealing_with(KIDS[1])?),
        "sealing with another key",
    )
}

pub(crate) fn the_payload_is_not_visible(kit: &Kit<'_>) -> Verdict {
    let codec = encrypting(kit)?;
    for length in [24, 700, 5_000] {
        let payload = Random::new(length as u64).bytes(length);
        let text = encode(&codec, &payload, CONTEXT)?;
        let body = Token::parse(&text).body();
        // The last bytes, because a codec may encrypt only the first ones.
        let secret: Vec<u8> = payload.iter().skip(length - 24).copied().collect();
        let reversed: Vec<u8> = secret.iter().rev().copied().collect();
        for (how, secret) in [("", &secret), (", reversed", &reversed)] {
            let hidden_as = [
                ("in plain", find(&body, secret).is_some()),
                // Base64 of whole groups, at each of the three positions where a group may start.
                (
                    "in base64",
                    (0..3).any(|skip| {
                        let groups: Vec<u8> = secret.iter().skip(skip).take(18).copied().collect();
                        text.contains(&to_base64url(&groups))
                    }),
                ),
                (
                    "in hexadecimal",
                    text.to_lowercase().contains(&to_hex(secret)),
                ),
                // The differences of neighboring bytes are the same, whichever byte all of them are
                // xored with.
                (
                    "xored with one byte",
                    find(&differences(&body), &differences(secret)).is_some(),
                ),
            ];
            for (as_what, visible) in hidden_as {
                ensure(!visible, || {
                    format!(
                        "encrypts() is true, but a payload of {length} bytes is in the token {as_what}{how}"
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn differences(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .zip(bytes.iter().skip(1))
        .map(|(a, b)| a ^ b)
        .collect()
}

pub(crate) fn every_byte_is_encrypted(kit: &Kit<'_>) -> Verdict {
    let codec = encrypting(kit)?;
    // 8 tokens of each kind: in 96,000 hexadecimal digits, such a position occurs by chance with a
    // probability of 96,000 * 16^-14, which is below 2^-39.
    for (length, times) in [
        (1, 16),
        (8, 16),
        (16, 16),
        (40, 16),
        (257, 8),
        (1_500, 8),
        (5_000, 8),
        (48_000, 8),
    ] {
        let one = Random::new(100).bytes(length);
        // Another payload that differs in every byte.
        let mask = Random::new(101).bytes(length);
        let other: Vec<u8> = one
            .iter()
            .zip(mask)
            .map(|(byte, mask)| byte ^ mask.max(1))
            .collect();
        let of = |payload: Vec<u8>| {
            let codec = &codec;
            move |_| encode(codec, &payload, CONTEXT)
        };
        let place = telling_place(times, of(one), of(other))?;
        ensure(place.is_none(), || {
            format!(
                "for payloads of {length} bytes, character {place:?} of a token depends on the payload and on nothing random"
            )
        })?;
    }
    Ok(())
}

pub(crate) fn no_bit_is_visible(kit: &Kit<'_>) -> Verdict {
    let codec = encrypting(kit)?;
    let base = Random::new(105).bytes(3);
    // Flips each bit of a payload in turn, so that everything that depends on this bit alone shows:
    // its value, or a parity.
    for bit in kit.paced((0..8 * base.len()).collect()) {
        let mut other = base.clone();
        if let Some(byte) = other.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        let place = telling_bit(
            |_| encode(&codec, &base, CONTEXT),
            |_| encode(&codec, &other, CONTEXT),
        )?;
        ensure(place.is_none(), || {
            format!(
                "a bit of the byte at bit {place:?} of a decoded token depends on bit {bit} of the payload and on nothing random"
            )
        })?;
    }
    Ok(())
}

pub(crate) fn equal_blocks(kit: &Kit<'_>) -> Verdict {
    let codec = encrypting(kit)?;
    let period_16 = b"sixteen bytes...".repeat(256);
    let period_12 = b"twelve bytes".repeat(256);
    // Up to the lengths at which a counter of two bytes, or a buffer of 64 KiB, starts again.
    for payload in [
        vec![0; 4_096],
        vec![b'x'; 1_000],
        period_16,
        period_12,
        vec![0; 70_000],
    ] {
        let repeats = |payload: &[u8]| -> Result<usize, Stop> {
            let body = Token::parse(&encode(&codec, payload, CONTEXT)?).body();
            let mut seen = HashSet::new();
            Ok(body
                .windows(8)
                .filter(|window| !seen.insert(window.to_vec()))
                .count())
        };
        // A header may contain repetitions, for any payload.
        let without = repeats(&Random::new(102).bytes(payload.len()))?;
        let with = repeats(&payload)?;
        ensure(with <= without, || {
            format!(
                "a payload with repetitions makes a token with {with} repetitions, against {without} for a payload without repetitions"
            )
        })?;
    }
    Ok(())
}

pub(crate) fn no_keystream_twice(kit: &Kit<'_>) -> Verdict {
    drop(encrypting(kit)?);
    let keys = ring()?;
    let mut random = Random::new(103);
    let mut streams: Vec<HashSet<[u8; 8]>> = Vec::new();
    for number in kit.paced((0..3_000).collect::<Vec<u32>>()) {
        // The codec is created anew each time.
        let codec = kit.codec_of(&keys);
        let payload = random.bytes(16);
        let body = Token::parse(&encode(&codec, &payload, &number.to_be_bytes())?).body();
        for (at, window) in body.windows(8).enumerate() {
            let mut stream = [0; 8];
            for ((to, a), b) in stream.iter_mut().zip(window).zip(&payload) {
                *to = a ^ b;
            }
            if streams.len() <= at {
                streams.push(HashSet::new());
            }
            let fresh = streams.get_mut(at).is_none_or(|seen| seen.insert(stream));
            ensure(fresh, || {
                format!(
                    "at byte {at}, the xor of two tokens is the xor of their payloads: both have the same keystream"
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn length_tells_nothing_else(kit: &Kit<'_>) -> Verdict {
    let codec = encrypting(kit)?;
    for length in [200, 3_000] {
        let lengths = |payload: Vec<u8>| -> Result<Vec<usize>, Stop> {
            Ok(encode_times(&codec, &payload, 16)?
                .iter()
                .map(String::len)
                .collect())
        };
        let plain = lengths(vec![b'a'; length])?;
        let random = lengths(Random::new(104).bytes(length))?;
        // Fails if all lengths of one kind are greater than all lengths of the other. A codec that
        // pads at random fails by chance once in 300 million times.
        ensure(
            plain.iter().max() >= random.iter().min() && random.iter().max() >= plain.iter().min(),
            || {
                format!(
                    "{length} bytes make tokens of {plain:?} characters if they repeat, and of {random:?} if they do not: the length reveals something about the payload"
                )
            },
        )?;
    }
    Ok(())
}
