//! Reads a request's digest where a codec sees it: in the payload.

use std::sync::Mutex;

use request_state_core::{
    Binding, BindingError, DecodeError, EncodeError, Request, RequestStateCodec, Sealer,
};
use serde::Serialize;

/// Records payloads, and protects nothing.
#[derive(Default)]
struct Recorder(Mutex<Vec<u8>>);

impl RequestStateCodec for Recorder {
    fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
        *self.0.lock().unwrap() = payload.to_vec();
        Ok("k.".into())
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// The request digest of `params`.
pub fn digest<P: Serialize + ?Sized>(params: &P) -> Result<[u8; 32], BindingError> {
    let binding = Binding::new(Request {
        version: "2026-07-28",
        method: "tools/call",
        params,
        principal: None,
    })?;
    let recorder = Recorder::default();
    let sealer = Sealer::new("server", &recorder).unwrap();
    sealer.seal(&(), &binding).unwrap();
    let payload = recorder.0.lock().unwrap();
    // layout[1] ‖ expires_at_ms[8] ‖ principal[16] ‖ request[32] ‖ state
    Ok(payload[25..57].try_into().unwrap())
}

/// The digest of params given as JSON text.
pub fn digest_of_text(text: &str) -> [u8; 32] {
    let value: serde_json::Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    digest(&value).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Whether serde_json keeps numbers as text in this build.
pub fn arbitrary_precision() -> bool {
    serde_json::from_str::<serde_json::Value>("1e400").is_ok()
}
