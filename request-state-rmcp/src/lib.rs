//! Seals `requestState` at the boundary of a server built with rmcp, the official Rust SDK of MCP.
//!
//! Handlers write and read plain strings. [`SealedService::new`] wraps them in a
//! [`Boundary`](request_state_core::Boundary): clients see only tokens, and no handler receives a
//! state or an answer that a client made up. The documentation of
//! [`Boundary`](request_state_core::Boundary) lists what is opened, rejected and sealed.
//!
//! ```toml
//! [dependencies]
//! request-state = "0.1"
//! request-state-rmcp = "0.1"
//! rmcp = { version = "3.11", features = ["server"] }
//! ```
//!
//! # Example
//!
//! ```
//! use request_state::{DefaultCodec, Keyring, Principal, Sealer};
//! use request_state_rmcp::SealedService;
//! use rmcp::ServerHandler;
//!
//! #[derive(Clone)]
//! struct Bank;
//!
//! impl ServerHandler for Bank {
//!     // `call_tool` reads the plain state from `request.request_state`,
//!     // and returns an `InputRequiredResult` with a plain state to ask a question.
//! }
//!
//! /// The identity that your HTTP authentication layer puts into the request's extensions.
//! #[derive(Clone)]
//! struct User {
//!     issuer: String,
//!     subject: String,
//! }
//!
//! // With replicas: Keyring::from_env("REQUEST_STATE_KEYS")
//! let sealer = Sealer::new("bank", DefaultCodec::new(&Keyring::ephemeral()?))?;
//! // Serve this instead of `Bank`.
//! let server = SealedService::new(Bank, sealer).http_identity(|user: &User| {
//!     Ok(Principal::Named(format!("{}|{}", user.issuer, user.subject)))
//! });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go next
//!
//! - [`SealedService`] has the settings, and lists what a state is bound to.
//!   [`http_identity`](SealedService::http_identity) binds states to the user over HTTP, and
//!   [`principal`](SealedService::principal) over any transport. **Without either, a state is bound
//!   to the request alone.**
//! - [`AnyService`] wraps an rmcp service that is not a `ServerHandler`, such as a `Router`.
//! - [`.once(store)`](SealedService::once) makes each round count once.
//! - Two examples run from a clone of the workspace. `cargo run -p request-state-rmcp --example
//!   rmcp_stdio` serves one user over stdio, and `cargo run -p request-state-rmcp --example
//!   rmcp_http` serves authenticated users over HTTP.
//! - [Operations](https://docs.rs/request-state/latest/request_state/manual/operations/) covers how
//!   long a user may take, the log, and key rotation.
//!
//! rmcp's own feature `request-state` is unrelated, and you do not need it: see [how it
//! differs](https://docs.rs/request-state/latest/request_state/manual/differences/).

// The files:
//
// | file | subject |
// |---|---|
// | `sealed_service.rs` | the wrapper and its settings |
// | `handler.rs` | the wrapper as a `ServerHandler` |
// | `service.rs` | the wrapper as a `Service`, around a service that is not a `ServerHandler` |
// | `any_boundary.rs` | a boundary with or without single use |
// | `asks.rs` | the sender of a request |
// | `gate.rs` | opening and sealing of rmcp's types |
// | `params.rs` | the location of the state and the answers in rmcp's params of each request |
// | `answer.rs` | the results of the three methods, stored as JSON and read back |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod any_boundary;
mod asks;
mod gate;
mod handler;
mod params;
mod sealed_service;
mod service;

pub use any_boundary::AnyBoundary;
pub use sealed_service::SealedService;
pub use service::AnyService;
