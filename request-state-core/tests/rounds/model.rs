//! What must happen, by the rules alone.

use request_state_core::QuestionKind;
use serde_json::{Map, Value};

use crate::steps::{Policy, REQUESTS, Reply, USERS};

const TTL_MS: u64 = 300_000;
const ANONYMOUS_TTL_MS: u64 = 60_000;
const CLOCK_SKEW_MS: u64 = 60_000;
const MAX_QUESTIONS: usize = 256;
const MAX_NAMES: usize = 16 * 1024;

/// What a token stands for.
#[derive(Clone, Debug)]
pub struct Issued {
    pub token: String,
    user: usize,
    request: usize,
    pub flow: usize,
    pub round: u16,
    started_ms: u64,
    expires_ms: u64,
    /// Sorted by name.
    pub asked: Vec<(String, QuestionKind)>,
    state: Option<String>,
}

/// What a handler must see.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub state: Option<String>,
    pub answers: Map<String, Value>,
    /// The token that was opened.
    pub opened: Option<Issued>,
    /// The flow that has expired.
    pub restarted_from: Option<usize>,
    is_bound: bool,
}

#[derive(Debug)]
pub struct Model {
    policy: Policy,
    pub now_ms: u64,
    pub issued: Vec<Issued>,
    flows: usize,
}

impl Model {
    pub fn new(policy: &Policy, now_ms: u64) -> Self {
        Self {
            policy: policy.clone(),
            now_ms,
            issued: Vec::new(),
            flows: 0,
        }
    }

    fn now_at(&self, replica: usize) -> u64 {
        self.now_ms + self.policy.replicas[replica].ahead_ms
    }

    /// What the handler must see of a request, or `None` where it is rejected. `token` is what the
    /// client presents, `Some(None)` where that is not a string.
    pub fn open(
        &self,
        replica: usize,
        user: usize,
        request: usize,
        token: Option<Option<&str>>,
        answers: Option<&Value>,
    ) -> Option<Seen> {
        let is_bound = USERS[user].is_some() || !self.policy.require_principal;
        let mut seen = Seen {
            is_bound,
            ..Seen::default()
        };
        let answers = answers.and_then(Value::as_object);
        let objects = answers
            .into_iter()
            .flatten()
            .filter(|(_, answer)| answer.is_object());
        let Some(token) = token else {
            // Nobody was asked.
            if self.policy.allow {
                seen.answers = objects
                    .map(|(name, answer)| (name.clone(), answer.clone()))
                    .collect();
            }
            return Some(seen);
        };
        if !is_bound {
            return None;
        }
        let issued = self
            .issued
            .iter()
            .find(|issued| Some(&*issued.token) == token)?;
        if issued.user != user || REQUESTS[issued.request].0 != REQUESTS[request].0 {
            return None;
        }
        let now_ms = self.now_at(replica);
        let end_ms = issued.started_ms + self.policy.replicas[replica].max_flow_ms;
        if now_ms >= issued.expires_ms.min(end_ms) {
            seen.restarted_from = Some(issued.flow);
            return self.policy.restart.then_some(seen);
        }
        if issued.expires_ms > now_ms + ttl_ms(user) + CLOCK_SKEW_MS
            || issued.started_ms > now_ms + CLOCK_SKEW_MS
        {
            return None;
        }
        let asked =
            objects.filter(|(name, _)| issued.asked.iter().any(|(asked, _)| asked == *name));
        seen.answers = asked
            .map(|(name, answer)| (name.clone(), answer.clone()))
            .collect();
        seen.state.clone_from(&issued.state);
        seen.opened = Some(issued.clone());
        Some(seen)
    }

    /// Whether the client must get a token for what the handler asks, and what it stands for. The
    /// token itself is not known yet.
    pub fn seal(
        &mut self,
        replica: usize,
        user: usize,
        request: usize,
        seen: &Seen,
        reply: &Reply,
    ) -> Option<Issued> {
        let Reply::Ask(questions, state) = reply else {
            return None;
        };
        if !seen.is_bound || (questions.is_empty() && state.is_none()) {
            return None;
        }
        let length: usize = questions.iter().map(|(name, _)| name.len()).sum();
        if questions.len() > MAX_QUESTIONS || length > MAX_NAMES {
            return None;
        }
        let known = questions
            .iter()
            .map(|(name, kind)| Some((name.clone(), (*kind)?)));
        let mut asked: Vec<_> = known.collect::<Option<_>>()?;
        asked.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let now_ms = self.now_at(replica);
        let (flow, round, started_ms) = match &seen.opened {
            Some(last) => (last.flow, last.round + 1, last.started_ms),
            None => (self.flows, 1, now_ms),
        };
        let limits = &self.policy.replicas[replica];
        let expires_ms = (now_ms + ttl_ms(user)).min(started_ms + limits.max_flow_ms);
        if round > limits.max_rounds || expires_ms <= now_ms {
            return None;
        }
        self.flows = self.flows.max(flow + 1);
        Some(Issued {
            token: String::new(),
            user,
            request,
            flow,
            round,
            started_ms,
            expires_ms,
            asked,
            state: state.clone(),
        })
    }
}

fn ttl_ms(user: usize) -> u64 {
    match USERS[user] {
        Some(_) => TTL_MS,
        None => ANONYMOUS_TTL_MS,
    }
}
