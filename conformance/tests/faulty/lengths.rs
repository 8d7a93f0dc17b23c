//! What holds at most lengths of a payload is forgotten at some.

use request_state_core::DecodeError;

use super::base::{ENCRYPTED, Parts, SIGNED, Steps, TYPED};
use super::fault::{Fault, base, step, whole};
use super::wrapped::Wrapped;

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "does not authenticate the context of 256 bytes, 512 and so on",
            "lengths::another_context",
            Steps {
                message: |parts| without_context_if(parts, |n| n > 0 && n % 256 == 0),
                ..ENCRYPTED
            },
        ),
        step(
            "does not authenticate the context of just 33 bytes",
            "lengths::another_context",
            Steps {
                message: |parts| without_context_if(parts, |n| n == 33),
                ..SIGNED
            },
        ),
        step(
            "typed, does not authenticate the context of 65,535 bytes",
            "lengths::another_context",
            Steps {
                message: |parts| without_context_if(parts, |n| n == 65_535),
                ..TYPED
            },
        ),
        step(
            "does not authenticate the last byte of a block of 64 that it ends in",
            "lengths::first_and_last_bytes",
            Steps {
                message: |parts| without_last_byte_if(parts, |n| n % 64 == 63),
                ..ENCRYPTED
            },
        ),
        step(
            "does not authenticate the last byte of a page of 4 KiB that it ends in",
            "lengths::first_and_last_bytes",
            Steps {
                message: |parts| without_last_byte_if(parts, |n| n % 4_096 == 4_095),
                ..ENCRYPTED
            },
        ),
        step(
            "does not authenticate the last byte where a tag of 16 behind it fills 4 KiB",
            "lengths::first_and_last_bytes",
            Steps {
                message: |parts| without_last_byte_if(parts, |n| n % 4_096 == 4_080),
                ..SIGNED
            },
        ),
        step(
            "does not authenticate the first byte of the nonce of 1,000 bytes",
            "lengths::first_and_last_bytes",
            Steps {
                message: |parts| {
                    let mut parts = parts;
                    if parts.body.len() == 1_000 {
                        parts.nonce = &parts.nonce[1..];
                    }
                    (SIGNED.message)(parts)
                },
                ..SIGNED
            },
        ),
        step(
            "does not authenticate the kid of 255 bytes, 511 and so on",
            "lengths::another_kid",
            Steps {
                message: |parts| {
                    let mut parts = parts;
                    if parts.body.len() % 256 == 255 {
                        parts.kid = "";
                    }
                    (SIGNED.message)(parts)
                },
                ..ENCRYPTED
            },
        ),
        whole(
            "seals 48 bytes under a key of its own",
            "lengths::another_key",
            |keys| {
                let fixed = Steps {
                    key: |_| [7; 32],
                    ..ENCRYPTED
                };
                let (sealing, opening) = (base(keys, fixed), base(keys, fixed));
                Wrapped::both(
                    base(keys, ENCRYPTED),
                    move |codec, payload, context| match payload.len() {
                        48 => sealing.encode(payload, context),
                        _ => codec.encode(payload, context),
                    },
                    move |codec, token, context| match codec.decode(token, context) {
                        Err(DecodeError::Unauthentic) => opening.decode(token, context),
                        answer => answer,
                    },
                )
            },
        ),
    ]
}

/// What a tag covers, less the context where the body has a length of these.
fn without_context_if(mut parts: Parts<'_>, is_one: fn(usize) -> bool) -> Vec<u8> {
    if is_one(parts.body.len()) {
        parts.context = b"";
    }
    (SIGNED.message)(parts)
}

/// Likewise, less the last byte of the body.
fn without_last_byte_if(mut parts: Parts<'_>, is_one: fn(usize) -> bool) -> Vec<u8> {
    if let Some((_, rest)) = parts.body.split_last().filter(|_| is_one(parts.body.len())) {
        parts.body = rest;
    }
    (SIGNED.message)(parts)
}
