//! The boundary: what handlers see, what clients see, and what neither does.

mod answers;
mod binding;
mod flows;
mod kit;
mod laws;
mod logging;
mod requests;
mod responses;
mod typed;
