//! Decoding returns the encoded payload.

use crate::kit::{Kit, encode, must_open};
use crate::random::Random;
use crate::stop::Verdict;
use request_state_core::RequestStateCodec;

fn round_trip(
    codec: &dyn RequestStateCodec,
    payload: &[u8],
    context: &[u8],
    about: &str,
) -> Verdict {
    let token = encode(codec, payload, context)?;
    must_open(codec, &token, context, payload, about)
}

pub(crate) fn empty(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for context in [&b""[..], b"\0", b"context"] {
        round_trip(&codec, b"", context, "an empty payload")?;
    }
    Ok(())
}

pub(crate) fn every_length(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(10);
    for length in kit.paced((0..=520).collect()) {
        let payload = random.bytes(length);
        round_trip(&codec, &payload, b"context", "every length")?;
    }
    Ok(())
}

pub(crate) fn large(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(11);
    let near_powers = (10..=16).flat_map(|power| {
        let power = 1usize << power;
        [power - 1, power, power + 1]
    });
    // A token at the sealer's default limit holds 48 KiB. A sealer may be given a higher limit.
    let others = [
        1_000,
        1_500,
        10_000,
        48 * 1024 - 1,
        48 * 1024,
        65_535 + 256,
        (1 << 20) + 1,
    ];
    let lengths = near_powers
        .chain(others)
        .chain((0..12).map(|_| 521 + random.below(20_000)));
    for length in kit.paced(lengths.collect()) {
        let payload = Random::new(length as u64).bytes(length);
        round_trip(&codec, &payload, b"context", "a large payload")?;
    }
    Ok(())
}

pub(crate) fn every_byte(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for byte in 0..=255u8 {
        for payload in [
            vec![byte],
            vec![byte; 2],
            vec![byte; 33],
            [&[byte][..], b"after"].concat(),
            [b"before", &[byte][..]].concat(),
            [b"before", &[byte; 7][..]].concat(),
        ] {
            round_trip(
                &codec,
                &payload,
                b"context",
                "a payload of one repeated byte",
            )?;
        }
    }
    // Bytes that a padding scheme adds and removes again: PKCS #7, and a one bit followed by zeros.
    for length in 1..=32u8 {
        let zeros = vec![0; usize::from(length)];
        round_trip(
            &codec,
            &[&b"x"[..], &vec![length; usize::from(length)]].concat(),
            b"",
            "PKCS #7 padding",
        )?;
        round_trip(
            &codec,
            &[&b"x\x80"[..], &zeros].concat(),
            b"",
            "ISO 7816-4 padding",
        )?;
        round_trip(
            &codec,
            &[&zeros[..], b"x"].concat(),
            b"",
            "zeros at the start",
        )?;
    }
    Ok(())
}

pub(crate) fn nothing_is_interpreted(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let own_token = encode(&codec, b"inner", b"context")?;
    let doubled = format!("{own_token}.{own_token}");
    let texts: [&[u8]; 40] = [
        // JSON in forms that a JSON library would not write.
        b"{ \"b\" : 1.0, \"a\" : 1e2, \"a\" : [ ] }",
        b"{\"a\":9007199254740993,\"b\":-0.0}",
        b"\"\\u0041\\/\"",
        b"null",
        b"true",
        b"0",
        b"007",
        b"[]",
        b"{}",
        // Text that a codec may normalize.
        "é e\u{301} ﬁ Å ß İ".as_bytes(),
        b"MiXeD CaSe",
        b"  spaces around  ",
        b"line\r\nline\rline\n",
        b"\ttab\x0b\x0c",
        b"\xef\xbb\xbfwith a byte order mark",
        b"a%20b%2e+c",
        b"&amp;&#x41;",
        b"a\\nb\\0",
        b"a/../b//c/.",
        b"\x1b[31mred\x1b[0m",
        // Bytes that are not valid text.
        b"\xff\xfe\0a",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x80\x81\xfe",
        b"nul\0nul\0",
        b"\0\0\0\0",
        // Bytes that start like other formats.
        b"\x1f\x8b\x08\0",
        b"\x28\xb5\x2f\xfd",
        b"\x78\x9c\x03\0\0\0\0\x01",
        b"\x30\x82\x01\0",
        // Payloads that look like a token, or a part of one.
        b"2026-10.AAAA.AAAA",
        b".",
        b"...",
        b"QUJD",
        b"QUI=",
        b"context",
        b"contextcontext",
        own_token.as_bytes(),
        doubled.as_bytes(),
    ];
    for text in texts {
        round_trip(
            &codec,
            text,
            b"context",
            "a payload that resembles another format",
        )?;
        round_trip(&codec, text, text, "the payload is also the context")?;
    }
    Ok(())
}

pub(crate) fn any_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(12);
    let lengths = (0..=300).chain([1_000, 4_096, 65_535, 65_536, 65_537]);
    for length in kit.paced(lengths.collect()) {
        let context = random.bytes(length);
        round_trip(&codec, b"payload", &context, "every length of context")?;
    }
    for byte in 0..=255u8 {
        round_trip(&codec, b"payload", &[byte], "a context of one byte")?;
        round_trip(
            &codec,
            b"payload",
            &[byte; 40],
            "a context of one repeated byte",
        )?;
    }
    Ok(())
}

pub(crate) fn again_and_again(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(13);
    for _ in kit.paced((0..3_000).collect()) {
        let payload = random.byte();
        let payload = random.bytes(usize::from(payload % 48));
        let context = random.byte();
        let context = random.bytes(usize::from(context % 32));
        round_trip(&codec, &payload, &context, "one of thousands")?;
    }
    Ok(())
}
