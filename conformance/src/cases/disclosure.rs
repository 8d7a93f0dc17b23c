//! Through a [`Sealer`]: what a refusal says, and which one it is.

use std::sync::Mutex;
use std::time::Duration;

use request_state_core::{
    DecodeError, Disclosure, EncodeError, OpenError, RequestStateCodec, Sealer,
};

use super::binding::Asked;
use super::policy::{is, noon, typed};
use crate::edits;
use crate::kit::{Codec, Kit, encode};
use crate::stop::{Verdict, ensure};

pub(crate) fn the_first_check_decides(kit: &Kit<'_>) -> Verdict {
    let sealer = typed(kit)?.build()?;
    let right = Asked::new();
    let wrong = Asked {
        principal: Some("user:mallory"),
        ..Asked::new()
    };
    let (binding, other) = (right.binding()?, wrong.binding()?);
    let codec = kit.codec()?;
    // Whether the sealer can tell another principal's token from a forgery.
    let mismatch = if codec.encrypts() || codec.disclosure() == Disclosure::Typed {
        OpenError::Mismatch
    } else {
        OpenError::Invalid
    };
    let token = sealer.seal_at(&1, &binding, noon())?;
    let changed = format!("{token}=");
    let (late, early) = (
        noon() + Duration::from_secs(900),
        noon() - Duration::from_secs(900),
    );
    is(
        sealer.open_at(&changed, &other, late),
        Err(OpenError::Invalid),
        "malformed, another's, too late",
    )?;
    is(
        sealer.open_at(&token, &other, late),
        Err(mismatch),
        "another's, too late",
    )?;
    is(
        sealer.open_at(&token, &other, early),
        Err(mismatch),
        "another's, minted ahead",
    )?;
    let as_text = |result: Result<String, OpenError>| result.map(|_| 0);
    is(
        as_text(sealer.open_at(&token, &other, noon())),
        Err(mismatch),
        "another's, another type",
    )?;
    is(
        as_text(sealer.open_at(&token, &binding, late)),
        Err(OpenError::Expired),
        "too late, another type",
    )?;
    is(
        as_text(sealer.open_at(&token, &binding, noon())),
        Err(OpenError::Invalid),
        "another type",
    )?;
    is(
        sealer.open_at(&token, &binding, noon()),
        Ok(1),
        "after all refusals",
    )
}

pub(crate) fn opaque_refusals(kit: &Kit<'_>) -> Verdict {
    let sealer = Sealer::builder("billing", kit.codec()?)
        .disclosure(Disclosure::Opaque)
        .build()?;
    let asked = Asked::new();
    let binding = asked.binding()?;
    let token = sealer.seal_at(&1, &binding, noon())?;
    let late = noon() + Duration::from_secs(900);
    let invalid = Err(OpenError::Invalid);
    is(
        sealer.open_at(&token, &binding, noon()),
        Ok(1),
        "the token itself",
    )?;
    is(sealer.open_at("junk", &binding, noon()), invalid, "junk")?;
    is(sealer.open_at(&token, &binding, late), invalid, "too late")?;
    for other in [
        Asked {
            principal: None,
            ..asked.clone()
        },
        Asked {
            params: [].into(),
            ..asked.clone()
        },
        Asked {
            method: "prompts/get",
            ..asked.clone()
        },
    ] {
        is(
            sealer.open_at(&token, &other.binding()?, noon()),
            invalid,
            "for another request",
        )?;
    }
    // Unless told otherwise, a sealer is as its codec says.
    let codec = kit.codec()?;
    let expected = match codec.disclosure() {
        Disclosure::Typed => OpenError::Expired,
        Disclosure::Opaque => OpenError::Invalid,
    };
    let plain = Sealer::new("billing", codec)?;
    is(
        plain.open_at(&token, &binding, late),
        Err(expected),
        "with the disclosure of the codec",
    )
}

pub(crate) fn one_text(kit: &Kit<'_>) -> Verdict {
    let sealer = typed(kit)?.build()?;
    let (right, wrong) = (
        Asked::new(),
        Asked {
            principal: None,
            ..Asked::new()
        },
    );
    let token = sealer.seal_at(&1, &right.binding()?, noon())?;
    let late = noon() + Duration::from_secs(900);
    for result in [
        sealer.open_at::<u32>("junk", &right.binding()?, noon()),
        sealer.open_at::<u32>(&token, &wrong.binding()?, noon()),
        sealer.open_at::<u32>(&token, &right.binding()?, late),
    ] {
        let text = result.map_or_else(|error| error.to_string(), |_| "(it opened)".into());
        ensure(text == OpenError::MESSAGE, || {
            format!("a refusal says {text:?}")
        })?;
    }
    Ok(())
}

pub(crate) fn every_edit_is_invalid(kit: &Kit<'_>) -> Verdict {
    let sealer = typed(kit)?.build()?;
    let binding = Asked::new().binding()?;
    let token = sealer.seal_at(&1, &binding, noon())?;
    for edit in kit.paced(edits::sample(&token, 700)) {
        is(
            sealer.open_at(&edit.token, &binding, noon()),
            Err(OpenError::Invalid),
            &edit.about,
        )?;
    }
    is(
        sealer.open_at(&token, &binding, noon()),
        Ok(1),
        "after all edits",
    )
}

/// Passes everything on, and keeps the context and the payload that came by.
struct Spy<'a> {
    codec: &'a Codec<'a>,
    seen: Mutex<(Vec<u8>, Vec<u8>)>,
}

impl RequestStateCodec for Spy<'_> {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        if let Ok(mut seen) = self.seen.lock() {
            *seen = (payload.to_vec(), context.to_vec());
        }
        self.codec.encode(payload, context)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        self.codec.decode(token, context)
    }

    fn encrypts(&self) -> bool {
        self.codec.encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        self.codec.disclosure()
    }
}

pub(crate) fn authentic_and_unusable(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let spy = Spy {
        codec: &codec,
        seen: Mutex::default(),
    };
    let sealer = Sealer::builder("billing", &spy)
        .disclosure(Disclosure::Typed)
        .build()?;
    let binding = Asked::new().binding()?;
    let token = sealer.seal_at(&1, &binding, noon())?;
    is(
        sealer.open_at(&token, &binding, noon()),
        Ok(1),
        "the token itself",
    )?;
    let (payload, context) = spy.seen.lock().map(|seen| seen.clone()).unwrap_or_default();
    // Somebody with the key, or an older version of a server: authentic, and not of this layout.
    for kept in 0..payload.len() {
        let cut = payload.get(..kept).unwrap_or_default();
        let token = encode(&codec, cut, &context)?;
        is(
            sealer.open_at(&token, &binding, noon()),
            Err(OpenError::Invalid),
            "an authentic payload, cut",
        )?;
    }
    for version in [0, 2, 255] {
        let mut other = payload.clone();
        other.iter_mut().take(1).for_each(|byte| *byte = version);
        let token = encode(&codec, &other, &context)?;
        is(
            sealer.open_at(&token, &binding, noon()),
            Err(OpenError::Invalid),
            "an authentic payload of another version",
        )?;
    }
    let longer = encode(&codec, &[&payload[..], b" x"].concat(), &context)?;
    is(
        sealer.open_at(&longer, &binding, noon()),
        Err(OpenError::Invalid),
        "an authentic payload, and more",
    )
}
