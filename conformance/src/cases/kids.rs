//! Kids: each names one key and is authenticated.
//!
//! Most of these cases apply to codecs whose tokens start with their kid and a dot, like the codecs
//! of this library.

use request_state_core::{DecodeError, Keyring};

use crate::kit::keyed::{CONTEXT, PAYLOAD, opens, refuses, seal};
use crate::kit::{Codec, Genuine, Kit, encode, must_refuse, show};
use crate::random::Random;
use crate::rings::{KIDS, key, ring_of};
use crate::stop::{Stop, Verdict, ensure};
use crate::token::Token;

/// Returns `token` under another kid, if it starts with the kid that it is sealed under.
fn relabelled(token: &str, from: &str, to: &str) -> Option<String> {
    let rest = token.strip_prefix(from)?.strip_prefix('.')?;
    Some(format!("{to}.{rest}"))
}

pub(crate) fn relabelled_kids(kit: &Kit<'_>) -> Verdict {
    let keys = ring_of([("a", key(1)), ("ab", key(2)), ("b", key(3))])?;
    let codec = kit.codec_of(&keys);
    let token = seal(&codec)?;
    if relabelled(&token, "a", "b").is_none() {
        return Err(Stop::NotApplicable(
            "a token does not start with its kid and a dot",
        ));
    }
    for sealing in ["a", "ab", "b"] {
        let Some((_, same_key)) = keys.iter().find(|(kid, _)| *kid == sealing) else {
            continue;
        };
        let token = seal(&kit.codec_of(&keys.sealing_with(sealing)?))?;
        opens(&codec, &token, "before it was relabeled")?;
        for kid in ["a", "ab", "b", "c", "B", "A", "AB", "a-", "aa"] {
            let Some(moved) = relabelled(&token, sealing, kid).filter(|_| kid != sealing) else {
                continue;
            };
            refuses(
                &codec,
                &moved,
                &format!("relabeled from {sealing} to {kid}"),
            )?;
            // A keyring may have had the same key under another kid. The kid is part of the token.
            let renamed = kit.codec_of(&Keyring::new([(kid, same_key.clone())])?);
            let about = format!(
                "relabeled from {sealing} to {kid}, in a keyring that has the same key as {kid}"
            );
            refuses(&renamed, &moved, &about)?;
            refuses(
                &renamed,
                &token,
                "the kid is not in the keyring, although its key is",
            )?;
        }
    }
    Ok(())
}

