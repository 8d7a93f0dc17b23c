//! What the tests of the whole share: every backend, one request, one clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state::{
    AesGcmCodec, Binding, DefaultCodec, Disclosure, HmacCodec, Key, Keyring, Request,
    RequestStateCodec, RingCodec, Sealer, SealerBuilder,
};
use serde_json::{Value, json};

/// Returns every codec with its name, made from `keys`.
pub fn codecs(keys: &Keyring) -> Vec<(&'static str, Box<dyn RequestStateCodec>)> {
    vec![
        ("aes-gcm", Box::new(AesGcmCodec::new(keys))),
        ("ring", Box::new(RingCodec::new(keys))),
        ("chacha20", Box::new(RingCodec::chacha20_poly1305(keys))),
        ("hmac", Box::new(HmacCodec::new(keys))),
        ("default", Box::new(DefaultCodec::new(keys))),
    ]
}

pub fn key(byte: u8) -> Key {
    Key::from([byte; 32])
}

pub fn keys() -> Keyring {
    Keyring::new([("2026-10", key(1)), ("2026-07", key(2))]).unwrap()
}

pub fn params() -> Value {
    json!({
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        "name": "transfer",
        "arguments": {"amount": 10, "to": "DE02120300000000202051"},
    })
}

/// A request that a test changes where it wants to.
#[derive(Clone)]
pub struct Call {
    pub version: &'static str,
    pub method: &'static str,
    pub params: Value,
    pub principal: Option<&'static str>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            version: "2026-07-28",
            method: "tools/call",
            params: params(),
            principal: Some("user:alice"),
        }
    }
}

impl Call {
    pub fn binding(&self) -> Binding {
        Binding::new(Request {
            version: self.version,
            method: self.method,
            params: &self.params,
            principal: self.principal,
        })
        .unwrap()
    }
}

/// A sealer that tells its refusals apart as well as its codec can.
pub fn typed<C: RequestStateCodec>(codec: C) -> SealerBuilder<C> {
    Sealer::builder("billing", codec).disclosure(Disclosure::Typed)
}

/// A moment, in milliseconds since 1970.
pub fn at(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms)
}
