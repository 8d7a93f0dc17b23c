//! A codec with a limit on the time of each call.
//!
//! The suite cannot stop a call, but it can stop after one: so a codec whose time grows by the square
//! fails each of its cases at the first long token, and does not take minutes in all.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use request_state_core::{DecodeError, Disclosure, EncodeError, RequestStateCodec};

use super::codec::Codec;
use crate::stop::TooSlow;

/// What a call takes at most: far more than any cipher, built without optimization.
const CALL: Duration = Duration::from_secs(1);

/// What it takes at most for each byte in addition.
const BYTE: Duration = Duration::from_micros(5);

/// How often a call is tried before it is called too slow.
const TRIES: u32 = 5;

pub(crate) struct Watched<'a>(pub(crate) Codec<'a>);

impl Watched<'_> {
    fn watch<T>(&self, what: &str, length: usize, call: impl Fn(&Codec<'_>) -> T) -> T {
        let bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let limit = CALL + BYTE * bytes;
        let started = Instant::now();
        let result = call(&self.0);
        let mut time = started.elapsed();
        // A call may have been interrupted, for as long as it pleases the machine. What is slow is slow
        // each time.
        for _ in 1..TRIES {
            if time <= limit {
                return result;
            }
            let started = Instant::now();
            drop(call(&self.0));
            time = time.min(started.elapsed());
        }
        if time > limit {
            // Not `panic!`, which would tell the panic hook: this is no error of the program's.
            resume_unwind(Box::new(TooSlow(format!(
                "{what} {length} bytes took {time:?}, the shortest of {TRIES} tries"
            ))));
        }
        result
    }
}

impl RequestStateCodec for Watched<'_> {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let length = payload.len() + context.len();
        self.watch("encoding", length, |codec| codec.encode(payload, context))
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let length = token.len() + context.len();
        self.watch("decoding", length, |codec| codec.decode(token, context))
    }

    fn encrypts(&self) -> bool {
        self.0.encrypts()
    }

    fn disclosure(&self) -> Disclosure {
        self.0.disclosure()
    }
}
