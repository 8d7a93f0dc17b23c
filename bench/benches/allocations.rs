//! How many heap allocations a bind, a seal and an open make, beside their goals.

use std::hint::black_box;
use std::process::ExitCode;

use allocation_counter::measure;
use request_state_bench::params::{Call, Params};
use request_state_bench::table::Table;
use request_state_bench::{keys, sealers};
use serde::{Deserialize, Serialize};

/// A state that allocates once when it is read back, which is not counted.
#[derive(Serialize, Deserialize)]
struct State {
    step: u32,
    text: String,
}

const READING: u64 = 1;

fn main() -> ExitCode {
    let mut table = Table::default();
    table.heading("allocations, 500 bytes of params", "again", "");
    let (call, value) = (Call::whole(), Call::whole().to_value());
    let binds = (count(|| value.bind()), count(|| value.bind()));
    table.counts("Binding::new, a Value", binds, 3);
    let binds = (count(|| call.bind()), count(|| call.bind()));
    table.counts("Binding::new, a struct", binds, 3);

    table.heading("allocations, 40 KiB of state", "100 B", "");
    let binding = value.bind();
    let (large, small) = (state(40 * 1024), state(100));
    for (name, sealer) in sealers(&keys([1])) {
        let seal = |state: &State| sealer.seal(state, &binding).expect("a token");
        let seals = (count(|| seal(&large)), count(|| seal(&small)));
        table.counts(&format!("{name}: seal"), seals, 5);

        let open = |token: &str| sealer.open::<State>(token, &binding).expect("it opens");
        let tokens = (seal(&large), seal(&small));
        let opens = (count(|| open(&tokens.0)), count(|| open(&tokens.1)));
        let opens = (opens.0 - READING, opens.1 - READING);
        table.counts(&format!("{name}: open"), opens, 3);
    }
    table.finish()
}

/// A state whose JSON is `bytes` long.
fn state(bytes: usize) -> State {
    let text = "s".repeat(bytes - r#"{"step":1,"text":""}"#.len());
    State { step: 1, text }
}

/// The second time: what is made once in a program's life is not counted.
fn count<T>(run: impl Fn() -> T) -> u64 {
    drop(black_box(run()));
    measure(|| drop(black_box(run()))).count_total
}
