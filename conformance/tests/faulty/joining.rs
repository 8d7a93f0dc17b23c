//! The parts are joined so that they can be divided elsewhere; the context is not taken as it is.

use request_state_core::DecodeError;

use super::base::{ENCRYPTED, Parts, SIGNED, Steps, TYPED, joined, keystream, mac};
use super::comparing::crc;
use super::fault::{Fault, step};

pub fn faults() -> Vec<Fault> {
    let mut faults = messages();
    faults.extend(contexts());
    faults
}

fn messages() -> Vec<Fault> {
    vec![
        step(
            "joins all parts without their lengths",
            "forgery::payload_and_context",
            Steps {
                message: |p| [p.kid.as_bytes(), p.nonce, p.body, p.context].concat(),
                ..SIGNED
            },
        ),
        step(
            "hashes the context without its length, in front of the payload",
            "forgery::payload_and_context",
            Steps {
                message: |p| [p.kid.as_bytes(), b".", p.nonce, p.context, p.body].concat(),
                ..SIGNED
            },
        ),
        step(
            "encrypts, then joins what it authenticates without lengths",
            "forgery::bytes_into_the_context",
            Steps {
                message: |p| [p.kid.as_bytes(), b".", p.nonce, p.body, p.context].concat(),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts, with the context in front, without lengths",
            "forgery::bytes_out_of_the_context",
            Steps {
                message: |p| [p.context, p.body, p.nonce, p.kid.as_bytes()].concat(),
                ..ENCRYPTED
            },
        ),
        step(
            "joins the kid and the context without lengths",
            "kids::a_kid_and_its_neighbours",
            Steps {
                message: |p| joined(&[&[p.kid.as_bytes(), p.context].concat(), p.nonce, p.body]),
                ..SIGNED
            },
        ),
        step(
            "joins the context and the kid without lengths",
            "kids::a_kid_and_its_neighbours",
            Steps {
                message: |p| joined(&[p.nonce, p.body, &[p.context, p.kid.as_bytes()].concat()]),
                ..ENCRYPTED
            },
        ),
        step(
            "joins the kid and the nonce without lengths",
            "kids::a_kid_and_its_neighbours",
            Steps {
                message: |p| joined(&[&[p.kid.as_bytes(), p.nonce, p.body].concat(), p.context]),
                ..SIGNED
            },
        ),
        step(
            "joins the payload and the kid without lengths",
            "kids::a_kid_and_its_neighbours",
            Steps {
                message: |p| joined(&[p.nonce, &[p.body, p.kid.as_bytes()].concat(), p.context]),
                ..ENCRYPTED
            },
        ),
        step(
            "joins the parts with a zero byte between",
            "forgery::separators",
            Steps {
                message: |p| [p.kid.as_bytes(), p.nonce, p.body, p.context].join(&0),
                ..SIGNED
            },
        ),
        step(
            "joins the parts with a dot between",
            "forgery::separators",
            Steps {
                message: |p| [p.kid.as_bytes(), p.nonce, p.context, p.body].join(&b'.'),
                ..SIGNED
            },
        ),
        step(
            "joins the parts with lengths of one byte",
            "forgery::lengths_that_wrap",
            Steps {
                message: |p| with_lengths(p, |part| vec![part.len() as u8]),
                ..SIGNED
            },
        ),
        step(
            "joins the parts with lengths of two bytes",
            "forgery::lengths_that_wrap",
            Steps {
                message: |p| with_lengths(p, |part| (part.len() as u16).to_le_bytes().to_vec()),
                ..SIGNED
            },
        ),
        step(
            "has one length for both payload and context",
            "forgery::payload_and_context",
            Steps {
                message: |p| joined(&[p.kid.as_bytes(), p.nonce, &[p.body, p.context].concat()]),
                ..SIGNED
            },
        ),
        step(
            "encrypts, joins without lengths, and carries a length that nothing authenticates",
            "forgery::bytes_into_the_context",
            Steps {
                // A byte that says how long the text is.
                take: |payload| [&[payload.len() as u8], payload].concat(),
                stream: Some(|key, nonce, data| {
                    if let [_, text @ ..] = data {
                        keystream(key, nonce, text);
                    }
                }),
                message: |p| {
                    let text = p.body.get(1..).unwrap_or_default();
                    [p.kid.as_bytes(), b".", p.nonce, text, p.context].concat()
                },
                give: |body| match &body[..] {
                    [length, text @ ..] if *length == text.len() as u8 => Ok(text.to_vec()),
                    _ => Err(DecodeError::Malformed),
                },
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts, and joins the context and the text with a zero byte between",
            "forgery::bytes_out_of_the_context",
            Steps {
                message: |p| joined(&[p.kid.as_bytes(), p.nonce, &[p.context, p.body].join(&0)]),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts, and adds up the hashes of text and context",
            "forgery::bytes_into_the_context",
            Steps {
                message: |p| {
                    let hash = |part| mac(&[0; 32], part);
                    let pairs = hash(p.body).into_iter().zip(hash(p.context));
                    let sum: Vec<u8> = pairs.map(|(a, b)| a ^ b).collect();
                    joined(&[p.kid.as_bytes(), p.nonce, &sum])
                },
                ..ENCRYPTED
            },
        ),
        step(
            "adds up the MACs of payload and context",
            "forgery::payload_and_context",
            Steps {
                tag: |key, message| {
                    let (payload, context) = message.split_at(message.len() / 2);
                    let pairs = mac(key, payload).into_iter().zip(mac(key, context));
                    pairs.map(|(a, b)| a ^ b).collect()
                },
                message: |p| {
                    let hash = |part| mac(&[0; 32], &joined(&[p.kid.as_bytes(), p.nonce, part]));
                    [hash(p.body), hash(p.context)].concat()
                },
                ..SIGNED
            },
        ),
    ]
}

fn with_lengths(parts: Parts<'_>, length: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let all = [parts.kid.as_bytes(), parts.nonce, parts.body, parts.context];
    all.iter()
        .flat_map(|part| [length(part), part.to_vec()].concat())
        .collect()
}

/// Codecs that authenticate a context which is not quite the one that they were given.
fn contexts() -> Vec<Fault> {
    vec![
        step(
            "ignores the context",
            "context::alike",
            Steps {
                bind: |_| Vec::new(),
                ..SIGNED
            },
        ),
        step(
            "ignores a context that is long",
            "context::long",
            Steps {
                bind: |c| {
                    if c.len() > 65_535 {
                        Vec::new()
                    } else {
                        c.to_vec()
                    }
                },
                ..ENCRYPTED
            },
        ),
        step(
            "trims the context",
            "context::alike",
            Steps {
                bind: |c| c.trim_ascii().to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "lower-cases the context",
            "context::alike",
            Steps {
                bind: <[u8]>::to_ascii_lowercase,
                ..SIGNED
            },
        ),
        step(
            "lower-cases the context, but only its letters beyond ASCII",
            "context::alike",
            Steps {
                bind: |c| {
                    let text = String::from_utf8_lossy(c);
                    let lower = text.chars().flat_map(|char| {
                        if char.is_ascii() {
                            vec![char]
                        } else {
                            char.to_lowercase().collect()
                        }
                    });
                    match std::str::from_utf8(c) {
                        Ok(_) => lower.collect::<String>().into_bytes(),
                        Err(_) => c.to_vec(),
                    }
                },
                ..SIGNED
            },
        ),
        step(
            "reads the context as UTF-8, as far as it is",
            "context::alike",
            Steps {
                bind: |c| String::from_utf8_lossy(c).into_owned().into_bytes(),
                ..ENCRYPTED
            },
        ),
        step(
            "cuts the context at 256 bytes",
            "context::every_bit",
            Steps {
                bind: |c| c[..c.len().min(256)].to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "cuts the context at 64 KiB",
            "context::long",
            Steps {
                bind: |c| c[..c.len().min(65_536)].to_vec(),
                ..SIGNED
            },
        ),
        step(
            "takes the length of the context modulo 65,536",
            "context::long",
            Steps {
                bind: |c| c[..usize::from(c.len() as u16)].to_vec(),
                ..SIGNED
            },
        ),
        step(
            "cuts the context at its first zero byte",
            "context::alike",
            Steps {
                bind: |c| c.split(|byte| *byte == 0).next().unwrap().to_vec(),
                ..SIGNED
            },
        ),
        step(
            "strips zeros from the end of the context",
            "context::alike",
            Steps {
                bind: |c| {
                    c[..c
                        .iter()
                        .rposition(|byte| *byte != 0)
                        .map_or(0, |last| last + 1)]
                        .to_vec()
                },
                ..ENCRYPTED
            },
        ),
        step(
            "fills the context up with zeros to a multiple of 16 bytes",
            "context::every_length",
            Steps {
                bind: |c| {
                    let mut c = c.to_vec();
                    c.resize(c.len().next_multiple_of(16), 0);
                    c
                },
                ..SIGNED
            },
        ),
        step(
            "ignores the last incomplete block of the context",
            "context::every_bit",
            Steps {
                bind: |c| c.as_chunks::<16>().0.as_flattened().to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "takes the first and the last 32 bytes of a long context",
            "context::every_bit",
            Steps {
                bind: |c| match c.len() {
                    0..=64 => c.to_vec(),
                    length => [&c[..32], &c[length - 32..]].concat(),
                },
                ..SIGNED
            },
        ),
        step(
            "takes the length of the context for the context",
            "context::alike",
            Steps {
                bind: |c| c.len().to_be_bytes().to_vec(),
                ..SIGNED
            },
        ),
        step(
            "sorts the bytes of the context",
            "context::alike",
            Steps {
                bind: |c| {
                    let mut c = c.to_vec();
                    c.sort_unstable();
                    c
                },
                ..ENCRYPTED
            },
        ),
        step(
            "sorts what stands between the commas of the context",
            "context::alike",
            Steps {
                bind: |c| {
                    let mut parts: Vec<&[u8]> = c.split(|byte| *byte == b',').collect();
                    parts.sort_unstable();
                    parts.join(&b',')
                },
                ..SIGNED
            },
        ),
        step(
            "reads line ends alike",
            "context::alike",
            Steps {
                bind: |c| c.iter().copied().filter(|byte| *byte != b'\r').collect(),
                ..SIGNED
            },
        ),
        step(
            "takes an empty context for a space",
            "context::alike",
            Steps {
                bind: |c| {
                    if c.is_empty() {
                        b" ".to_vec()
                    } else {
                        c.to_vec()
                    }
                },
                ..SIGNED
            },
        ),
        step(
            "hashes the context to one byte",
            "context::thousands_at_random",
            Steps {
                bind: |c| mac(&[0; 32], c)[..1].to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "hashes the context to ten bits",
            "context::thousands_at_random",
            Steps {
                bind: |c| vec![mac(&[0; 32], c)[0], mac(&[0; 32], c)[1] & 3],
                ..SIGNED
            },
        ),
        step(
            "hashes the context to 14 bits",
            "context::thousands_at_random",
            Steps {
                bind: |context| {
                    let hash = mac(&[0; 32], context);
                    vec![hash[0] & 63, hash[1]]
                },
                ..ENCRYPTED
            },
        ),
        step(
            "hashes the context with CRC-16",
            "context::weak_sums",
            Steps {
                bind: |c| joined(&[&crc(16, 0x1021, c).to_be_bytes(), &c.len().to_be_bytes()]),
                ..ENCRYPTED
            },
        ),
        step(
            "hashes the context with CRC-32",
            "context::weak_sums",
            Steps {
                bind: |c| {
                    joined(&[
                        &crc(32, 0x04c1_1db7, c).to_be_bytes(),
                        &c.len().to_be_bytes(),
                    ])
                },
                ..SIGNED
            },
        ),
        step(
            "hashes the context with the polynomial of Java's strings",
            "context::alike",
            Steps {
                bind: |c| {
                    let hash =
                        |hash: u32, byte: &u8| hash.wrapping_mul(31).wrapping_add(u32::from(*byte));
                    c.iter().fold(0, hash).to_be_bytes().to_vec()
                },
                ..SIGNED
            },
        ),
        step(
            "hashes the context with FNV-1a",
            "context::alike",
            Steps {
                bind: |c| {
                    let hash =
                        |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(16_777_619);
                    c.iter().fold(2_166_136_261, hash).to_be_bytes().to_vec()
                },
                ..TYPED
            },
        ),
        step(
            "adds up the context in words of four bytes",
            "context::weak_sums",
            Steps {
                bind: |c| {
                    let words = c.chunks(4).map(|word| {
                        word.iter()
                            .fold(0u32, |all, byte| (all << 8) | u32::from(*byte))
                    });
                    words
                        .fold(c.len() as u32, u32::wrapping_add)
                        .to_be_bytes()
                        .to_vec()
                },
                ..ENCRYPTED
            },
        ),
    ]
}
