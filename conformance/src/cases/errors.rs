//! The kind of error for each rejection. The operator's log depends on it, and with a typed codec
//! so does the caller.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

use request_state_core::{DecodeError, Disclosure, RequestStateCodec};

use crate::edits;
use crate::edits::Edit;
use crate::kit::{Genuine, Kit, encode, must_open, show, show_bytes};
use crate::random::Random;
use crate::rings::{KIDS, ring, ring_of};
use crate::stop::{Stop, Verdict, ensure};
use crate::token::FOREIGN;

const CONTEXT: &[u8] = b"context";

/// Some contexts that no other case uses.
const OTHERS: [&[u8]; 8] = [
    b"",
    b"\0",
    b"contex",
    b"context2",
    b"CONTEXT",
    b"another",
    b"a context that is a good deal longer than the other ones",
    &[0xff; 300],
];

fn answers(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    about: &str,
    fits: impl Fn(&DecodeError) -> bool,
) -> Verdict {
    match codec.decode(token, context) {
        Err(error) if fits(&error) => Ok(()),
        Err(error) => Err(Stop::Failed(format!(
            "{about}: decoding returned {error:?} (token {}, context {})",
            show(token),
            show_bytes(context)
        ))),
        Ok(_) => Err(Stop::Failed(format!(
            "{about}: it decoded (token {})",
            show(token)
        ))),
    }
}

pub(crate) fn what_is_no_token_is_malformed(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let token = Genuine::new(&codec, b"payload", CONTEXT)?.text;
    let is_malformed = |error: &DecodeError| matches!(error, DecodeError::Malformed);
    answers(&codec, "", CONTEXT, "an empty string", is_malformed)?;
    for foreign in FOREIGN.chars() {
        let about = format!("a token with {foreign:?}, which is not allowed in a token");
        let behind = format!("{token}{foreign}");
        answers(&codec, &behind, CONTEXT, &about, is_malformed)?;
        let last = token.len() - 2;
        let inside = edits::splice(&token, last, last + 1, foreign.encode_utf8(&mut [0; 4]));
        answers(&codec, &inside, CONTEXT, &about, is_malformed)?;
        answers(&codec, &inside, b"another", &about, is_malformed)?;
        // In the kid, if the token has one. A kid with such a character is malformed, not unknown.
        let in_front = edits::splice(&token, 0, 1, foreign.encode_utf8(&mut [0; 4]));
        answers(&codec, &in_front, CONTEXT, &about, is_malformed)?;
        let alone = foreign.to_string().repeat(40);
        answers(&codec, &alone, CONTEXT, &about, is_malformed)?;
    }
    Ok(())
}

pub(crate) fn what_was_changed_is_not_authentic(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    // A change within an encoded part keeps the kid, so the kid cannot be unknown. The codec
    // decides whether the token is still well-formed.
    for edit in kit.paced(edits::bits(&genuine.pieces())) {
        answers(&codec, &edit.token, CONTEXT, &edit.about, |error| {
            matches!(error, DecodeError::Unauthentic | DecodeError::Malformed)
                || (matches!(error, DecodeError::UnknownKey) && !edit.token.starts_with(KIDS[0]))
        })?;
    }
    Ok(())
}

