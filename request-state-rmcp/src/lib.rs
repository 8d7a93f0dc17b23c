//! Seals `requestState` at the boundary of a server built with rmcp, the official Rust SDK.
//!
//! Handlers write and read plain strings. One line, [`SealedService::new`], puts a
//! [`Boundary`](request_state_core::Boundary) around them, so that clients see only tokens and no
//! handler sees a state, or an answer, that a client made up. [`Boundary`](request_state_core::Boundary)
//! has what is opened, rejected and sealed.
//!
//! ```toml
//! [dependencies]
//! request-state = "0.1"
//! request-state-rmcp = "0.1"
//! rmcp = { version = "3.11", features = ["server"] }
//! ```
//!
//! rmcp's own feature `request-state` is something else, and is not needed: see [how it
//! differs](https://docs.rs/request-state/latest/request_state/manual/differences/). How long a user may
//! take, what the log says and how keys are rotated is in
//! [operations](https://docs.rs/request-state/latest/request_state/manual/operations/).
//!
//! # The files
//!
//! | file | subject |
//! |---|---|
//! | `sealed_service.rs` | the wrapper and its settings |
//! | `handler.rs` | the wrapper as a `ServerHandler` |
//! | `service.rs` | the wrapper as a `Service`, around one that is not a `ServerHandler` |
//! | `any_boundary.rs` | a boundary, with single use or without |
//! | `gate.rs` | opening and sealing in terms of rmcp |
//! | `params.rs` | where rmcp keeps the state and the answers of each request |
//! | `answer.rs` | what the requests are answered with, as it is kept and given again |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod any_boundary;
mod gate;
mod handler;
mod params;
mod sealed_service;
mod service;

pub use any_boundary::AnyBoundary;
pub use sealed_service::SealedService;
pub use service::AnyService;
