//! The server: a wizard of three questions around a bank transfer, and no session.
//!
//! What is not the subject is left out: a real server also checks which protocol versions it speaks
//! and which capabilities the client declares.

use std::time::{Duration, SystemTime};

use request_state::{Binding, ConfigError, OpenError, Request, RequestStateCodec, Sealer};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};

/// How long a user may take to answer one question.
pub const TTL: Duration = Duration::from_secs(300);

/// What the user's device shows. A real server asks whatever issued the code.
pub const CODE: &str = "491773";

/// All that the server remembers between two rounds: which question is open, and the earlier
/// answers, since a retry carries only the last ones.
///
/// The arguments need no place in it. They come with every round, and a token opens only beside
/// those for which it was sealed. Nor does the code: under HMAC, clients read this.
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
    /// The name of the open question, the JSON type of its answer, and its text.
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
    sealer: Sealer<Box<dyn RequestStateCodec>>,
}

impl Bank {
    pub fn new(name: &str, codec: Box<dyn RequestStateCodec>) -> Result<Self, ConfigError> {
        let sealer = Sealer::builder(name, codec).ttl(TTL).build()?;
        Ok(Self { sealer })
    }

    /// Answers one JSON-RPC message. `user` is whom the transport has authenticated, never a name
    /// from the message; `None` is an anonymous client.
    pub fn handle(&self, message: &Value, user: Option<&str>, now: SystemTime) -> Value {
        let id = &message["id"];
        match self.answer(message, user, now) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        }
    }

    /// The result, or the error.
    fn answer(&self, message: &Value, user: Option<&str>, now: SystemTime) -> Result<Value, Value> {
        let params = &message["params"];
        if message["method"] != "tools/call" {
            return Err(error(-32601, "Method not found"));
        }
        if params["name"] != "transfer" && params["name"] != "transfer_abroad" {
            return Err(error(-32602, "Unknown tool"));
        }
        let arguments = Arguments::deserialize(&params["arguments"])
            .map_err(|_| error(-32602, "Invalid arguments"))?;
        let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let binding = Binding::new(Request {
            version: version.as_str().unwrap_or_default(),
            method: "tools/call",
            params,
            principal: user,
        })
        .map_err(|_| error(-32602, "Invalid params"))?;

        let asked: Wizard = match &params["requestState"] {
            // Null is the same as none: the first round.
            Value::Null => return self.ask(&Wizard::Bank, &arguments, &binding, now),
            // What is no string is refused like a bad one: as the empty string, which never opens.
            state => self
                .sealer
                .open_at(state.as_str().unwrap_or_default(), &binding, now)
                .map_err(|_| refusal())?,
        };
        // From here on, the state is ours, and the arguments are those of the first round.
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
            // No answer, or a wrong one: the same question again. A real server counts wrong codes,
            // because within the TTL a client can send one token with any number of guesses.
            (asked, _) => asked,
        };
        self.ask(&next, &arguments, &binding, now)
    }

    /// Asks the open question of `state`, sealed for the request at hand and for one more TTL.
    fn ask(
        &self,
        state: &Wizard,
        arguments: &Arguments,
        binding: &Binding,
        now: SystemTime,
    ) -> Result<Value, Value> {
        let (name, kind, text) = state.question(arguments);
        // The cause is for the operator: a client learns nothing of keys.
        let token = self.sealer.seal_at(state, binding, now).map_err(|cause| {
            eprintln!("cannot seal: {cause}");
            error(-32603, "Internal error")
        })?;
        let schema = json!({
            "type": "object", "properties": {name: {"type": kind}}, "required": [name],
        });
        let params = json!({"mode": "form", "message": text, "requestedSchema": schema});
        Ok(json!({
            "resultType": "input_required",
            "inputRequests": {name: {"method": "elicitation/create", "params": params}},
            "requestState": token,
        }))
    }
}

fn complete(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

/// One answer to every bad `requestState`, so that it tells an attacker nothing.
fn refusal() -> Value {
    json!({
        "code": OpenError::CODE,
        "message": OpenError::MESSAGE,
        "data": {"reason": OpenError::REASON},
    })
}

fn error(code: i32, message: &str) -> Value {
    json!({"code": code, "message": message})
}