pub(crate) fn what_is_inside_decides_nothing(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    if !codec.encrypts() {
        return Err(Stop::NotApplicable(
            "encrypts() is false: the payload may be read",
        ));
    }
    for length in [21, 32] {
        // Payloads that end like a padding, payloads of text, and others.
        let alike = [0, 1, 2, 16, b'a', 0x80, 0xff].map(|byte| vec![byte; length]);
        let payloads = alike
            .into_iter()
            .chain((0..24).map(|seed| Random::new(150 + seed).bytes(length)));
        // The error that an edit results in, by the edit and by the length of the edited token.
        let mut answers: HashMap<(String, usize), Discriminant<DecodeError>> = HashMap::new();
        for payload in kit.paced(payloads.collect()) {
            let token = Genuine::new(&codec, &payload, CONTEXT)?.pieces();
            let mut edits = edits::bits(&token);
            for index in token.encoded_indices() {
                let of_part = token.parts.get(index).map_or(0, |part| part.bytes.len());
                edits.extend((0..of_part).map(|kept| {
                    Edit::new(
                        format!("the first {kept} bytes of part {index}"),
                        token.with_part(index, |bytes| bytes.truncate(kept)),
                    )
                }));
            }
            for Edit { about, token } in edits {
                let Err(error) = codec.decode(&token, CONTEXT) else {
                    return Err(Stop::Failed(format!("{about}: it decoded")));
                };
                let now = discriminant(&error);
                let before = *answers.entry((about.clone(), token.len())).or_insert(now);
                ensure(before == now, || {
                    format!(
                        "{about}: decoding returned {error:?}, and another error for a token with another payload: the error reveals something about the payload"
                    )
                })?;
            }
        }
    }
    Ok(())
}

pub(crate) fn another_key_is_not_authentic(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let theirs = kit.codec_of(&ring_of([(KIDS[0], Random::new(110).key())])?);
    for length in [0, 1, 40] {
        let token = encode(&theirs, &vec![b'p'; length], CONTEXT)?;
        for context in OTHERS.into_iter().chain([CONTEXT]) {
            answers(
                &codec,
                &token,
                context,
                "a token of the right form, sealed with another key under the same kid",
                // A codec may derive its own key names, and then this key is unknown to it.
                |error| match error {
                    DecodeError::Unauthentic => true,
                    DecodeError::UnknownKey => !token.starts_with(KIDS[0]),
                    _ => false,
                },
            )?;
        }
    }
    Ok(())
}

pub(crate) fn another_context(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    let codec = kit.codec_of(&keys);
    // With the sealing key, and with a key that no longer seals.
    let old = kit.codec_of(&keys.sealing_with(KIDS[1])?);
    let disclosure = codec.disclosure();
    let fits = |error: &DecodeError| match disclosure {
        Disclosure::Typed => matches!(error, DecodeError::OtherContext),
        Disclosure::Opaque => matches!(error, DecodeError::Unauthentic),
    };
    for length in [0, 1, 16, 300, 5_000] {
        let payload = Random::new(111).bytes(length);
        let contexts = || OTHERS.into_iter().chain([CONTEXT]);
        for (sealer, sealed) in [&codec, &old]
            .into_iter()
            .flat_map(|sealer| contexts().map(move |sealed| (sealer, sealed)))
        {
            let token = encode(sealer, &payload, sealed)?;
            for opened in contexts().filter(|opened| *opened != sealed) {
                let about = format!(
                    "the codec's own token under another context, with the disclosure {disclosure:?}"
                );
                answers(&codec, &token, opened, &about, fits)?;
            }
            must_open(
                &codec,
                &token,
                sealed,
                &payload,
                "under its own context again",
            )?;
        }
    }
    Ok(())
}

pub(crate) fn a_forgery_is_not_of_another_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let fits = |error: &DecodeError| {
        matches!(
            error,
            DecodeError::Malformed | DecodeError::UnknownKey | DecodeError::Unauthentic
        )
    };
    // A check of a single byte accepts one in 256 forgeries. A thousand forgeries would sometimes
    // miss it.
    let mut forged = Vec::new();
    for number in 0..4 {
        let payload = format!("pay {number}00\0");
        let one = Genuine::new(&codec, payload.as_bytes(), CONTEXT)?;
        let other = Genuine::new(&codec, b"pay 999\0", b"another")?;
        forged.extend(edits::sample(&one.text, 1_000));
        let pieces = edits::pieces(&one.pieces(), &other.pieces());
        let step = (pieces.len() / 1_000).max(1);
        forged.extend(pieces.into_iter().step_by(step));
    }
    for edit in kit.paced_for(Duration::from_secs(10), forged) {
        for context in [CONTEXT, b"another", b"a third"] {
            answers(&codec, &edit.token, context, &edit.about, fits)?;
        }
    }
    Ok(())
}
