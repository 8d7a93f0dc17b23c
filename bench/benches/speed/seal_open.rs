//! Binding and sealing, and binding and opening, next to the baseline of each backend's primitive.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::primitive::Primitive;
use request_state_bench::state::{AnyState, state};
use request_state_bench::table::Table;
use request_state_bench::{AnySealer, keys, sealers};

const SIZES: [(&str, usize, f64); 3] = [
    ("100 B", 100, 1.6),
    ("1 KiB", 1024, 1.6),
    ("16 KiB", 16 * 1024, 1.3),
];

/// For states that are a `Value`: each key is looked at, to see that none comes twice.
const VALUE_SIZES: [(&str, usize, f64); 3] = [
    ("100 B, a Value", 100, 1.6),
    ("1 KiB, a Value", 1024, 1.6),
    ("16 KiB, a Value", 16 * 1024, 1.4),
];

pub fn run(table: &mut Table) {
    table.heading("Binding::new, then seal or open", "baseline", "ratio");
    for ((name, sealer), primitive) in sealers(&keys([1])).iter().zip(Primitive::all()) {
        let backend = (sealer, &primitive);
        for (size, bytes, goal) in SIZES {
            rows(table, backend, (name, size), &state(bytes), goal);
        }
        for (size, bytes, goal) in VALUE_SIZES {
            let value = serde_json::to_value(state(bytes)).expect("a state is JSON");
            rows(table, backend, (name, size), &value, goal);
        }
    }
}

fn rows<T: AnyState>(
    table: &mut Table,
    (sealer, primitive): (&AnySealer, &Primitive),
    (name, size): (&str, &str),
    state: &T,
    goal: f64,
) {
    let (params, salient) = (Call::whole().to_value(), Call::salient().to_value());
    let mut buffer = vec![0; 32 * 1024];

    let seal = || black_box(state).seal(sealer, &black_box(&params).bind());
    let token = seal();
    let times = compare(seal, || {
        black_box(state).baseline_seal(primitive, black_box(&salient), &mut buffer)
    });
    table.times(&format!("{name}: seal {size}"), times, times.ratio(), goal);

    let (proof, length) = state.baseline_seal(primitive, &salient, &mut buffer);
    let raw = buffer[..length].to_vec();
    let open = || T::open(sealer, black_box(&token), &black_box(&params).bind());
    let mut baseline_open = || {
        let sealed = (black_box(raw.as_slice()), proof);
        T::baseline_open(primitive, sealed, black_box(&salient), &mut buffer)
    };
    assert_eq!(&open(), state);
    assert_eq!(&baseline_open(), state);
    let times = compare(open, baseline_open);
    table.times(&format!("{name}: open {size}"), times, times.ratio(), goal);
}