pub(crate) fn a_kid_and_its_neighbours(kit: &Kit<'_>) -> Verdict {
    // "ab" and "c", or "a" and "bc"? All these kids have the same key, each in its own keyring.
    let alone = |kid| Ok::<_, Stop>(kit.codec_of(&ring_of([(kid, key(1))])?));
    let (ab, a, b) = (alone("ab")?, alone("a")?, alone("b")?);
    if relabelled(&seal(&ab)?, "ab", "a").is_none() {
        return Err(Stop::NotApplicable(
            "a token does not start with its kid and a dot",
        ));
    }
    // From one keyring to another. The kid loses or gains a letter at its start or its end.
    let moves: [(&Codec<'_>, &str, &Codec<'_>, &str); 4] = [
        (&ab, "ab", &a, "a"),
        (&ab, "ab", &b, "b"),
        (&a, "a", &ab, "ab"),
        (&b, "b", &ab, "ab"),
    ];
    for (from, from_kid, to, to_kid) in moves {
        for (length, context) in (0..6).zip([&b"b-a"[..], b"b", b"a", b"ba", b"", b"bb-aa"]) {
            let token = encode(from, &vec![b'b'; length], context)?;
            let Some(moved) = relabelled(&token, from_kid, to_kid) else {
                continue;
            };
            let about = || format!("relabeled from {from_kid} to {to_kid}");
            // The letter moves into the context or out of it.
            let contexts = [
                context.to_vec(),
                [b"b", context].concat(),
                [context, b"a"].concat(),
                context.strip_prefix(b"b").unwrap_or(context).to_vec(),
                context.strip_suffix(b"a").unwrap_or(context).to_vec(),
            ];
            for context in &contexts {
                must_refuse(to, &moved, context, about)?;
            }
            // The letter moves into the bytes next to the kid, or into their text, or out of it.
            let pieces = Token::parse(&moved);
            let mut forged = Vec::new();
            for index in pieces.encoded_indices() {
                forged.push(pieces.with_part(index, |bytes| bytes.insert(0, b'b')));
                forged.push(pieces.with_part(index, |bytes| bytes.push(b'a')));
            }
            let (kid, rest) = token.split_at(from_kid.len());
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            forged.push(format!(
                "{to_kid}.{}{rest}",
                kid.strip_prefix(to_kid).unwrap_or("")
            ));
            forged.push(format!(
                "{to_kid}.{rest}{}",
                kid.strip_suffix(to_kid).unwrap_or("")
            ));
            for forged in forged {
                must_refuse(to, &forged, context, about)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn kids_alike(kit: &Kit<'_>) -> Verdict {
    let longest = "k".repeat(64);
    let longest_but_one = "k".repeat(63);
    let other_end = format!("{longest_but_one}x");
    let other_start = format!("x{longest_but_one}");
    let groups: [&[&str]; 7] = [
        &["key", "KEY", "Key", "kEY"],
        &["a", "aa", "aaa", "aaaa"],
        &["2026-1", "2026-10", "2026-100", "026-10"],
        &["a-b", "a_b", "a--b", "ab", "-ab", "ab-", "_", "-", "--"],
        &["0", "00", "1", "01", "001", "10"],
        &[&longest, &longest_but_one, &other_end, &other_start],
        &["none", "null", "default", "sealing"],
    ];
    for group in groups {
        let numbered = (0u64..).zip(group);
        let keys = ring_of(numbered.clone().map(|(number, kid)| (*kid, key(number))))?;
        let all = kit.codec_of(&keys);
        for (number, kid) in numbered.clone() {
            let sealer = kit.codec_of(&keys.sealing_with(kid)?);
            let token = seal(&sealer)?;
            opens(
                &all,
                &token,
                &format!("the kid {kid} in a keyring of {group:?}"),
            )?;
            // The keyring without this key, and the keyring with this key only.
            let others = numbered.clone().filter(|(other, _)| *other != number);
            let others = ring_of(others.map(|(other, kid)| (*kid, key(other))))?;
            refuses(
                &kit.codec_of(&others),
                &token,
                &format!("the kid {kid} is not in the keyring"),
            )?;
            for (_, other) in numbered.clone().filter(|(other, _)| *other != number) {
                // The same key, so that only the kid distinguishes them.
                let renamed = kit.codec_of(&ring_of([(*other, key(number))])?);
                if token.starts_with(&format!("{kid}.")) {
                    refuses(&renamed, &token, &format!("{kid} mistaken for {other}"))?;
                }
                if let Some(moved) = relabelled(&token, kid, other) {
                    refuses(&renamed, &moved, &format!("{kid} relabeled to {other}"))?;
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn unknown_kids(kit: &Kit<'_>) -> Verdict {
    let [ours, theirs] = [ring_of([("a", key(1))])?, ring_of([("b", key(2))])?];
    let (us, them) = (kit.codec_of(&ours), kit.codec_of(&theirs));
    let token = seal(&them)?;
    if !token.starts_with("b.") {
        return Err(Stop::NotApplicable(
            "a token does not start with its kid and a dot",
        ));
    }
    let answer = us.decode(&token, CONTEXT);
    ensure(matches!(answer, Err(DecodeError::UnknownKey)), || {
        format!(
            "decoding a token with a kid that is not in the keyring returned {answer:?} instead of UnknownKey"
        )
    })?;
    // The form is checked first: junk under an unknown kid does not indicate a failed rotation.
    for character in ['=', '+', '/', ' ', '\n', 'é'] {
        let junk = format!("{token}{character}");
        let answer = us.decode(&junk, CONTEXT);
        ensure(matches!(answer, Err(DecodeError::Malformed)), || {
            format!(
                "decoding a malformed token with a kid that is not in the keyring returned {answer:?} instead of Malformed (token {})",
                show(&junk)
            )
        })?;
    }
    // A kid in the keyring is never reported as unknown, whatever follows it.
    let genuine = Genuine::new(&us, PAYLOAD, CONTEXT)?;
    for edit in crate::edits::bits(&genuine.pieces()) {
        if edit.token.starts_with("a.") {
            let answer = us.decode(&edit.token, CONTEXT);
            ensure(!matches!(answer, Err(DecodeError::UnknownKey)), || {
                format!(
                    "{}: decoding returned UnknownKey, although the kid is in the keyring",
                    edit.about
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn the_kid_of_the_sealing_key(kit: &Kit<'_>) -> Verdict {
    // If a token names a key of the keyring, it is the key that sealed the token.
    let longest = "k".repeat(64);
    let kids = [KIDS[0], KIDS[1], "A", "z-_9", &longest];
    let entries = (0..)
        .zip(kids)
        .map(|(seed, kid)| (kid, Random::new(90 + seed).key()));
    let keys = ring_of(entries)?;
    for kid in kids {
        let token = encode(
            &kit.codec_of(&keys.sealing_with(kid)?),
            b"payload",
            b"context",
        )?;
        let named = token
            .split_once('.')
            .map(|(head, _)| head)
            .filter(|head| keys.get(head).is_some());
        ensure(named.is_none_or(|named| named == kid), || {
            format!("sealed under {kid}, but the token names {named:?}")
        })?;
    }
    Ok(())
}
