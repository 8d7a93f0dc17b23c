//! The boundary: what handlers see, what clients see, and what neither does.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod again;
mod answers;
mod binding;
mod crashes;
mod flows;
mod kit;
mod laws;
#[path = "../common/ledger.rs"]
mod ledger;
mod logging;
mod once;
mod open_once;
mod requests;
mod responses;
mod stores;
mod typed;
