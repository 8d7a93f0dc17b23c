//! Rejecting what is not a token of this server.

use std::hint::black_box;

use request_state::OpenError;
use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::state::{State, state};
use request_state_bench::table::Table;
use request_state_bench::{keys, sealers};

/// A state whose token is just below the default limit of 65,536 bytes, under each backend.
const STATE: usize = 49_000;

pub fn run(table: &mut Table) {
    let keys = keys([1]);
    let (kid, _) = keys.sealing();
    let binding = Call::whole().bind();
    let state = state(STATE);

    table.heading("refuse 64 KiB", "open 64 KiB", "ratio");
    for (name, sealer) in sealers(&keys) {
        let open = |token: &str| sealer.open::<State>(black_box(token), &binding);
        let good = sealer.seal(&state, &binding).expect("a token");
        assert_eq!(open(&good).as_ref(), Ok(&state));
        for (kind, bad) in [
            ("base64url", garbage(&good)),
            ("not base64url", spoiled(&good)),
        ] {
            assert_eq!(open(&bad), Err(OpenError::Invalid));
            let times = compare(|| open(&bad), || open(&good));
            table.times(&format!("{name}: {kind}"), times, times.ratio(), 1.0);
        }
    }

    table.heading("refuse 4 MiB", "refuse 70 KiB", "ratio");
    let token = |length| format!("{kid}.{}", "A".repeat(length));
    let (long, short) = (token(4 << 20), token(70 << 10));
    for (name, sealer) in sealers(&keys) {
        let open = |token: &str| sealer.open::<State>(black_box(token), &binding);
        assert_eq!(open(&short), Err(OpenError::Invalid));
        assert_eq!(open(&long), Err(OpenError::Invalid));
        let times = compare(|| open(&long), || open(&short));
        table.times(name, times, times.ratio(), 1.1);
    }
}

/// `good` in form only: its kid and its dots, and all else one character.
fn garbage(good: &str) -> String {
    let (kid, rest) = good.split_once('.').expect("a kid");
    let rest = rest.chars().map(|c| if c == '.' { '.' } else { 'A' });
    format!("{kid}.{}", rest.collect::<String>())
}

/// `good` but for its last character, so that it takes the longest to see that it is no base64url.
fn spoiled(good: &str) -> String {
    let mut bad = good.to_owned();
    bad.pop();
    bad.push('!');
    bad
}
