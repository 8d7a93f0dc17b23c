//! The whole, under every backend: what seals, what opens, what is refused, what is said.

mod boundary;
mod contract;
mod fixtures;
mod interop;
mod keys;
mod logging;
mod rotation;
mod secrets;
mod states;
