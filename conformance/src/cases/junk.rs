//! Input that a client may send instead of a token.

use crate::edits::splice;
use crate::kit::{Genuine, Kit, must_refuse};
use crate::random::Random;
use crate::rings::KIDS;
use crate::stop::Verdict;
use crate::token::{Token, URL_SAFE, to_base64url};

const CONTEXT: &[u8] = b"context";

/// Returns short junk of every shape.
fn junk() -> Vec<String> {
    let mut junk: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "...",
        "....",
        "a",
        "a.",
        ".a",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "null",
        "undefined",
        "true",
        "0",
        "-1",
        "NaN",
        "{}",
        "[]",
        "\"\"",
        "{\"requestState\":\"\"}",
        "../../etc/passwd",
        "%",
        "%00",
        "\0",
        "\0\0\0\0",
        "a\0b",
        "\n",
        "\r\n",
        "\t",
        "\u{feff}",
        "\u{202e}",
        "\u{ffff}",
        "\u{10ffff}",
        "é",
        "e\u{301}",
        "日本語",
        "😀",
        "👩‍👩‍👧",
        "ß",
        "=",
        "==",
        "====",
        "A===",
        "-",
        "_",
        "--",
        "__",
        "+/",
        "AAAA",
        "AAAAA",
        "AAAAAA==",
        "eyJhbGciOiJub25lIn0.e30.",
        "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
        "v1.local.AAAA",
        "v4.public.AAAA",
        "gAAAAABh",
        "' or 1=1 --",
        "<script>",
        "${jndi:ldap://x}",
        "$(id)",
    ]
    .map(str::to_owned)
    .into();
    let mut random = Random::new(30);
    for length in 0..200 {
        junk.push("A".repeat(length));
        junk.push(".".repeat(length));
        junk.push("é".repeat(length));
        junk.push(format!("{}é", "A".repeat(length)));
        junk.push(format!("{}😀AAAA", "A".repeat(length)));
        let characters = random.bytes(length).into_iter();
        let characters =
            characters.filter_map(|byte| URL_SAFE.chars().nth(usize::from(byte) % URL_SAFE.len()));
        junk.push(characters.collect());
        junk.push(String::from_utf8_lossy(&random.bytes(length)).into_owned());
    }
    junk
}

pub(crate) fn alone(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for token in kit.paced(junk()) {
        for context in [&b""[..], CONTEXT] {
            must_refuse(&codec, &token, context, || "junk".into())?;
        }
    }
    Ok(())
}

pub(crate) fn after_a_kid(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let [sealing, other] = KIDS;
    let heads = [sealing, other, "unknown", "none", "", "é", " ", "a b"];
    let junk = junk();
    let tokens = heads
        .into_iter()
        .flat_map(|kid| junk.iter().map(move |rest| format!("{kid}.{rest}")));
    for token in kit.paced(tokens.collect()) {
        must_refuse(&codec, &token, CONTEXT, || "junk after a kid".into())?;
    }
    Ok(())
}

pub(crate) fn in_a_genuine_token(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    let text = &genuine.text;
    let mut tokens = Vec::new();
    for (at, rest) in junk().into_iter().enumerate() {
        // Replacing each part.
        for index in 0..text.split('.').count() {
            let parts = text.split('.').enumerate();
            let parts = parts.map(|(part_at, part)| {
                if part_at == index {
                    rest.as_str()
                } else {
                    part
                }
            });
            tokens.push(parts.collect::<Vec<_>>().join("."));
        }
        // Replacing the end, from some position on.
        tokens.push(splice(text, at % text.len().max(1), usize::MAX, &rest));
    }
    for token in kit.paced(tokens) {
        if token != *text {
            must_refuse(&codec, &token, CONTEXT, || "junk in a genuine token".into())?;
        }
    }
    Ok(())
}

pub(crate) fn forged_lengths(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    let token = genuine.pieces();
    let mut tokens = Vec::new();
    for at in 0..token.body().len() {
        for value in [
            &[0xff][..],
            &[0x7f],
            &[0x80],
            &[0; 2],
            &[0xff; 2],
            &[0; 4],
            &[0xff; 4],
            &[0x7f, 0xff, 0xff, 0xff],
            &[0xff, 0xff, 0xff, 0x7f],
            &[0; 8],
            &[0xff; 8],
        ] {
            tokens.push(token.with_body(|body| {
                for (byte, new) in body.iter_mut().skip(at).zip(value) {
                    *byte = *new;
                }
            }));
        }
    }
    for token in kit.paced(tokens) {
        if token != genuine.text {
            must_refuse(&codec, &token, CONTEXT, || {
                "bytes that may be a length changed".into()
            })?;
        }
    }
    Ok(())
}

pub(crate) fn headless(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let genuine = Genuine::new(&codec, b"payload", CONTEXT)?;
    let pieces = Token::parse(&genuine.text);
    // Names of keys and algorithms that may have been left in for a test.
    for name in [
        "", "none", "None", "null", "0", "1", "test", "debug", "dev", "default", "plain", "HS256",
        "alg", "*", "any", "legacy", "v0", "v1", "v2", "admin", "unsigned", "insecure",
    ] {
        let tail: Vec<&str> = genuine.text.split('.').skip(1).collect();
        let payload = to_base64url(&genuine.payload);
        let mut tokens = vec![
            format!("{name}.{}", tail.join(".")),
            format!("{name}.{}", genuine.text),
            format!("{name}.{payload}"),
            format!("{name}.{payload}."),
            format!("{name}.{payload}.."),
            format!("{name}..{payload}"),
        ];
        for part in pieces.encoded() {
            tokens.push(format!("{name}.{}.", to_base64url(&part.bytes)));
        }
        for token in tokens.into_iter().filter(|token| *token != genuine.text) {
            must_refuse(&codec, &token, CONTEXT, || {
                format!("under the name {name:?}")
            })?;
        }
    }
    Ok(())
}
