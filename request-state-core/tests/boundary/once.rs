//! A round counts once.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use request_state_core::{
    Boundary, MemoryStore, OnceBoundary, Opened, Question, QuestionKind, Reply, Request, Round,
    Token,
};
use serde_json::{Value, json};

use crate::kit::*;
use crate::stores::{Fault, Store, ready};

/// A boundary with single use, its store and its clock.
fn once() -> (OnceBoundary<Ledger>, Arc<Store>, Clock) {
    let (boundary, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    (boundary.once(Arc::clone(&store)), store, clock)
}

fn open(boundary: &OnceBoundary<Ledger>, message: &Value) -> Result<(Value, Round), Reply> {
    let mut message = message.clone();
    let opened = ready(boundary.open_request(&mut message, ALICE));
    if opened.is_err() {
        let text = message.to_string();
        assert!(!text.contains("requestState") && !text.contains("inputResponses"));
    }
    opened.map(|round| (message, round))
}

#[track_caller]
fn first(boundary: &OnceBoundary<Ledger>, message: &Value) -> Round {
    open(boundary, message).expect("the first").1
}

#[track_caller]
fn reply(boundary: &OnceBoundary<Ledger>, message: &Value) -> Value {
    open(boundary, message)
        .expect_err("not the first")
        .response()
}

/// A retry with the answer to a question.
fn confirmed(boundary: &OnceBoundary<Ledger>) -> Value {
    let message = request("tools/call");
    let token = ask_for(boundary.boundary(), &message, ALICE, &["confirm"]);
    with_answers(&with_state(&message, token), json!({"confirm": accept()}))
}

#[test]
fn of_many_presentations_one_reaches_the_handler() {
    let (boundary, ..) = once();
    let retry = confirmed(&boundary);
    let (seen, round) = open(&boundary, &retry).unwrap();
    assert_eq!(
        seen["params"]["inputResponses"],
        json!({"confirm": accept()})
    );
    assert!(seen["params"].get("requestState").is_none());
    assert!(round.is_asked("confirm"));
    for _ in 0..3 {
        assert_eq!(reply(&boundary, &retry), refusal(7));
    }
    // Neither other answers, nor none, nor an id of its own make it another presentation.
    for answers in [
        json!({"confirm": {"action": "decline"}}),
        json!({}),
        Value::Null,
    ] {
        assert_eq!(reply(&boundary, &with_answers(&retry, answers)), refusal(7));
    }
    let mut other_id = retry.clone();
    other_id["id"] = json!("eight");
    assert_eq!(reply(&boundary, &other_id), refusal("eight"));
}

#[test]
fn branches_of_a_round_share_its_redemption_and_rounds_do_not() {
    let (boundary, ..) = once();
    let retry = confirmed(&boundary);
    let round = first(&boundary, &retry);
    // The handler asks twice in one round, as one that is called again after a crash may.
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let mut response = asks_for(&["amount"], "state");
        ready(boundary.seal_response(&round, &mut response));
        tokens.push(with_state(&retry, token_of(&response)));
    }
    assert_eq!(first(&boundary, &tokens[0]).number(), Some(2));
    assert_eq!(reply(&boundary, &tokens[1]), refusal(7));
    // Another flow of the same user and request is another matter.
    let _ = first(&boundary, &confirmed(&boundary));
}

#[test]
fn what_is_rejected_is_not_used_up_and_costs_the_store_no_call() {
    let (boundary, store, _) = once();
    let retry = confirmed(&boundary);
    store.calls();
    let mut other = retry.clone();
    other["params"]["arguments"]["amount"] = json!(11);
    for message in [other, with_state(&retry, "junk"), with_state(&retry, 5)] {
        assert_eq!(reply(&boundary, &message), refusal(7));
    }
    let mut deep = json!({});
    for _ in 0..130 {
        deep = json!({ "a": deep });
    }
    let undigestible = with_answers(&retry, json!({"confirm": deep}));
    assert_eq!(reply(&boundary, &undigestible), refusal(7));
    let mut stolen = retry.clone();
    let bob = ready(boundary.open_request(&mut stolen, Some("user:bob")));
    assert!(bob.is_err());
    let mut without = request("tools/call");
    assert!(ready(boundary.open_request(&mut without, ALICE)).is_ok());
    assert_eq!(store.calls(), 0);
    let _ = first(&boundary, &retry);
    assert_eq!(store.calls(), 1);
}

