//! The server: a wizard of three questions around a bank transfer, without a session.
//!
//! The example leaves out unrelated code. A real server also checks which protocol versions it
//! supports and which capabilities the client declares.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use request_state::{Boundary, ConfigError, RequestStateCodec, Sealer};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};

/// The time that a user has for answering one question.
pub const TTL: Duration = Duration::from_secs(300);

/// The code on the user's device. A real server asks the issuer of the code.
pub const CODE: &str = "491773";

/// The server's entire state between two rounds: the open question and the earlier answers. A retry
/// contains only the latest answers.
///
/// The arguments need not be in it. They come with every round, and a token opens only together
/// with the arguments that it was sealed for. The code is not in it either, because under HMAC
/// clients can read the state.
#[derive(Serialize, Deserialize)]
#[serde(tag = "asked", rename_all = "snake_case")]
enum Wizard {
    Bank,
    Confirm { bank: String },
    Code { bank: String },
}

#[derive(Deserialize)]
struct Arguments {
    to: String,
    amount: Number,
}

impl Wizard {
    /// Returns the name of the open question, the JSON type of its answer, and its text.
    fn question(
        &self,
        Arguments { to, amount }: &Arguments,
    ) -> (&'static str, &'static str, String) {
        match self {
            Self::Bank => ("bank", "string", format!("Which bank is {to} with?")),
            Self::Confirm { bank } => {
                let text = format!("Send {amount} EUR to {to} at {bank}?");
                ("confirm", "boolean", text)
            }
            Self::Code { .. } => ("code", "string", "Which code is on your device?".into()),
        }
    }
}

pub struct Bank {
    boundary: Boundary<Box<dyn RequestStateCodec>>,
    clock: Clock,
}

/// A clock that the tour sets.
#[derive(Clone)]
struct Clock(Arc<Mutex<SystemTime>>);

impl Clock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, now: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Bank {
    pub fn new(name: &str, codec: Box<dyn RequestStateCodec>) -> Result<Self, ConfigError> {
        let clock = Clock(Arc::new(Mutex::new(SystemTime::UNIX_EPOCH)));
        let time = clock.clone();
        let sealer = Sealer::builder(name, codec).ttl(TTL);
        let sealer = sealer.clock(move || time.now()).build()?;
        let boundary = Boundary::new(sealer);
        Ok(Self { boundary, clock })
    }

    /// Answers one JSON-RPC message. `user` is the user that the transport has authenticated, never
    /// a name from the message. `None` is an anonymous client.
    pub fn handle(&self, message: &Value, user: Option<&str>, now: SystemTime) -> Value {
        self.clock.set(now);
        let mut message = message.clone();
        let round = match self.boundary.open_request(&mut message, user) {
            Ok(round) => round,
            Err(refusal) => return refusal.response(),
        };
        let mut response = respond(&message);
        self.boundary.seal_response(&round, &mut response);
        response
    }
}

/// Returns the handler's response to a message.
pub fn respond(message: &Value) -> Value {
    let id = &message["id"];
    match answer(message) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// Handles a message and returns the result or the error. It knows nothing about tokens. The state
/// was written by the handler itself, the arguments are those of the first round, and every answer
/// was asked for.
fn answer(message: &Value) -> Result<Value, Value> {
    let params = &message["params"];
    if message["method"] != "tools/call" {
        return Err(error(-32601, "Method not found"));
    }
    if params["name"] != "transfer" && params["name"] != "transfer_abroad" {
        return Err(error(-32602, "Unknown tool"));
    }
    let arguments = Arguments::deserialize(&params["arguments"])
        .map_err(|_| error(-32602, "Invalid arguments"))?;
    let Some(state) = params["requestState"].as_str() else {
        return ask(&Wizard::Bank, &arguments);
    };
    let asked: Wizard = serde_json::from_str(state).map_err(internal)?;
    let (name, ..) = asked.question(&arguments);
    let response = &params["inputResponses"][name];
    let (action, answer) = (&response["action"], &response["content"][name]);
    if action == "decline" || action == "cancel" || *answer == Value::Bool(false) {
        return Ok(complete("Nothing was sent."));
    }
    let Arguments { to, amount } = &arguments;
    let next = match (asked, answer) {
        (Wizard::Bank, Value::String(bank)) => Wizard::Confirm { bank: bank.clone() },
        (Wizard::Confirm { bank }, Value::Bool(true)) => Wizard::Code { bank },
        (Wizard::Code { bank }, Value::String(code)) if code == CODE => {
            return Ok(complete(&format!("Sent {amount} EUR to {to} at {bank}.")));
        }
        // If there is no answer, or a wrong one, the handler asks the same question again. A real
        // server counts wrong codes, because within the TTL a client can send one token with any
        // number of guesses.
        (asked, _) => asked,
    };
    ask(&next, &arguments)
}

/// Asks the open question of `state`, and writes the state in plain.
fn ask(state: &Wizard, arguments: &Arguments) -> Result<Value, Value> {
    let (name, kind, text) = state.question(arguments);
    let schema = json!({
        "type": "object", "properties": {name: {"type": kind}}, "required": [name],
    });
    let params = json!({"mode": "form", "message": text, "requestedSchema": schema});
    Ok(json!({
        "resultType": "input_required",
        "inputRequests": {name: {"method": "elicitation/create", "params": params}},
        "requestState": serde_json::to_string(state).map_err(internal)?,
    }))
}

fn complete(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

fn internal(_: serde_json::Error) -> Value {
    error(-32603, "Internal error")
}

fn error(code: i32, message: &str) -> Value {
    json!({"code": code, "message": message})
}
