//! The context is authenticated: a token is rejected under any other context.

use std::time::Duration;

use request_state_core::RequestStateCodec;

use crate::edits::blind_spots;
use crate::kit::{Genuine, Kit, encode, must_open, must_refuse_context, show_bytes};
use crate::random::Random;
use crate::stop::{Stop, Verdict, ensure};
use crate::token::{Token, find, to_base64url, to_hex};

/// Seals under `context`, and tries to open under each of `others`.
fn only_opens_under(
    kit: &Kit<'_>,
    codec: &dyn RequestStateCodec,
    context: &[u8],
    others: Vec<(String, Vec<u8>)>,
) -> Verdict {
    let genuine = Genuine::new(codec, b"payload", context)?;
    for (about, other) in kit.paced(others) {
        if other != context {
            must_refuse_context(codec, &genuine.text, &other, || {
                format!("sealed under {}, opened with {about}", show_bytes(context))
            })?;
        }
    }
    must_open(
        codec,
        &genuine.text,
        context,
        b"payload",
        "under its own context again",
    )
}

/// Contexts that careless code treats as equal.
const ALIKE: &[&[&[u8]]] = &[
    // Empty and almost empty contexts.
    &[
        b"", b"\0", b"\0\0", b" ", b"\n", b"0", b"null", b"\x80", b"\xff", b"\"\"", b"{}",
    ],
    // A prefix, a suffix, an extension, a repetition.
    &[
        b"abc", b"ab", b"bc", b"a", b"abcd", b"zabc", b"abcabc", b"cba", b"acb", b"bac", b"cab",
        b"bca",
    ],
    // Upper and lower case, of different kinds of letters.
    &[
        "tools/call".as_bytes(),
        b"Tools/Call",
        b"TOOLS/CALL",
        b"tools/cal1",
        b"tools\\call",
        b"tools//call",
        b"tools/call/",
        b"tools/./call",
    ],
    &[
        "straße".as_bytes(),
        "STRASSE".as_bytes(),
        "strasse".as_bytes(),
        "STRAẞE".as_bytes(),
    ],
    &[
        "İ".as_bytes(),
        "i".as_bytes(),
        "ı".as_bytes(),
        "I".as_bytes(),
        "i\u{307}".as_bytes(),
    ],
    // White space around and in between.
    &[
        b"a b",
        b" a b",
        b"a b ",
        b"a  b",
        b"a\tb",
        b"a\nb",
        b"a\r\nb",
        b"ab",
        b"a b\n",
        b"a b\0",
        "a\u{a0}b".as_bytes(),
        "\u{feff}a b".as_bytes(),
        "a\u{200b} b".as_bytes(),
    ],
    // Zeros inside, at the start, at the end, and in numbers.
    &[
        b"a\0b", b"a", b"a\0", b"a\0c", b"\0a", b"\0\0a", b"a\0\0", b"a\0b\0", b"\0a\0b",
    ],
    &[b"1", b"01", b"1.0", b"+1", b"1e0", b"0x1", b"1 "],
    // Texts that Unicode treats as equal, and bytes that are not valid text and become the same
    // replacement character.
    &["é".as_bytes(), "e\u{301}".as_bytes(), b"e", b"\xe9"],
    &["ﬁ".as_bytes(), "fi".as_bytes()],
    &[
        b"x\xff",
        b"x\xfe",
        b"x\x80",
        b"x\xc0\x80",
        b"x\xed\xa0\x80",
        "x\u{fffd}".as_bytes(),
        b"x",
        b"x?",
    ],
    // One JSON value in different serializations.
    &[
        br#"{"a":1,"b":2}"#,
        br#"{"b":2,"a":1}"#,
        br#"{"a":1, "b":2}"#,
        br#"{"a":1.0,"b":2}"#,
        br#"{"a":1,"b":2,"c":null}"#,
        br#"{"\u0061":1,"b":2}"#,
    ],
    // One URL in different encodings.
    &[b"a%20b", b"a+b", b"a b", b"a%2520b", b"A%20b"],
    // Different separators.
    &[
        b"a,b", b"a;b", b"a|b", b"a:b", b"a.b", b"a/b", b"a-b", b"a_b", b"a&b", b"a=b", b"b,a",
        b"a,b,", b",a,b", b"a,,b", b"a,b,a,b",
    ],
    // The same sum, exclusive or, polynomial hash (of 31 and of 33), CRC-32, and FNV-1a of 32 bits.
    &[b"ad", b"bc", b"cb", b"da", b"`e"],
    &[b"aabb", b"abab", b"bbaa", b"ccdd", b"\0\0\0\0"],
    &[b"Aa", b"BB", b"C#"],
    &[b"AaAa", b"BBBB", b"AaBB", b"BBAa"],
    &[b"b!", b"aB"],
    &[b"plumless", b"buckeroo"],
    &[b"costarring", b"liquid"],
    &[b"altarage", b"zinke"],
];

pub(crate) fn alike(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for group in ALIKE {
        for context in *group {
            let others = group
                .iter()
                .map(|other| (show_bytes(other), other.to_vec()));
            only_opens_under(kit, &codec, context, others.collect())?;
        }
    }
    Ok(())
}

pub(crate) fn each_of_many(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let all: Vec<(String, Vec<u8>)> = ALIKE
        .iter()
        .filter_map(|group| group.first())
        .map(|context| (show_bytes(context), context.to_vec()))
        .collect();
    for (_, context) in &all {
        only_opens_under(kit, &codec, context, all.clone())?;
    }
    Ok(())
}

