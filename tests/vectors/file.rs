//! What `docs/vectors.json` holds.

use std::time::Duration;

use request_state::{
    AesGcmCodec, Binding, DefaultCodec, Disclosure, HmacCodec, Keyring, Request, RequestStateCodec,
    RingCodec, Sealer,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Vectors {
    pub error: Value,
    pub keys: Vec<KeyVector>,
    pub derived: Vec<DerivedVector>,
    pub principals: Vec<PrincipalVector>,
    pub digests: Vec<Group>,
    pub digests_by_feature: Vec<FeatureVector>,
    pub params_without_digest: Vec<String>,
    pub levels: Vec<LevelVector>,
    pub tokens: Vec<Value>,
    pub refused: Vec<Refused>,
}

#[derive(Deserialize)]
pub struct KeyVector {
    pub kid: String,
    pub key: String,
}

#[derive(Deserialize)]
pub struct DerivedVector {
    pub kid: String,
    pub label: String,
    pub key: String,
}

#[derive(Deserialize)]
pub struct PrincipalVector {
    pub principal: Option<String>,
    pub digest: String,
}

/// Texts that share one digest, which no other group has.
#[derive(Deserialize)]
pub struct Group {
    pub note: String,
    pub canonical: String,
    pub digest: String,
    pub params: Vec<String>,
}

/// A text of which serde_json makes something else when `feature` is on. None: it has no digest.
#[derive(Deserialize)]
pub struct FeatureVector {
    pub feature: String,
    pub params: String,
    pub without: Option<Digest>,
    pub with: Option<Digest>,
}

#[derive(Deserialize)]
pub struct Digest {
    pub digest: String,
}

#[derive(Deserialize)]
pub struct LevelVector {
    pub levels: usize,
    pub digest: Option<String>,
}

/// A token, what it was made of, and under what it opens.
#[derive(Deserialize)]
pub struct Token {
    pub name: String,
    pub algorithm: String,
    pub kid: String,
    pub version: String,
    pub method: String,
    pub server: String,
    pub principal: Option<String>,
    pub params: String,
    pub state: String,
    pub now_ms: i64,
    pub ttl_ms: u64,
    pub expires_at_ms: i64,
    pub max_token_len: Option<usize>,
    pub nonce: String,
    pub context: String,
    pub payload: String,
    pub token: String,
}

/// A token that does not open under what the token named `of` opens under, but for the `changes`.
#[derive(Deserialize)]
pub struct Refused {
    pub of: String,
    pub name: String,
    pub reason: String,
    pub answer: String,
    pub changes: serde_json::Map<String, Value>,
    pub token: String,
}

impl Vectors {
    pub fn read() -> Self {
        serde_json::from_str(include_str!("../../docs/vectors.json")).unwrap()
    }

    pub fn keyring(&self) -> Keyring {
        let entries = self.keys.iter();
        Keyring::new(entries.map(|entry| (&*entry.kid, entry.key.parse().unwrap()))).unwrap()
    }

    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        let tokens = self.tokens.iter();
        tokens.map(|token| serde_json::from_value(token.clone()).unwrap())
    }
}

impl Token {
    pub fn binding(&self) -> Binding {
        let params: Value = serde_json::from_str(&self.params).unwrap();
        Binding::new(Request {
            version: &self.version,
            method: &self.method,
            params: &params,
            principal: self.principal.as_deref(),
        })
        .unwrap()
    }

    pub fn sealer<C: RequestStateCodec>(&self, codec: C, disclosure: Disclosure) -> Sealer<C> {
        let ttl = Duration::from_millis(self.ttl_ms);
        Sealer::builder(&self.server, codec)
            .ttl(ttl)
            .anonymous_ttl(ttl)
            .max_token_len(self.max_token_len.unwrap_or(65_536))
            .disclosure(disclosure)
            .build()
            .unwrap()
    }

    /// Every codec that makes tokens of this algorithm.
    pub fn codecs(&self, keys: &Keyring) -> Vec<Box<dyn RequestStateCodec>> {
        match &*self.algorithm {
            "aes-256-gcm" => vec![
                Box::new(AesGcmCodec::new(keys)),
                Box::new(RingCodec::new(keys)),
                Box::new(DefaultCodec::new(keys)),
            ],
            "chacha20-poly1305" => vec![Box::new(RingCodec::chacha20_poly1305(keys))],
            "hmac-sha256" => vec![Box::new(HmacCodec::new(keys))],
            other => panic!("unknown algorithm {other}"),
        }
    }
}
