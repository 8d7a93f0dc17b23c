//! The same answer again.

use std::sync::Arc;
use std::time::Duration;

use request_state_core::{
    AnswerAgain, Boundary, ConfigError, DecodeError, EncodeError, OnceBoundary, Reply, Request,
    RequestStateCodec, Sealer, Token,
};
use serde_json::{Value, json};

use crate::kit::*;
use crate::stores::{Fault, Store, ready};

type Answering = (OnceBoundary<Ledger>, Arc<Store>, Clock);

fn answering_with(policy: AnswerAgain) -> Answering {
    let (boundary, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    let boundary = boundary.once(Arc::clone(&store)).answer_again(policy);
    (boundary.unwrap(), store, clock)
}

fn answering() -> Answering {
    answering_with(AnswerAgain::new())
}

fn confirmed(boundary: &OnceBoundary<Ledger>) -> Value {
    let message = request("tools/call");
    let token = ask_for(boundary.boundary(), &message, ALICE, &["confirm", "amount"]);
    let answers = json!({"confirm": accept(), "amount": {"action": "accept", "content": {"n": 5}}});
    with_answers(&with_state(&message, token), answers)
}

/// What the client gets, and whether the handler ran, which answers `response`.
fn serve<C: RequestStateCodec>(
    boundary: &OnceBoundary<C>,
    message: &Value,
    response: &Value,
) -> (Value, bool) {
    let mut message = message.clone();
    match ready(boundary.open_request(&mut message, ALICE)) {
        Ok(round) => {
            let mut response = response.clone();
            response["id"] = message["id"].clone();
            ready(boundary.seal_response(&round, &mut response));
            (response, true)
        }
        Err(reply) => (reply.response(), false),
    }
}

fn paid() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "result": {"resultType": "complete", "paid": 5, "fee": 0.1}})
}

fn failed(reason: &str, id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "error": {"code": -32603, "message": "Internal error", "data": {"reason": reason}},
    })
}

fn in_progress() -> Value {
    failed("request_state_in_progress", 7)
}

fn unknown() -> Value {
    failed("request_state_outcome_unknown", 7)
}

#[test]
fn a_repetition_gets_the_answer_of_the_first() {
    let (boundary, _, clock) = answering();
    let retry = confirmed(&boundary);
    assert_eq!(serve(&boundary, &retry, &paid()), (paid(), true));
    for id in [json!(7), json!("other"), json!(1.5)] {
        let mut again = retry.clone();
        again["id"] = id.clone();
        let mut expected = paid();
        expected["id"] = id;
        assert_eq!(serve(&boundary, &again, &json!({})), (expected, false));
    }
    // Also once the token has expired, for as long as its flow may live.
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(serve(&boundary, &retry, &json!({})), (paid(), false));
    clock.advance(Duration::from_secs(120));
    assert!(serve(&boundary, &retry, &asks_for(&["confirm"], "again")).1);
}

#[test]
fn errors_and_further_questions_are_answers_too() {
    let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no funds"}});
    let task = json!({"jsonrpc": "2.0", "id": 7, "result": {"resultType": "task", "taskId": "t"}});
    for response in [error, task] {
        let (boundary, ..) = answering();
        let retry = confirmed(&boundary);
        assert_eq!(
            serve(&boundary, &retry, &response),
            (response.clone(), true)
        );
        assert_eq!(serve(&boundary, &retry, &paid()), (response, false));
    }
    let (boundary, _, clock) = answering();
    let retry = confirmed(&boundary);
    clock.advance(Duration::from_secs(290));
    let (asked, _) = serve(&boundary, &retry, &asks_for(&["pin"], "state"));
    // The token in it is younger than the one presented, and outlives it.
    clock.advance(Duration::from_secs(200));
    assert_eq!(serve(&boundary, &retry, &paid()), (asked.clone(), false));
    let next = with_answers(&retry, json!({"pin": accept()}));
    let (answer, ran) = serve(&boundary, &with_state(&next, token_of(&asked)), &paid());
    assert_eq!((answer, ran), (paid(), true));
}

