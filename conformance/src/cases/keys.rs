//! Keyrings: a codec opens tokens that any key of its keyring sealed, and no others.

use request_state_core::{EncodeError, Keyring, RequestStateCodec};

use crate::kit::keyed::{CONTEXT, PAYLOAD, opens, refuses, seal};
use crate::kit::{Genuine, Kit, encode, telling_bit, telling_place};
use crate::rings::{KIDS, key, ring, ring_of};
use crate::stop::{Stop, Verdict, ensure};

pub(crate) fn every_key_opens(kit: &Kit<'_>) -> Verdict {
    for count in [1, 2, 3, 64, 300] {
        let entries = (0..count).map(|n| (format!("k{n}"), key(n)));
        let keys = ring_of(entries)?;
        let codec = kit.codec_of(&keys);
        let sealing = (0..count).filter(|n| [0, 1, 2, 31, 63, 255, 256, 299].contains(n));
        for number in kit.paced(sealing.collect()) {
            let kid = format!("k{number}");
            let token = seal(&kit.codec_of(&keys.sealing_with(&kid)?))?;
            opens(
                &codec,
                &token,
                &format!("key {number} of a keyring of {count}"),
            )?;
            // As with the key alone: the other keys of the keyring change nothing.
            opens(
                &kit.codec_of(&ring_of([(kid, key(number))])?),
                &token,
                "the same key alone",
            )?;
        }
    }
    Ok(())
}

pub(crate) fn an_old_key_is_as_strict(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    let old = kit.codec_of(&keys.sealing_with(KIDS[1])?);
    let current = kit.codec_of(&keys);
    for context in [CONTEXT, b""] {
        let genuine = Genuine::new(&old, PAYLOAD, context)?;
        genuine.must_be_strict(kit, &current)?;
    }
    Ok(())
}

pub(crate) fn the_first_key_seals(kit: &Kit<'_>) -> Verdict {
    // In every order, because a codec must not sort.
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let keys = ring_of(order.map(|n| (format!("k{n}"), key(n))))?;
        let [first, second, third] = order;
        seals_with_only(kit, &keys, first, [second, third])?;
        let chosen = keys.sealing_with(&format!("k{third}"))?;
        seals_with_only(kit, &chosen, third, [first, second])?;
    }
    Ok(())
}

fn seals_with_only(kit: &Kit<'_>, keys: &Keyring, sealing: u64, others: [u64; 2]) -> Verdict {
    let alone = |number: u64| ring_of([(format!("k{number}"), key(number))]);
    let token = seal(&kit.codec_of(keys))?;
    opens(
        &kit.codec_of(&alone(sealing)?),
        &token,
        "sealed with the first key of a keyring",
    )?;
    for other in others {
        refuses(
            &kit.codec_of(&alone(other)?),
            &token,
            "opened with a key that does not seal",
        )?;
    }
    Ok(())
}

pub(crate) fn another_ring(kit: &Kit<'_>) -> Verdict {
    let [ours, theirs] = [
        ring_of([("a", key(1)), ("b", key(2))])?,
        ring_of([("c", key(3)), ("d", key(4))])?,
    ];
    let (us, them) = (kit.codec_of(&ours), kit.codec_of(&theirs));
    for _ in 0..20 {
        let (our_token, their_token) = (seal(&us)?, seal(&them)?);
        opens(&us, &our_token, "our token")?;
        opens(&them, &their_token, "their token")?;
        refuses(&them, &our_token, "opened with another keyring")?;
        refuses(&us, &their_token, "a token of another keyring")?;
    }
    Ok(())
}

pub(crate) fn another_key_under_the_same_kid(kit: &Kit<'_>) -> Verdict {
    let [ours, theirs] = [
        ring_of([("a", key(1)), ("b", key(2))])?,
        ring_of([("a", key(3)), ("b", key(4))])?,
    ];
    let (us, them) = (kit.codec_of(&ours), kit.codec_of(&theirs));
    // Many times, for a fault in one token of 256.
    for _ in kit.paced((0..1_500).collect::<Vec<u32>>()) {
        let (our_token, their_token) = (seal(&us)?, seal(&them)?);
        opens(&us, &our_token, "our token")?;
        refuses(
            &us,
            &their_token,
            "sealed with another key under the same kid",
        )?;
        opens(&them, &their_token, "their token")?;
        refuses(
            &them,
            &our_token,
            "sealed with another key under the same kid",
        )?;
    }
    // The same keys with the kids exchanged. This applies to codecs whose tokens name their kid.
    let crossed = kit.codec_of(&ring_of([("b", key(1)), ("a", key(2))])?);
    let token = seal(&us)?;
    if token.starts_with("a.") {
        refuses(&crossed, &token, "the kids exchanged")?;
    }
    Ok(())
}

pub(crate) fn every_bit_of_a_key(kit: &Kit<'_>) -> Verdict {
    let mut with_zeros = key(6);
    for byte in with_zeros.iter_mut().skip(5).step_by(6) {
        *byte = 0;
    }
    let mut starts_with_zero = key(7);
    starts_with_zero.fill(0x41);
    starts_with_zero
        .iter_mut()
        .take(1)
        .for_each(|byte| *byte = 0);
    for base in [key(5), with_zeros, starts_with_zero, [0; 32], [0xff; 32]] {
        let token = seal(&kit.codec_of(&ring_of([("a", base)])?))?;
        for bit in kit.paced((0..256).collect()) {
            let mut other = base;
            if let Some(byte) = other.get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
            let codec = kit.codec_of(&ring_of([("a", other)])?);
            refuses(&codec, &token, &format!("a key that differs in bit {bit}"))?;
        }
    }
    Ok(())
}

