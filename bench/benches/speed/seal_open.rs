//! Binding and sealing, and binding and opening, beside the floor of each backend's primitive.

use std::hint::black_box;

use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::primitive::Primitive;
use request_state_bench::state::{State, state};
use request_state_bench::table::Table;
use request_state_bench::{floor, keys, sealers};

const SIZES: [(&str, usize, f64); 3] = [
    ("100 B", 100, 1.6),
    ("1 KiB", 1024, 1.6),
    ("16 KiB", 16 * 1024, 1.3),
];

pub fn run(table: &mut Table) {
    table.heading("Binding::new, then seal or open", "floor", "ratio");
    let (params, salient) = (Call::whole().to_value(), Call::salient().to_value());
    for ((name, sealer), primitive) in sealers(&keys([1])).iter().zip(Primitive::all()) {
        for (size, bytes, goal) in SIZES {
            let state = state(bytes);
            let mut buffer = vec![0; 2 * bytes];

            let seal = || sealer.seal(black_box(&state), &black_box(&params).bind());
            let token = seal().expect("a token");
            let times = compare(seal, || {
                let (state, salient) = (black_box(&state), black_box(&salient));
                floor::seal(&primitive, state, salient, &mut buffer)
            });
            table.times(&format!("{name}: seal {size}"), times, times.ratio(), goal);

            let (proof, length) = floor::seal(&primitive, &state, &salient, &mut buffer);
            let raw = buffer[..length].to_vec();
            let open = || sealer.open::<State>(black_box(&token), &black_box(&params).bind());
            let mut floor_open = || {
                let sealed = (black_box(raw.as_slice()), proof);
                floor::open(&primitive, sealed, black_box(&salient), &mut buffer)
            };
            assert_eq!(open().as_ref(), Ok(&state));
            assert_eq!(floor_open(), state);
            let times = compare(open, floor_open);
            table.times(&format!("{name}: open {size}"), times, times.ratio(), goal);
        }
    }
}