#[test]
fn the_same_answers_are_the_same_however_they_are_written() {
    let (boundary, ..) = answering();
    let retry = confirmed(&boundary);
    let (answer, _) = serve(&boundary, &retry, &paid());
    let amount = json!({"content": {"n": 5.0}, "action": "accept"});
    for answers in [
        json!({"amount": amount, "confirm": accept()}),
        // What nobody asked for does not reach the handler.
        json!({"confirm": accept(), "other": accept(), "amount": amount}),
    ] {
        let again = with_answers(&retry, answers);
        assert_eq!(serve(&boundary, &again, &paid()), (answer.clone(), false));
    }
    let cancelled = json!({"action": "accept", "content": null});
    for answers in [
        json!({"confirm": accept()}),
        json!({"confirm": accept(), "amount": {"action": "accept", "content": {"n": 6}}}),
        json!({"confirm": cancelled, "amount": amount}),
        json!({"amount": accept(), "confirm": amount}),
        Value::Null,
    ] {
        let other = with_answers(&retry, answers);
        assert_eq!(serve(&boundary, &other, &paid()), (refusal(7), false));
    }
}

#[test]
fn no_answers_are_the_same_whether_absent_null_or_empty() {
    let (boundary, ..) = answering();
    let mut retry = confirmed(&boundary);
    retry["params"]
        .as_object_mut()
        .unwrap()
        .remove("inputResponses");
    assert!(serve(&boundary, &retry, &paid()).1);
    for none in [
        json!(null),
        json!({}),
        json!({"other": accept()}),
        json!({"confirm": 5}),
        json!([]),
    ] {
        let again = with_answers(&retry, none);
        assert_eq!(serve(&boundary, &again, &json!({})), (paid(), false));
    }
}

#[test]
fn a_branch_does_not_get_the_answer_of_another() {
    let (boundary, ..) = answering();
    let retry = confirmed(&boundary);
    let mut message = retry.clone();
    let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
    let branches = ["one", "two"].map(|state| {
        let response = sealed(boundary.boundary(), &round, asks_for(&["pin"], state));
        let next = with_state(&request("tools/call"), token_of(&response));
        with_answers(&next, json!({"pin": accept()}))
    });
    let [one, two] = branches;
    assert_eq!(serve(&boundary, &one, &paid()), (paid(), true));
    assert_eq!(serve(&boundary, &two, &json!({})), (refusal(7), false));
    assert_eq!(serve(&boundary, &one, &json!({})), (paid(), false));
}

#[test]
fn what_is_not_answered_is_in_progress_and_then_unknown() {
    let (boundary, _, clock) =
        answering_with(AnswerAgain::new().in_progress_limit(Duration::from_secs(20)));
    let retry = confirmed(&boundary);
    let mut message = retry.clone();
    let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
    assert_eq!(serve(&boundary, &retry, &paid()), (in_progress(), false));
    clock.advance(Duration::from_millis(19_999));
    assert_eq!(serve(&boundary, &retry, &paid()), (in_progress(), false));
    clock.advance(Duration::from_millis(1));
    assert_eq!(serve(&boundary, &retry, &paid()), (unknown(), false));
    // Other answers never learn of it.
    let other = with_answers(&retry, json!({}));
    assert_eq!(serve(&boundary, &other, &paid()), (refusal(7), false));
    // The first is answered after all.
    let mut response = paid();
    ready(boundary.seal_response(&round, &mut response));
    assert_eq!(serve(&boundary, &retry, &json!({})), (paid(), false));
}

