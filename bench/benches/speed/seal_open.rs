//! Binding and sealing, and binding and opening, next to the baseline of each backend's primitive.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::primitive::Primitive;
use request_state_bench::state::{AnyState, state};
use request_state_bench::table::Table;
use request_state_bench::{AnySealer, keys, sealers};

/// The goals of an AEAD, and of HMAC with its second MAC.
struct Goals {
    aead: f64,
    hmac: f64,
}

impl Goals {
    fn of(&self, primitive: &Primitive) -> f64 {
        match primitive {
            Primitive::Hmac(_) => self.hmac,
            Primitive::Ring(_) | Primitive::AesGcm(_) => self.aead,
        }
    }
}

const fn goals(aead: f64, hmac: f64) -> Goals {
    Goals { aead, hmac }
}

/// The names and lengths of the states, with the goals for a struct and for a `Value`: the highest figure that was
/// measured, and 5 %.
const SIZES: [(&str, usize, Goals, Goals); 3] = [
    ("100 B", 100, goals(1.55, 1.86), goals(1.57, 1.7)),
    ("1 KiB", 1024, goals(1.36, 1.4), goals(1.47, 1.46)),
    ("16 KiB", 16 * 1024, goals(1.26, 1.21), goals(1.44, 1.38)),
];

pub fn run(table: &mut Table) {
    table.heading("Binding::new, then seal or open", "baseline", "ratio");
    for ((name, sealer), primitive) in sealers(&keys([1])).iter().zip(Primitive::all()) {
        let backend = (sealer, &primitive);
        for (size, bytes, goals, _) in &SIZES {
            let goal = goals.of(&primitive);
            rows(table, backend, (name, size), &state(*bytes), goal);
        }
        for (size, bytes, _, goals) in &SIZES {
            let value = serde_json::to_value(state(*bytes)).expect("a state is JSON");
            let size = format!("{size}, a Value");
            rows(table, backend, (name, &size), &value, goals.of(&primitive));
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
