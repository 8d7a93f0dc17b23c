//! A server on stdio, in a process of its own, and a client of rmcp: a transfer over three rounds of
//! questions, which is paid once, and what becomes of a state that was changed on the way.
//!
//! ```text
//! cargo run -p request-state-rmcp --example rmcp_stdio
//! ```
//!
//! It exits with an error when something is not as it says.
#![allow(clippy::indexing_slicing)] // of a `Value`, which does not panic

mod bank;

use std::error::Error;
use std::process::Stdio;

use bank::{
    Bank, User, expect, expect_refusal, first_token, is_refused, last_call, last_word, transfer,
};
use request_state::{DefaultCodec, Keyring, MemoryStore, Sealer};
use request_state_rmcp::SealedService;
use rmcp::model::ProtocolVersion;
use rmcp::service::ServiceExt;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve().await,
        _ => show().await,
    }
}

/// The server. Without the line that makes a `SealedService` of it, it would believe any state.
async fn serve() -> Result<(), Box<dyn Error>> {
    // A process that serves one client needs no keys but its own, and no store but its memory.
    let sealer = Sealer::new("bank.example", DefaultCodec::new(&Keyring::ephemeral()?))?;
    let server = SealedService::new(Bank, sealer).once(MemoryStore::new());
    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    server.serve(stdio).await?.waiting().await?;
    Ok(())
}

/// The client.
async fn show() -> Result<(), Box<dyn Error>> {
    let mut server = Command::new(std::env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = server
        .stdout
        .take()
        .zip(server.stdin.take())
        .ok_or("no pipes")?;
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    let client = User.serve_with_lifecycle(pipes, lifecycle).await?;

    println!("Three rounds:");
    let done = last_word(&client, transfer(10)).await?;
    expect(&done, "Payment 1: 10 EUR to Bob at Harbor Bank.")?;

    println!("\nThe last answer of another transfer, twice: it is paid once.");
    let (last, _) = last_call(&client, transfer(10)).await?;
    expect_refusal(&client, last).await?;

    println!("\nAn accept that nobody asked for, in the first request:");
    let mut unasked = transfer(10);
    let answer = json!({"action": "accept", "content": {"confirm": true, "code": "491773"}});
    let names = ["bank", "confirm", "code"];
    unasked.input_responses = Some(names.map(|name| (name.into(), answer.clone())).into());
    first_token(&client, unasked).await?;
    println!("   the tool asks");

    println!("\nThe first round alone:");
    let token = first_token(&client, transfer(10)).await?;

    println!("\nThe same token, one character changed:");
    let last = token.len().saturating_sub(10);
    let (start, end) = token.split_at_checked(last).ok_or("a short token")?;
    let flipped = if end.starts_with('A') { 'B' } else { 'A' };
    let rest: String = end.chars().skip(1).collect();
    is_refused(&client, transfer(10), format!("{start}{flipped}{rest}")).await?;

    println!("\nThe tool's own plain state, instead of a token:");
    let plain = r#"{"asked":"code","bank":"Harbor Bank"}"#;
    is_refused(&client, transfer(10), plain.into()).await?;

    println!("\nThe same token, for another amount:");
    is_refused(&client, transfer(10_000), token).await?;

    client.cancel().await?;
    println!("\nAll as expected.");
    Ok(())
}
