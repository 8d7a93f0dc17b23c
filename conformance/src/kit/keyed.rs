//! A fixed payload and context, for cases about keys.

use request_state_core::RequestStateCodec;

use super::promises::{encode, must_open, must_refuse};
use crate::stop::{Stop, Verdict};

pub(crate) const CONTEXT: &[u8] = b"context";
pub(crate) const PAYLOAD: &[u8] = b"payload";

pub(crate) fn seal(codec: &dyn RequestStateCodec) -> Result<String, Stop> {
    encode(codec, PAYLOAD, CONTEXT)
}

pub(crate) fn opens(codec: &dyn RequestStateCodec, token: &str, about: &str) -> Verdict {
    must_open(codec, token, CONTEXT, PAYLOAD, about)
}

pub(crate) fn refuses(codec: &dyn RequestStateCodec, token: &str, about: &str) -> Verdict {
    must_refuse(codec, token, CONTEXT, || about.into())
}
