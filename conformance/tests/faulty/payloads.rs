//! What comes out is not what went in, for some payloads.

use request_state_core::{DecodeError, EncodeError, RequestStateCodec};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED};
use super::fault::{Fault, base, step, whole};
use super::wrapped::Wrapped;

pub fn faults() -> Vec<Fault> {
    vec![
        whole("encodes no empty payload", "round_trip::empty", |keys| {
            Wrapped::encode(
                base(keys, SIGNED),
                |codec, payload, context| match payload {
                    [] => Err(EncodeError::Unavailable("nothing to encode".into())),
                    _ => codec.encode(payload, context),
                },
            )
        }),
        step(
            "decodes an empty payload to a zero byte",
            "round_trip::empty",
            Steps {
                give: |payload| Ok(if payload.is_empty() { vec![0] } else { payload }),
                ..ENCRYPTED
            },
        ),
        step(
            "refuses a payload of just 256 bytes",
            "round_trip::every_length",
            Steps {
                give: |payload| {
                    if payload.len() == 256 {
                        Err(DecodeError::Malformed)
                    } else {
                        Ok(payload)
                    }
                },
                ..SIGNED
            },
        ),
        step(
            "keeps the length of a payload in one byte",
            "round_trip::every_length",
            Steps {
                take: |payload| [&[payload.len() as u8], payload].concat(),
                give: |body| {
                    let (length, rest) = body.split_first().ok_or(DecodeError::Malformed)?;
                    Ok(rest[..usize::from(*length).min(rest.len())].to_vec())
                },
                ..SIGNED
            },
        ),
        step(
            "keeps the length of a payload in two bytes",
            "round_trip::large",
            Steps {
                take: |payload| [&(payload.len() as u16).to_be_bytes()[..], payload].concat(),
                give: |body| {
                    let (length, rest) = body.split_first_chunk().ok_or(DecodeError::Malformed)?;
                    Ok(rest[..usize::from(u16::from_be_bytes(*length)).min(rest.len())].to_vec())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "cuts a payload at 64 KiB",
            "round_trip::large",
            Steps {
                take: |payload| payload[..payload.len().min(65_536)].to_vec(),
                ..SIGNED
            },
        ),
        step(
            "strips zeros from the end of a payload",
            "round_trip::every_byte",
            Steps {
                give: |body| {
                    Ok(body[..body
                        .iter()
                        .rposition(|b| *b != 0)
                        .map_or(0, |last| last + 1)]
                        .to_vec())
                },
                ..SIGNED
            },
        ),
        step(
            "trims a payload",
            "round_trip::every_byte",
            Steps {
                give: |body| Ok(body.trim_ascii().to_vec()),
                ..TYPED
            },
        ),
        step(
            "takes the end of a payload for padding",
            "round_trip::every_byte",
            Steps {
                give: |mut body| {
                    let padding = usize::from(body.last().copied().unwrap_or(0));
                    if (1..=16).contains(&padding) && padding <= body.len() {
                        body.truncate(body.len() - padding);
                    }
                    Ok(body)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "takes the end of a payload for padding where all of it looks so",
            "round_trip::every_byte",
            Steps {
                give: |mut body| {
                    let padding = body.last().copied().unwrap_or(0);
                    let length = usize::from(padding);
                    if (2..=16).contains(&length) && body.ends_with(&vec![padding; length]) {
                        body.truncate(body.len() - length);
                    }
                    Ok(body)
                },
                ..SIGNED
            },
        ),
        step(
            "reads a payload as UTF-8, as far as it is",
            "round_trip::nothing_is_interpreted",
            Steps {
                give: |body| Ok(String::from_utf8_lossy(&body).into_owned().into_bytes()),
                ..SIGNED
            },
        ),
        step(
            "drops a byte order mark",
            "round_trip::nothing_is_interpreted",
            Steps {
                give: |body| Ok(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body).to_vec()),
                ..ENCRYPTED
            },
        ),
        step(
            "reads line ends alike",
            "round_trip::nothing_is_interpreted",
            Steps {
                give: |body| Ok(body.into_iter().filter(|byte| *byte != b'\r').collect()),
                ..SIGNED
            },
        ),
        step(
            "spells JSON anew",
            "round_trip::nothing_is_interpreted",
            Steps {
                give: |body| {
                    let value = serde_json::from_slice::<serde_json::Value>(&body);
                    Ok(value.map_or(body, |value| value.to_string().into_bytes()))
                },
                ..SIGNED
            },
        ),
        step(
            "decodes a payload that is a token itself",
            "round_trip::nothing_is_interpreted",
            Steps {
                give: |body| match body.starts_with(b"2026-10.") {
                    true => Ok(body[8..].to_vec()),
                    false => Ok(body),
                },
                ..TYPED
            },
        ),
        whole(
            "refuses an empty context",
            "round_trip::any_context",
            |keys| {
                Wrapped::decode(base(keys, SIGNED), |codec, token, context| match context {
                    [] => Err(DecodeError::Unauthentic),
                    _ => codec.decode(token, context),
                })
            },
        ),
        whole(
            "refuses a context of more than 255 bytes",
            "round_trip::any_context",
            |keys| {
                Wrapped::decode(
                    base(keys, ENCRYPTED),
                    |codec, token, context| match context.len() {
                        0..=255 => codec.decode(token, context),
                        _ => Err(DecodeError::Unauthentic),
                    },
                )
            },
        ),
        step(
            "cannot open a tag that starts with a zero",
            "round_trip::again_and_again",
            Steps {
                same: |expected, received| expected == received && !received.starts_with(&[0]),
                ..SIGNED
            },
        ),
        step(
            "ends the payload at the first zero byte, or what it takes for it",
            "round_trip::every_byte",
            Steps {
                give: |body| {
                    Ok(body
                        .split(|byte| *byte == 0)
                        .next()
                        .unwrap_or_default()
                        .to_vec())
                },
                ..ENCRYPTED
            },
        ),
    ]
}
