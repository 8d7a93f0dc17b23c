//! A codec that is ideal by construction, and messages to send through a boundary.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state_core::{
    Boundary, BoxError, DecodeError, EncodeError, RequestStateCodec, Round, Sealer, Sender,
};
use serde_json::{Value, json};

pub use crate::ledger::Ledger;

pub const VERSION: &str = "2026-07-28";
pub const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
pub const ALICE: Option<&str> = Some("user:alice");

/// A key service that does not answer.
pub struct Down;

impl RequestStateCodec for Down {
    fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
        Err(EncodeError::Unavailable(outage()))
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError::Unavailable(outage()))
    }
}

fn outage() -> BoxError {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "hunter2").into()
}

pub fn sealer() -> Sealer<Ledger> {
    Sealer::new("billing", Ledger::default()).unwrap()
}

/// Opaque, as every encrypting codec is unless asked: the boundary acts on the reason all the same.
pub fn boundary() -> Boundary<Ledger> {
    Boundary::new(sealer())
}

/// A clock that tests set, at some time of 2026 in whole milliseconds.
#[derive(Clone)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as u64, Ordering::Relaxed);
    }

    pub fn set_back(&self, by: Duration) {
        self.0.fetch_sub(by.as_millis() as u64, Ordering::Relaxed);
    }

    pub fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(1_796_212_800_000.into()))
    }
}

/// A sealer whose time is that of the clock, so much earlier.
pub fn sealer_behind(clock: &Clock, by: Duration, codec: &Ledger) -> Sealer<Ledger> {
    let clock = clock.clone();
    let sealer = Sealer::builder("billing", codec.clone()).clock(move || clock.now() - by);
    sealer.build().unwrap()
}

/// The same without delay, and with a TTL of its own.
pub fn sealer_with_ttl(clock: &Clock, ttl: Duration, codec: &Ledger) -> Sealer<Ledger> {
    let clock = clock.clone();
    let sealer = Sealer::builder("billing", codec.clone()).clock(move || clock.now());
    sealer.ttl(ttl).build().unwrap()
}

/// A boundary whose time is that of the clock.
pub fn boundary_with_clock() -> (Boundary<Ledger>, Clock) {
    let clock = Clock::default();
    let sealer = sealer_behind(&clock, Duration::ZERO, &Ledger::default());
    (Boundary::new(sealer), clock)
}

/// A request without a state.
pub fn request(method: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {
            "_meta": {"io.modelcontextprotocol/protocolVersion": VERSION},
            "name": "transfer",
            "arguments": {"amount": 10},
        },
    })
}

/// `message` with `state` as its `requestState`.
pub fn with_state(message: &Value, state: impl Into<Value>) -> Value {
    let mut message = message.clone();
    message["params"]["requestState"] = state.into();
    message
}

/// `message` with `answers` as its `inputResponses`.
pub fn with_answers(message: &Value, answers: Value) -> Value {
    let mut message = message.clone();
    message["params"]["inputResponses"] = answers;
    message
}

/// What a user says who agrees to everything.
pub fn accept() -> Value {
    json!({"action": "accept", "content": {}})
}

/// A result that asks for a form under each of `names`, with `state`.
pub fn asks_for(names: &[&str], state: impl Into<Value>) -> Value {
    let mut response = asks(state);
    for name in names {
        response["result"]["inputRequests"][name] =
            json!({"method": "elicitation/create", "params": {"message": "Really?"}});
    }
    response
}

/// A result that is `input_required`, with `state` and no questions.
pub fn asks(state: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"resultType": "input_required", "requestState": state.into()},
    })
}

/// What the frozen error is, to the letter.
pub fn refusal(id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "error": {
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        },
    })
}

pub fn internal_error(id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "error": {"code": -32603, "message": "Internal error"},
    })
}

/// What the client is answered: the request is refused, and nothing of what the client sent to
/// this end is left in it.
#[track_caller]
pub fn refused<'a, C: RequestStateCodec>(
    boundary: &Boundary<C>,
    mut message: Value,
    sender: impl Into<Sender<'a>>,
) -> Value {
    let refusal = boundary.open_request(&mut message, sender);
    let text = message.to_string();
    assert!(
        !text.contains("requestState") && !text.contains("inputResponses"),
        "{text}"
    );
    refusal.expect_err("a refusal").response()
}

/// What the handler sees: the request is let through.
#[track_caller]
pub fn opened<'a, C: RequestStateCodec>(
    boundary: &Boundary<C>,
    mut message: Value,
    sender: impl Into<Sender<'a>>,
) -> (Value, Round) {
    let round = boundary.open_request(&mut message, sender);
    (message, round.expect("a round"))
}

/// What the handler sees of a request that it does not answer.
#[track_caller]
pub fn passes<'a, C: RequestStateCodec>(
    boundary: &Boundary<C>,
    message: Value,
    sender: impl Into<Sender<'a>>,
) -> Value {
    let (seen, _) = opened(boundary, message, sender);
    seen
}

/// What the client sees of `response`.
pub fn sealed<C: RequestStateCodec>(
    boundary: &Boundary<C>,
    round: &Round,
    mut response: Value,
) -> Value {
    boundary.seal_response(round, &mut response);
    response
}

/// The token that the client gets for `plain` in the answer to `message`.
#[track_caller]
pub fn ask<C: RequestStateCodec>(
    boundary: &Boundary<C>,
    message: &Value,
    principal: Option<&str>,
    plain: &str,
) -> String {
    let (_, round) = opened(boundary, message.clone(), principal);
    let response = sealed(boundary, &round, asks(plain));
    assert_eq!(response["id"], 7, "{response}");
    let token = response["result"]["requestState"]
        .as_str()
        .expect("a token");
    assert_ne!(token, plain);
    token.to_owned()
}

/// The token of a round that asks for `names`.
#[track_caller]
pub fn ask_for<C: RequestStateCodec>(
    boundary: &Boundary<C>,
    message: &Value,
    principal: Option<&str>,
    names: &[&str],
) -> String {
    let (_, round) = opened(boundary, message.clone(), principal);
    token_of(&sealed(boundary, &round, asks_for(names, Value::Null)))
}

/// The token in a response.
#[track_caller]
pub fn token_of(response: &Value) -> String {
    let token = response["result"]["requestState"].as_str();
    token
        .unwrap_or_else(|| panic!("no token: {response}"))
        .to_owned()
}
