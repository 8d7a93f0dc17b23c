//! The store against a real server, which each test starts for itself.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers may panic, as tests do"
)]

mod claims;
mod losses;
mod outages;
mod server;
mod settings;
