//! Tokens forged from genuine ones by an attacker who understands how they are authenticated. If
//! parts are joined without their lengths, or with lengths that wrap, the same bytes have a second
//! meaning.
//!
//! An attacker does not choose a context directly. But contexts are built from requests, and the
//! attacker chooses the requests.

use request_state_core::RequestStateCodec;

use crate::kit::{Genuine, Kit, must_open, must_refuse, show_bytes};
use crate::random::Random;
use crate::stop::{Stop, Verdict};
use crate::token::Token;

const UNREADABLE: Stop = Stop::NotApplicable("the payload is not readable in the token");

/// A genuine token whose payload can be replaced.
struct Readable {
    genuine: Genuine,
    token: Token,
    part: usize,
    offset: usize,
}

impl Readable {
    fn new(codec: &dyn RequestStateCodec, payload: &[u8], context: &[u8]) -> Result<Self, Stop> {
        let genuine = Genuine::new(codec, payload, context)?;
        let token = genuine.pieces();
        let (part, offset) = token.find(payload).ok_or(UNREADABLE)?;
        Ok(Self {
            genuine,
            token,
            part,
            offset,
        })
    }

    /// Fails if the token opens under another context after its payload was replaced with another.
    fn must_not_pass_for(
        &self,
        codec: &dyn RequestStateCodec,
        payload: &[u8],
        context: &[u8],
        about: &str,
    ) -> Verdict {
        let end = self.offset + self.genuine.payload.len();
        let mut forged = self
            .token
            .parts
            .get(self.part)
            .map_or(Vec::new(), |part| part.bytes.clone());
        forged.splice(self.offset..end, payload.iter().copied());
        for forged in with_lengths(forged, self.genuine.payload.len(), payload.len()) {
            let forged = self.token.with_part(self.part, |bytes| *bytes = forged);
            if forged == self.genuine.text {
                continue;
            }
            must_refuse(codec, &forged, context, || {
                format!(
                    "{about}: sealed {} under {}, edited to {} and opened under {}",
                    show_bytes(&self.genuine.payload),
                    show_bytes(&self.genuine.context),
                    show_bytes(payload),
                    show_bytes(context)
                )
            })?;
        }
        Ok(())
    }
}

pub(crate) fn payload_and_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let (payload, context) = (Random::new(50).bytes(24), Random::new(51).bytes(24));
    let token = Readable::new(&codec, &payload, &context)?;
    let joined = [&payload[..], &context].concat();
    let reversed = [&context[..], &payload].concat();
    for at in 0..=joined.len() {
        let (left, right) = (joined.get(..at), joined.get(at..));
        let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
        token.must_not_pass_for(
            &codec,
            left,
            right,
            "the border between payload and context moved",
        )?;
        let (left, right) = (reversed.get(..at), reversed.get(at..));
        let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
        token.must_not_pass_for(
            &codec,
            right,
            left,
            "the border between context and payload moved",
        )?;
    }
    token.must_not_pass_for(&codec, &context, &payload, "payload and context exchanged")
}

pub(crate) fn separators(kit: &Kit<'_>) -> Verdict {
    const SEPARATORS: [&[u8]; 24] = [
        b"\0", b".", b"|", b":", b",", b";", b"\n", b"\r\n", b"/", b" ", b"-", b"_", b"&", b"=",
        b"#", b"$", b"\t", b"\x1e", b"\x1f", b"\xff", b"||", b"::", b"--", b"\0\0",
    ];
    let codec = kit.codec()?;
    for separator in kit.paced(SEPARATORS.to_vec()) {
        let join = |left: &[u8], right: &[u8]| [left, separator, right].concat();
        let about = format!("joined by {}", show_bytes(separator));
        // payload ‖ separator ‖ context, where one of them already contains the separator.
        let token = Readable::new(&codec, b"pay", &join(b"one", b"two"))?;
        token.must_not_pass_for(&codec, &join(b"pay", b"one"), b"two", &about)?;
        let token = Readable::new(&codec, &join(b"pay", b"one"), b"two")?;
        token.must_not_pass_for(&codec, b"pay", &join(b"one", b"two"), &about)?;
        // The same in reverse order.
        let token = Readable::new(&codec, &join(b"one", b"pay"), b"two")?;
        token.must_not_pass_for(&codec, b"pay", &join(b"two", b"one"), &about)?;
        let token = Readable::new(&codec, b"pay", &join(b"two", b"one"))?;
        token.must_not_pass_for(&codec, &join(b"one", b"pay"), b"two", &about)?;
    }
    Ok(())
}

pub(crate) fn lengths_that_wrap(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for width in [1usize, 2] {
        let wrap = 1usize << (8 * width);
        for big_endian in [true, false] {
            let length = |bytes: &[u8]| -> Vec<u8> {
                let length = bytes.len() as u64;
                if big_endian {
                    length.to_be_bytes().into_iter().skip(8 - width).collect()
                } else {
                    length.to_le_bytes().into_iter().take(width).collect()
                }
            };
            let about = format!("a length of {width} bytes wraps");
            let filler = Random::new(52).bytes(wrap - width);
            let (first, second) = (&b"pay 1"[..], &b"context!"[..]);
            // The longer second part is the rest of a longer first part, a length, and a shorter
            // second part. With either, n(a) a n(b) b is the same sequence of bytes.
            let longer_second = [&filler[..], &length(second), second].concat();
            let longer_first = [first, &length(&longer_second), &filler].concat();
            // The payload before the context, and then in reverse order.
            let token = Readable::new(&codec, first, &longer_second)?;
            token.must_not_pass_for(&codec, &longer_first, second, &about)?;
            let token = Readable::new(&codec, &longer_first, second)?;
            token.must_not_pass_for(&codec, first, &longer_second, &about)?;
            let token = Readable::new(&codec, &longer_second, first)?;
            token.must_not_pass_for(&codec, second, &longer_first, &about)?;
            let token = Readable::new(&codec, second, &longer_first)?;
            token.must_not_pass_for(&codec, &longer_second, first, &about)?;
        }
    }
    Ok(())
}

