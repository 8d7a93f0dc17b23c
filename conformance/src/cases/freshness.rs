//! No two tokens are the same, however they were made.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::kit::{Kit, encode, must_open, must_refuse, show};
use crate::lockstep::in_lockstep;
use crate::rings::ring;
use crate::stop::{Stop, Verdict, ensure, panic_text, suspect};
use crate::token::Token;

/// The tokens so far.
#[derive(Default)]
struct Seen(HashSet<String>);

impl Seen {
    fn insert(&mut self, token: String, about: &str) -> Verdict {
        match self.0.replace(token) {
            None => Ok(()),
            Some(token) => Err(Stop::Failed(format!(
                "{about}: the same token twice, the second time after {} others: {}",
                self.0.len(),
                show(&token)
            ))),
        }
    }
}

pub(crate) fn two_encodings_differ(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in [0, 1, 2, 15, 16, 17, 32, 300, 5_000] {
        let payload = vec![b'p'; length];
        for context in [&b""[..], b"c", &[7; 300]] {
            let mut seen = Seen::default();
            // Independent of the calls to the codec in between.
            for between in 0..8 {
                let token = encode(&codec, &payload, context)?;
                match between % 4 {
                    0 => must_open(&codec, &token, context, &payload, "untouched")?,
                    1 => must_refuse(&codec, "junk", context, || "junk".into())?,
                    _ => {}
                }
                seen.insert(token, "the same payload under the same context")?;
            }
        }
    }
    Ok(())
}

pub(crate) fn over_many_thousands(kit: &Kit<'_>) -> Verdict {
    /// The minimum number of tokens. A nonce of 24 bits repeats, and a count of 16 bits starts
    /// again.
    const LEAST: usize = 66_000;
    /// The maximum number of tokens. A nonce of 32 bits usually repeats. A fast codec reaches this
    /// number.
    const MOST: usize = 150_000;
    let codec = kit.codec()?;
    let mut seen = Seen::default();
    let mut streams = Streams::default();
    let mut try_next = |number: usize| {
        if !codec.encrypts() {
            return seen.insert(encode(&codec, b"", b"")?, "thousands of encodings");
        }
        // Two payloads in turn, so that a repeated nonce results in the same token or the same
        // keystream. The nonce of the cipher may differ from the nonce that makes tokens differ.
        let byte = u8::from(number.is_multiple_of(2));
        let token = encode(&codec, &[byte; Streams::PAYLOAD], b"")?;
        streams.insert(&token, byte)?;
        seen.insert(token, "thousands of encodings")
    };
    // With too few tokens, a count that starts again would never be detected.
    for number in kit.paced_for(Duration::from_secs(40), (0..LEAST).collect()) {
        try_next(number)?;
    }
    let started = Instant::now();
    for number in LEAST..MOST {
        if started.elapsed() > Duration::from_millis(300) {
            break;
        }
        try_next(number)?;
    }
    Ok(())
}

/// Pieces of the keystreams of tokens whose payloads repeat a single byte.
#[derive(Default)]
struct Streams(HashMap<(usize, [u8; 8]), u8>);

impl Streams {
    /// The length of a payload. It is long enough to contain a whole piece, wherever the piece
    /// starts.
    const PAYLOAD: usize = 48;

    fn insert(&mut self, token: &str, byte: u8) -> Verdict {
        let body = Token::parse(token).body();
        for (at, piece) in body.windows(8).enumerate().step_by(32) {
            let stream = std::array::from_fn(|of| piece.get(of).map_or(0, |found| found ^ byte));
            let earlier = self.0.insert((at, stream), byte);
            // A piece that is the same for both payloads is not a keystream but another part of the
            // token.
            ensure(earlier.is_none_or(|earlier| earlier == byte), || {
                format!(
                    "thousands of encodings: two tokens have the same keystream at byte {at}; the second token is {}",
                    show(token)
                )
            })?;
        }
        Ok(())
    }
}

pub(crate) fn a_codec_made_again(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    let mut seen = Seen::default();
    for _ in kit.paced((0..60).collect()) {
        let codec = kit.codec_of(&keys);
        for _ in 0..12 {
            seen.insert(
                encode(&codec, b"payload", b"context")?,
                "from a codec created again",
            )?;
        }
    }
    Ok(())
}

pub(crate) fn codecs_side_by_side(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    // Replicas have their own keyrings, read from the same source.
    let codecs = [
        kit.codec_of(&keys),
        kit.codec_of(&keys.clone()),
        kit.codec()?,
    ];
    let mut seen = Seen::default();
    for _ in kit.paced((0..300).collect()) {
        for codec in &codecs {
            seen.insert(encode(codec, b"payload", b"context")?, "from replicas")?;
        }
    }
    Ok(())
}

pub(crate) fn no_counter(kit: &Kit<'_>) -> Verdict {
    const COUNT: usize = 64;
    let codec = kit.codec()?;
    let mut tokens = Vec::new();
    for _ in 0..COUNT {
        tokens.push(encode(&codec, b"payload", b"context")?);
    }
    let bodies: Vec<Vec<u8>> = tokens
        .iter()
        .map(|token| Token::parse(token).body())
        .collect();
    let texts: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
    for (what, rows) in [("byte", &bodies), ("character", &texts)] {
        let length = rows.iter().map(Vec::len).min().unwrap_or(0);
        for (at, bit) in (0..length).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let column = rows
                .iter()
                .filter_map(|row| row.get(at))
                .map(|byte| (byte >> bit) & 1);
            let alternates = column.clone().zip(column.skip(1)).all(|(a, b)| a != b);
            suspect(!alternates, || {
                format!(
                    "a bit of {what} {at} changes with every encoding, as the last bit of a counter does. A counter starts again with the process, and counts the same on every replica. Nonces then repeat, unless they also contain random bytes"
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn at_the_same_moment(kit: &Kit<'_>) -> Verdict {
    let keys = ring()?;
    let shared = kit.codec_of(&keys);
    let pair = [kit.codec_of(&keys), kit.codec_of(&keys)];
    let sealed = || encode(&shared, b"payload", b"context");
    let mut seen = Seen::default();
    for token in in_lockstep(5_000, |_, _| sealed())? {
        seen.insert(token, "two threads with one codec, at the same moment")?;
    }
    let mut seen = Seen::default();
    let one_of_pair = |thread: usize| pair.get(thread).unwrap_or(&shared);
    for token in in_lockstep(5_000, |thread, _| {
        encode(one_of_pair(thread), b"payload", b"context")
    })? {
        seen.insert(token, "two threads with a codec each, at the same moment")?;
    }
    // A new thread each time, for a generator that each thread seeds in the same way.
    let mut seen = Seen::default();
    for _ in 0..16 {
        let token = thread::scope(|scope| {
            scope
                .spawn(|| encode(&shared, b"payload", b"context"))
                .join()
        });
        let token = token.map_err(|panic| panic_text(&*panic))??;
        seen.insert(token, "each on a new thread")?;
    }
    Ok(())
}
