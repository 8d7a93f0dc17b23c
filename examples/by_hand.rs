//! A server without a framework: `Boundary` around one handler, using JSON-RPC messages.
//!
//! ```text
//! cargo run --example by_hand
//! ```
//!
//! The example also plays a client, honest and dishonest. It exits with an error if a response is
//! not the expected one.
#![allow(clippy::indexing_slicing)] // indexing a `Value` does not panic

use std::error::Error;

use request_state::{Boundary, DefaultCodec, Keyring, Sealer};
use serde_json::{Value, json};

/// Serves one message. Your transport calls this for each message, with the user that it has
/// authenticated.
fn serve(boundary: &Boundary<DefaultCodec>, mut request: Value, user: &str) -> Value {
    let round = match boundary.open_request(&mut request, Some(user)) {
        Ok(round) => round,
        Err(refusal) => return refusal.response(),
    };
    let mut response = handle(&request);
    boundary.seal_response(&round, &mut response);
    response
}

/// Handles a request. This function knows nothing about tokens: it reads and writes the state as a
/// plain string. It finds an answer only if this user was asked for it.
fn handle(request: &Value) -> Value {
    let params = &request["params"];
    let result = match params["inputResponses"]["confirm"]["action"].as_str() {
        Some("accept") => json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": format!("sent, {}", params["requestState"])}],
        }),
        Some(_) => json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": "nothing was sent"}],
        }),
        None => json!({
            "resultType": "input_required",
            "requestState": "at a fee of 1 EUR",
            "inputRequests": {"confirm": {"method": "elicitation/create", "params": {
                "mode": "form",
                "message": format!("Send {} EUR, at a fee of 1 EUR?", params["arguments"]["amount"]),
                "requestedSchema": {"type": "object", "properties": {}},
            }}},
        }),
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

/// Creates a request as a client sends it.
fn transfer(amount: u64, answer: bool, token: Option<&Value>) -> Value {
    let mut params = json!({
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        "name": "transfer",
        "arguments": {"amount": amount},
    });
    if answer {
        params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {}}});
    }
    if let Some(token) = token {
        params["requestState"] = token.clone();
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// Prints the response on one line, and checks its kind.
fn expect(what: &str, response: &Value, expected: &str) -> Result<(), Box<dyn Error>> {
    let result = &response["result"];
    let got = match result["resultType"].as_str() {
        Some(result_type) => result_type.to_owned(),
        None => response["error"]["code"].to_string(),
    };
    println!("{what:<44} {got}");
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}").into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Once, when the server starts. With replicas: Keyring::from_env("REQUEST_STATE_KEYS").
    let sealer = Sealer::new("bank.example", DefaultCodec::new(&Keyring::ephemeral()?))?;
    let boundary = Boundary::new(sealer).require_principal(true);
    let alice = "user:alice";

    let unasked = serve(&boundary, transfer(10, true, None), alice);
    expect(
        "an accept that nobody asked for",
        &unasked,
        "input_required",
    )?;

    let asked = serve(&boundary, transfer(10, false, None), alice);
    expect("a transfer of 10", &asked, "input_required")?;
    let token = &asked["result"]["requestState"];

    let other_amount = serve(&boundary, transfer(10_000, true, Some(token)), alice);
    expect(
        "the answer, for a transfer of 10,000",
        &other_amount,
        "-32602",
    )?;
    let other_user = serve(&boundary, transfer(10, true, Some(token)), "user:mallory");
    expect("the answer, from another user", &other_user, "-32602")?;
    let made_up = serve(
        &boundary,
        transfer(10, true, Some(&json!("at no fee"))),
        alice,
    );
    expect("the answer, with a state made up", &made_up, "-32602")?;

    let done = serve(&boundary, transfer(10, true, Some(token)), alice);
    expect("the answer", &done, "complete")
}
