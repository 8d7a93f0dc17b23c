//! Junk is not refused as it should be, or too slowly.

use request_state_core::{DecodeError, RequestStateCodec, wire};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED, mac};
use super::fault::{Fault, base, step, whole};
use super::wrapped::Wrapped;

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "panics on a character of two bytes at place 40",
            "junk::alone",
            Steps {
                read: |token| {
                    Ok(if token.len() > 40 {
                        [&token[..40], &token[40..]].concat()
                    } else {
                        token.to_owned()
                    })
                },
                ..SIGNED
            },
        ),
        step(
            "panics on a character of several bytes at the end",
            "tampering::every_character",
            Steps {
                read: |token| {
                    let last = token.len().saturating_sub(1);
                    Ok([&token[..last], &token[last..]].concat())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "panics on a short part",
            "junk::after_a_kid",
            Steps {
                part: |text| {
                    let decoded = wire::decode_base64url(text)?;
                    Ok([&decoded[..16], &decoded[16..]].concat())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "panics on a token without a dot",
            "junk::alone",
            Steps {
                read: |token| {
                    let dot = token.find('.').unwrap();
                    Ok([&token[..dot], &token[dot..]].concat())
                },
                ..TYPED
            },
        ),
        step(
            "panics on what is not ASCII",
            "junk::alone",
            Steps {
                read: |token| {
                    assert!(token.is_ascii(), "a token is ASCII");
                    Ok(token.to_owned())
                },
                ..SIGNED
            },
        ),
        step(
            "panics on a length that it reads from the token",
            "tampering::every_bit",
            Steps {
                message: |parts| {
                    let length = parts.body.first().map_or(0, |length| usize::from(*length));
                    let _ = &parts.body[..length.min(parts.body.len() + 64)];
                    (SIGNED.message)(parts)
                },
                take: |payload| [&[0], payload].concat(),
                give: |body| Ok(body[1..].to_vec()),
                ..SIGNED
            },
        ),
        whole(
            "opens what is under the kid none",
            "junk::headless",
            |keys| {
                Wrapped::decode(base(keys, SIGNED), |codec, token, context| {
                    match token.strip_prefix("none.") {
                        Some(payload) => wire::decode_base64url(payload),
                        None => codec.decode(token, context),
                    }
                })
            },
        ),
        whole(
            "opens an empty string as an empty payload",
            "junk::alone",
            |keys| {
                Wrapped::decode(base(keys, ENCRYPTED), |codec, token, context| match token {
                    "" => Ok(Vec::new()),
                    _ => codec.decode(token, context),
                })
            },
        ),
        whole(
            "opens a kid with nothing behind it",
            "tampering::cuts",
            |keys| {
                let keys = keys.clone();
                Wrapped::decode(base(&keys, SIGNED), move |codec, token, context| {
                    let kid = token
                        .strip_suffix('.')
                        .filter(|kid| keys.get(kid).is_some());
                    if kid.is_some() {
                        Ok(Vec::new())
                    } else {
                        codec.decode(token, context)
                    }
                })
            },
        ),
        step(
            "drops spaces one by one, moving the rest each time",
            "time::refusal_takes_linear_time",
            Steps {
                read: |token| {
                    let mut bytes = token.as_bytes().to_vec();
                    while let Some(at) = bytes.iter().position(|byte| *byte == b' ') {
                        bytes.remove(at);
                    }
                    match token.contains(' ') {
                        true => Err(DecodeError::Malformed),
                        false => Ok(token.to_owned()),
                    }
                },
                ..SIGNED
            },
        ),
        step(
            "counts the dots behind each dot",
            "time::refusal_takes_linear_time",
            Steps {
                read: |token| {
                    let after = token
                        .match_indices('.')
                        .map(|(at, _)| token[at..].matches('.').count());
                    let most = after.max().unwrap_or(0);
                    if most == 2 {
                        Ok(token.to_owned())
                    } else {
                        Err(DecodeError::Malformed)
                    }
                },
                ..ENCRYPTED
            },
        ),
        step(
            "looks up each character by walking to it",
            "time::refusal_takes_linear_time",
            Steps {
                part: |text| {
                    let length = text.len();
                    let well_formed =
                        (0..length).all(|at| text.chars().nth(at).is_some_and(|c| c.is_ascii()));
                    if well_formed {
                        wire::decode_base64url(text)
                    } else {
                        Err(DecodeError::Malformed)
                    }
                },
                ..TYPED
            },
        ),
        step(
            "hashes all that stands before each 64th byte of a refused token",
            "time::refusal_takes_linear_time",
            Steps {
                same: |expected, received| expected == received,
                part: |text| {
                    let decoded = wire::decode_base64url(text)?;
                    let hashes = (0..decoded.len())
                        .step_by(64)
                        .map(|end| mac(&[0; 32], &decoded[..end])[0]);
                    let sum = hashes.fold(0u8, u8::wrapping_add);
                    // Only so that nobody optimizes the sum away.
                    if sum == 1 && decoded.is_empty() {
                        Err(DecodeError::Malformed)
                    } else {
                        Ok(decoded)
                    }
                },
                ..SIGNED
            },
        ),
        whole(
            "says OtherContext of junk",
            "errors::what_is_no_token_is_malformed",
            |keys| {
                Wrapped::decode(base(keys, TYPED), |codec, token, context| {
                    codec.decode(token, context).map_err(|error| match error {
                        DecodeError::Malformed => DecodeError::OtherContext,
                        error => error,
                    })
                })
            },
        ),
        whole(
            "says Unavailable of a token with a wrong tag",
            "tampering::every_bit",
            |keys| {
                Wrapped::decode(base(keys, ENCRYPTED), |codec, token, context| {
                    codec.decode(token, context).map_err(|error| match error {
                        DecodeError::Unauthentic => {
                            DecodeError::Unavailable("decryption failed".into())
                        }
                        error => error,
                    })
                })
            },
        ),
        whole(
            "says Unauthentic of what is no token",
            "errors::what_is_no_token_is_malformed",
            |keys| {
                Wrapped::decode(base(keys, SIGNED), |codec, token, context| {
                    codec.decode(token, context).map_err(|error| match error {
                        DecodeError::Malformed => DecodeError::Unauthentic,
                        error => error,
                    })
                })
            },
        ),
    ]
}
