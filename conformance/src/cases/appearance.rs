//! What a token looks like.

use crate::edits::URL_SAFE;
use crate::kit::{Kit, encode, show};
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
