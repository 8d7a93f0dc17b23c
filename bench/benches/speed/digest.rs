//! Digesting typical params, next to their JSON and SHA-256.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::table::Table;

/// The highest figure that was measured, and 5 %.
const GOAL: f64 = 1.33;

/// Every object of it must be put in order, which the baseline does not do.
const UNSORTED_GOAL: f64 = 1.51;

pub fn run(table: &mut Table) {
    table.heading(
        "Binding::new, 500 bytes of params",
        "to_vec + SHA-256",
        "ratio",
    );
    let (whole, salient) = (Call::whole(), Call::salient());
    let values = (whole.to_value(), salient.to_value());
    next_to_baseline(table, "a Value", (&values.0, &values.1), GOAL);
    let name = "a struct, its fields unsorted";
    next_to_baseline(table, name, (&whole, &salient), UNSORTED_GOAL);
}

fn next_to_baseline<P: Params>(
    table: &mut Table,
    name: &str,
    (whole, salient): (&P, &P),
    goal: f64,
) {
    let times = compare(|| black_box(whole).bind(), || black_box(salient).baseline());
    table.times(name, times, times.ratio(), goal);
}
