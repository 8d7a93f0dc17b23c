//! No call affects another.

use std::thread;

use request_state_core::RequestStateCodec;

use crate::edits;
use crate::kit::{Genuine, Kit, encode, must_open, must_refuse, must_refuse_context};
use crate::random::Random;
use crate::rings::{ring, ring_of};
use crate::stop::{Verdict, ensure, panic_text};

const CONTEXT: &[u8] = b"context";

pub(crate) fn opens_again_and_again(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    for _ in 0..50 {
        must_open(&codec, &genuine.text, CONTEXT, b"payload", "opened before")?;
        encode(&codec, b"other", b"other")?;
    }
    Ok(())
}

pub(crate) fn refused_first(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    // First on a codec that has not opened anything, then on one that has.
    for primed in [false, true] {
        for (about, change) in [
            ("another context", None),
            ("junk", Some(String::new())),
            ("a changed token", Some("A".to_owned())),
        ] {
            let codec = kit.codec_of(&keys);
            let token = if primed {
                Genuine::new(&codec, b"payload", CONTEXT)?.text
            } else {
                encode(&codec, b"payload", CONTEXT)?
            };
            for _ in 0..3 {
                match &change {
                    None => must_refuse_context(&codec, &token, b"other", || about.into())?,
                    Some(more) if more.is_empty() => {
                        must_refuse(&codec, "junk", CONTEXT, || about.into())?
                    }
                    Some(more) => {
                        must_refuse(&codec, &format!("{token}{more}"), CONTEXT, || about.into())?;
                    }
                }
            }
            must_open(
                &codec,
                &token,
                CONTEXT,
                b"payload",
                &format!("after {about} was rejected"),
            )?;
        }
    }
    Ok(())
}

pub(crate) fn refused_thousands_of_times(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    let changed = edits::bits(&genuine.pieces());
    for at in kit.paced((0..2_500usize).collect()) {
        let token = changed
            .get(at % changed.len().max(1))
            .map_or("junk", |edit| &edit.token);
        must_refuse(&codec, token, CONTEXT, || "a changed token".into())?;
    }
    must_open(
        &codec,
        &genuine.text,
        CONTEXT,
        b"payload",
        "after thousands of rejections",
    )
}

pub(crate) fn changed_right_after_it_opened(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    for edit in kit.paced(edits::sample(&genuine.text, 1_000)) {
        must_open(
            &codec,
            &genuine.text,
            CONTEXT,
            b"payload",
            "the token itself",
        )?;
        must_refuse(&codec, &edit.token, CONTEXT, || {
            format!("{}, after the token itself", edit.about)
        })?;
    }
    for context in [
        &b""[..],
        b"CONTEXT",
        b"contexT",
        b"other",
        b"context2",
        b"xontext",
    ] {
        must_open(
            &codec,
            &genuine.text,
            CONTEXT,
            b"payload",
            "the token itself",
        )?;
        must_refuse_context(&codec, &genuine.text, context, || {
            "another context, after its own".into()
        })?;
    }
    Ok(())
}

pub(crate) fn in_any_order(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(60);
    let mut genuine = Vec::new();
    for number in 0..64usize {
        let payload = random.bytes(number % 20);
        // Some contexts have the same length, and some the same start.
        let context = format!("context {}", number % 16);
        let text = encode(&codec, &payload, context.as_bytes())?;
        genuine.push(Genuine {
            text,
            payload,
            context: context.into_bytes(),
        });
    }
    for _ in kit.paced((0..3_000).collect()) {
        let Some((one, other)) = genuine
            .get(random.below(64))
            .zip(genuine.get(random.below(64)))
        else {
            continue;
        };
        match random.below(4) {
            0 => must_open(
                &codec,
                &one.text,
                &one.context,
                &one.payload,
                "among many others",
            )?,
            1 if one.context != other.context => {
                must_refuse_context(&codec, &one.text, &other.context, || {
                    "the context of another token".into()
                })?;
            }
            2 => {
                let half = one.text.len() / 2;
                let mixed = edits::splice(
                    &one.text,
                    half,
                    usize::MAX,
                    &edits::splice(&other.text, 0, half, ""),
                );
                if mixed != one.text && mixed != other.text {
                    must_refuse(&codec, &mixed, &one.context, || {
                        "half of another token".into()
                    })?;
                }
            }
            _ => drop(encode(&codec, &other.payload, &one.context)?),
        }
    }
    Ok(())
}

