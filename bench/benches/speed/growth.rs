//! How cost grows with the state, with the params, and with the number of keys.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params, Unsorted, params};
use request_state_bench::state::{State, state};
use request_state_bench::table::Table;
use request_state_bench::{AnySealer, keys, sealers};
use serde::Serialize;

const KIB: usize = 1024;

/// The cost of a byte may be this many times that of a byte of the smaller input.
const PER_BYTE: f64 = 1.25;

/// Likewise, where keys must be sorted: 32 times the keys are 2.1 times the comparisons for each.
const PER_BYTE_SORTED: f64 = 1.5;

pub fn run(table: &mut Table) {
    with_state(table);
    with_more_params(table);
    with_params(table);
    with_order(table);
    with_keys(table);
}

fn with_state(table: &mut Table) {
    table.heading("seal or open, 32 KiB of state", "4 KiB", "per byte");
    let binding = Call::whole().bind();
    let (large, small) = (state(32 * KIB), state(4 * KIB));
    for (name, sealer) in sealers(&keys([1])) {
        let seal = |state: &State| sealer.seal(black_box(state), &binding).expect("a token");
        let times = compare(|| seal(&large), || seal(&small));
        let growth = times.ratio() / 8.0;
        table.times(&format!("{name}: seal"), times, growth, PER_BYTE);

        let open = |token: &str| sealer.open::<State>(black_box(token), &binding);
        let tokens = (seal(&large), seal(&small));
        let times = compare(|| open(&tokens.0), || open(&tokens.1));
        let growth = times.ratio() / 8.0;
        table.times(&format!("{name}: open"), times, growth, PER_BYTE);
    }
}

fn with_more_params(table: &mut Table) {
    table.heading("Binding::new, 32 KiB of params", "1 KiB", "per byte");
    per_byte(table, "a Value", [32, 1].map(|n| params(n * KIB)), PER_BYTE);
    let flat = [32, 1].map(|n| Unsorted::flat(n * KIB));
    per_byte(table, "one object, keys unsorted", flat, PER_BYTE_SORTED);
    let nested = [32, 1].map(|n| Unsorted::nested(n * KIB, 120));
    per_byte(
        table,
        "120 levels deep, keys unsorted",
        nested,
        PER_BYTE_SORTED,
    );
}

fn per_byte<P: Params + Serialize>(
    table: &mut Table,
    name: &str,
    [large, small]: [P; 2],
    goal: f64,
) {
    let length = |params: &P| serde_json::to_vec(params).expect("JSON").len() as f64;
    let growth = length(&large) / length(&small);
    let times = compare(|| black_box(&large).bind(), || black_box(&small).bind());
    table.times(name, times, times.ratio() / growth, goal);
}

/// JSON and SHA-256 are linear, so a ratio to them that does not grow is a cost that is linear too.
/// Two in five of the values are numbers, which take longer than text.
fn with_params(table: &mut Table) {
    table.heading("Binding::new", "to_vec + SHA-256", "ratio");
    for (name, bytes) in [("1 KiB", KIB), ("32 KiB", 32 * KIB), ("1 MiB", KIB * KIB)] {
        next_to_baseline(table, &format!("{name} of params"), &params(bytes), 2.0);
    }
}

/// Every object that comes unsorted is put in order when it ends, and what it holds is copied.
fn with_order(table: &mut Table) {
    table.heading("Binding::new, keys unsorted", "to_vec + SHA-256", "ratio");
    for (name, bytes) in [("1 KiB", KIB), ("32 KiB", 32 * KIB), ("1 MiB", KIB * KIB)] {
        let flat = Unsorted::flat(bytes);
        next_to_baseline(table, &format!("{name} in one object"), &flat, 6.0);
    }
    for (name, bytes) in [("1 KiB", KIB), ("32 KiB", 32 * KIB), ("1 MiB", KIB * KIB)] {
        let nested = Unsorted::nested(bytes, 120);
        next_to_baseline(table, &format!("{name}, 120 levels deep"), &nested, 15.0);
    }
}

fn next_to_baseline<P: Params>(table: &mut Table, name: &str, params: &P, goal: f64) {
    let times = compare(|| black_box(params).bind(), || black_box(params).baseline());
    table.times(name, times, times.ratio(), goal);
}

fn with_keys(table: &mut Table) {
    table.heading("seal or open, 64 keys in the keyring", "1 key", "ratio");
    let binding = Call::whole().bind();
    let state = state(100);
    let (many, last) = (sealers(&keys(0..64)), sealers(&keys([63])));
    for ((name, many), (_, one)) in many.iter().zip(&last) {
        let seal = |sealer: &AnySealer| sealer.seal(black_box(&state), &binding).expect("a token");
        let times = compare(|| seal(many), || seal(one));
        table.times(&format!("{name}: seal"), times, times.ratio(), 1.1);

        let token = seal(one);
        let open = |sealer: &AnySealer| {
            let state = sealer.open::<State>(black_box(&token), &binding);
            state.expect("it opens")
        };
        let times = compare(|| open(many), || open(one));
        let name = format!("{name}: open, the last key");
        table.times(&name, times, times.ratio(), 1.1);
    }
}
