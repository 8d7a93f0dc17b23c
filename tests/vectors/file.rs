//! What `vectors/vectors.json` holds.

use std::io::Write;
use std::sync::{Arc, Mutex};
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
    /// The answer to a request when the codec has an outage, and to a result that cannot be sealed.
    pub outage: Value,
    pub keys: Vec<KeyVector>,
    pub derived: Vec<DerivedVector>,
    pub principals: Vec<PrincipalVector>,
    pub digests: Vec<Group>,
    pub digests_by_feature: Vec<FeatureVector>,
    pub params_without_digest: Vec<String>,
    pub levels: Vec<LevelVector>,
    pub unparsable: Vec<String>,
    pub tokens: Vec<Value>,
    pub refused: Vec<Refused>,
    pub states: Vec<StateVector>,
    pub rounds: Vec<Value>,
    pub rounds_refused: Vec<RefusedRound>,
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
    /// Whether serde_json reads them as text of their own.
    pub parses: bool,
    /// Whether it reads a message that has them inside.
    pub parses_in_message: bool,
    /// Whether it reads a batch that has that message inside.
    pub parses_in_batch: bool,
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
    pub anonymous_ttl_ms: u64,
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

/// What the token opens as, or none where its state is refused.
#[derive(Deserialize)]
pub struct StateVector {
    pub note: String,
    pub of: String,
    pub token: String,
    pub opens_as: Option<String>,
    pub only: Option<String>,
}

/// A token of a boundary, what it was made of, and under what it opens.
#[derive(Deserialize)]
pub struct RoundVector {
    pub name: String,
    pub algorithm: String,
    pub version: String,
    pub method: String,
    pub server: String,
    pub principal: Option<String>,
    pub params: String,
    pub now_ms: i64,
    pub ttl_ms: u64,
    pub anonymous_ttl_ms: u64,
    pub max_flow_ms: u64,
    pub max_token_len: Option<usize>,
    pub flow: String,
    pub round: u16,
    pub questions: Vec<(String, String)>,
    pub state: Option<String>,
    /// The round that was opened before this one was sealed.
    pub after: Option<String>,
    pub expires_at_ms: i64,
    pub nonce: String,
    pub context: String,
    pub payload: String,
    pub token: String,
}

#[derive(Deserialize)]
pub struct RefusedRound {
    pub of: String,
    pub name: String,
    pub reason: String,
    pub changes: serde_json::Map<String, Value>,
    pub token: String,
}

impl Vectors {
    pub fn read() -> Self {
        serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap()
    }

    pub fn keyring(&self) -> Keyring {
        let entries = self.keys.iter();
        Keyring::new(entries.map(|entry| (&*entry.kid, entry.key.parse().unwrap()))).unwrap()
    }

    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        let tokens = self.tokens.iter();
        tokens.map(|token| serde_json::from_value(token.clone()).unwrap())
    }

    pub fn rounds(&self) -> impl Iterator<Item = RoundVector> {
        let rounds = self.rounds.iter();
        rounds.map(|round| serde_json::from_value(round.clone()).unwrap())
    }
}

impl RoundVector {
    /// The request that the token is for, with its `params` parsed.
    pub fn request<'a>(&'a self, params: &'a Value) -> Request<'a, Value> {
        Request {
            version: &self.version,
            method: &self.method,
            params,
            principal: self.principal.as_deref(),
        }
    }

    pub fn codecs(&self, keys: &Keyring) -> Vec<Box<dyn RequestStateCodec>> {
        codecs(&self.algorithm, keys)
    }
}

impl Token {
    /// The request that the token is for, with its `params` parsed.
    pub fn request<'a>(&'a self, params: &'a Value) -> Request<'a, Value> {
        Request {
            version: &self.version,
            method: &self.method,
            params,
            principal: self.principal.as_deref(),
        }
    }

    pub fn binding(&self) -> Binding {
        let params = parsed(&self.params);
        Binding::new(self.request(&params)).unwrap()
    }

    pub fn sealer<C: RequestStateCodec>(&self, codec: C, disclosure: Disclosure) -> Sealer<C> {
        Sealer::builder(&self.server, codec)
            .ttl(Duration::from_millis(self.ttl_ms))
            .anonymous_ttl(Duration::from_millis(self.anonymous_ttl_ms))
            .max_token_len(self.max_token_len.unwrap_or(65_536))
            .disclosure(disclosure)
            .build()
            .unwrap()
    }

    pub fn codecs(&self, keys: &Keyring) -> Vec<Box<dyn RequestStateCodec>> {
        codecs(&self.algorithm, keys)
    }
}

pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The algorithms of the vectors, sorted.
pub const ALGORITHMS: [&str; 3] = ["aes-256-gcm", "chacha20-poly1305", "hmac-sha256"];

/// Returns every codec that makes tokens of this algorithm.
fn codecs(algorithm: &str, keys: &Keyring) -> Vec<Box<dyn RequestStateCodec>> {
    match algorithm {
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

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What the operator is told while `work` runs.
pub fn logged(work: impl FnOnce()) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
}
