//! Digesting typical params, beside their JSON and SHA-256.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::table::Table;

const GOAL: f64 = 1.3;

pub fn run(table: &mut Table) {
    table.heading(
        "Binding::new, 500 bytes of params",
        "to_vec + SHA-256",
        "ratio",
    );
    let (whole, salient) = (Call::whole(), Call::salient());
    beside_floor(table, "a Value", &whole.to_value(), &salient.to_value());
    beside_floor(table, "a struct, its fields unsorted", &whole, &salient);
}

fn beside_floor<P: Params>(table: &mut Table, name: &str, whole: &P, salient: &P) {
    let times = compare(|| black_box(whole).bind(), || black_box(salient).floor());
    table.times(name, times, times.ratio(), GOAL);
}