pub(crate) fn keys_alike(kit: &Kit<'_>) -> Verdict {
    let base = key(8);
    let mut others = Vec::new();
    // The same bytes in another order, which have the same sum.
    for (a, b) in (0..32).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let mut swapped = base;
        swapped.swap(a, b);
        others.push(swapped);
    }
    for shift in 1..32 {
        let mut rotated = base;
        rotated.rotate_left(shift);
        others.push(rotated);
    }
    let mut reversed = base;
    reversed.reverse();
    others.push(reversed);
    others.push(base.map(|byte| !byte));
    others.push(base.map(|byte| byte.to_ascii_lowercase()));
    others.push(base.map(|byte| byte & 0x7f));
    // Hundreds of unrelated keys as well.
    others.extend((0..1_500).map(|n| key(10_000 + n)));
    let token = seal(&kit.codec_of(&ring_of([("a", base)])?))?;
    for other in kit.paced(others) {
        if other != base {
            let codec = kit.codec_of(&ring_of([("a", other)])?);
            refuses(&codec, &token, "another key under the same kid")?;
        }
    }
    Ok(())
}

pub(crate) fn rotation(kit: &Kit<'_>) -> Verdict {
    let old = ring_of([("old", key(1))])?;
    let both = ring_of([("old", key(1)), ("new", key(2))])?;
    let steps = [
        old,
        both.clone(),
        both.sealing_with("new")?,
        ring_of([("new", key(2))])?,
    ];
    let codecs = steps.each_ref().map(|keys| kit.codec_of(keys));
    // Two replicas may be at any two neighboring steps.
    for (at, sealing) in codecs.iter().enumerate() {
        let token = seal(sealing)?;
        for (other, opening) in codecs.iter().enumerate() {
            if at.abs_diff(other) <= 1 {
                opens(
                    opening,
                    &token,
                    &format!("sealed at step {at} of a rotation, opened at {other}"),
                )?;
            }
        }
    }
    let [first, .., last] = &codecs;
    refuses(last, &seal(first)?, "sealed with a key that was removed")?;
    refuses(
        first,
        &seal(last)?,
        "sealed with a key that has not been added yet",
    )?;
    // A key that returns opens tokens again.
    opens(first, &seal(first)?, "the first keyring, after the others")
}

pub(crate) fn the_same_ring_again(kit: &Kit<'_>) -> Verdict {
    let entries = [("a", key(1)), ("b", key(2)), ("c", key(3))];
    let [a, b, c] = entries;
    let keys = ring_of(entries)?;
    let token = seal(&kit.codec_of(&keys))?;
    for (about, keys) in [
        ("the same keyring", keys.clone()),
        ("a keyring of the same entries", ring_of(entries)?),
        ("a keyring in another order", ring_of([c, a, b])?),
        (
            "a keyring with more keys",
            ring_of([("z", key(9)), b, a, ("d", key(8))])?,
        ),
        (
            "a keyring that seals with another key",
            keys.sealing_with("c")?,
        ),
    ] {
        opens(&kit.codec_of(&keys), &token, about)?;
    }
    Ok(())
}

pub(crate) fn an_exhausted_key_still_opens(kit: &Kit<'_>) -> Verdict {
    let keys = ring_of([("a", key(1)), ("b", key(2))])?;
    let codec = kit.codec_of(&keys);
    let token = seal(&codec)?;
    if keys.count_seals(u64::MAX - 1_000, u64::MAX).is_err() {
        return Ok(()); // the codec has already counted more than 1,000 seals
    }
    match codec.encode(PAYLOAD, CONTEXT) {
        Ok(token) => opens(&codec, &token, "sealed by a codec that does not count")?,
        Err(EncodeError::KeyExhausted) => {}
        Err(error) => {
            return Err(Stop::Failed(format!(
                "encoding with a key past its limit of seals returned `{error}` instead of KeyExhausted"
            )));
        }
    }
    opens(&codec, &token, "sealed before its key reached its limit")?;
    let fresh = kit.codec_of(&keys.sealing_with("b")?);
    opens(&codec, &seal(&fresh)?, "sealed with the next key")
}

pub(crate) fn no_public_digest_of_the_context(kit: &Kit<'_>) -> Verdict {
    // Under a dozen keys: anything that is the same under all of them comes from the context alone.
    let of = |context: &'static [u8]| {
        move |number: usize| {
            let keys = ring_of([("a", key(20 + number as u64))])?;
            encode(&kit.codec_of(&keys), PAYLOAD, context)
        }
    };
    let (one, other) = (b"principal: alice", b"principal: bobby");
    let place = telling_place(12, of(one), of(other))?;
    ensure(place.is_none(), || {
        format!(
            "anyone can compute character {place:?} of a token from the context: it confirms a guess"
        )
    })?;
    // By single bits as well, with contexts that differ in one bit, so that a parity shows too.
    for other in [
        b"principal: alicd",
        b"principal: alica",
        b"principal: ali#e",
    ] {
        let place = telling_bit(of(one), of(other))?;
        ensure(place.is_none(), || {
            format!(
                "anyone can compute a bit of the byte at bit {place:?} of a decoded token from the context: it confirms a guess"
            )
        })?;
    }
    Ok(())
}