#[test]
fn an_answer_that_cannot_be_kept_is_given_all_the_same() {
    let (boundary, store, clock) = answering_with(AnswerAgain::new().max_len(100));
    let mut long = paid();
    long["result"]["text"] = "x".repeat(100).into();
    let too_long = confirmed(&boundary);
    assert_eq!(serve(&boundary, &too_long, &long), (long, true));
    assert_eq!(serve(&boundary, &too_long, &paid()), (unknown(), false));
    let mut retries = Vec::new();
    for fault in [Fault::Full, Fault::Down] {
        let retry = confirmed(&boundary);
        let mut message = retry.clone();
        let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
        store.set(fault);
        let mut response = paid();
        ready(boundary.seal_response(&round, &mut response));
        assert_eq!(response, paid());
        store.set(Fault::None);
        retries.push(retry);
    }
    for retry in &retries {
        assert_eq!(serve(&boundary, retry, &paid()), (in_progress(), false));
    }
    clock.advance(Duration::from_secs(60));
    for retry in &retries {
        assert_eq!(serve(&boundary, retry, &paid()), (unknown(), false));
    }
    // Just as long as may be.
    let retry = confirmed(&boundary);
    let mut fits = paid();
    let rest = 100 - serde_json::to_string(&fits["result"]).unwrap().len();
    fits["result"]["t"] = "x".repeat(rest - r#","t":"""#.len()).into();
    assert!(serve(&boundary, &retry, &fits).1);
    assert_eq!(serve(&boundary, &retry, &json!({})), (fits, false));
}

#[test]
fn what_was_given_back_is_not_kept() {
    let (boundary, store, _) = answering();
    let retry = confirmed(&boundary);
    let mut message = retry.clone();
    let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
    assert!(ready(round.release()).unwrap());
    store.calls();
    let mut response = paid();
    ready(boundary.seal_response(&round, &mut response));
    assert_eq!(store.calls(), 0);
    assert_eq!(serve(&boundary, &retry, &paid()), (paid(), true));
}

#[test]
fn what_could_not_be_given_back_is_kept() {
    let (boundary, store, _) = answering();
    let retry = confirmed(&boundary);
    let mut message = retry.clone();
    let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
    store.set(Fault::Down);
    assert!(ready(round.release()).is_err());
    store.set(Fault::None);
    let mut response = paid();
    ready(boundary.seal_response(&round, &mut response));
    assert_eq!(serve(&boundary, &retry, &json!({})), (paid(), false));
}

#[test]
fn a_request_that_redeemed_nothing_keeps_nothing() {
    let (boundary, store, _) = answering();
    let first = request("tools/call");
    assert!(serve(&boundary, &first, &paid()).1);
    assert!(serve(&boundary, &first, &paid()).1);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert!(serve(&boundary, &ping, &paid()).1);
    assert_eq!(store.calls(), 0);
}

#[test]
fn a_kept_answer_is_sealed_for_its_server_round_and_presentation() {
    /// A payload and its context.
    type Encoded = (Vec<u8>, Vec<u8>);

    /// Says what it is asked to encode.
    #[derive(Clone, Default)]
    struct Spy(Arc<std::sync::Mutex<Vec<Encoded>>>, Ledger);

    impl RequestStateCodec for Spy {
        fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
            let mut seen = self.0.lock().unwrap();
            seen.push((payload.to_vec(), context.to_vec()));
            self.1.encode(payload, context)
        }

        fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
            self.1.decode(token, context)
        }

        fn encrypts(&self) -> bool {
            true
        }
    }

    let spy = Spy::default();
    let sealer = Sealer::new("billing", spy.clone()).unwrap();
    let store = request_state_core::MemoryStore::new();
    let boundary = Boundary::new(sealer).once(store);
    let boundary = boundary.answer_again(AnswerAgain::new()).unwrap();
    let message = request("tools/call");
    let token = ask_for(boundary.boundary(), &message, ALICE, &["confirm"]);
    let retry = with_state(&message, token);
    serve(&boundary, &retry, &paid());
    let seen = spy.0.lock().unwrap();
    let (payload, context) = seen.last().unwrap();
    assert_eq!(payload[0], 0);
    let result: Value = serde_json::from_slice(&payload[1..]).unwrap();
    assert_eq!(result, paid()["result"]);
    let label = b"request-state v1 kept answer";
    let expected = [
        &(label.len() as u64).to_be_bytes()[..],
        label,
        &7u64.to_be_bytes(),
        b"billing",
    ];
    let expected = expected.concat();
    assert!(context.starts_with(&expected));
    assert_eq!(context.len(), expected.len() + 64);
}

