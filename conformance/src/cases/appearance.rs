//! The appearance of a token.

use crate::kit::{Kit, encode, show, telling_bit, telling_place};
use crate::random::Random;
use crate::rings::ring_of;
use crate::stop::{Stop, Verdict, ensure, suspect};
use crate::token::{Token, URL_SAFE};

pub(crate) fn url_safe(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let lengths = (0..=100).chain([255, 256, 1_000, 4_096, 20_000]);
    for length in kit.paced(lengths.collect()) {
        for payload in [
            Random::new(80).bytes(length),
            vec![0; length],
            vec![0xff; length],
        ] {
            let token = encode(&codec, &payload, b"context")?;
            ensure(!token.is_empty(), || "the token is empty".into())?;
            let foreign = token.chars().find(|char| !URL_SAFE.contains(*char));
            ensure(foreign.is_none(), || {
                format!(
                    "the token contains {foreign:?}; only A-Z a-z 0-9 - _ . are allowed: {}",
                    show(&token)
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn length(kit: &Kit<'_>) -> Verdict {
    /// More than any kid, nonce, tag and wrapped key take.
    const CONSTANT: usize = 4_096;
    let codec = kit.codec()?;
    for length in [0, 1, 100, 1_000, 10_000, 48 * 1024] {
        for byte in [0, b'a', 0xff] {
            let token = encode(&codec, &vec![byte; length], b"context")?;
            ensure(token.len() <= CONSTANT + 2 * length, || {
                format!(
                    "a payload of {length} bytes makes a token of {} characters; the maximum is twice the length of the payload plus {CONSTANT}",
                    token.len()
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn room_for_a_nonce_and_a_tag(kit: &Kit<'_>) -> Verdict {
    /// A nonce of 12 bytes and a tag of 16, as in AES-GCM.
    const LEAST: usize = 28;
    let codec = kit.codec()?;
    if !codec.encrypts() {
        return Err(Stop::NotApplicable(
            "encrypts() is false: a token need not contain the nonce of a cipher",
        ));
    }
    // Random bytes without a pattern, so that compression cannot shorten the payload.
    for length in [0, 1, 16, 100, 1_000, 10_000] {
        let payload = Random::new(82).bytes(length);
        let token = encode(&codec, &payload, b"context")?;
        let other = encode(&codec, &payload, b"context")?;
        let more = room(&token, &other).saturating_sub(length);
        ensure(more >= LEAST, || {
            format!(
                "a payload of {length} bytes makes a token that holds {more} bytes more: too few for a nonce of 12 bytes and a tag of 16 (token {})",
                show(&token)
            )
        })?;
    }
    Ok(())
}

/// Returns the maximum number of bytes that a token holds, in the parts that differ from another
/// token of the same payload. Equal parts, such as a kid or a version, hold neither a nonce nor a
/// tag.
fn room(token: &str, other: &str) -> usize {
    let [token, other] = [token, other].map(Token::parse);
    let parts = token.parts.iter().zip(&other.parts);
    let differing = parts.filter(|(one, other)| one.bytes != other.bytes);
    differing.map(|(one, _)| one.capacity()).sum()
}

pub(crate) fn enough_of_it_is_random(kit: &Kit<'_>) -> Verdict {
    /// The shortest nonce and the shortest tag in use have 8 and 12 bytes. No cipher uses both.
    const LEAST: usize = 24;
    /// A nonce of 12 bytes and a tag of 16.
    const LEAST_ENCRYPTED: usize = 28;
    let codec = kit.codec()?;
    let least = if codec.encrypts() {
        LEAST_ENCRYPTED
    } else {
        LEAST
    };
    // With this number of tokens, a random bit is the same in all of them with a probability of
    // 2^-47.
    let tokens = (0..48).map(|_| encode(&codec, b"", b"context"));
    let tokens: Vec<String> = tokens.collect::<Result<_, _>>()?;
    let mut rows = tokens.iter().map(|token| {
        let parts = Token::parse(token).parts.into_iter();
        parts.flat_map(|part| part.bytes).collect::<Vec<u8>>()
    });
    let first = rows.next().unwrap_or_default();
    let mut differing = vec![0u8; first.len()];
    for row in rows {
        for (all, (a, b)) in differing.iter_mut().zip(first.iter().zip(row)) {
            *all |= a ^ b;
        }
    }
    let bits: u32 = differing.iter().map(|byte| byte.count_ones()).sum();
    suspect(bits as usize >= 8 * least, || {
        format!(
            "in tokens of an empty payload, {bits} bits differ from one token to the next. A random nonce and a tag have {} bits or more. With fewer, a nonce repeats or a tag can be guessed, unless the nonce is generated in another way and never repeats",
            8 * least
        )
    })
}

pub(crate) fn the_payload_is_not_logged(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in 6..48 {
        let payload = Random::new(81).bytes(length);
        let token = encode(&codec, &payload, b"context")?;
        let head = token.split_once('.').map_or("", |(head, _)| head);
        // A head that is too long for a kid is not logged.
        let visible = head.len() <= 64 && Token::parse(head).find(&payload).is_some();
        ensure(!visible, || {
            format!(
                "the payload is in the text before the first dot, which is logged as the kid: {head}"
            )
        })?;
    }
    Ok(())
}

pub(crate) fn the_key_is_not_visible(kit: &Kit<'_>) -> Verdict {
    // These keyrings differ in one key only, the sealing key or the other. A new codec is created
    // for each token: anything that a codec draws once, when it is created, reveals nothing about
    // the key.
    let of = |seeds: [u64; 2]| {
        move |_: usize| {
            let [sealing, other] = seeds.map(|seed| Random::new(seed).key());
            let keys = ring_of([("a", sealing), ("b", other)])?;
            encode(&kit.codec_of(&keys), b"payload", b"context")
        }
    };
    let one = of([300, 301]);
    for seed in 302..308 {
        for seeds in [[seed, 301], [300, seed]] {
            // By characters, and by bits: of six keys, some differ from the first in a single bit.
            let place = telling_place(12, one, of(seeds))?;
            suspect(place.is_none(), || {
                format!(
                    "character {place:?} of a token depends on the key alone: it is key material, or a hash of the key that confirms a guess. A kid that is derived from a random key of full length is neither"
                )
            })?;
            let place = telling_bit(one, of(seeds))?;
            suspect(place.is_none(), || {
                format!(
                    "a bit of the byte at bit {place:?} of a decoded token depends on the key alone: it is key material, or a hash of the key that confirms a guess. A kid that is derived from a random key of full length is neither"
                )
            })?;
        }
    }
    Ok(())
}
