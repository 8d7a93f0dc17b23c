//! How many heap allocations a bind, a seal, an open and a round of a boundary make, next to their goals.

use std::hint::black_box;
use std::process::ExitCode;

use allocation_counter::measure;
use request_state::{Boundary, RequestStateCodec};
use request_state_bench::params::{Call, Params};
use request_state_bench::table::Table;
use request_state_bench::{keys, sealers};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A state that allocates once when it is read back, which is not counted.
#[derive(Serialize, Deserialize)]
struct State {
    step: u32,
    text: String,
}

const READING: u64 = 1;

/// The goals of a seal, for 40 KiB and for 100 B: the buffer of a payload beyond 1 KiB grows.
const SEAL: (u64, u64) = (6, 4);
const SEAL_RESPONSE: (u64, u64) = (5, 4);

fn main() -> ExitCode {
    let mut table = Table::default();
    table.heading("allocations, 500 bytes of params", "again", "");
    let (call, value) = (Call::whole(), Call::whole().to_value());
    let binds = (count(|| value.bind()), count(|| value.bind()));
    table.counts("Binding::new, a Value", binds, (2, 2));
    let binds = (count(|| call.bind()), count(|| call.bind()));
    table.counts("Binding::new, a struct", binds, (2, 2));

    table.heading("allocations, 40 KiB of state", "100 B", "");
    let binding = value.bind();
    let (large, small) = (state(40 * 1024), state(100));
    for (name, sealer) in sealers(&keys([1])) {
        let seal = |state: &State| sealer.seal(state, &binding).expect("a token");
        let seals = (count(|| seal(&large)), count(|| seal(&small)));
        table.counts(&format!("{name}: seal"), seals, SEAL);

        let open = |token: &str| sealer.open::<State>(token, &binding).expect("it opens");
        let tokens = (seal(&large), seal(&small));
        // The proof of HMAC stands apart.
        let most = if name == "HmacCodec" { 2 } else { 1 };
        let open_goal = (most, most);
        let opens = (count(|| open(&tokens.0)), count(|| open(&tokens.1)));
        let opens = (opens.0 - READING, opens.1 - READING);
        table.counts(&format!("{name}: open"), opens, open_goal);
    }

    table.heading("allocations of a boundary, 40 KiB of state", "100 B", "");
    for (name, sealer) in sealers(&keys([1])) {
        let boundary = Boundary::new(sealer);
        let (large, small) = (round(&boundary, 40 * 1024), round(&boundary, 100));
        let most = if name == "HmacCodec" { 7 } else { 6 };
        let opens = (most, most);
        table.counts(&format!("{name}: open_request"), (large.0, small.0), opens);
        table.counts(
            &format!("{name}: seal_response"),
            (large.1, small.1),
            SEAL_RESPONSE,
        );
    }
    table.finish()
}

/// The allocations of `open_request` and of `seal_response`, in a round that brings one answer and
/// asks one question, with a state of `bytes`.
fn round(boundary: &Boundary<Box<dyn RequestStateCodec>>, bytes: usize) -> (u64, u64) {
    let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": Call::whole().to_value()});
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "resultType": "input_required",
        "requestState": "s".repeat(bytes),
        "inputRequests": {"confirm": {"method": "elicitation/create", "params": {"message": "?"}}},
    }});
    let open = |request: &mut Value| {
        let principal = Some("https://login.example.com|auth0|64f1c0ffee");
        boundary.open_request(request, principal).expect("it opens")
    };
    let round = open(&mut request.clone());
    let mut asked = response.clone();
    boundary.seal_response(&round, &mut asked);

    let params = &mut request["params"];
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {}}});
    let mut again = request.clone();
    let round = open(&mut request);
    let opens = measure(|| drop(black_box(open(&mut again)))).count_total;
    let mut response = response;
    let seals = measure(|| boundary.seal_response(&round, black_box(&mut response))).count_total;
    (opens, seals)
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
