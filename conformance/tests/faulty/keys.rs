//! Keys and kids are not taken as they are.

use std::sync::OnceLock;

use request_state_core::{DecodeError, Key, Keyring, RequestStateCodec, wire};

use super::base::{ENCRYPTED, Parts, SIGNED, Steps, TYPED};
use super::fault::{Codec, Fault, base, step, whole};
use super::memory::LAX;
use super::wrapped::Wrapped;

/// A message that does not name the kid.
fn without_kid(parts: Parts<'_>) -> Vec<u8> {
    (SIGNED.message)(Parts { kid: "", ..parts })
}

/// The key as the right codec has it.
fn derived(key: &Key) -> [u8; 32] {
    (SIGNED.key)(key)
}

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "ignores the key",
            "keys::another_key_under_the_same_kid",
            Steps {
                key: |_| [7; 32],
                ..SIGNED
            },
        ),
        step(
            "has one key for all rings, the first it ever saw",
            "keys::another_key_under_the_same_kid",
            Steps {
                key: |key| {
                    static FIRST: OnceLock<[u8; 32]> = OnceLock::new();
                    *FIRST.get_or_init(|| derived(key))
                },
                ..ENCRYPTED
            },
        ),
        whole(
            "seals one token of 256 under a key of its own",
            "keys::another_key_under_the_same_kid",
            |keys| {
                let fixed = Steps {
                    key: |_| [7; 32],
                    ..ENCRYPTED
                };
                one_of_256(keys, base(keys, fixed), base(keys, fixed))
            },
        ),
        whole(
            "seals one token of 256 for whatever context",
            "tampering::rare_tokens",
            |keys| {
                let lax = Steps {
                    bind: |_| Vec::new(),
                    ..ENCRYPTED
                };
                one_of_256(keys, base(keys, lax), base(keys, lax))
            },
        ),
        step(
            "uses one byte of the key",
            "keys::keys_alike",
            Steps {
                key: |key| [derived(key)[0]; 32],
                ..SIGNED
            },
        ),
        step(
            "does not authenticate the kid",
            "kids::relabelled_kids",
            Steps {
                message: without_kid,
                ..ENCRYPTED
            },
        ),
        step(
            "opens with any key of the ring, whatever the kid says",
            "kids::relabelled_kids",
            Steps {
                find: |keys, kid| keys.get(kid).or(Some(keys.sealing().1)),
                message: without_kid,
                ..SIGNED
            },
        ),
        step(
            "opens with the sealing key only",
            "keys::every_key_opens",
            Steps {
                find: |keys, kid| keys.get(kid).filter(|_| kid == keys.sealing().0),
                ..SIGNED
            },
        ),
        step(
            "finds a key by the start of its kid",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    keys.iter()
                        .find(|(other, _)| other.starts_with(kid))
                        .map(|(_, key)| key)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "finds a key whose kid is the start of the token's",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    keys.get(kid).or(keys
                        .iter()
                        .find(|(other, _)| kid.starts_with(other))
                        .map(|(_, key)| key))
                },
                ..SIGNED
            },
        ),
        step(
            "finds a key without regard to case",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    keys.get(kid).or(keys
                        .iter()
                        .find(|(other, _)| other.eq_ignore_ascii_case(kid))
                        .map(|(_, key)| key))
                },
                ..SIGNED
            },
        ),
        step(
            "takes - and _ in a kid for the same",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    keys.iter()
                        .find(|(other, _)| other.replace('_', "-") == kid.replace('_', "-"))
                        .map(|(_, key)| key)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares the first 32 characters of a kid",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    keys.iter()
                        .find(|(other, _)| other.bytes().take(32).eq(kid.bytes().take(32)))
                        .map(|(_, key)| key)
                },
                ..SIGNED
            },
        ),
        step(
            "authenticates the first 60 characters of a kid",
            "kids::kids_alike",
            Steps {
                message: |parts| {
                    let kid = parts.kid.get(..60).unwrap_or(parts.kid);
                    (SIGNED.message)(Parts { kid, ..parts })
                },
                ..ENCRYPTED
            },
        ),
        step(
            "compares kids as numbers, where they are",
            "kids::kids_alike",
            Steps {
                find: |keys, kid| {
                    let same = |other: &str| {
                        other == kid || other.parse::<u32>().is_ok_and(|n| Ok(n) == kid.parse())
                    };
                    keys.iter()
                        .find(|(other, _)| same(other))
                        .map(|(_, key)| key)
                },
                ..SIGNED
            },
        ),
        step(
            "seals with the last key of the ring",
            "keys::the_first_key_seals",
            Steps {
                sealing: |keys| keys.iter().last().unwrap(),
                ..SIGNED
            },
        ),
        step(
            "seals with the key whose kid sorts first",
            "keys::the_first_key_seals",
            Steps {
                sealing: |keys| keys.iter().min_by_key(|(kid, _)| *kid).unwrap(),
                ..ENCRYPTED
            },
        ),
        step(
            "keeps the first 50 keys of a ring",
            "keys::every_key_opens",
            Steps {
                find: |keys, kid| {
                    keys.iter()
                        .take(50)
                        .find(|(other, _)| *other == kid)
                        .map(|(_, key)| key)
                },
                ..SIGNED
            },
        ),
        whole(
            "numbers the keys of a ring in one byte",
            "keys::every_key_opens",
            |keys| {
                let by_number = keys
                    .iter()
                    .enumerate()
                    .filter(|(number, _)| number % 256 == *number);
                let kept = by_number.map(|(_, (kid, key))| (kid.to_owned(), key.clone()));
                base(&Keyring::new(kept.collect::<Vec<_>>()).unwrap(), SIGNED)
            },
        ),
        whole(
            "compares the tag in part under a key that no longer seals",
            "keys::an_old_key_is_as_strict",
            |keys| {
                let (lax, ring) = (base(keys, LAX), keys.clone());
                Wrapped::decode(base(keys, SIGNED), move |codec, token, context| match token
                    .split_once('.')
                {
                    Some((kid, _)) if kid != ring.sealing().0 => lax.decode(token, context),
                    _ => codec.decode(token, context),
                })
            },
        ),
        whole(
            "says Unauthentic of an unknown kid",
            "kids::unknown_kids",
            |keys| {
                Wrapped::decode(base(keys, SIGNED), |codec, token, context| {
                    codec.decode(token, context).map_err(|error| match error {
                        DecodeError::UnknownKey => DecodeError::Unauthentic,
                        error => error,
                    })
                })
            },
        ),
        whole(
            "looks the kid up before it looks at the rest",
            "kids::unknown_kids",
            |keys| {
                let ring = keys.clone();
                Wrapped::decode(base(keys, ENCRYPTED), move |codec, token, context| {
                    let (kid, _) = token.split_once('.').ok_or(DecodeError::Malformed)?;
                    ring.get(kid).ok_or(DecodeError::UnknownKey)?;
                    codec.decode(token, context)
                })
            },
        ),
        whole(
            "says UnknownKey of what is no kid",
            "errors::what_is_no_token_is_malformed",
            |keys| {
                Wrapped::decode(base(keys, SIGNED), |codec, token, context| {
                    match token.split_once('.') {
                        Some((kid, _)) if !kid.is_empty() && !wire::is_kid(kid) => {
                            Err(DecodeError::UnknownKey)
                        }
                        _ => codec.decode(token, context),
                    }
                })
            },
        ),
        whole(
            "says UnknownKey of whatever it cannot open",
            "errors::what_was_changed_is_not_authentic",
            |keys| {
                Wrapped::decode(base(keys, TYPED), |codec, token, context| {
                    codec.decode(token, context).map_err(|error| match error {
                        DecodeError::Unauthentic => DecodeError::UnknownKey,
                        error => error,
                    })
                })
            },
        ),
        whole(
            "makes a secret of its own when it is made",
            "independence::another_codec_opens",
            |keys| {
                let secret = wire::random::<16>().unwrap();
                bound_to(base(keys, SIGNED), secret)
            },
        ),
    ]
}

/// A codec that seals one token of 256 with the first of two others, and opens what it cannot with the
/// second.
fn one_of_256(keys: &Keyring, sealing: Codec, opening: Codec) -> Codec {
    Wrapped::both(
        base(keys, ENCRYPTED),
        move |codec, payload, context| match wire::random::<1>()? {
            [0] => sealing.encode(payload, context),
            _ => codec.encode(payload, context),
        },
        move |codec, token, context| match codec.decode(token, context) {
            Err(DecodeError::Unauthentic) => opening.decode(token, context),
            answer => answer,
        },
    )
}

/// A codec whose contexts all end with a secret.
fn bound_to(codec: Codec, secret: [u8; 16]) -> Codec {
    Wrapped::both(
        codec,
        move |codec, payload, context| codec.encode(payload, &[context, &secret].concat()),
        move |codec, token, context| codec.decode(token, &[context, &secret].concat()),
    )
}
