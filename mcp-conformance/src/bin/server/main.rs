//! An MCP server with the fixtures of the official suite, sealed by one of the backends.
//!
//! `mcp-conformance-server BACKEND` takes its keys from the variable `REQUEST_STATE_KEYS`, so that
//! several processes share one keyring. `mcp-conformance-server --unsealed` is the same server
//! without protection. With `--once`, each round counts once, in this process. With `--two-users`
//! it accepts two bearer tokens, `alices-token` and `bobs-token`, and rejects all other requests.
//! It prints its address on one line and serves until it is killed.
#![forbid(unsafe_code)]

mod fixtures;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use fixtures::Fixtures;
use request_state::{
    AesGcmCodec, AnswersWithoutState, Boundary, HmacCodec, Keyring, MemoryStore, Principal,
    RequestStateCodec, RingCodec, Sealer,
};
use request_state_rmcp::{AnyBoundary, SealedService};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tracing_subscriber::filter::LevelFilter;

const USAGE: &str =
    "usage: mcp-conformance-server [--port N] (--unsealed | [--allow-answers-without-state] [--once] [--two-users] BACKEND)
BACKEND is aes-gcm, ring, chacha20-poly1305 or hmac";

struct Args {
    /// The port. 0 selects any free port.
    port: u16,
    /// The backend. `None` means unsealed.
    backend: Option<String>,
    answers: AnswersWithoutState,
    once: bool,
    two_users: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp-conformance-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let args = parse(std::env::args_os().skip(1))?;
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    let listener = TcpListener::bind(("127.0.0.1", args.port)).await?;
    match args.backend {
        None => serve(listener, || Fixtures, |router| router).await,
        Some(backend) => {
            let sealer = Sealer::new("official", codec(&backend)?)?;
            let boundary = Boundary::new(sealer).answers_without_state(args.answers);
            let boundary: AnyBoundary<_> = if args.once {
                boundary.once(MemoryStore::new()).into()
            } else {
                boundary.into()
            };
            let sealed = move || SealedService::new(Fixtures, boundary.clone());
            if args.two_users {
                let handler = move || sealed().http_identity(|user: &User| Ok(user.0.clone()));
                serve(listener, handler, |router| {
                    router.layer(from_fn(authenticate))
                })
                .await
            } else {
                serve(listener, move || sealed().anonymous(), |router| router).await
            }
        }
    }
}

fn parse(args: impl Iterator<Item = OsString>) -> Result<Args, lexopt::Error> {
    use lexopt::prelude::*;
    let mut parser = lexopt::Parser::from_args(args);
    let mut port = 0;
    let mut backend = None;
    let mut unsealed = false;
    let mut answers = AnswersWithoutState::Remove;
    let mut once = false;
    let mut two_users = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("port") => port = parser.value()?.parse()?,
            Long("unsealed") => unsealed = true,
            Long("allow-answers-without-state") => answers = AnswersWithoutState::Allow,
            Long("once") => once = true,
            Long("two-users") => two_users = true,
            Value(name) if backend.is_none() => backend = Some(name.string()?),
            _ => return Err(USAGE.into()),
        }
    }
    // Exactly one of the two is required, so that a server is never unsealed by mistake.
    if unsealed == backend.is_some() {
        return Err(USAGE.into());
    }
    Ok(Args {
        port,
        backend,
        answers,
        once,
        two_users,
    })
}

fn codec(backend: &str) -> Result<Arc<dyn RequestStateCodec>, Box<dyn Error>> {
    let keys = Keyring::from_env("REQUEST_STATE_KEYS")?;
    Ok(match backend {
        "aes-gcm" => Arc::new(AesGcmCodec::new(&keys)),
        "ring" => Arc::new(RingCodec::new(&keys)),
        "chacha20-poly1305" => Arc::new(RingCodec::chacha20_poly1305(&keys)),
        "hmac" => Arc::new(HmacCodec::new(&keys)),
        _ => return Err(USAGE.into()),
    })
}

/// The principal that the authentication layer determined.
#[derive(Clone)]
struct User(Principal);

async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let bearer = request.headers().get(AUTHORIZATION);
    let name = match bearer.and_then(|value| value.to_str().ok()) {
        Some("Bearer alices-token") => "alice",
        Some("Bearer bobs-token") => "bob",
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    let user = User(Principal::Named(name.to_owned()));
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

/// Serves without sessions: the state must contain all information about earlier rounds.
async fn serve<S: ServerHandler>(
    listener: TcpListener,
    handler: impl Fn() -> S + Send + Sync + 'static,
    layered: impl FnOnce(Router) -> Router,
) -> Result<(), Box<dyn Error>> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    println!("http://{}/mcp", listener.local_addr()?);
    let router = Router::new().nest_service("/mcp", service);
    axum::serve(listener, layered(router)).await?;
    Ok(())
}
