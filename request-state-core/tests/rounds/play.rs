//! Plays a conversation with the boundary, and compares each step with the model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use request_state_core::{
    AnswersWithoutState, Binding, Boundary, FlowId, Opened, Request, Round, Sealer, Token,
};
use serde_json::{Map, Value, json};

use crate::ledger::Ledger;
use crate::model::{Model, Seen};
use crate::steps::{Envelope, NAMES, Policy, Presented, REQUESTS, Reply, Step, USERS};

const VERSION: &str = "2026-07-28";
const START_MS: u64 = 1_796_212_800_000;

/// How often what happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub opened: usize,
    pub delivered: usize,
    pub removed: usize,
    pub rejected: usize,
    pub restarted: usize,
    pub not_sealed: usize,
    pub later_rounds: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.opened += other.opened;
        self.delivered += other.delivered;
        self.removed += other.removed;
        self.rejected += other.rejected;
        self.restarted += other.restarted;
        self.not_sealed += other.not_sealed;
        self.later_rounds += other.later_rounds;
    }
}

struct Game {
    boundary: Boundary<Ledger>,
    sealer: Sealer<Ledger>,
    clock: Arc<AtomicU64>,
    model: Model,
    /// The ids of the model's flows, as far as a handler has seen them.
    flows: HashMap<usize, FlowId>,
    counts: Counts,
}

pub fn play(policy: &Policy, steps: &[Step]) -> Counts {
    let clock = Arc::new(AtomicU64::new(START_MS));
    let time = clock.clone();
    let now = move || UNIX_EPOCH + Duration::from_millis(time.load(Ordering::Relaxed));
    let sealer = Sealer::builder("billing", Ledger::new(policy.encrypts)).clock(now);
    let sealer = sealer.build().unwrap();
    let answers = match policy.allow {
        true => AnswersWithoutState::Allow,
        false => AnswersWithoutState::Remove,
    };
    let boundary = Boundary::new(sealer.clone())
        .answers_without_state(answers)
        .restart_expired(policy.restart)
        .require_principal(policy.require_principal)
        .max_rounds(policy.max_rounds)
        .max_flow(Duration::from_millis(policy.max_flow_ms));
    let mut game = Game {
        boundary,
        sealer,
        clock,
        model: Model::new(policy, START_MS),
        flows: HashMap::new(),
        counts: Counts::default(),
    };
    for step in steps {
        game.step(step);
    }
    game.counts
}

