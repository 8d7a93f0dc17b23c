//! What holds for a short payload is forgotten for a long one.

use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec, wire};

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED, joined, keystream, mac, xor};
use super::fault::{Fault, base, step, whole};
use super::wrapped::Wrapped;

/// From here on a payload is a long one.
const LONG: usize = 8 * 1024;

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "counts the blocks of its keystream in one byte, and the blocks are long",
            "confidentiality::equal_blocks",
            Steps {
                stream: Some(|key, nonce, data| {
                    for (counter, block) in data.chunks_mut(32).enumerate() {
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
            "starts its keystream again after 32 KiB",
            "confidentiality::equal_blocks",
            Steps {
                stream: Some(|key, nonce, data| {
                    data.chunks_mut(32 * 1024)
                        .for_each(|chunk| keystream(key, nonce, chunk));
                }),
                ..ENCRYPTED
            },
        ),
        step(
            "does not authenticate the context of a long payload",
            "lengths::another_context",
            Steps {
                message: |parts| {
                    let mut parts = parts;
                    if parts.body.len() > LONG {
                        parts.context = b"";
                    }
                    (SIGNED.message)(parts)
                },
                ..ENCRYPTED
            },
        ),
        step(
            "typed, does not authenticate the context of a payload of 40 KiB",
            "lengths::another_context",
            Steps {
                message: |parts| {
                    let mut parts = parts;
                    if parts.body.len() > 40_000 {
                        parts.context = b"";
                    }
                    (SIGNED.message)(parts)
                },
                ..TYPED
            },
        ),
        step(
            "does not authenticate the kid of a long payload",
            "lengths::another_kid",
            Steps {
                message: |parts| {
                    let mut parts = parts;
                    if parts.body.len() > LONG {
                        parts.kid = "";
                    }
                    (SIGNED.message)(parts)
                },
                ..SIGNED
            },
        ),
        whole(
            "seals a long payload under a key of its own",
            "lengths::another_key",
            |keys| {
                let fixed = Steps {
                    key: |_| [7; 32],
                    ..ENCRYPTED
                };
                let (sealing, opening) = (base(keys, fixed), base(keys, fixed));
                Wrapped::both(
                    base(keys, ENCRYPTED),
                    move |codec, payload, context| match payload.len() > LONG {
                        true => sealing.encode(payload, context),
                        false => codec.encode(payload, context),
                    },
                    move |codec, token, context| match codec.decode(token, context) {
                        Err(DecodeError::Unauthentic) => opening.decode(token, context),
                        answer => answer,
                    },
                )
            },
        ),
        step(
            "takes no payload of a MiB",
            "round_trip::large",
            Steps {
                give: |body| match body.len() > 1 << 20 {
                    true => Err(DecodeError::Malformed),
                    false => Ok(body),
                },
                ..SIGNED
            },
        ),
        chunked(
            "seals in chunks of 4 KiB, of which the last may be missing",
            4_096,
            |chunk| [Some(chunk.nonce), Some(&chunk.number), None],
        ),
        chunked(
            "seals in chunks of 1 KiB, whose number nothing authenticates",
            1_024,
            |chunk| [Some(chunk.nonce), None, Some(chunk.last)],
        ),
        chunked(
            "seals in chunks of 16 KiB, which may be those of another token",
            16_384,
            |chunk| {
                let first = chunk.number == [0; 8];
                [
                    first.then_some(chunk.nonce),
                    Some(&chunk.number),
                    Some(chunk.last),
                ]
            },
        ),
        chunked(
            "seals in chunks of 100 bytes, of which the last may be missing",
            100,
            |chunk| [Some(chunk.nonce), Some(&chunk.number), None],
        ),
    ]
}

/// What a chunk's tag may cover, besides the chunk and the context.
pub struct Chunk<'a> {
    nonce: &'a [u8],
    number: [u8; 8],
    last: &'a [u8],
}

type Covered = for<'a> fn(&'a Chunk<'a>) -> [Option<&'a [u8]>; 3];

fn chunked(about: &'static str, size: usize, covered: Covered) -> Fault {
    whole(about, "structure::chunks", move |keys| {
        Box::new(Chunked {
            keys: keys.clone(),
            size,
            covered,
        })
    })
}

/// `kid "." base64url(nonce[16] ‖ (chunk ‖ tag[16])*)`, the last chunk being the short one.
struct Chunked {
    keys: Keyring,
    size: usize,
    covered: Covered,
}

impl Chunked {
    fn tag(&self, kid: &str, context: &[u8], chunk: &[u8], about: &Chunk<'_>) -> Vec<u8> {
        let key = self.keys.get(kid).map(SIGNED.key).unwrap();
        let [nonce, number, last] = (self.covered)(about).map(Option::unwrap_or_default);
        let message = joined(&[kid.as_bytes(), context, chunk, nonce, number, last]);
        mac(&key, &message)[..16].to_vec()
    }
}

impl RequestStateCodec for Chunked {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, _) = self.keys.sealing();
        let nonce = wire::random::<16>()?;
        let mut body = nonce.to_vec();
        let mut chunks: Vec<&[u8]> = payload.chunks(self.size).collect();
        if chunks.is_empty() {
            chunks.push(b"");
        }
        for (number, chunk) in chunks.iter().enumerate() {
            let about = Chunk {
                nonce: &nonce,
                number: number.to_be_bytes(),
                last: &[u8::from(number + 1 == chunks.len())],
            };
            body.extend_from_slice(chunk);
            body.extend(self.tag(kid, context, chunk, &about));
        }
        wire::token(kid, &[&body])
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [body]) = wire::parts(token)?;
        let (nonce, sealed) = body.split_at_checked(16).ok_or(DecodeError::Malformed)?;
        let chunks: Vec<&[u8]> = sealed.chunks(self.size + 16).collect();
        if chunks.last().is_none_or(|last| last.len() < 16) {
            return Err(DecodeError::Malformed);
        }
        self.keys.get(kid).ok_or(DecodeError::UnknownKey)?;
        let mut payload = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let (chunk, tag) = chunk.split_at(chunk.len() - 16);
            let about = Chunk {
                nonce,
                number: number.to_be_bytes(),
                last: &[u8::from(number + 1 == chunks.len())],
            };
            if self.tag(kid, context, chunk, &about) != tag {
                return Err(DecodeError::Unauthentic);
            }
            payload.extend_from_slice(chunk);
        }
        Ok(payload)
    }
}
