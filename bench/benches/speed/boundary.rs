//! The boundary around a handler, next to a sealer alone and next to reading the message.

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

    // What digesting costs next to keeping the params until it is known whether there is a state to seal.
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

/// One round: a state and an answer come in, the state goes out again with a question. Beside it
/// the same with a sealer by hand, which looks at neither question nor answer. Both sides get a clone
/// of one token, so that no conversation grows.
fn round(
    table: &mut Table,
    name: &str,
    boundary: Boundary<AnyCodec>,
    sealer: &AnySealer,
    bytes: usize,
) {
    let params = Call::whole().to_value();
    let plain = "s".repeat(bytes);
    let mut request = message("tools/call", params);
    request["params"]["inputResponses"] = json!({"confirm": {"action": "accept", "content": {}}});
    let mut response = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "resultType": "input_required",
        "requestState": plain,
        "inputRequests": {"confirm": {"method": "elicitation/create", "params": {"message": "?"}}},
    }});

    let mut first = request.clone();
    request["params"]["requestState"] = "".into();
    let binding = request["params"].bind();
    let token_alone = sealer.seal(&plain, &binding).expect("a token");
    let (mut request_alone, mut response_alone) = (request.clone(), response.clone());
    let alone = || {
        *state(&mut request_alone, "params") = black_box(&token_alone).as_str().into();
        let params = &black_box(&request_alone)["params"];
        let binding = params.bind();
        let token = params["requestState"].as_str().expect("a string");
        let plain: String = sealer.open(token, &binding).expect("a good token");
        // The handler asks again, with the state that it got.
        let token = sealer.seal(black_box(&plain), &binding).expect("a token");
        *state(&mut request_alone, "params") = plain.into();
        *state(&mut response_alone, "result") = token.into();
    };

    let round = boundary
        .open_request(&mut first, PRINCIPAL)
        .expect("no state");
    boundary.seal_response(&round, &mut response);
    let token = state(&mut response, "result")
        .as_str()
        .expect("a token")
        .to_owned();
    let through_boundary = || {
        *state(&mut request, "params") = black_box(&token).as_str().into();
        let round = boundary.open_request(black_box(&mut request), PRINCIPAL);
        std::mem::swap(
            state(&mut request, "params"),
            state(&mut response, "result"),
        );
        boundary.seal_response(&round.expect("a good token"), black_box(&mut response));
    };
    let times = compare(through_boundary, alone);
    table.times(name, times, times.ratio(), 1.15);
}

fn state<'a>(message: &'a mut Value, part: &str) -> &'a mut Value {
    let part = message.get_mut(part).expect("params or a result");
    part.get_mut("requestState").expect("a state")
}

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
