//! Plays a conversation with the boundary, and compares each step with the model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use request_state_core::{
    AnswersWithoutState, Binding, Boundary, FlowId, Opened, Question, QuestionKind, Request, Round,
    Sealer, Token,
};
use serde_json::{Map, Value, json};

use crate::ledger::Ledger;
use crate::model::{Model, Seen};
use crate::steps::{
    Asked, Envelope, NAMES, Policy, Presented, REQUESTS, Replica, Reply, Step, USERS,
};

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
    pub typed: usize,
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
        self.typed += other.typed;
    }
}

struct Game {
    replicas: [Boundary<Ledger>; 2],
    sealer: Sealer<Ledger>,
    clock: Arc<AtomicU64>,
    model: Model,
    /// The ids of the model's flows, as far as a handler has seen them.
    flows: HashMap<usize, FlowId>,
    counts: Counts,
}

pub fn play(policy: &Policy, steps: &[Step]) -> Counts {
    let clock = Arc::new(AtomicU64::new(START_MS));
    let ledger = Ledger::new(policy.encrypts);
    let answers = match policy.allow {
        true => AnswersWithoutState::Allow,
        false => AnswersWithoutState::Remove,
    };
    let boundary = |replica: &Replica| {
        Boundary::new(sealer(&ledger, &clock, replica.ahead_ms))
            .answers_without_state(answers)
            .restart_expired(policy.restart)
            .require_principal(policy.require_principal)
            .max_rounds(replica.max_rounds)
            .max_flow(Duration::from_millis(replica.max_flow_ms))
    };
    let mut game = Game {
        replicas: policy.replicas.each_ref().map(boundary),
        sealer: sealer(&ledger, &clock, 0),
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

/// One key, and a clock for each.
fn sealer(ledger: &Ledger, clock: &Arc<AtomicU64>, ahead_ms: u64) -> Sealer<Ledger> {
    let clock = clock.clone();
    let now = move || UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::Relaxed) + ahead_ms);
    let sealer = Sealer::builder("billing", ledger.clone()).clock(now);
    sealer.build().unwrap()
}

/// What a step says of its request, but for the message.
struct Turn<'a> {
    replica: usize,
    user: usize,
    request: usize,
    takes_ms: u64,
    reply: &'a Reply,
    typed: bool,
}

