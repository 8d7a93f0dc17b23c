//! A codec that shows what it is handed.

use std::sync::Mutex;

use request_state::{DecodeError, EncodeError, RequestStateCodec};

/// Protects nothing, and shows the last payload and context that a sealer handed it.
pub struct Recorder {
    encrypts: bool,
    seen: Mutex<(Vec<u8>, Vec<u8>)>,
}

impl RequestStateCodec for Recorder {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        *self.seen.lock().unwrap() = (payload.to_vec(), context.to_vec());
        Ok("k.".into())
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError::Malformed)
    }

    fn encrypts(&self) -> bool {
        self.encrypts
    }
}

impl Recorder {
    pub fn new(encrypts: bool) -> Self {
        let seen = Mutex::default();
        Self { encrypts, seen }
    }

    /// Payload and context, in hexadecimal.
    pub fn seen(&self) -> (String, String) {
        let seen = self.seen.lock().unwrap();
        (hex(&seen.0), hex(&seen.1))
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
