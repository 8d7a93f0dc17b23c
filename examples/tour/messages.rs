//! The messages: an honest client writes them, and the tour prints them.

use request_state::wire::decode_base64url;
use serde_json::{Value, json};

/// The user's first answer. With one more byte, the last character of an encrypted token would have
/// no spare bits, so that changing it would prove less.
pub const BANK: &str = "Harbor Bank";

/// Returns the first message of a transfer, without a state or answers.
pub fn request(amount: u64) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "tour", "version": "1.0.0"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            },
            "name": "transfer",
            "arguments": {"to": "Bob", "amount": amount},
        },
    })
}

/// Returns the same request again, under a new ID, with the answers to the questions in `answer`
/// and its `requestState` unchanged. Returns `None` if `answer` asks nothing.
fn retry(request: &Value, id: usize, answer: &Value) -> Option<Value> {
    let result = &answer["result"];
    let mut responses = json!({});
    for name in result["inputRequests"].as_object()?.keys() {
        let content = match name.as_str() {
            "bank" => json!({"bank": BANK}),
            "confirm" => json!({"confirm": true}),
            _ => json!({"code": crate::server::CODE}),
        };
        responses[name] = json!({"action": "accept", "content": content});
    }
    let mut retry = request.clone();
    retry["id"] = json!(id);
    retry["params"]["inputResponses"] = responses;
    if let Some(state) = result.get("requestState") {
        retry["params"]["requestState"] = state.clone();
    }
    Some(retry)
}

/// Plays an honest client until nothing more is asked, with at most nine messages. Returns each
/// message that it sent, and the response.
pub fn converse(request: &Value, send: impl Fn(&Value) -> Value) -> Vec<(Value, Value)> {
    let mut talk = Vec::new();
    let mut message = Some(request.clone());
    for id in 2..=10 {
        let Some(sent) = message else { break };
        let answer = send(&sent);
        message = retry(request, id, &answer);
        talk.push((sent, answer));
    }
    talk
}

/// Summarizes the response that the client received, in a few words. A rejection is compared in
/// full, verbatim.
pub fn gist(answer: &Value) -> String {
    let refusal = json!({
        "code": -32602,
        "message": "Invalid or expired requestState",
        "data": {"reason": "invalid_request_state"},
    });
    let internal = json!({"code": -32603, "message": "Internal error"});
    let result = &answer["result"];
    match (answer.get("error"), result["inputRequests"].as_object()) {
        (Some(error), _) if *error == refusal => "refused".into(),
        (Some(error), _) if *error == internal => "internal".into(),
        (Some(error), _) => format!("error {error}"),
        (None, Some(asked)) => asked.keys().map(|name| format!("asks {name}")).collect(),
        (None, None) => result["resultType"].as_str().unwrap_or("nothing").into(),
    }
}

/// Prints a whole message, but shortens the token.
pub fn print(arrow: &str, message: &Value) {
    let mut shown = message.clone();
    for part in ["/params/requestState", "/result/requestState"] {
        if let Some(token) = shown.pointer_mut(part) {
            *token = json!(short(token));
        }
    }
    println!("{arrow} {}\n", pretty(&shown, 0));
}

/// Prints a message and its answer on one line each.
pub fn print_gist(sent: &Value, answer: &Value) {
    let params = &sent["params"];
    let (answers, state) = (&params["inputResponses"], short(&params["requestState"]));
    println!("-> inputResponses {answers}, requestState {state}");
    let state = short(&answer["result"]["requestState"]);
    println!("<- {}, requestState {state}", gist(answer));
}

/// Returns the start of a token, and its length.
fn short(token: &Value) -> String {
    let Some(token) = token.as_str() else {
        return "null".into();
    };
    let start: String = token.chars().take(24).collect();
    format!("{start}... ({} characters)", token.len())
}

/// Formats JSON, with a line for each member of an object that does not fit on one line.
fn pretty(value: &Value, indent: usize) -> String {
    let line = value.to_string();
    let (Value::Object(members), true) = (value, line.len().saturating_add(indent) > 80) else {
        return line;
    };
    let (outer, inner) = (" ".repeat(indent), indent.saturating_add(2));
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{outer}  {}: {}", json!(key), pretty(value, inner)))
        .collect();
    format!("{{\n{}\n{outer}}}", members.join(",\n"))
}

/// Returns the bytes that a client sees when it decodes a token, with a `.` for every byte that is
/// not text.
pub fn peek(token: &str) -> String {
    let parts = token.split('.').skip(1);
    let bytes = parts.flat_map(|part| decode_base64url(part).unwrap_or_default());
    bytes
        .map(|byte| match byte {
            b' '..=b'~' => char::from(byte),
            _ => '.',
        })
        .collect()
}
