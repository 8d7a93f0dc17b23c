//! A server of rmcp behind the wrapper: what its handlers see, and what its clients do.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod answers;
mod any_service;
mod features;
mod forwarding;
mod http;
mod kit;
mod once;
mod refusals;
mod rounds;
mod smuggling;