#[test]
fn an_outage_is_not_a_refusal_and_the_handler_does_not_run() {
    for fault in [Fault::Down, Fault::Forgot, Fault::AnswerLost] {
        let (boundary, store, _) = once();
        let retry = confirmed(&boundary);
        store.set(fault);
        assert_eq!(reply(&boundary, &retry), internal_error(7));
        store.set(Fault::None);
        // Where it is not known whether the claim was made, it is taken back.
        let opened = open(&boundary, &retry);
        assert!(opened.is_ok());
    }
}

#[test]
fn where_a_claim_cannot_be_taken_back_the_round_stays_used() {
    struct Deaf(Arc<Store>);

    // Loses the answer of the claim, and then everything.
    impl request_state_core::RedemptionStore for Deaf {
        fn claim<'a>(
            &'a self,
            claim: &'a request_state_core::Claim,
        ) -> request_state_core::StoreFuture<'a, request_state_core::Claimed> {
            self.0.set(Fault::AnswerLost);
            let claimed = self.0.claim(claim);
            self.0.set(Fault::Down);
            claimed
        }

        fn find<'a>(
            &'a self,
            id: &'a [u8; 32],
            issued_at_ms: u64,
        ) -> request_state_core::StoreFuture<'a, Option<request_state_core::Entry>> {
            self.0.find(id, issued_at_ms)
        }

        fn record<'a>(
            &'a self,
            id: &'a [u8; 32],
            nonce: &'a [u8; 16],
            answer: &'a [u8],
        ) -> request_state_core::StoreFuture<'a, bool> {
            self.0.record(id, nonce, answer)
        }

        fn release<'a>(
            &'a self,
            id: &'a [u8; 32],
            nonce: &'a [u8; 16],
        ) -> request_state_core::StoreFuture<'a, bool> {
            self.0.release(id, nonce)
        }
    }

    let (plain, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    let deaf = plain.clone().once(Deaf(Arc::clone(&store)));
    let retry = confirmed(&deaf);
    assert_eq!(reply(&deaf, &retry), internal_error(7));
    store.set(Fault::None);
    let healthy = plain.once(store);
    assert_eq!(reply(&healthy, &retry), refusal(7));
}

#[test]
fn an_expired_round_starts_over_only_if_it_was_not_redeemed() {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let (boundary, store, clock) = once();
    let (paid, unpaid) = (confirmed(&boundary), confirmed(&boundary));
    let _ = first(&boundary, &paid);
    clock.advance(minutes(6));
    assert_eq!(reply(&boundary, &paid), refusal(7));
    store.set(Fault::Down);
    assert_eq!(reply(&boundary, &unpaid), internal_error(7));
    store.set(Fault::None);
    let (seen, round) = open(&boundary, &unpaid).unwrap();
    assert!(round.restarted_from().is_some() && round.redemption().is_none());
    assert!(round.expired_redemption().is_some());
    assert!(seen["params"].get("inputResponses").is_none());
    // Looking does not use it up: it starts over as often as it comes.
    assert!(first(&boundary, &unpaid).restarted_from().is_some());
    // For as long as a branch of the flow may open, and two minutes.
    clock.advance(minutes(60 + 2 - 6) - Duration::from_millis(1));
    assert_eq!(reply(&boundary, &paid), refusal(7));
    clock.advance(Duration::from_millis(1));
    store.calls();
    assert!(first(&boundary, &paid).restarted_from().is_some());
    assert_eq!(store.calls(), 0);
}