impl Game {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(ms) => {
                self.model.now_ms += ms;
                self.clock.store(self.model.now_ms, Ordering::Relaxed);
            }
            Step::Send {
                user,
                request,
                presented,
                answers,
                envelope,
                reply,
            } => {
                let state = self.state(*user, *request, presented);
                let message = message(*request, state.as_ref(), answers.as_ref());
                match envelope {
                    Envelope::One => self.one(*user, *request, message, reply),
                    Envelope::WithoutId => self.without_id(*user, message, reply),
                    Envelope::Batch => self.batch(*user, message, reply),
                }
            }
        }
    }

    /// The member `requestState`.
    fn state(&self, user: usize, request: usize, presented: &Presented) -> Option<Value> {
        let issued = |back: usize| {
            let at = self.model.issued.len().checked_sub(back + 1)?;
            Some(self.model.issued[at].token.clone())
        };
        match presented {
            Presented::Absent => None,
            Presented::Null => Some(Value::Null),
            Presented::Number => Some(json!(5)),
            Presented::Junk => Some(json!("junk")),
            Presented::Issued(back) => issued(*back).map(Value::from),
            Presented::Changed(back) => issued(*back).map(|token| format!("{token}0").into()),
            Presented::OfSealer => {
                let (_, method, params) = REQUESTS[request];
                let params: Value = serde_json::from_str(params).unwrap();
                let binding = Binding::new(Request {
                    version: VERSION,
                    method,
                    params: &params,
                    principal: USERS[user],
                });
                Some(self.sealer.seal("state", &binding.unwrap()).unwrap().into())
            }
        }
    }

    fn one(&mut self, user: usize, request: usize, mut message: Value, reply: &Reply) {
        let params = message["params"].clone();
        let token = params.get("requestState").filter(|state| !state.is_null());
        let answers = params.get("inputResponses");
        let expected = self
            .model
            .open(user, request, token.map(Value::as_str), answers);
        self.typed_agrees(user, request, &params, expected.as_ref());
        let round = match (
            self.boundary.open_request(&mut message, USERS[user]),
            &expected,
        ) {
            (Ok(round), Some(_)) => round,
            (Err(refusal), None) => {
                assert_eq!(refusal.response()["id"], 7);
                assert_eq!(refusal.response()["error"]["code"], -32602);
                assert_is_stripped(&message);
                self.counts.rejected += 1;
                return;
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        };
        let seen = expected.unwrap();
        assert_eq!(
            message["params"].get("requestState"),
            seen.state.clone().map(Value::from).as_ref()
        );
        let delivered = message["params"].get("inputResponses");
        let expected = Value::from(seen.answers.clone());
        assert_eq!(
            delivered,
            Some(&expected).filter(|_| !seen.answers.is_empty())
        );
        self.round_is(&round, &seen);
        let came = answers.and_then(Value::as_object).map_or(0, Map::len);
        self.counts.delivered += usize::from(seen.opened.is_some() && !seen.answers.is_empty());
        self.counts.removed += usize::from(came > seen.answers.len());
        self.respond(user, request, &round, &seen, reply);
    }

    fn respond(&mut self, user: usize, request: usize, round: &Round, seen: &Seen, reply: &Reply) {
        let mut response = response(reply);
        let plain = response.clone();
        let issued = self.model.seal(user, request, seen, reply);
        self.boundary.seal_response(round, &mut response);
        match (issued, reply) {
            (_, Reply::Complete) => assert_eq!(response, plain),
            (None, _) => {
                assert_eq!(response, internal_error());
                self.counts.not_sealed += 1;
            }
            (Some(mut issued), _) => {
                let token = response["result"]["requestState"].take();
                issued.token = token.as_str().expect("a token").to_owned();
                self.counts.later_rounds += usize::from(issued.round > 1);
                self.model.issued.push(issued);
                // Nothing else has changed.
                let mut plain = plain;
                plain["result"]["requestState"] = Value::Null;
                assert_eq!(response, plain);
            }
        }
    }

    /// The round says of the flow what the model says.
    fn round_is(&mut self, round: &Round, seen: &Seen) {
        let opened = seen.opened.as_ref();
        assert_eq!(round.number(), opened.map(|issued| issued.round));
        let asked: Vec<_> = round
            .asked()
            .iter()
            .map(|question| question.name())
            .collect();
        let mut expected = opened.map_or(vec![], |issued| issued.asked.clone());
        expected.sort_unstable();
        let mut sorted = asked.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected);
        for name in NAMES {
            assert_eq!(round.is_asked(name), expected.contains(&name));
        }
        self.flow_is(round.flow(), opened.map(|issued| issued.flow));
        self.flow_is(round.restarted_from(), seen.restarted_from);
        self.counts.opened += usize::from(opened.is_some());
        self.counts.restarted += usize::from(seen.restarted_from.is_some());
    }

    /// One id for each flow of the model, and one flow for each id.
    fn flow_is(&mut self, found: Option<FlowId>, expected: Option<usize>) {
        assert_eq!(found.is_some(), expected.is_some());
        let (Some(found), Some(expected)) = (found, expected) else {
            return;
        };
        assert_eq!(*self.flows.entry(expected).or_insert(found), found);
        let others = self.flows.iter().filter(|(flow, _)| **flow != expected);
        assert!(others.into_iter().all(|(_, id)| *id != found));
    }

    /// The API for frameworks says the same.
    fn typed_agrees(&self, user: usize, request: usize, params: &Value, expected: Option<&Seen>) {
        let request = Request {
            version: VERSION,
            method: REQUESTS[request].1,
            params,
            principal: USERS[user],
        };
        let opened = self
            .boundary
            .open(request, Token::from(params.get("requestState")));
        let (Ok(Opened { round, state, .. }), Some(expected)) = (opened, expected) else {
            assert!(expected.is_none());
            return;
        };
        assert_eq!(state, expected.state);
        let answers = params.get("inputResponses").and_then(Value::as_object);
        let mut answers = answers.cloned().unwrap_or_default();
        let mut filter = self.boundary.answers(&round);
        answers.retain(|name, answer| filter.keeps(name, answer));
        assert_eq!(answers, expected.answers);
    }

    fn without_id(&mut self, user: usize, mut message: Value, reply: &Reply) {
        message.as_object_mut().unwrap().remove("id");
        let round = self
            .boundary
            .open_request(&mut message, USERS[user])
            .unwrap();
        assert_is_stripped(&message);
        self.nothing_leaves(&round, response(reply), reply);
    }

    fn batch(&mut self, user: usize, message: Value, reply: &Reply) {
        let has_state = !message["params"]["requestState"].is_null();
        let mut batch = json!([message]);
        match self.boundary.open_request(&mut batch, USERS[user]) {
            Ok(round) => {
                assert!(!has_state);
                self.nothing_leaves(&round, response(reply), reply);
            }
            Err(refusal) => {
                assert!(has_state);
                assert_eq!(refusal.code(), -32602);
                self.counts.rejected += 1;
            }
        }
        assert_is_stripped(&batch[0]);
    }

    /// There is nothing to seal for, so that what asks becomes an error.
    fn nothing_leaves(&self, round: &Round, mut response: Value, reply: &Reply) {
        assert_eq!((round.flow(), round.asked().len()), (None, 0));
        let plain = response.clone();
        self.boundary.seal_response(round, &mut response);
        match reply {
            Reply::Complete => assert_eq!(response, plain),
            Reply::Ask(..) => assert_eq!(response, internal_error()),
        }
    }
}

fn message(request: usize, state: Option<&Value>, answers: Option<&Value>) -> Value {
    let (_, method, params) = REQUESTS[request];
    let mut params: Value = serde_json::from_str(params).unwrap();
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": VERSION});
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    if let Some(answers) = answers {
        params["inputResponses"] = answers.clone();
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

fn response(reply: &Reply) -> Value {
    let result = match reply {
        Reply::Complete => json!({"resultType": "complete", "requestState": "theirs"}),
        Reply::Ask(names, state) => {
            let mut result = json!({"resultType": "input_required", "requestState": state});
            for name in names {
                result["inputRequests"][NAMES[*name]] = json!({"method": "elicitation/create"});
            }
            result
        }
    };
    json!({"jsonrpc": "2.0", "id": 7, "result": result})
}

fn internal_error() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "Internal error"}})
}

/// Nothing of what the client sent to this end is left.
fn assert_is_stripped(message: &Value) {
    let params = message["params"].as_object().unwrap();
    assert!(!params.contains_key("requestState") && !params.contains_key("inputResponses"));
}
