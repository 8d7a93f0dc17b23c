//! A codec that is ideal by construction, and messages to send through a boundary.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use request_state_core::{
    Binding, Boundary, DecodeError, Disclosure, EncodeError, Request, RequestStateCodec, Round,
    Sealer,
};
use serde_json::{Value, json};

pub const VERSION: &str = "2026-07-28";
pub const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
pub const ALICE: Option<&str> = Some("user:alice");

/// Keeps what it encoded: a token is a number in its list, so that no other string decodes.
#[derive(Default)]
pub struct Ledger(Mutex<Vec<(Vec<u8>, Vec<u8>)>>);

impl RequestStateCodec for Ledger {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let mut entries = self.0.lock().unwrap();
        entries.push((payload.to_vec(), context.to_vec()));
        Ok(format!("ledger.{}", entries.len() - 1))
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let number = token.strip_prefix("ledger.").unwrap_or_default();
        let index: usize = number.parse().map_err(|_| DecodeError::Malformed)?;
        if number != index.to_string() {
            return Err(DecodeError::Malformed);
        }
        match self.0.lock().unwrap().get(index) {
            Some((payload, sealed)) if sealed == context => Ok(payload.clone()),
            _ => Err(DecodeError::Unauthentic),
        }
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// A key service that does not answer.
pub struct Down;

impl RequestStateCodec for Down {
    fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
        Err(EncodeError::Unavailable("hunter2".into()))
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError::Unavailable("hunter2".into()))
    }
}

pub fn sealer() -> Sealer<Ledger> {
    Sealer::new("billing", Ledger::default()).unwrap()
}

/// Opaque, as every encrypting codec is unless asked: the boundary acts on the reason all the same.
pub fn boundary() -> Boundary<Ledger> {
    Boundary::new(sealer())
}

/// A state of the ledger's server, sealed for `message` and `principal` by a sealer alone.
pub fn token(
    sealer: &Sealer<impl RequestStateCodec>,
    message: &Value,
    principal: Option<&str>,
    plain: &str,
    age: Duration,
) -> String {
    let binding = Binding::new(Request {
        version: VERSION,
        method: message["method"].as_str().unwrap(),
        params: &message["params"],
        principal,
    });
    let then = SystemTime::now() - age;
    sealer.seal_at(plain, &binding.unwrap(), then).unwrap()
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

/// A result that asks for input, with `state`.
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

/// What the client is answered: the request is refused.
#[track_caller]
pub fn refused<C: RequestStateCodec>(
    boundary: &Boundary<C>,
    mut message: Value,
    principal: Option<&str>,
) -> Value {
    let refusal = boundary.open_request(&mut message, principal);
    refusal.expect_err("a refusal").response()
}

/// What the handler sees: the request is let through.
#[track_caller]
pub fn opened<C: RequestStateCodec>(
    boundary: &Boundary<C>,
    mut message: Value,
    principal: Option<&str>,
) -> (Value, Round) {
    let round = boundary.open_request(&mut message, principal);
    (message, round.expect("a round"))
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

/// A typed boundary, for what opacity hides.
pub fn typed() -> Boundary<Ledger> {
    let sealer = Sealer::builder("billing", Ledger::default());
    Boundary::new(sealer.disclosure(Disclosure::Typed).build().unwrap())
}
