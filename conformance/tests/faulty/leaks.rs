//! Small leaks of codecs that do encrypt.

use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec, wire};

use super::base::{Base, ENCRYPTED, SIGNED, Steps, joined, keystream, mac};
use super::fault::{Fault, step, whole};

pub fn faults() -> Vec<Fault> {
    vec![
        whole(
            "shows one bit of the payload in its nonce",
            "confidentiality::no_bit_is_visible",
            |keys| {
                nonce_of(keys, |payload, _| {
                    payload.first().map_or(0, |byte| byte & 1)
                })
            },
        ),
        whole(
            "shows the parity of the payload in its nonce",
            "confidentiality::no_bit_is_visible",
            |keys| {
                nonce_of(keys, |payload, _| {
                    (payload.iter().map(|byte| byte.count_ones()).sum::<u32>() % 2) as u8
                })
            },
        ),
        whole(
            "shows one bit of a hash of the context in its nonce",
            "keys::no_public_digest_of_the_context",
            |keys| nonce_of(keys, |_, context| mac(&[0; 32], context)[0] & 1),
        ),
        keyed_nonce(
            "has 8 bytes of its key and 8 random ones for a nonce",
            |key| {
                let random = wire::random::<8>().unwrap();
                let mut nonce = *key.first_chunk::<16>().unwrap();
                nonce[8..].copy_from_slice(&random);
                nonce
            },
        ),
        keyed_nonce("shows a hash of its key in its nonce", |key| {
            let mut nonce = wire::random::<16>().unwrap();
            nonce[..4].copy_from_slice(&mac(&[0; 32], key)[..4]);
            nonce
        }),
        keyed_nonce("shows one bit of its key in its nonce", |key| {
            let mut nonce = wire::random::<16>().unwrap();
            nonce[7] = nonce[7] & !0x10 | key[20] & 0x10;
            nonce
        }),
        step(
            "carries 16 bytes of its key in its tag",
            "appearance::the_key_is_not_visible",
            Steps {
                tag: |key, message| [&key[..16], &mac(key, message)].concat(),
                ..SIGNED
            },
        ),
        whole(
            "carries the key that no longer seals in its nonce",
            "appearance::the_key_is_not_visible",
            |keys| {
                let old = keys
                    .iter()
                    .last()
                    .map(|(_, key)| (SIGNED.key)(key))
                    .unwrap();
                let nonce = move || {
                    let mut nonce = wire::random::<16>().unwrap();
                    nonce[8..].copy_from_slice(&old[..8]);
                    nonce
                };
                with_nonce(keys, nonce)
            },
        ),
        whole(
            "tells wrong padding from a wrong tag",
            "errors::what_is_inside_decides_nothing",
            |keys| Box::new(TagInside(keys.clone(), padding)),
        ),
        whole(
            "tells what is no text from a wrong tag",
            "errors::what_is_inside_decides_nothing",
            |keys| {
                Box::new(TagInside(keys.clone(), |inside| {
                    inside.iter().take(4).any(|byte| *byte < 0x80)
                }))
            },
        ),
    ]
}

/// Encrypts, with a nonce that shows something of the key that seals.
fn keyed_nonce(about: &'static str, nonce: fn(&[u8; 32]) -> [u8; 16]) -> Fault {
    whole(about, "appearance::the_key_is_not_visible", move |keys| {
        let key = (ENCRYPTED.key)(keys.sealing().1);
        with_nonce(keys, move || nonce(&key))
    })
}

fn with_nonce(
    keys: &Keyring,
    nonce: impl Fn() -> [u8; 16] + Send + Sync + 'static,
) -> Box<dyn RequestStateCodec> {
    Box::new(Base {
        keys: keys.clone(),
        steps: ENCRYPTED,
        nonce: Some(Box::new(move |_, _| nonce())),
    })
}

/// Encrypts, with a nonce whose last bit says something.
fn nonce_of(keys: &Keyring, bit: fn(&[u8], &[u8]) -> u8) -> Box<dyn RequestStateCodec> {
    Box::new(Base {
        keys: keys.clone(),
        steps: ENCRYPTED,
        nonce: Some(Box::new(move |payload, context| {
            let mut nonce = wire::random::<16>().unwrap();
            nonce[15] = nonce[15] & !1 | bit(payload, context);
            nonce
        })),
    })
}

/// Whether `inside` ends in the padding of PKCS #7, to blocks of 16 bytes.
fn padding(inside: &[u8]) -> bool {
    let length = usize::from(inside.last().copied().unwrap_or(0));
    (1..=16).contains(&length)
        && inside
            .iter()
            .rev()
            .take(length)
            .all(|b| usize::from(*b) == length)
}

/// `kid "." base64url(nonce[16] ‖ encrypted(tag[32] ‖ payload ‖ padding))`: the tag is looked at last,
/// after what the function says of what was decrypted.
struct TagInside(Keyring, fn(&[u8]) -> bool);

impl RequestStateCodec for TagInside {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, key) = self.0.sealing();
        let key = (ENCRYPTED.key)(key);
        let length = 16 - payload.len() % 16;
        let padded = [payload, &vec![length as u8; length]].concat();
        let mut nonce = wire::random::<16>()?;
        loop {
            let tag = mac(&key, &joined(&[kid.as_bytes(), &nonce, &padded, context]));
            let mut inside = [&tag[..], &padded].concat();
            if (self.1)(&inside) {
                keystream(&key, &nonce, &mut inside);
                return wire::token(kid, &[&[&nonce[..], &inside].concat()]);
            }
            nonce = wire::random::<16>()?;
        }
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [bytes]) = wire::parts(token)?;
        let (nonce, inside) = bytes.split_at_checked(16).ok_or(DecodeError::Malformed)?;
        let key = (ENCRYPTED.key)(self.0.get(kid).ok_or(DecodeError::UnknownKey)?);
        let mut inside = inside.to_vec();
        keystream(&key, nonce, &mut inside);
        if !(self.1)(&inside) {
            return Err(DecodeError::Malformed);
        }
        let (tag, padded) = inside.split_at_checked(32).ok_or(DecodeError::Malformed)?;
        if mac(&key, &joined(&[kid.as_bytes(), nonce, padded, context])) != *tag {
            return Err(DecodeError::Unauthentic);
        }
        let length = usize::from(padded.last().copied().ok_or(DecodeError::Malformed)?);
        let at = padded
            .len()
            .checked_sub(length)
            .ok_or(DecodeError::Malformed)?;
        Ok(padded[..at].to_vec())
    }

    fn encrypts(&self) -> bool {
        true
    }
}
