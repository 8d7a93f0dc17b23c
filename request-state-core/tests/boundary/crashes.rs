//! A simulation: processes that die between redemption, effect and answer, responses that are lost,
//! stores that fail, and clients that repeat until they are answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use request_state_core::{AnswerAgain, FlowId, OnceBoundary};
use serde_json::{Value, json};

use crate::kit::*;
use crate::stores::{Fault, Store, ready};

/// xorshift64: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// Two replicas with one store, and the bank that they pay at.
struct World {
    replicas: [OnceBoundary<Ledger>; 2],
    store: Arc<Store>,
    clock: Clock,
    random: Random,
    /// How often each flow had its effect.
    paid: HashMap<FlowId, usize>,
    receipts: u64,
    /// What each message was answered with, whether or not that arrived.
    answered: HashMap<String, Value>,
    /// Whether a process has died, or an answer was not kept, since this was cleared.
    has_failed: bool,
}

impl World {
    fn new(seed: u64, answers_again: bool) -> Self {
        let (boundary, clock) = boundary_with_clock();
        let store = Arc::new(Store::new(&clock));
        let replica = || {
            let once = boundary.clone().once(Arc::clone(&store));
            match answers_again {
                true => once.answer_again(AnswerAgain::new()).unwrap(),
                false => once,
            }
        };
        Self {
            replicas: [replica(), replica()],
            store,
            clock,
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            paid: HashMap::new(),
            receipts: 0,
            answered: HashMap::new(),
            has_failed: false,
        }
    }

    /// What the client gets, if anything.
    fn send(&mut self, message: &Value) -> Option<Value> {
        let replica = self.random.below(2) as usize;
        let boundary = self.replicas[replica].clone();
        let faults = [Fault::Down, Fault::AnswerLost, Fault::Forgot];
        if self.random.one_in(8) {
            self.store.set(*self.random.pick(&faults));
        }
        let mut seen = message.clone();
        let opened = ready(boundary.open_request(&mut seen, ALICE));
        self.store.set(Fault::None);
        let round = match opened {
            Ok(round) => round,
            Err(reply) => return self.deliver(reply.response()),
        };
        let dies = self.random.below(12);
        if dies == 0 && round.flow().is_some() {
            self.has_failed = true;
            return None; // redeemed, and nothing done
        }
        let mut response = self.handle(&seen, &round);
        if dies == 1 && round.flow().is_some() {
            self.has_failed = true;
            return None; // done, and nothing said
        }
        if self.random.one_in(12) {
            self.store.set(Fault::Full);
            self.has_failed = true; // said, and not kept
        }
        ready(boundary.seal_response(&round, &mut response));
        self.store.set(Fault::None);
        if round.flow().is_some() {
            let earlier = self.answered.insert(message.to_string(), response.clone());
            assert_eq!(earlier, None, "the handler ran twice for {message}");
        }
        self.deliver(response)
    }

    fn deliver(&mut self, response: Value) -> Option<Value> {
        (!self.random.one_in(6)).then_some(response)
    }

    /// Asks for as many rounds as the answers say, and pays. So branches of one conversation reach the
    /// effect in different rounds.
    fn handle(&mut self, message: &Value, round: &request_state_core::Round) -> Value {
        let answer = &message["params"]["inputResponses"]["more"]["content"]["more"];
        match (answer.as_bool(), round.flow()) {
            (Some(false), Some(flow)) => {
                let paid = self.paid.entry(flow).or_default();
                *paid += 1;
                assert_eq!(*paid, 1, "a flow had its effect twice");
                self.receipts += 1;
                let result = json!({"resultType": "complete", "receipt": self.receipts});
                json!({"jsonrpc": "2.0", "id": 7, "result": result})
            }
            _ => asks_for(&["more"], "a state"),
        }
    }
}

/// The answer to a question of the bank's.
fn answer(asked: &Value, more: bool) -> Value {
    let answers = json!({"more": {"action": "accept", "content": {"more": more}}});
    with_answers(
        &with_state(&request("tools/call"), token_of(asked)),
        answers,
    )
}

fn data_reason(response: &Value) -> Option<&str> {
    response["error"]["data"]["reason"].as_str()
}

#[test]
fn an_honest_client_that_repeats_is_answered_truly_or_told_that_nobody_knows() {
    let (mut done, mut unknown, mut repeated) = (0, 0, 0);
    for seed in 0..3_000 {
        let mut world = World::new(seed, true);
        let start = world.clock.now();
        let mut message = request("tools/call");
        let mut rounds_left = world.random.below(3);
        let is_done = loop {
            // Within the hour in which the flow is remembered.
            let age = world.clock.now().duration_since(start).unwrap();
            if age < Duration::from_secs(3_000) {
                world
                    .clock
                    .advance(Duration::from_secs(world.random.below(200)));
            }
            let Some(response) = world.send(&message) else {
                repeated += 1;
                continue;
            };
            let result = &response["result"];
            match (result["resultType"].as_str(), data_reason(&response)) {
                (Some("input_required"), _) => {
                    message = answer(&response, rounds_left > 0);
                    rounds_left = rounds_left.saturating_sub(1);
                }
                (Some("complete"), _) => {
                    assert_eq!(world.answered.get(&message.to_string()), Some(&response));
                    break true;
                }
                (_, Some("request_state_outcome_unknown")) => {
                    assert!(world.has_failed, "seed {seed}: {response}");
                    break false;
                }
                (_, Some("request_state_in_progress")) => {
                    world.clock.advance(Duration::from_secs(60));
                }
                // An outage: repeat.
                (None, None) if response["error"]["code"] == -32603 => repeated += 1,
                _ => panic!("seed {seed}: {response}"),
            }
        };
        let paid: usize = world.paid.values().sum();
        assert!(paid <= 1, "seed {seed}: paid {paid} times");
        if is_done {
            assert_eq!(paid, 1);
            done += 1;
        } else {
            unknown += 1;
        }
    }
    println!("{done} answered, {unknown} unknown, {repeated} repetitions");
    assert!(done > 1_000 && unknown > 100 && repeated > 1_000);
}

#[test]
fn no_flow_has_its_effect_twice_whoever_sends_what_when() {
    let mut paid = 0;
    for seed in 0..1_500 {
        let mut world = World::new(seed, seed % 2 == 0);
        let mut tokens = Vec::new();
        let mut sent = Vec::new();
        for _ in 0..60 {
            if world.random.one_in(4) {
                world
                    .clock
                    .advance(Duration::from_secs(world.random.below(400)));
            }
            // A new conversation, an answer to any question of any round, or anything again.
            let message = match world.random.below(8) {
                0 => request("tools/call"),
                1..=5 if !tokens.is_empty() => {
                    let asked = world.random.pick(&tokens);
                    let asked: &Value = asked;
                    answer(asked, false)
                }
                6 if !tokens.is_empty() => {
                    let asked: &Value = world.random.pick(&tokens);
                    answer(asked, true)
                }
                _ if !sent.is_empty() => {
                    let again: &Value = world.random.pick(&sent);
                    again.clone()
                }
                _ => continue,
            };
            sent.push(message.clone());
            if let Some(response) = world.send(&message)
                && response["result"]["requestState"].is_string()
            {
                tokens.push(response);
            }
        }
        paid += world.paid.len();
    }
    println!("{paid} payments");
    assert!(paid > 1_500);
}
