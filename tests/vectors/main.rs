//! `vectors/vectors.json` against this library.
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

use std::collections::BTreeSet;

use request_state::OpenError;
use serde_json::{Map, Value, json};

use crate::file::Vectors;

const PAGE: &str = include_str!("../../docs/token-format.md");

#[test]
fn the_page_shows_its_worked_example() {
    let groups = Vectors::read().digests;
    let example = groups.iter().find(|group| group.note.contains("worked"));
    let example = example.expect("the example is among the vectors");
    for shown in [&example.params[0], &example.canonical, &example.digest] {
        assert!(PAGE.contains(shown), "{shown}");
    }
}

/// Each has a row in one of the two tables, and no row is of anything else.
#[test]
fn the_page_describes_every_member_and_field_of_the_vectors() {
    let file: Value = serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap();
    let members = file.as_object().unwrap();
    // Those of the two answers are JSON-RPC's.
    let lists = members.values().filter_map(Value::as_array).flatten();
    let vectors: Vec<_> = lists.filter_map(Value::as_object).collect();
    let changes = vectors
        .iter()
        .filter_map(|vector| vector.get("changes")?.as_object());
    let fields = vectors.iter().copied().chain(changes).flat_map(Map::keys);
    let fields: BTreeSet<_> = fields.cloned().collect();
    let members: BTreeSet<_> = members.keys().cloned().collect();

    let (_, section) = PAGE.split_once("\n## The vectors\n").unwrap();
    let (of_members, of_fields) = section.split_once("\n| field |").unwrap();
    let rows = |table: &str| -> BTreeSet<_> {
        let heads = table.lines().filter_map(|line| line.split('|').nth(1));
        let names = heads.flat_map(|head| head.split('`').skip(1).step_by(2));
        names.map(str::to_owned).collect()
    };
    assert_eq!(rows(of_members), members);
    assert_eq!(rows(of_fields), fields);
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
