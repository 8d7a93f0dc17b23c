//! A server over HTTP (axum), with bearer tokens for two users: what Alice was asked, Bob cannot
//! answer.
//!
//! ```text
//! cargo run -p request-state-rmcp --example rmcp_http
//! ```
//!
//! It exits with an error when something is not as it says.
#![allow(clippy::indexing_slicing)] // of a `Value`, which does not panic

mod bank;

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use bank::{Bank, Client, User, expect, first_token, is_refused, last_call, last_word, transfer};
use request_state::{AnswerAgain, Boundary, DefaultCodec, Keyring, MemoryStore, Principal, Sealer};
use request_state_rmcp::SealedService;
use rmcp::model::ProtocolVersion;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::net::TcpListener;

/// Who is asking, as the authentication layer found out.
#[derive(Clone)]
struct Identity {
    subject: &'static str,
}

/// Knows two bearer tokens, and leaves the identity in the request's extensions. A real server
/// verifies a signed token here.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let bearer = request.headers().get(AUTHORIZATION);
    let subject = match bearer.and_then(|value| value.to_str().ok()) {
        Some("Bearer alices-token") => "alice",
        Some("Bearer bobs-token") => "bob",
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(Identity { subject });
    Ok(next.run(request).await)
}

/// The server, whose address is returned.
async fn serve() -> Result<String, Box<dyn Error>> {
    // Behind a load balancer: Keyring::from_env("REQUEST_STATE_KEYS"), the same on all replicas.
    let sealer = Sealer::new("bank.example", DefaultCodec::new(&Keyring::ephemeral()?))?;
    // With replicas, a store that they share. Made once: each session gets a clone.
    let once = Boundary::new(sealer).once(MemoryStore::new());
    let once = once.answer_again(AnswerAgain::new())?;
    let service = StreamableHttpService::new(
        move || {
            let server = SealedService::new(Bank, once.clone());
            Ok(server.http_identity(|who: &Identity| {
                Ok(Principal::Named(format!("bank.example|{}", who.subject)))
            }))
        },
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false),
    );
    let app = Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(authenticate));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(format!("http://{address}/mcp"))
}

/// A client of rmcp with a bearer token.
async fn connect(url: &str, bearer: &str) -> Result<Client, Box<dyn Error>> {
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(bearer);
    let transport = StreamableHttpClientTransport::from_config(config);
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    Ok(User.serve_with_lifecycle(transport, lifecycle).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = serve().await?;
    println!("Serving {url}");
    let alice = connect(&url, "alices-token").await?;
    let bob = connect(&url, "bobs-token").await?;

    println!("\nAlice, three rounds:");
    let done = last_word(&alice, transfer(10)).await?;
    expect(&done, "Payment 1: 10 EUR to Bob at Harbor Bank.")?;

    println!("\nAlice, the first round alone:");
    let token = first_token(&alice, transfer(10)).await?;

    println!("\nBob, the same request with Alice's requestState:");
    is_refused(&bob, transfer(10), token.clone()).await?;

    println!("\nAlice, with her own:");
    let mut retry = transfer(10);
    retry.request_state = Some(token);
    let done = last_word(&alice, retry).await?;
    expect(&done, "Payment 2: 10 EUR to Bob at Harbor Bank.")?;

    println!(
        "\nAlice, the last answer of another transfer, twice, as if the response had been lost:"
    );
    let (last, first) = last_call(&alice, transfer(10)).await?;
    let (_, second) = last_call(&alice, last).await?;
    if second != first {
        return Err(format!("not the same answer: {first:?}, then {second:?}").into());
    }
    println!("   the tool pays once, and Alice gets the same answer twice");

    println!("\nNobody in particular:");
    match connect(&url, "no-such-token").await {
        Err(error) if error.to_string().contains("401") => println!("   not let in: {error}"),
        Err(error) => return Err(error),
        Ok(_) => return Err("a client without a good bearer token was let in".into()),
    }

    println!("\nAll as expected.");
    Ok(())
}
