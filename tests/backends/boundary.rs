//! The boundary under every backend: three rounds, and what a forger sends.

use request_state::{Boundary, OpenError, Sealer};
use serde_json::json;

use crate::fixtures::{codecs, keys};

#[test]
fn a_conversation_of_three_rounds() {
    for (name, codec) in codecs(&keys()) {
        let boundary = Boundary::new(Sealer::new("billing", codec).unwrap()).version("2026-07-28");
        let mut request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "transfer", "arguments": {"amount": 10}},
        });
        for round in 0..3 {
            let mut seen = request.clone();
            let opened = boundary
                .open_request(&mut seen, Some("user:alice"))
                .unwrap();
            let state = &seen["params"]["requestState"];
            assert_eq!(state.as_str().map_or(0, str::len), round, "{name}");
            let plain = "x".repeat(round + 1);
            let mut response = json!({
                "id": 1, "result": {"resultType": "input_required", "requestState": plain},
            });
            boundary.seal_response(&opened, &mut response);
            let token = response["result"]["requestState"].take();
            assert!(token.as_str().unwrap().len() > 40, "{name}");
            request["params"]["requestState"] = token;
        }
        let mut other_amount = request.clone();
        other_amount["params"]["arguments"]["amount"] = json!(11);
        for (mut message, principal) in [
            (request.clone(), Some("user:bob")),
            (request, None),
            (other_amount, Some("user:alice")),
        ] {
            let refusal = boundary.open_request(&mut message, principal).unwrap_err();
            let error = &refusal.response()["error"];
            assert_eq!(error["code"], OpenError::CODE, "{name}");
        }
    }
}