impl Game {
    fn wait(&mut self, ms: u64) {
        self.model.now_ms += ms;
        self.clock.store(self.model.now_ms, Ordering::Relaxed);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(ms) => self.wait(*ms),
            Step::Send {
                replica,
                user,
                request,
                presented,
                answers,
                envelope,
                takes_ms,
                reply,
                typed,
            } => {
                let state = self.state(*user, *request, presented);
                let message = message(*request, state.as_ref(), answers.as_ref());
                let turn = Turn {
                    replica: *replica,
                    user: *user,
                    request: *request,
                    takes_ms: *takes_ms,
                    reply,
                    typed: *typed,
                };
                match envelope {
                    Envelope::One => self.one(&turn, message),
                    Envelope::WithoutId => self.without_id(&turn, message),
                    Envelope::Batch => self.batch(&turn, message),
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

    fn one(&mut self, turn: &Turn<'_>, mut message: Value) {
        let &Turn {
            replica,
            user,
            request,
            ..
        } = turn;
        let params = message["params"].clone();
        let token = params.get("requestState").filter(|state| !state.is_null());
        let answers = params.get("inputResponses");
        let expected = self
            .model
            .open(replica, user, request, token.map(Value::as_str), answers);
        let typed = self.typed_agrees(turn, &params, expected.as_ref());
        let round = match (
            self.replicas[replica].open_request(&mut message, USERS[user]),
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
        self.wait(turn.takes_ms);
        let round = typed
            .filter(|_| turn.typed)
            .map_or(Sealing::JsonRpc(round), Sealing::Typed);
        self.respond(turn, &round, &seen);
    }

    fn respond(&mut self, turn: &Turn<'_>, round: &Sealing, seen: &Seen) {
        let &Turn {
            replica,
            user,
            request,
            reply,
            ..
        } = turn;
        let mut response = response(reply);
        let plain = response.clone();
        let issued = self.model.seal(replica, user, request, seen, reply);
        let boundary = &self.replicas[replica];
        match (round, reply) {
            (Sealing::Typed(round), Reply::Ask(questions, state)) if all_known(questions) => {
                self.counts.typed += 1;
                let questions: Vec<_> = questions
                    .iter()
                    .filter_map(|(name, kind)| Some(Question::new(name.as_str(), (*kind)?)))
                    .collect();
                match boundary.seal(round, &questions, state.as_deref()) {
                    Ok(token) => response["result"]["requestState"] = token.into(),
                    Err(_) => response = internal_error(),
                }
            }
            (Sealing::Typed(round) | Sealing::JsonRpc(round), _) => {
                boundary.seal_response(round, &mut response);
            }
        }
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
        let asked = round.asked().iter();
        let asked: Vec<_> = asked
            .map(|question| (question.name().to_owned(), question.kind()))
            .collect();
        let expected = opened.map_or(&[][..], |issued| &issued.asked);
        assert_eq!(asked, expected);
        for name in NAMES {
            let is_asked = expected.iter().any(|(asked, _)| asked == name);
            assert_eq!(round.is_asked(name), is_asked);
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

    /// The API for frameworks says the same. Returns its round.
    fn typed_agrees(
        &mut self,
        turn: &Turn<'_>,
        params: &Value,
        expected: Option<&Seen>,
    ) -> Option<Round> {
        let request = Request {
            version: VERSION,
            method: REQUESTS[turn.request].1,
            params,
            principal: USERS[turn.user],
        };
        let token = Token::from(params.get("requestState"));
        let opened = self.replicas[turn.replica].open(request, token);
        let (Opened { round, state, .. }, expected) = match (opened, expected) {
            (Ok(opened), Some(expected)) => (opened, expected),
            (Err(refusal), None) => {
                assert_eq!(refusal.code(), -32602);
                return None;
            }
            (opened, expected) => panic!("{opened:?} instead of {expected:?}"),
        };
        assert_eq!(state, expected.state);
        let answers = params.get("inputResponses").and_then(Value::as_object);
        let mut answers = answers.cloned().unwrap_or_default();
        let mut filter = self.replicas[turn.replica].answers(&round);
        answers.retain(|name, answer| filter.keeps(name, answer));
        drop(filter);
        assert_eq!(answers, expected.answers);
        self.round_is(&round, expected);
        Some(round)
    }

    fn without_id(&mut self, turn: &Turn<'_>, mut message: Value) {
        message.as_object_mut().unwrap().remove("id");
        let boundary = &self.replicas[turn.replica];
        let round = boundary.open_request(&mut message, USERS[turn.user]);
        assert_is_stripped(&message);
        nothing_leaves(boundary, &round.unwrap(), turn.reply);
    }

    fn batch(&mut self, turn: &Turn<'_>, message: Value) {
        let boundary = &self.replicas[turn.replica];
        let has_state = !message["params"]["requestState"].is_null();
        let mut batch = json!([message]);
        match boundary.open_request(&mut batch, USERS[turn.user]) {
            Ok(round) => {
                assert!(!has_state);
                nothing_leaves(boundary, &round, turn.reply);
            }
            Err(refusal) => {
                assert!(has_state);
                assert_eq!(refusal.code(), -32602);
                self.counts.rejected += 1;
            }
        }
        assert_is_stripped(&batch[0]);
    }
}

/// By which API the reply is sealed.
enum Sealing {
    JsonRpc(Round),
    Typed(Round),
}

/// There is nothing to seal for, so that what asks becomes an error.
fn nothing_leaves(boundary: &Boundary<Ledger>, round: &Round, reply: &Reply) {
    assert_eq!((round.flow(), round.asked().len()), (None, 0));
    let plain = response(reply);
    let mut response = plain.clone();
    boundary.seal_response(round, &mut response);
    match reply {
        Reply::Complete => assert_eq!(response, plain),
        Reply::Ask(..) => assert_eq!(response, internal_error()),
    }
}

/// The API for frameworks cannot express a question that MCP does not know.
fn all_known(questions: &[Asked]) -> bool {
    questions.iter().all(|(_, kind)| kind.is_some())
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
        Reply::Ask(questions, state) => {
            let mut result = json!({"resultType": "input_required", "requestState": state});
            for (name, kind) in questions {
                result["inputRequests"][name] = question(*kind);
            }
            result
        }
    };
    json!({"jsonrpc": "2.0", "id": 7, "result": result})
}

fn question(kind: Option<QuestionKind>) -> Value {
    match kind {
        Some(QuestionKind::ElicitationForm) => json!({"method": "elicitation/create"}),
        Some(QuestionKind::ElicitationUrl) => {
            json!({"method": "elicitation/create", "params": {"mode": "url"}})
        }
        Some(QuestionKind::Sampling) => json!({"method": "sampling/createMessage"}),
        Some(QuestionKind::Roots) => json!({"method": "roots/list"}),
        _ => json!({"method": "ping"}),
    }
}

fn internal_error() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "Internal error"}})
}

/// Nothing of what the client sent to this end is left.
fn assert_is_stripped(message: &Value) {
    let params = message["params"].as_object().unwrap();
    assert!(!params.contains_key("requestState") && !params.contains_key("inputResponses"));
}