/// The payload and the context of the next two cases. Both have the same length.
const PAYLOAD: &[u8] = b"payload 11!";
const CONTEXT: &[u8] = b"context 11!";

/// Forged tokens with the contexts under which they must not open.
type Forged = Vec<(String, Vec<u8>)>;

fn must_refuse_all(
    kit: &Kit<'_>,
    codec: &dyn RequestStateCodec,
    genuine: &Genuine,
    forged: Forged,
    about: &str,
) -> Verdict {
    for (token, context) in kit.paced(forged) {
        if token != genuine.text {
            let about = || format!("{about}, with the context {}", show_bytes(&context));
            must_refuse(codec, &token, &context, about)?;
        }
    }
    let Genuine {
        text,
        payload,
        context,
    } = genuine;
    must_open(codec, text, context, payload, "after all edits")
}

pub(crate) fn bytes_into_the_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, PAYLOAD, CONTEXT)?;
    let token = genuine.pieces();
    let mut forged = Forged::new();
    for index in token.encoded_indices() {
        let bytes = token.parts.get(index).map_or(&[][..], |part| &part.bytes);
        for (start, end) in
            (1..=bytes.len()).flat_map(|end| (0..end).map(move |start| (start, end)))
        {
            let taken = bytes.get(start..end).unwrap_or_default();
            let mut without = bytes.to_vec();
            without.drain(start..end);
            let left = PAYLOAD.len().saturating_sub(taken.len());
            for without in with_lengths(without, PAYLOAD.len(), left) {
                let without = token.with_part(index, |bytes| *bytes = without);
                forged.push((without.clone(), [taken, CONTEXT].concat()));
                forged.push((without, [CONTEXT, taken].concat()));
            }
            if taken.len() == CONTEXT.len() {
                let exchanged = token.with_part(index, |bytes| {
                    drop(bytes.splice(start..end, CONTEXT.iter().copied()));
                });
                forged.push((exchanged, taken.to_vec()));
            }
        }
    }
    must_refuse_all(
        kit,
        &codec,
        &genuine,
        forged,
        "bytes of the token moved into the context",
    )
}

pub(crate) fn bytes_out_of_the_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for separator in [&b""[..], b"\0", b".", b"|", b":", b",", b"\n", b"/", b" "] {
        // If there is a separator, the context already contains it.
        let context = [&b"ctx"[..], separator, b"more"].concat();
        let genuine = Genuine::new(&codec, PAYLOAD, &context)?;
        let token = genuine.pieces();
        let splits: Vec<usize> = match separator {
            [] => (0..=context.len()).collect(),
            _ => vec![3],
        };
        let mut forged = Forged::new();
        for (index, split) in token
            .encoded_indices()
            .into_iter()
            .flat_map(|index| splits.iter().map(move |split| (index, *split)))
        {
            let (head, tail) = context.split_at(split);
            let tail = tail.strip_prefix(separator).unwrap_or(tail);
            let bytes = token.parts.get(index).map_or(&[][..], |part| &part.bytes);
            for at in 0..=bytes.len() {
                for (moved, left) in [(head, tail), (tail, head)] {
                    for moved in [[moved, separator].concat(), [separator, moved].concat()] {
                        let more = PAYLOAD.len() + moved.len();
                        let mut with = bytes.to_vec();
                        with.splice(at..at, moved);
                        for with in with_lengths(with, PAYLOAD.len(), more) {
                            forged.push((
                                token.with_part(index, |bytes| *bytes = with),
                                left.to_vec(),
                            ));
                        }
                    }
                }
            }
        }
        must_refuse_all(
            kit,
            &codec,
            &genuine,
            forged,
            "bytes of the context moved into the token",
        )?;
    }
    Ok(())
}

/// Returns `bytes`, and variants in which each number that may be the length of the payload is set
/// to `new`. A token may contain that length without authenticating it.
fn with_lengths(bytes: Vec<u8>, old: usize, new: usize) -> Vec<Vec<u8>> {
    let small = old < 256 && new < 256;
    let widths = if small { &[1usize][..] } else { &[2, 4, 8] };
    let mut all = Vec::new();
    for width in widths {
        let spelled = |length: usize, big_endian: bool| -> Vec<u8> {
            let length = length as u64;
            if big_endian {
                length.to_be_bytes().into_iter().skip(8 - width).collect()
            } else {
                length.to_le_bytes().into_iter().take(*width).collect()
            }
        };
        for big_endian in [true, false] {
            let (from, to) = (spelled(old, big_endian), spelled(new, big_endian));
            let places = bytes.windows(*width).enumerate();
            for (at, _) in places.filter(|(_, window)| **window == from) {
                let mut changed = bytes.clone();
                changed.splice(at..at + width, to.iter().copied());
                all.push(changed);
            }
            if *width == 1 {
                break;
            }
        }
    }
    all.push(bytes);
    all
}
