//! A codec that shows what it is handed.

use std::sync::Mutex;

use request_state::{DecodeError, EncodeError, RequestStateCodec};

/// Protects nothing, and shows the last payload and context that a sealer handed it.
pub struct Recorder {
    encrypts: bool,
    gives: Option<Vec<u8>>,
    seen: Mutex<(Vec<u8>, Vec<u8>)>,
}

impl RequestStateCodec for Recorder {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        *self.seen.lock().unwrap() = (payload.to_vec(), context.to_vec());
        Ok("k.".into())
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        self.gives.clone().ok_or(DecodeError::Malformed)
    }

    fn encrypts(&self) -> bool {
        self.encrypts
    }
}

impl Recorder {
    pub fn new(encrypts: bool) -> Self {
        Self {
            encrypts,
            gives: None,
            seen: Mutex::default(),
        }
    }

    /// One that decodes every token to `payload`, which is hexadecimal.
    pub fn giving(encrypts: bool, payload: &str) -> Self {
        Self {
            gives: Some(unhex(payload)),
            ..Self::new(encrypts)
        }
    }

    /// Payload and context, in hexadecimal.
    pub fn seen(&self) -> (String, String) {
        let seen = self.seen.lock().unwrap();
        (hex(&seen.0), hex(&seen.1))
    }
}

pub fn unhex(text: &str) -> Vec<u8> {
    let places = (0..text.len()).step_by(2);
    places
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
