//! What must happen, by the rules alone.

use serde_json::{Map, Value};

use crate::steps::{NAMES, Policy, REQUESTS, Reply, USERS};

const TTL_MS: u64 = 300_000;
const ANONYMOUS_TTL_MS: u64 = 60_000;

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
    pub asked: Vec<&'static str>,
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

    /// What the handler must see of a request, or `None` where it is rejected. `token` is what the
    /// client presents, `Some(None)` where that is not a string.
    pub fn open(
        &self,
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
        if self.now_ms >= issued.expires_ms {
            seen.restarted_from = Some(issued.flow);
            return self.policy.restart.then_some(seen);
        }
        let asked = objects.filter(|(name, _)| issued.asked.contains(&name.as_str()));
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
        user: usize,
        request: usize,
        seen: &Seen,
        reply: &Reply,
    ) -> Option<Issued> {
        let Reply::Ask(names, state) = reply else {
            return None;
        };
        if !seen.is_bound || (names.is_empty() && state.is_none()) {
            return None;
        }
        let (flow, round, started_ms) = match &seen.opened {
            Some(last) => (last.flow, last.round + 1, last.started_ms),
            None => (self.flows, 1, self.now_ms),
        };
        let ttl_ms = if USERS[user].is_some() {
            TTL_MS
        } else {
            ANONYMOUS_TTL_MS
        };
        let expires_ms = (self.now_ms + ttl_ms).min(started_ms + self.policy.max_flow_ms);
        if round > self.policy.max_rounds || expires_ms <= self.now_ms {
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
            asked: names.iter().map(|name| NAMES[*name]).collect(),
            state: state.clone(),
        })
    }
}