pub(crate) fn thousands_outstanding(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut tokens = Vec::new();
    for number in kit.paced((0..2_100u32).collect()) {
        let payload = number.to_be_bytes();
        tokens.push((encode(&codec, &payload, CONTEXT)?, payload));
    }
    for (token, payload) in &tokens {
        must_open(
            &codec,
            token,
            CONTEXT,
            payload,
            "with thousands of tokens outstanding",
        )?;
    }
    Ok(())
}

pub(crate) fn another_codec_opens(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    for length in [0, 7, 300] {
        let payload = Random::new(61).bytes(length);
        let first = kit.codec_of(&keys);
        let token = encode(&first, &payload, CONTEXT)?;
        must_open(
            &kit.codec_of(&keys),
            &token,
            CONTEXT,
            &payload,
            "opened by a second codec",
        )?;
        drop(first);
        let later = kit.codec()?;
        must_open(
            &later,
            &token,
            CONTEXT,
            &payload,
            "opened after its codec was dropped",
        )?;
        // On a thread that has not handled the token before.
        let opened = thread::scope(|scope| {
            let opening = || {
                must_open(
                    &later,
                    &token,
                    CONTEXT,
                    &payload,
                    "opened on another thread",
                )
            };
            scope.spawn(opening).join()
        });
        opened.map_err(|panic| panic_text(&*panic))??;
    }
    Ok(())
}

pub(crate) fn another_codec_is_as_strict(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    for context in [CONTEXT, b""] {
        // A codec that has not sealed anything itself.
        let genuine = Genuine::new(&kit.codec_of(&keys), b"payload", context)?;
        genuine.must_be_strict(kit, &kit.codec_of(&keys))?;
    }
    Ok(())
}

pub(crate) fn codecs_share_nothing(kit: &Kit<'_>) -> Verdict {
    // The same kid, so that only the key distinguishes the two.
    let [ours, theirs] = [71, 72].map(|seed| ring_of([("a", Random::new(seed).key())]));
    let (us, them) = (kit.codec_of(&ours?), kit.codec_of(&theirs?));
    for _ in 0..20 {
        let one = Genuine::new(&us, b"payload", CONTEXT)?;
        must_refuse(&them, &one.text, CONTEXT, || {
            "just opened by a codec of another keyring".into()
        })?;
        let other = Genuine::new(&them, b"payload", CONTEXT)?;
        must_refuse(&us, &other.text, CONTEXT, || {
            "just opened by a codec of another keyring".into()
        })?;
        must_open(
            &us,
            &one.text,
            CONTEXT,
            b"payload",
            "after a codec of another keyring rejected it",
        )?;
    }
    Ok(())
}

pub(crate) fn pointers_to_a_codec(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let by_reference: &dyn RequestStateCodec = &&codec;
    let claims = (codec.encrypts(), codec.disclosure());
    let token = encode(&codec, b"payload", CONTEXT)?;
    let mut all = vec![(by_reference.encrypts(), by_reference.disclosure())];
    must_open(
        by_reference,
        &token,
        CONTEXT,
        b"payload",
        "through a reference",
    )?;
    let boxed = Box::new(&codec);
    all.push((boxed.encrypts(), boxed.disclosure()));
    must_open(&boxed, &token, CONTEXT, b"payload", "through a Box")?;
    let shared = std::sync::Arc::new(&codec);
    all.push((shared.encrypts(), shared.disclosure()));
    must_open(
        &shared,
        &encode(&shared, b"payload", CONTEXT)?,
        CONTEXT,
        b"payload",
        "through an Arc",
    )?;
    ensure(all.iter().all(|other| *other == claims), || {
        format!(
            "encrypts() and disclosure() return {claims:?} for the codec, and {all:?} through a reference, a Box and an Arc"
        )
    })
}
