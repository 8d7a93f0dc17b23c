//! The requirements on a codec for a single token.

use request_state_core::{DecodeError, RequestStateCodec};

use super::show::{show, show_bytes};
use crate::stop::{Stop, Verdict};

/// Encodes `payload`. Every codec must accept any payload and context.
pub(crate) fn encode(
    codec: &dyn RequestStateCodec,
    payload: &[u8],
    context: &[u8],
) -> Result<String, Stop> {
    codec.encode(payload, context).map_err(|error| {
        Stop::Failed(format!(
            "could not encode a payload of {} bytes under a context of {}: {error}",
            payload.len(),
            context.len()
        ))
    })
}

/// Fails unless `token` decodes to `payload`.
pub(crate) fn must_open(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    payload: &[u8],
    about: &str,
) -> Verdict {
    match codec.decode(token, context) {
        Ok(decoded) if decoded == payload => Ok(()),
        Ok(decoded) => Err(Stop::Failed(format!(
            "{about}: decoded to other bytes: {} instead of {}",
            show_bytes(&decoded),
            show_bytes(payload)
        ))),
        Err(error) => Err(Stop::Failed(format!(
            "{about}: the codec rejected its own token: {error} (payload {}, context {}, token {})",
            show_bytes(payload),
            show_bytes(context),
            show(token)
        ))),
    }
}

/// Fails unless `token` is rejected, with any error that fits a token that the codec did not make.
pub(crate) fn must_refuse(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    about: impl FnOnce() -> String,
) -> Verdict {
    let problem = match codec.decode(token, context) {
        Err(DecodeError::Malformed | DecodeError::UnknownKey | DecodeError::Unauthentic) => {
            return Ok(());
        }
        Err(DecodeError::OtherContext) => {
            "decoding returned OtherContext for a token that the codec did not make".into()
        }
        Err(error) => format!("decoding returned `{error}`, which is not a verdict on the token"),
        Ok(payload) => format!("decoded to {}", show_bytes(&payload)),
    };
    Err(Stop::Failed(format!(
        "{}: {problem} (token {})",
        about(),
        show(token)
    )))
}

/// Fails unless a token of this codec is rejected under another context.
pub(crate) fn must_refuse_context(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    about: impl FnOnce() -> String,
) -> Verdict {
    let problem = match codec.decode(token, context) {
        Err(
            DecodeError::Malformed
            | DecodeError::UnknownKey
            | DecodeError::Unauthentic
            | DecodeError::OtherContext,
        ) => return Ok(()),
        Err(error) => format!("decoding returned `{error}`, which is not a verdict on the token"),
        Ok(_) => "it decoded".into(),
    };
    Err(Stop::Failed(format!(
        "{}: {problem} (context {})",
        about(),
        show_bytes(context)
    )))
}