pub(crate) fn every_bit(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(40);
    for length in [1, 2, 8, 15, 16, 17, 31, 32, 33, 55, 56, 63, 64, 65, 100] {
        let context = random.bytes(length);
        // Every bit of the shorter contexts, and one bit of each byte of the longer contexts.
        let bits = (0..length * 8).filter(|bit| length <= 17 || (bit / 8 + bit) % 8 == 0);
        let others = bits.map(|bit| (format!("bit {bit} flipped"), turned(&context, bit)));
        only_opens_under(kit, &codec, &context, others.collect())?;
    }
    let context = random.bytes(400);
    let others = (0..400).map(|at| {
        (
            format!("byte {at} changed"),
            turned(&context, at * 8 + at % 8),
        )
    });
    only_opens_under(kit, &codec, &context, others.collect())
}

fn turned(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    bytes
}

pub(crate) fn every_length(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for (what, byte) in [("zeros", 0u8), ("letters", b'a')] {
        for length in [0, 1, 15, 16, 31, 32, 63, 64, 127, 255, 256] {
            let lengths = (0..=130).chain([255, 256, 257, 511, 512, 513]);
            let others = lengths.map(|other| (format!("{other} {what}"), vec![byte; other]));
            only_opens_under(kit, &codec, &vec![byte; length], others.collect())?;
        }
    }
    Ok(())
}

pub(crate) fn long(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let length = 70_000;
    let context = Random::new(41).bytes(length);
    // Around every length at which a buffer or the counter of a length may end.
    let limits = (8..=16)
        .map(|power| 1usize << power)
        .chain([1_000, 10_000, 65_000]);
    let places = limits.flat_map(|limit| [limit - 2, limit - 1, limit, limit + 1]);
    let places = places.chain([0, 1, 45_000, length - 2, length - 1]);
    let mut others: Vec<(String, Vec<u8>)> = places
        .map(|at| {
            (
                format!("byte {at} changed"),
                turned(&context, at * 8 + at % 8),
            )
        })
        .collect();
    for (about, part) in [
        ("the first 255 bytes", context.get(..255)),
        ("the first 256 bytes", context.get(..256)),
        ("the first 65,536 bytes", context.get(..65_536)),
        ("the bytes after the first 65,536", context.get(65_536..)),
        (
            "all but the last 65,536 bytes",
            context.get(..length - 65_536),
        ),
        ("all but the last byte", context.get(..length - 1)),
        ("all but the first byte", context.get(1..)),
    ] {
        others.push((about.into(), part.unwrap_or_default().to_vec()));
    }
    for more in [1, 256, 65_536] {
        others.push((
            format!("{more} more zeros"),
            [&context[..], &vec![0; more]].concat(),
        ));
    }
    only_opens_under(kit, &codec, &context, others)
}

pub(crate) fn thousands_at_random(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(42);
    let context = random.bytes(24);
    let genuine = Genuine::new(&codec, b"payload", &context)?;
    for _ in kit.paced_for(Duration::from_secs(10), (0..100_000).collect()) {
        let other = random.bytes(24);
        must_refuse_context(&codec, &genuine.text, &other, || {
            format!("sealed under {}", show_bytes(&context))
        })?;
    }
    Ok(())
}

pub(crate) fn weak_sums(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let context = Random::new(43).bytes(24);
    let mut others = blind_spots(&context);
    for (a, b) in (0..context.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let mut swapped = context.clone();
        swapped.swap(a, b);
        others.push((format!("bytes {a} and {b} swapped"), swapped));
        others.push((
            format!("the same bit of bytes {a} and {b} flipped"),
            turned(&turned(&context, a * 8), b * 8),
        ));
    }
    // Blocks in another order, for a codec that combines blocks without regard to their order.
    for block in [4, 8, 12] {
        let blocks: Vec<&[u8]> = context.chunks(block).rev().collect();
        others.push((format!("blocks of {block} bytes reversed"), blocks.concat()));
    }
    only_opens_under(kit, &codec, &context, others)
}

pub(crate) fn not_in_the_token(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let mut random = Random::new(44);
    for length in [24, 1_000] {
        let context = random.bytes(length);
        let token = encode(&codec, b"payload", &context)?;
        let body = Token::parse(&token).body();
        // The middle: whole groups of three bytes, at each of the three positions where they may
        // start.
        let visible = [0, 1, 2].into_iter().any(|skip| {
            let middle: Vec<u8> = context.iter().skip(skip).take(12).copied().collect();
            token.contains(&to_base64url(&middle))
                || token.contains(&to_hex(&middle))
                || find(&body, &middle).is_some()
        });
        ensure(!visible, || {
            format!("a part of a context of {length} bytes is in the token")
        })?;
    }
    // The context must not make the token longer either, however it may be hidden. A codec may pad
    // at random.
    let mut lengths = Vec::new();
    for length in [0, 5_000] {
        let context = random.bytes(length);
        let tokens = (0..16).map(|_| Ok(encode(&codec, b"payload", &context)?.len()));
        lengths.push(tokens.collect::<Result<Vec<_>, Stop>>()?);
    }
    let longest_without = lengths.first().and_then(|all| all.iter().max());
    let shortest_with = lengths.last().and_then(|all| all.iter().min());
    ensure(shortest_with <= longest_without, || {
        format!(
            "a context of 5,000 bytes makes the token longer: at least {shortest_with:?} characters, and at most {longest_without:?} with an empty context"
        )
    })
}
