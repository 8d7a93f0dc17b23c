//! The whole, under every backend: what seals, what opens, what is refused, what is said.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod boundary;
mod contract;
mod fixtures;
mod interop;
mod keys;
mod logging;
mod rotation;
mod secrets;
mod states;
