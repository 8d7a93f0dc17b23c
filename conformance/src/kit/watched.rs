//! A codec with a time limit on each call.
//!
//! The suite cannot interrupt a call, but it can stop after one. A codec with quadratic running
//! time therefore fails each of its cases at the first long token, instead of running for minutes.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use request_state_core::{DecodeError, Disclosure, EncodeError, RequestStateCodec};

use super::codec::Codec;
use crate::stop::TooSlow;

/// The time limit of a call. It is far more than any cipher takes when built without optimization.
const CALL: Duration = Duration::from_secs(1);

/// The additional time for each byte.
const BYTE: Duration = Duration::from_micros(5);

/// The number of times that a call is tried before it is reported as too slow.
const TRIES: u32 = 5;

pub(crate) struct Watched<'a>(pub(crate) Codec<'a>);

impl Watched<'_> {
    fn watch<T>(&self, what: &str, length: usize, call: impl Fn(&Codec<'_>) -> T) -> T {
        let bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let limit = CALL + BYTE * bytes;
        let started = Instant::now();
        let result = call(&self.0);
        let mut time = started.elapsed();
        // The system may have interrupted the call for any length of time. A slow call is slow each
        // time.
        for _ in 1..TRIES {
            if time <= limit {
                return result;
            }
            let started = Instant::now();
            drop(call(&self.0));
            time = time.min(started.elapsed());
        }
        if time > limit {
            // Not `panic!`, which would call the panic hook: this is not an error in the program.
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
