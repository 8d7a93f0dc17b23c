//! `docs/vectors.json` against this library.
//!
//! Another implementation wrote the vectors, from `docs/token-format.md` alone: what is checked here
//! is that the page says what the code does. Every build of serde_json has its vectors, see
//! [`digests`].
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod digests;
mod file;
mod recorder;
mod rounds;
mod tokens;

use request_state::OpenError;
use serde_json::json;

use crate::file::Vectors;

#[test]
fn the_page_shows_its_worked_example() {
    let page = include_str!("../../docs/token-format.md");
    let groups = Vectors::read().digests;
    let example = groups.iter().find(|group| group.note.contains("worked"));
    let example = example.expect("the example is among the vectors");
    for shown in [&example.params[0], &example.canonical, &example.digest] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_client_is_told_what_is_written() {
    let error = json!({
        "code": OpenError::CODE,
        "message": OpenError::MESSAGE,
        "data": {"reason": OpenError::REASON},
    });
    assert_eq!(error, Vectors::read().error);
}
