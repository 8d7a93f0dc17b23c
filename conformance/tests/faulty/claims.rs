//! A codec is not what it says it is, or its tokens are not.

use std::sync::atomic::{AtomicUsize, Ordering};

use request_state_core::{DecodeError, Disclosure, EncodeError, Keyring, RequestStateCodec, wire};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED, joined, keystream, mac, xor};
use super::fault::{Codec, Fault, base, step, whole};
use super::wrapped::Wrapped;

pub fn faults() -> Vec<Fault> {
    let mut faults = confidentiality();
    faults.extend(errors());
    faults.extend(tokens());
    faults
}

fn confidentiality() -> Vec<Fault> {
    vec![
        step(
            "claims to encrypt, and does not",
            "confidentiality::the_payload_is_not_visible",
            Steps {
                encrypts: || true,
                ..SIGNED
            },
        ),
        step(
            "encrypts by xor with one byte",
            "confidentiality::the_payload_is_not_visible",
            Steps {
                stream: Some(|key, _, data| data.iter_mut().for_each(|byte| *byte ^= key[0])),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts by xor with one random byte of the nonce",
            "confidentiality::the_payload_is_not_visible",
            Steps {
                stream: Some(|_, nonce, data| data.iter_mut().for_each(|byte| *byte ^= nonce[0])),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts the first KiB",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| keystream(key, nonce, first(data, 1_024))),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts all bytes but the last",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| {
                    let length = data.len().saturating_sub(1);
                    keystream(key, nonce, &mut data[..length]);
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts all bytes but the first",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| {
                    keystream(key, nonce, data.split_at_mut(1.min(data.len())).1)
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts payloads of 16 bytes and more",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| {
                    if data.len() >= 16 {
                        keystream(key, nonce, data)
                    }
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts what exceeds 32 KiB not at all",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| keystream(key, nonce, first(data, 32_768))),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts the upper half of each byte",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, nonce, data| {
                    let mut pad = vec![0; data.len()];
                    keystream(key, nonce, &mut pad);
                    pad.iter_mut().for_each(|byte| *byte &= 0xf0);
                    xor(data, &pad);
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts each block of 16 bytes alike",
            "confidentiality::equal_blocks",
            Steps {
                stream: Some(|key, nonce, data| {
                    let pad = mac(key, &joined(&[b"stream", nonce]));
                    data.chunks_mut(16).for_each(|block| xor(block, &pad));
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "counts the blocks of its keystream in one byte",
            "confidentiality::equal_blocks",
            Steps {
                stream: Some(|key, nonce, data| {
                    for (counter, block) in data.chunks_mut(8).enumerate() {
                        xor(
                            block,
                            &mac(key, &joined(&[b"stream", nonce, &[counter as u8]])),
                        );
                    }
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "compresses before it encrypts",
            "confidentiality::length_tells_nothing_else",
            Steps {
                take: |payload| {
                    let runs = payload
                        .chunk_by(|a, b| a == b)
                        .flat_map(|run| run.chunks(255));
                    runs.flat_map(|run| [run.len() as u8, run[0]]).collect()
                },
                give: |body| {
                    Ok(body
                        .as_chunks::<2>()
                        .0
                        .iter()
                        .flat_map(|[length, byte]| vec![*byte; usize::from(*length)])
                        .collect())
                },
                ..ENCRYPTED
            },
        ),
        step(
            "carries a hash of the payload in the clear",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                take: |payload| [&mac(&[0; 32], payload)[..8], payload].concat(),
                give: |body| Ok(body[8..].to_vec()),
                stream: Some(|key, nonce, data| {
                    keystream(key, nonce, data.split_at_mut(8.min(data.len())).1)
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "claims to encrypt at every other call",
            "confidentiality::claims_do_not_change",
            Steps {
                encrypts: || {
                    static CALLS: AtomicUsize = AtomicUsize::new(0);
                    CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
                },
                ..ENCRYPTED
            },
        ),
        whole(
            "claims to encrypt, but not on a ring of many keys",
            "confidentiality::claims_do_not_change",
            |keys| {
                base(
                    keys,
                    Steps {
                        encrypts: if keys.iter().count() > 10 {
                            || false
                        } else {
                            || true
                        },
                        ..ENCRYPTED
                    },
                )
            },
        ),
    ]
}

fn first(data: &mut [u8], length: usize) -> &mut [u8] {
    let length = length.min(data.len());
    &mut data[..length]
}

fn errors() -> Vec<Fault> {
    vec![
        whole(
            "typed, says OtherContext of every wrong tag",
            "errors::a_forgery_is_not_of_another_context",
            |keys| {
                claiming(Disclosure::Typed, base(keys, SIGNED), |error| match error {
                    DecodeError::Unauthentic => DecodeError::OtherContext,
                    error => error,
                })
            },
        ),
        whole(
            "typed, says Unauthentic of another context",
            "errors::another_context",
            |keys| {
                claiming(Disclosure::Typed, base(keys, TYPED), |error| match error {
                    DecodeError::OtherContext => DecodeError::Unauthentic,
                    error => error,
                })
            },
        ),
        whole(
            "typed, says OtherContext only where the contexts are of one length",
            "errors::another_context",
            |keys| {
                Wrapped::decode(base(keys, TYPED), |codec, token, context| {
                    match codec.decode(token, context) {
                        Err(DecodeError::OtherContext) if context.is_empty() => {
                            Err(DecodeError::Unauthentic)
                        }
                        result => result,
                    }
                })
            },
        ),
        whole(
            "typed, says Unauthentic of another context under a key that no longer seals",
            "errors::another_context",
            |keys| {
                let sealing = format!("{}.", keys.sealing().0);
                Wrapped::decode(base(keys, TYPED), move |codec, token, context| match codec
                    .decode(token, context)
                {
                    Err(DecodeError::OtherContext) if !token.starts_with(&sealing) => {
                        Err(DecodeError::Unauthentic)
                    }
                    result => result,
                })
            },
        ),
        whole(
            "opaque, says OtherContext under a key that no longer seals",
            "errors::another_context",
            |keys| {
                let sealing = format!("{}.", keys.sealing().0);
                let typed = base(keys, TYPED);
                Wrapped::decode(
                    claiming(Disclosure::Opaque, base(keys, TYPED), |error| match error {
                        DecodeError::OtherContext => DecodeError::Unauthentic,
                        error => error,
                    }),
                    move |codec, token, context| match token.starts_with(&sealing) {
                        true => codec.decode(token, context),
                        false => typed.decode(token, context),
                    },
                )
            },
        ),
        whole(
            "says OtherContext, and is opaque",
            "errors::another_context",
            |keys| claiming(Disclosure::Opaque, base(keys, TYPED), |error| error),
        ),
        step(
            "typed, with a check of which one byte is compared",
            "errors::a_forgery_is_not_of_another_context",
            Steps {
                check: |key, parts, tag| vec![(TYPED.check)(key, parts, tag)[0]; 16],
                ..TYPED
            },
        ),
    ]
}

/// Says what its disclosure is, and answers other errors.
fn claiming(disclosure: Disclosure, codec: Codec, error: fn(DecodeError) -> DecodeError) -> Codec {
    struct Claiming(Codec, Disclosure, fn(DecodeError) -> DecodeError);

    impl RequestStateCodec for Claiming {
        fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
            self.0.encode(payload, context)
        }

        fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
            self.0.decode(token, context).map_err(self.2)
        }

        fn disclosure(&self) -> Disclosure {
            self.1
        }
    }

    Box::new(Claiming(codec, disclosure, error))
}

fn tokens() -> Vec<Fault> {
    vec![
        step(
            "writes padding",
            "appearance::url_safe",
            Steps {
                write: |token| format!("{token}="),
                read: |token| {
                    token
                        .strip_suffix('=')
                        .map(str::to_owned)
                        .ok_or(DecodeError::Malformed)
                },
                ..SIGNED
            },
        ),
        step(
            "writes + for -",
            "appearance::url_safe",
            Steps {
                write: |token| {
                    let (kid, rest) = token.split_once('.').unwrap();
                    format!("{kid}.{}", rest.replace('-', "+"))
                },
                read: |token| {
                    let (kid, rest) = token.split_once('.').ok_or(DecodeError::Malformed)?;
                    match rest.contains('-') {
                        true => Err(DecodeError::Malformed),
                        false => Ok(format!("{kid}.{}", rest.replace('+', "-"))),
                    }
                },
                ..ENCRYPTED
            },
        ),
        step(
            "writes the payload twice more",
            "appearance::length",
            Steps {
                take: |payload| payload.repeat(3),
                give: |body| Ok(body[..body.len() / 3].to_vec()),
                ..SIGNED
            },
        ),
        whole(
            "has no kid, and the payload in front",
            "appearance::the_payload_is_not_logged",
            |keys| {
                let keys = keys.clone();
                Wrapped::both(
                    base(&keys, SIGNED),
                    |codec, payload, context| {
                        let token = codec.encode(payload, context)?;
                        let (_, rest) = token.split_once('.').unwrap();
                        Ok(rest.to_owned())
                    },
                    move |codec, token, context| {
                        let open = |kid: &str| codec.decode(&format!("{kid}.{token}"), context);
                        let opened = keys.iter().find_map(|(kid, _)| open(kid).ok());
                        opened.map_or_else(|| open(keys.sealing().0), Ok)
                    },
                )
            },
        ),
        whole(
            "names another key than the one that sealed",
            "kids::the_kid_of_the_sealing_key",
            |keys| {
                let names = |keys: &Keyring| {
                    let kids: Vec<String> = keys.iter().map(|(kid, _)| kid.to_owned()).collect();
                    let mut named = kids.clone();
                    named.sort();
                    named.rotate_left(1);
                    let mut sorted = kids;
                    sorted.sort();
                    sorted.into_iter().zip(named).collect::<Vec<_>>()
                };
                let (names, back) = (names(keys), names(keys));
                Wrapped::both(
                    base(keys, SIGNED),
                    move |codec, payload, context| {
                        let token = codec.encode(payload, context)?;
                        let (kid, rest) = token.split_once('.').unwrap();
                        let (_, named) = names.iter().find(|(own, _)| own == kid).unwrap();
                        Ok(format!("{named}.{rest}"))
                    },
                    move |codec, token, context| {
                        let (named, rest) = token.split_once('.').ok_or(DecodeError::Malformed)?;
                        let kid = back
                            .iter()
                            .find(|(_, other)| other == named)
                            .map_or(named, |(own, _)| own);
                        codec.decode(&format!("{kid}.{rest}"), context)
                    },
                )
            },
        ),
        whole(
            "carries the context in the token",
            "context::not_in_the_token",
            |keys| carrying(base(keys, SIGNED), |context| context.to_vec()),
        ),
        whole(
            "carries the context in the token, encrypted",
            "context::not_in_the_token",
            |keys| carrying(base(keys, ENCRYPTED), |context| context.to_vec()),
        ),
        whole(
            "carries a hash of the context that anyone can compute",
            "keys::no_public_digest_of_the_context",
            |keys| {
                carrying(base(keys, SIGNED), |context| {
                    mac(&[0; 32], context)[..8].to_vec()
                })
            },
        ),
    ]
}

/// Binds the context by a note of it in front of the payload, and by nothing else where the note is
/// the whole of it.
fn carrying(codec: Codec, note: fn(&[u8]) -> Vec<u8>) -> Codec {
    Wrapped::both(
        codec,
        move |codec, payload, context| {
            let mut noted = Vec::new();
            wire::push_prefixed(&mut noted, &note(context));
            noted.extend_from_slice(payload);
            codec.encode(&noted, context)
        },
        move |codec, token, context| {
            let noted = codec.decode(token, context)?;
            Ok(noted[8 + note(context).len()..].to_vec())
        },
    )
}
