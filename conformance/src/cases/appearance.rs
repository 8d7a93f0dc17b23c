//! What a token looks like.

use crate::edits::URL_SAFE;
use crate::kit::{Kit, encode, ring_of, show, telling_bit, telling_place};
use crate::random::Random;
use crate::stop::{Verdict, ensure};
use crate::token::Token;

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
            ensure(!token.is_empty(), || "an empty token".into())?;
            let foreign = token.chars().find(|char| !URL_SAFE.contains(*char));
            ensure(foreign.is_none(), || {
                format!(
                    "{foreign:?} in a token, which is A-Z a-z 0-9 - _ . only: {}",
                    show(&token)
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn length(kit: &Kit<'_>) -> Verdict {
    /// Above what any kid, nonce, tag and wrapped key take.
    const CONSTANT: usize = 4_096;
    let codec = kit.codec()?;
    for length in [0, 1, 100, 1_000, 10_000, 48 * 1024] {
        for byte in [0, b'a', 0xff] {
            let token = encode(&codec, &vec![byte; length], b"context")?;
            ensure(token.len() <= CONSTANT + 2 * length, || {
                format!(
                    "{length} bytes of payload make a token of {}: more than twice as many and {CONSTANT}",
                    token.len()
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn room_for_a_nonce_and_a_tag(kit: &Kit<'_>) -> Verdict {
    /// Characters of base64 for 24 bytes. The shortest nonce and tag in use have 8 and 12 bytes, and
    /// no cipher has both that short.
    const LEAST: usize = 32;
    let codec = kit.codec()?;
    let tokens = (0..48).map(|_| encode(&codec, b"", b"context"));
    let tokens: Vec<String> = tokens.collect::<Result<_, _>>()?;
    let shortest = tokens.iter().map(String::len).min().unwrap_or(0);
    let varying = (0..shortest).filter(|at| {
        let mut column = tokens.iter().map(|token| token.as_bytes().get(*at));
        let first = column.next();
        column.any(|byte| Some(byte) != first)
    });
    let varying = varying.count();
    ensure(varying >= LEAST, || {
        format!(
            "{varying} characters of the tokens of an empty payload differ from one to the other: too few for a nonce and a tag, which take {LEAST} at least"
        )
    })
}

pub(crate) fn the_payload_is_not_logged(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in 6..48 {
        let payload = Random::new(81).bytes(length);
        let token = encode(&codec, &payload, b"context")?;
        let head = token.split_once('.').map_or("", |(head, _)| head);
        // What is too long for a kid is not logged.
        let visible = head.len() <= 64 && Token::parse(head).find(&payload).is_some();
        ensure(!visible, || {
            format!("the payload stands before the first dot, which is logged as the kid: {head}")
        })?;
    }
    Ok(())
}

pub(crate) fn the_key_is_not_visible(kit: &Kit<'_>) -> Verdict {
    kit.needs_keyring()?;
    // Rings that differ in a key only, the one that seals or the other. A codec is made for each token:
    // what it draws once, when it is made, says nothing of the key.
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
            ensure(place.is_none(), || {
                format!("character {place:?} of a token is a function of the key alone")
            })?;
            let place = telling_bit(one, of(seeds))?;
            ensure(place.is_none(), || {
                format!(
                    "a bit from {place:?} on of what a token encodes is a function of the key alone"
                )
            })?;
        }
    }
    Ok(())
}
