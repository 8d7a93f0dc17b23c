//! An attacker can change and rearrange the components of a token.

use std::time::Duration;

use crate::kit::{Codec, Genuine, Kit, must_refuse};
use crate::random::Random;
use crate::stop::{Stop, Verdict};
use crate::token::Token;

const CONTEXT: &[u8] = b"context";

/// Returns the positions of the first four bytes of a part that are the same in every token. They
/// may be a header.
fn headers(tokens: &[Token], part: usize) -> Vec<usize> {
    let rows: Vec<&[u8]> = tokens
        .iter()
        .filter_map(|token| token.parts.get(part))
        .map(|part| &part.bytes[..])
        .collect();
    let shortest = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let same = |at: &usize| {
        let mut column = rows.iter().map(|row| row.get(*at));
        let first = column.next();
        column.all(|byte| Some(byte) == first)
    };
    (0..shortest).filter(same).take(4).collect()
}

pub(crate) fn headers_say_nothing(kit: &Kit<'_>) -> Verdict {
    const TOKENS: u64 = 12;
    const LENGTH: usize = 40;
    let codec = kit.codec()?;
    let genuine = (0..TOKENS)
        .map(|seed| Genuine::new(&codec, &Random::new(130 + seed).bytes(LENGTH), CONTEXT));
    let genuine = genuine.collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<Token> = genuine.iter().map(Genuine::pieces).collect();
    let Some((first, token)) = genuine.first().zip(tokens.first()) else {
        return Ok(());
    };
    // The value of the header, and the range of bytes that is cut.
    let mut edits: Vec<(usize, usize, u8, usize, usize)> = Vec::new();
    for part in token.encoded_indices() {
        let length = token.parts.get(part).map_or(0, |part| part.bytes.len());
        for at in headers(&tokens, part) {
            let old = token
                .parts
                .get(part)
                .and_then(|part| part.bytes.get(at))
                .copied()
                .unwrap_or(0);
            // Any value, with nothing cut or something cut from the end.
            for new in (0..=255).filter(|new| *new != old) {
                for cut in 0..=64.min(length) {
                    edits.push((part, at, new, length - cut, length));
                }
            }
            // A length, in bytes or in bits, reduced by the number of bytes that are cut, for every
            // range.
            for (start, end) in (1..=length).flat_map(|end| (0..end).map(move |start| (start, end)))
            {
                for unit in [1, 8] {
                    let new = u8::try_from((end - start) * unit)
                        .ok()
                        .and_then(|less| old.checked_sub(less));
                    if let Some(new) = new {
                        edits.push((part, at, new, start, end));
                    }
                }
            }
        }
    }
    for (part, at, new, start, end) in kit.paced_for(Duration::from_secs(6), edits) {
        let changed = token.with_part(part, |bytes| {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = new;
            }
            drop(bytes.drain(start..end));
        });
        if changed != first.text {
            must_refuse(&codec, &changed, CONTEXT, || {
                format!("byte {at} of part {part} is {new}, and bytes {start} to {end} are cut")
            })?;
        }
    }
    Ok(())
}

pub(crate) fn chunks(kit: &Kit<'_>) -> Verdict {
    /// The number of bytes that a chunk adds to its payload: a tag of 16 or 32, and a nonce of 0,
    /// 12, 16 or 24. (The combination of 32 and 24 is not included.)
    const MORE: [usize; 6] = [16, 28, 32, 40, 44, 48];
    /// The number of bytes in front of the first chunk: the lengths of nonces, salts and headers.
    /// They are used for large chunks, where each try is expensive.
    const IN_FRONT: [usize; 16] = [0, 1, 4, 7, 8, 12, 13, 16, 19, 20, 24, 28, 32, 40, 48, 64];
    let codec = kit.codec()?;
    let powers = (4..=14).map(|power| 1usize << power);
    let sizes: Vec<usize> = powers.chain([10, 100, 1_000, 10_000, 10_240]).collect();
    let sealed = sizes.iter().map(|size| {
        // Two chunks and the start of a third.
        let payload = |seed| Random::new(seed).bytes(2 * size + 5);
        Ok((
            Genuine::new(&codec, &payload(140), CONTEXT)?,
            Genuine::new(&codec, &payload(141), CONTEXT)?.pieces(),
        ))
    });
    let sealed = sealed.collect::<Result<Vec<_>, Stop>>()?;
    let mut guesses = Vec::new();
    for (size, (genuine, other)) in sizes.iter().zip(&sealed) {
        for more in MORE {
            if *size >= 1_000 {
                guesses.extend(IN_FRONT.map(|start| (genuine, other, start, size + more)));
            } else {
                guesses.extend((0..=64).map(|start| (genuine, other, start, size + more)));
            }
        }
    }
    for (genuine, other, start, length) in kit.paced_for(Duration::from_secs(30), guesses) {
        try_chunks(&codec, genuine, other, start, length)?;
    }
    Ok(())
}

/// Rearranges a token as if it consisted of chunks of `length` bytes, of which the first begins at
/// `start`.
fn try_chunks(
    codec: &Codec<'_>,
    genuine: &Genuine,
    other: &Token,
    start: usize,
    length: usize,
) -> Verdict {
    let cut = |bytes: &'_ [u8]| -> Option<[Vec<u8>; 4]> {
        let (head, rest) = bytes.split_at_checked(start)?;
        let (first, rest) = rest.split_at_checked(length)?;
        let (second, third) = rest.split_at_checked(length)?;
        Some([head, first, second, third].map(<[u8]>::to_vec))
    };
    let token = genuine.pieces();
    for part in token.encoded_indices() {
        let bytes = token.parts.get(part).and_then(|part| cut(&part.bytes));
        let theirs = other.parts.get(part).and_then(|part| cut(&part.bytes));
        let Some(([head, a, b, c], [_, _, theirs, _])) = bytes.zip(theirs) else {
            continue;
        };
        for (about, arranged) in [
            ("the first chunk only", vec![&head, &a]),
            ("all but the second chunk", vec![&head, &a, &c]),
            ("two chunks exchanged", vec![&head, &b, &a, &c]),
            ("a chunk of another token", vec![&head, &a, &theirs, &c]),
        ] {
            let arranged = arranged.into_iter().flatten().copied().collect();
            let arranged = token.with_part(part, |bytes| *bytes = arranged);
            if arranged != genuine.text {
                must_refuse(codec, &arranged, CONTEXT, || {
                    format!(
                        "{about}, where chunks are {length} bytes long and start at byte {start}"
                    )
                })?;
            }
        }
    }
    Ok(())
}