#[test]
fn who_starts_over_closes_the_round() {
    let (boundary, _, clock) = once();
    let retry = confirmed(&boundary);
    // A replica whose clock is ahead, and then one whose clock is behind.
    clock.advance(Duration::from_secs(360));
    assert!(first(&boundary, &retry).restarted_from().is_some());
    assert!(first(&boundary, &retry).restarted_from().is_some());
    clock.set_back(Duration::from_secs(90));
    assert_eq!(reply(&boundary, &retry), refusal(7));
}

#[test]
fn a_round_that_was_closed_is_not_given_back_because_the_reply_was_lost() {
    let (boundary, store, clock) = once();
    let retry = confirmed(&boundary);
    clock.advance(Duration::from_secs(360));
    store.set(Fault::AnswerLost);
    assert_eq!(reply(&boundary, &retry), internal_error(7));
    store.set(Fault::None);
    clock.set_back(Duration::from_secs(90));
    assert_eq!(reply(&boundary, &retry), refusal(7));
}

#[test]
fn a_shorter_max_flow_still_asks_the_store() {
    let (plain, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    let long = plain.clone().once(Arc::clone(&store));
    let short = plain.max_flow(Duration::from_secs(1)).once(store);
    let paid = confirmed(&long);
    let _ = first(&long, &paid);
    clock.advance(Duration::from_secs(122));
    assert_eq!(reply(&short, &paid), refusal(7));
}

#[test]
fn a_round_that_was_given_back_may_not_ask() {
    let (boundary, store, _) = once();
    let question = [Question::new("again", QuestionKind::ElicitationForm)];
    for fault in [Fault::None, Fault::Down] {
        let round = first(&boundary, &confirmed(&boundary));
        store.set(fault);
        assert_eq!(ready(round.release()).is_ok(), fault == Fault::None);
        store.set(Fault::None);
        assert!(boundary.boundary().seal(&round, &question, None).is_err());
    }
}

#[test]
fn a_round_whose_handler_asks_may_not_be_given_back() {
    let (boundary, ..) = once();
    let retry = confirmed(&boundary);
    let round = first(&boundary, &retry);
    let asks = |questions: &[Question<'_>]| boundary.boundary().seal(&round, questions, None);
    asks(&[Question::new("again", QuestionKind::ElicitationForm)]).unwrap();
    // One token was issued, whatever became of a second.
    asks(&[]).unwrap_err();
    assert!(!ready(round.release()).unwrap());
    assert_eq!(reply(&boundary, &retry), refusal(7));
    // Where no token was issued, it may.
    let retry = confirmed(&boundary);
    let round = first(&boundary, &retry);
    assert!(boundary.boundary().seal(&round, &[], None).is_err());
    assert!(ready(round.release()).unwrap());
    let _ = first(&boundary, &retry);
}

/// A process that was suspended: what another had redeemed in its place may be forgotten by then.
#[test]
fn a_claim_that_is_made_after_the_end_of_the_flow_does_not_count() {
    let hour = Duration::from_secs(3_600);
    for (by, counts) in [
        (hour - Duration::from_millis(1), true),
        (hour, false),
        (2 * hour, false),
    ] {
        let (boundary, store, _) = once();
        let retry = confirmed(&boundary);
        store.set(Fault::Slow(by));
        assert_eq!(open(&boundary, &retry).is_ok(), counts, "{by:?}");
        // It was given back: nobody has acted on it.
        store.set(Fault::None);
        assert_eq!(open(&boundary, &retry).is_ok(), !counts, "{by:?}");
    }
}

#[test]
fn without_starting_over_an_expired_round_is_rejected_either_way() {
    let (boundary, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    let boundary = boundary.restart_expired(false).once(store);
    let (paid, unpaid) = (confirmed(&boundary), confirmed(&boundary));
    let _ = first(&boundary, &paid);
    clock.advance(Duration::from_secs(400));
    assert_eq!(reply(&boundary, &paid), refusal(7));
    assert_eq!(reply(&boundary, &unpaid), refusal(7));
}

#[test]
fn a_token_of_before_the_memory_store_is_unavailable() {
    let (boundary, clock) = boundary_with_clock();
    let memory = |clock: &Clock| {
        let clock = clock.clone();
        MemoryStore::with_clock(10, move || clock.now())
    };
    let before = boundary.clone().once(memory(&clock));
    let (paid, fresh) = (confirmed(&before), confirmed(&before));
    let _ = first(&before, &paid);
    // In the same millisecond, it might have been redeemed at this very store.
    let restarted = boundary.clone().once(memory(&clock));
    let _ = first(&restarted, &fresh);
    clock.advance(Duration::from_millis(1));
    let restarted = boundary.once(memory(&clock));
    assert_eq!(reply(&restarted, &paid), internal_error(7));
    clock.advance(Duration::from_secs(3_000));
    assert_eq!(reply(&restarted, &paid), internal_error(7));
    // Too old for anything to be kept of it.
    clock.advance(Duration::from_secs(1_000));
    assert!(first(&restarted, &paid).restarted_from().is_some());
    let _ = first(&restarted, &confirmed(&restarted));
}

/// A server that lost its history deploys another TTL: the token of before says neither when it was issued
/// nor under which TTL.
#[test]
fn a_token_of_a_longer_ttl_is_not_taken_for_one_of_after_a_loss() {
    let (clock, ledger) = (Clock::default(), Ledger::default());
    let server = |minutes: u64| {
        let sealer = sealer_with_ttl(&clock, Duration::from_secs(60 * minutes), &ledger);
        let now = clock.clone();
        Boundary::new(sealer).once(MemoryStore::with_clock(10, move || now.now()))
    };
    let before = server(30);
    let paid = confirmed(&before);
    let _ = first(&before, &paid);
    clock.advance(Duration::from_secs(60));
    let after = server(5);
    clock.advance(Duration::from_secs(60 * 25));
    assert_eq!(reply(&after, &paid), internal_error(7));
    let _ = first(&after, &confirmed(&after));
}

#[test]
fn a_filter_chooses_by_method_and_name() {
    let (boundary, store, _) = once();
    let boundary = boundary.only(|method, name| method == "tools/call" && name == "transfer");
    let with_name = |method: &str, member: &str, name: Value| {
        let mut message = request(method);
        message["params"]["name"] = Value::Null;
        message["params"][member] = name;
        let token = ask_for(boundary.boundary(), &message, ALICE, &["confirm"]);
        with_state(&message, token)
    };
    for (retry, calls) in [
        (with_name("tools/call", "name", json!("transfer")), 1),
        (with_name("tools/call", "name", json!("search")), 0),
        (with_name("prompts/get", "name", json!("transfer")), 0),
        (with_name("resources/read", "uri", json!("file:///a")), 0),
        // Nobody knows what these are.
        (with_name("tools/call", "name", json!(5)), 1),
        (with_name("tools/call", "uri", json!("file:///a")), 1),
        (with_name("resources/read", "name", json!("transfer")), 1),
    ] {
        store.calls();
        let _ = first(&boundary, &retry);
        assert_eq!(store.calls(), calls, "{retry}");
        assert_eq!(open(&boundary, &retry).is_err(), calls == 1, "{retry}");
    }
}

#[test]
fn a_round_can_be_given_back() {
    let (boundary, store, _) = once();
    let retry = confirmed(&boundary);
    let round = first(&boundary, &retry);
    assert!(ready(round.release()).unwrap());
    assert!(!ready(round.release()).unwrap());
    // Not by who did not claim it, and not by who claimed it before.
    let second = first(&boundary, &retry);
    assert!(!ready(round.release()).unwrap());
    assert_eq!(reply(&boundary, &retry), refusal(7));
    store.set(Fault::Down);
    assert!(ready(second.release()).is_err());
    let plain = Round::uncovered();
    assert!(!ready(plain.release()).unwrap());
}

#[test]
fn a_handler_can_redeem_in_its_own_transaction() {
    let (boundary, clock) = boundary_with_clock();
    let message = request("tools/call");
    let (_, round) = opened(&boundary, message.clone(), ALICE);
    assert_eq!(round.redemption(), None);
    let retry = with_state(&message, ask_for(&boundary, &message, ALICE, &["confirm"]));
    let start = clock.now();
    clock.advance(Duration::from_secs(10));
    let (_, round) = opened(&boundary, retry.clone(), ALICE);
    let redemption = round.redemption().unwrap();
    assert_eq!(
        redemption.keep_until,
        start + Duration::from_secs(3_600 + 120)
    );
    let (_, again) = opened(&boundary, retry.clone(), ALICE);
    assert_eq!(again.redemption(), Some(redemption));
    // The next round has an id of its own, and is kept as long.
    let next = sealed(&boundary, &round, asks_for(&["amount"], Value::Null));
    let (_, round) = opened(&boundary, with_state(&message, token_of(&next)), ALICE);
    let next = round.redemption().unwrap();
    assert_ne!(next.id, redemption.id);
    assert_eq!(next.keep_until, redemption.keep_until);

    let endless = boundary.max_flow(Duration::MAX);
    let (_, round) = opened(&endless, retry, ALICE);
    let year_10_000 = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    assert!(round.redemption().unwrap().keep_until < year_10_000);
}

#[test]
fn batches_and_messages_without_an_id_are_handled_as_ever() {
    let (boundary, store, _) = once();
    let retry = confirmed(&boundary);
    store.calls();
    let mut batch = json!([retry]);
    let reply = ready(boundary.open_request(&mut batch, ALICE)).unwrap_err();
    assert_eq!(reply.response(), refusal(Value::Null));
    let mut notification = retry.clone();
    notification.as_object_mut().unwrap().remove("id");
    assert!(ready(boundary.open_request(&mut notification, ALICE)).is_ok());
    assert!(notification["params"].get("inputResponses").is_none());
    let mut other = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert!(ready(boundary.open_request(&mut other, ALICE)).is_ok());
    assert_eq!(store.calls(), 0);
}

#[test]
fn the_typed_api_redeems_the_same_rounds() {
    let (boundary, ..) = once();
    let retry = confirmed(&boundary);
    let params = &retry["params"];
    let request = || Request {
        version: VERSION,
        method: "tools/call",
        params,
        principal: ALICE,
    };
    let token = || Token::from(params.get("requestState"));
    let answer = accept();
    let answers = || [("confirm", &answer)];
    let Opened { round, state, .. } = ready(boundary.open(request(), token(), answers())).unwrap();
    assert!(state.is_none() && round.is_asked("confirm"));
    let again = ready(boundary.open(request(), token(), answers()));
    let Err(Reply::Refused(refused)) = again else {
        panic!("{again:?}");
    };
    assert_eq!(refused.code(), -32602);
    assert_eq!(reply(&boundary, &retry), refusal(7));

    let questions = [Question::new("amount", QuestionKind::ElicitationForm)];
    let next = boundary.boundary().seal(&round, &questions, None).unwrap();
    let opened = ready(boundary.open(request(), Token::Text(&next), []));
    assert_eq!(opened.unwrap().round.number(), Some(2));
}

#[test]
fn futures_can_be_sent_to_another_thread() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let (boundary, ..) = once();
    let mut message = confirmed(&boundary);
    let round = ready(sent(boundary.open_request(&mut message, ALICE))).unwrap();
    ready(sent(boundary.seal_response(&round, &mut json!({}))));
    assert!(ready(sent(round.release())).unwrap());
    let boxed: Boundary<Ledger> = boundary.boundary().clone();
    let shared: Arc<dyn request_state_core::RedemptionStore> = Arc::new(MemoryStore::new());
    let boundary = boxed.once(shared);
    assert!(!format!("{boundary:?}").contains("ledger"));
}
