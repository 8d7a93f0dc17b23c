//! A token without a boundary: a state of your own type, sealed for one request of one user.
//!
//! ```text
//! cargo run --example sealer
//! ```
//!
//! The example exits with an error if a result is not the expected one.

use std::error::Error;

use request_state::{Binding, DefaultCodec, Keyring, Request, Sealer};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The server's state between two rounds.
#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Wizard {
    step: u8,
    recipient: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    // Once, when the server starts. With replicas: Keyring::from_env("REQUEST_STATE_KEYS").
    let sealer = Sealer::new("billing", DefaultCodec::new(&Keyring::ephemeral()?))?;

    // For each request: the request itself and its principal.
    let params = json!({"name": "transfer", "arguments": {"amount": 10}});
    let request = Request {
        version: "2026-07-28",
        method: "tools/call",
        params: &params,
        principal: Some("user:alice"),
    };
    let binding = Binding::new(request)?;

    let state = Wizard {
        step: 2,
        recipient: "ACME".into(),
    };
    let token = sealer.seal(&state, &binding)?;
    println!("sealed    {token}");

    let opened: Wizard = sealer.open(&token, &binding)?;
    println!("opened    {opened:?}");
    if opened != state {
        return Err("the state is another".into());
    }

    let other_params = json!({"name": "transfer", "arguments": {"amount": 10_000}});
    let others = [
        (
            "another user",
            Request {
                principal: Some("user:mallory"),
                ..request
            },
        ),
        (
            "another amount",
            Request {
                params: &other_params,
                ..request
            },
        ),
        (
            "another method",
            Request {
                method: "prompts/get",
                ..request
            },
        ),
    ];
    for (what, request) in others {
        match sealer.open::<Wizard>(&token, &Binding::new(request)?) {
            Ok(_) => return Err(format!("{what}: the token opens").into()),
            Err(error) => println!("rejected  {what}: {error}"),
        }
    }
    Ok(())
}