#[test]
fn a_key_that_is_gone_leaves_the_outcome_unknown_and_an_outage_is_one() {
    /// Opens tokens, and of kept answers it says this.
    #[derive(Clone)]
    struct Keyless(Ledger, Arc<std::sync::atomic::AtomicBool>);

    impl RequestStateCodec for Keyless {
        fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
            self.0.encode(payload, context)
        }

        fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
            let is_answer = context.windows(11).any(|bytes| bytes == b"kept answer");
            match (is_answer, self.1.load(std::sync::atomic::Ordering::Relaxed)) {
                (false, _) => self.0.decode(token, context),
                (true, false) => Err(DecodeError::UnknownKey),
                (true, true) => Err(DecodeError::Unavailable("no key service".into())),
            }
        }

        fn encrypts(&self) -> bool {
            true
        }
    }

    let codec = Keyless(Ledger::default(), Arc::default());
    let sealer = Sealer::new("billing", codec.clone()).unwrap();
    let boundary = Boundary::new(sealer).once(request_state_core::MemoryStore::new());
    let boundary = boundary.answer_again(AnswerAgain::new()).unwrap();
    let message = request("tools/call");
    let token = ask_for(boundary.boundary(), &message, ALICE, &["confirm"]);
    let retry = with_state(&message, token);
    assert!(serve(&boundary, &retry, &paid()).1);
    assert_eq!(serve(&boundary, &retry, &json!({})), (unknown(), false));
    codec.1.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(
        serve(&boundary, &retry, &json!({})),
        (internal_error(7), false)
    );
}

#[test]
fn a_codec_that_does_not_encrypt_must_be_allowed_by_name() {
    let readable = || {
        let sealer = Sealer::new("billing", Ledger::new(false)).unwrap();
        Boundary::new(sealer).once(request_state_core::MemoryStore::new())
    };
    let error = readable().answer_again(AnswerAgain::new()).unwrap_err();
    assert_eq!(error, ConfigError::ReadableAnswers);
    assert!(error.to_string().contains("allow_readable"));
    let allowed = readable()
        .answer_again(AnswerAgain::new().allow_readable())
        .unwrap();
    let message = request("tools/call");
    let token = ask_for(allowed.boundary(), &message, ALICE, &["confirm"]);
    let retry = with_state(&message, token);
    serve(&allowed, &retry, &paid());
    assert_eq!(serve(&allowed, &retry, &json!({})), (paid(), false));
}

#[test]
fn the_typed_api_keeps_answers_and_finds_them() {
    let (boundary, ..) = answering();
    for kept in [
        Ok(json!({"paid": 5})),
        Err(json!({"code": 1, "message": "no funds"})),
    ] {
        let retry = confirmed(&boundary);
        let params = &retry["params"];
        let open = || {
            let request = Request {
                version: VERSION,
                method: "tools/call",
                params,
                principal: ALICE,
            };
            let answers = params["inputResponses"].as_object().unwrap();
            let answers = answers.iter().map(|(name, answer)| (name.as_str(), answer));
            let token = Token::from(params.get("requestState"));
            ready(boundary.open(request, token, answers.collect::<Vec<_>>()))
        };
        let round = open().unwrap().round;
        ready(boundary.keep_answer(&round, kept.as_ref()));
        let Err(Reply::Kept(found)) = open() else {
            panic!("no kept answer");
        };
        assert!(!format!("{found:?}").contains('5'));
        assert_eq!(found.outcome(), kept);
    }
}
