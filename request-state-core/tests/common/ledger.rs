//! A codec that is ideal by construction.

use std::sync::{Arc, Mutex};

use request_state_core::{DecodeError, EncodeError, RequestStateCodec};

/// A payload and its context.
type Entry = (Vec<u8>, Vec<u8>);

/// Keeps what it encoded: a token is a number in its list, so that no other string decodes. Clones
/// share the list.
#[derive(Clone)]
pub struct Ledger {
    encrypts: bool,
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Ledger {
    pub fn new(encrypts: bool) -> Self {
        let entries = Arc::default();
        Self { encrypts, entries }
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new(true)
    }
}

impl RequestStateCodec for Ledger {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let mut entries = self.entries.lock().unwrap();
        entries.push((payload.to_vec(), context.to_vec()));
        Ok(format!("ledger.{}", entries.len() - 1))
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let number = token.strip_prefix("ledger.").unwrap_or_default();
        let index: usize = number.parse().map_err(|_| DecodeError::Malformed)?;
        if number != index.to_string() {
            return Err(DecodeError::Malformed);
        }
        match self.entries.lock().unwrap().get(index) {
            Some((payload, sealed)) if sealed == context => Ok(payload.clone()),
            _ => Err(DecodeError::Unauthentic),
        }
    }

    fn encrypts(&self) -> bool {
        self.encrypts
    }
}
