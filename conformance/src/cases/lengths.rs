//! The same checks at every length of a payload, including lengths at which a block, a chunk or a
//! counter is just full.

use request_state_core::Keyring;

use crate::kit::{Genuine, Kit, encode, must_refuse, must_refuse_context};
use crate::random::Random;
use crate::rings::{ring, ring_of};
use crate::stop::{Stop, Verdict};

const CONTEXT: &[u8] = b"context";

/// Returns every length up to a few blocks of the usual sizes, and the lengths around each power of
/// two up to 64 KiB. These start 32 bytes below the power, for payloads that are sealed together
/// with a nonce or a tag.
fn lengths() -> Vec<usize> {
    let powers = (11..=16).map(|exponent| 1 << exponent);
    (0..=1_100)
        .chain(powers.flat_map(|power: usize| power - 32..=power + 1))
        .collect()
}

fn payload(length: usize) -> Vec<u8> {
    Random::new(200 + length as u64).bytes(length)
}

/// Some lengths up to the sealer's default limit, and somewhat beyond: a large payload may take
/// another code path. These are tried first, and all of them, even if the codec is slow.
const LARGE: [usize; 7] = [600, 1_500, 5_000, 10_000, 20_000, 48_000, 70_000];

/// Returns the large lengths, and then the others.
fn large_and_others(kit: &Kit<'_>) -> impl Iterator<Item = usize> {
    LARGE.into_iter().chain(kit.paced(lengths()))
}

pub(crate) fn another_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in LARGE {
        for context in [CONTEXT, b""] {
            let genuine = Genuine::new(&codec, &payload(length), context)?;
            for other in [&b""[..], b"\0", b"contexT", b"other", &[7; 3_000]] {
                if other != context {
                    must_refuse_context(&codec, &genuine.text, other, || {
                        format!("{length} bytes under another context")
                    })?;
                }
            }
        }
    }
    for length in kit.paced(lengths()) {
        let genuine = Genuine::new(&codec, &payload(length), CONTEXT)?;
        must_refuse_context(&codec, &genuine.text, b"another", || {
            format!("{length} bytes under another context")
        })?;
    }
    Ok(())
}

pub(crate) fn first_and_last_bytes(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in kit.paced(lengths()) {
        let genuine = Genuine::new(&codec, &payload(length), CONTEXT)?;
        let token = genuine.pieces();
        for index in token.encoded_indices() {
            let first = token.with_part(index, |bytes| {
                bytes.iter_mut().take(1).for_each(|byte| *byte ^= 1);
            });
            let last = token.with_part(index, |bytes| {
                bytes.iter_mut().rev().take(1).for_each(|byte| *byte ^= 1);
            });
            for (changed, place) in [(first, "first"), (last, "last")] {
                if changed != genuine.text {
                    must_refuse(&codec, &changed, CONTEXT, || {
                        format!("{length} bytes, the {place} byte of part {index} changed")
                    })?;
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn another_key(kit: &Kit<'_>) -> Verdict {
    let of = |seed| Ok::<_, Stop>(kit.codec_of(&ring_of([("a", Random::new(seed).key())])?));
    let (us, them) = (of(201)?, of(202)?);
    for length in large_and_others(kit) {
        let genuine = Genuine::new(&them, &payload(length), CONTEXT)?;
        must_refuse(&us, &genuine.text, CONTEXT, || {
            format!("{length} bytes sealed with another key under the same kid")
        })?;
    }
    Ok(())
}

pub(crate) fn another_kid(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    let codec = kit.codec_of(&keys);
    let (kid, key) = keys.sealing();
    // The same key under another kid, so that only the kid distinguishes the two.
    let renamed = kit.codec_of(&Keyring::new([("b", key.clone())])?);
    for length in large_and_others(kit) {
        let token = encode(&codec, &payload(length), CONTEXT)?;
        let rest = token
            .strip_prefix(kid)
            .and_then(|rest| rest.strip_prefix('.'));
        let rest = rest.ok_or(Stop::NotApplicable(
            "a token does not start with its kid and a dot",
        ))?;
        must_refuse(&renamed, &format!("b.{rest}"), CONTEXT, || {
            format!(
                "{length} bytes, relabeled from {kid} to b, in a keyring that has the same key as b"
            )
        })?;
    }
    Ok(())
}
