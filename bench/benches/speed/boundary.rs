//! The boundary around a handler, beside a sealer alone and beside reading the message.

use std::hint::black_box;

use request_state::{Boundary, RequestStateCodec};
use request_state_bench::clock::compare;
use request_state_bench::params::{Call, Params};
use request_state_bench::table::Table;
use request_state_bench::{AnySealer, keys, sealers};
use serde_json::{Value, json};

type AnyCodec = Box<dyn RequestStateCodec>;

/// As in `Params::bind`.
const PRINCIPAL: Option<&str> = Some("https://login.example.com|auth0|64f1c0ffee");

pub fn run(table: &mut Table) {
    table.heading(
        "Boundary: a round of open and seal",
        "sealer alone",
        "ratio",
    );
    let keys = keys([1]);
    for (size, bytes) in [("100 B", 100), ("1 KiB", 1024)] {
        for ((name, one), (_, other)) in sealers(&keys).into_iter().zip(sealers(&keys)) {
            round(
                table,
                &format!("{name}: {size}"),
                Boundary::new(one),
                &other,
                bytes,
            );
        }
    }

    let [(_, sealer), ..] = sealers(&keys);
    let boundary = Boundary::new(sealer);
    table.heading("Boundary: no state", "Binding::new", "ratio");
    let params = Call::whole().to_value();
    let mut call = message("tools/call", params.clone());
    let mut answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}});
    let mut pass = |request: &mut Value| {
        let round = boundary.open_request(black_box(request), PRINCIPAL);
        boundary.seal_response(&round.expect("no state"), black_box(&mut answer));
    };
    let times = compare(|| pass(&mut call), || black_box(&params).bind());
    // The same digest, compiled twice: that alone makes a difference of up to a tenth.
    table.times("tools/call", times, times.ratio(), 1.25);

    // What digesting costs beside keeping the params until it is known whether there is a state to seal.
    table.heading("Binding::new", "cloning params", "ratio");
    let times = compare(|| black_box(&params).bind(), || black_box(&params).clone());
    table.times("tools/call", times, times.ratio(), 1.25);

    table.heading("Boundary: no state", "parsing it", "ratio");
    let mut list = message(
        "tools/list",
        json!({"_meta": params["_meta"], "cursor": "20"}),
    );
    let text = list.to_string();
    let parse = || serde_json::from_str::<Value>(black_box(&text)).expect("JSON");
    let times = compare(|| pass(&mut list), parse);
    table.times("tools/list", times, times.ratio(), 0.10);
}

/// One round: a state comes in, and goes out again in the response. Then it is moved back into the
/// request, which costs both sides the same; nothing is cloned.
fn round(
    table: &mut Table,
    name: &str,
    boundary: Boundary<AnyCodec>,
    sealer: &AnySealer,
    bytes: usize,
) {
    let params = Call::whole().to_value();
    let plain = "s".repeat(bytes);
    let token = sealer.seal(&plain, &params.bind()).expect("a token");
    let mut request = message("tools/call", params);
    request["params"]["requestState"] = token.into();
    let mut response = json!({
        "jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "requestState": ""},
    });

    let (mut request_alone, mut response_alone) = (request.clone(), response.clone());
    let alone = || {
        let params = &black_box(&request_alone)["params"];
        let binding = params.bind();
        let token = params["requestState"].as_str().expect("a string");
        let plain: String = sealer.open(token, &binding).expect("a good token");
        let token = sealer.seal(black_box(&plain), &binding).expect("a token");
        *state(&mut response_alone, "result") = token.into();
        move_state(&mut request_alone, &mut response_alone);
    };
    let through_boundary = || {
        let round = boundary.open_request(black_box(&mut request), PRINCIPAL);
        // The handler asks again, with the state that it got.
        move_state(&mut request, &mut response);
        boundary.seal_response(&round.expect("a good token"), black_box(&mut response));
        move_state(&mut request, &mut response);
    };
    let times = compare(through_boundary, alone);
    table.times(name, times, times.ratio(), 1.10);
}

fn move_state(request: &mut Value, response: &mut Value) {
    std::mem::swap(state(request, "params"), state(response, "result"));
}

fn state<'a>(message: &'a mut Value, part: &str) -> &'a mut Value {
    let part = message.get_mut(part).expect("params or a result");
    part.get_mut("requestState").expect("a state")
}

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
