//! The API for JSON-RPC messages.

use serde_json::{Map, Value};

use super::json_rpc::{self, REQUESTS, RESPONSES, STATE};
use super::question::questions;
use super::refusal::Refusal;
use super::round::{Kind, Opened, Round};
use super::sender::{Incoming, Sender, Token};
use super::settings::Boundary;
use super::typed::Checked;
use crate::codec::RequestStateCodec;
use crate::reason::Reason;
use crate::sealer::SealError;

impl<C: RequestStateCodec> Boundary<C> {
    /// Opens the state of an incoming message, and replaces the token with the plain string.
    ///
    /// `request` is any JSON-RPC message or batch, as it arrived. Messages of methods that are not
    /// [covered](Self::covers) pass unchanged. `sender` is the sender according to the server's authentication:
    /// `Some(name)`, `None` for an anonymous sender (see [`Request::principal`](crate::Request::principal)), or
    /// a [`Sender`].
    ///
    /// Keep the [`Round`] for the response, and pass it to [`seal_response`](Self::seal_response).
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`] if the handler must not see the request. It contains the response for the client.
    /// `requestState` and `inputResponses` have been removed from the request.
    pub fn open_request<'a>(
        &self,
        request: &mut Value,
        sender: impl Into<Sender<'a>>,
    ) -> Result<Round, Refusal> {
        let opened = self.open_message(request, sender.into());
        opened.map_err(|refusal| {
            forget_all(request);
            refusal.with_id(json_rpc::id_or_null(request))
        })
    }

    fn open_message(&self, message: &mut Value, sender: Sender<'_>) -> Result<Round, Refusal> {
        let checked = match self.check_message(message, sender)? {
            Examined::Done(round) => return Ok(round),
            Examined::Request(checked) => checked,
        };
        let opened = self.settle(checked, || json_rpc::token(message))?;
        Ok(self.deliver(opened, message))
    }

    /// Checks the token of a request of the three methods, or handles any other message completely.
    pub(super) fn check_message(
        &self,
        message: &mut Value,
        sender: Sender<'_>,
    ) -> Result<Examined, Refusal> {
        if message.is_array() {
            return self.open_batch(message).map(Examined::Done);
        }
        let Some(method) = json_rpc::covered_method(message) else {
            return Ok(Examined::Done(Round::of(Kind::Other, None, None)));
        };
        let Some(id) = json_rpc::id(message) else {
            let round = Round::of(Kind::NoRequest, Some(method), None);
            self.log_forgotten(&round, forget(message));
            return Ok(Examined::Done(round));
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        let given = sender.version_or(self.version.as_deref());
        let version = json_rpc::version(params, given).filter(|version| !version.is_empty());
        let sender = sender.given_version(version);
        let incoming = Incoming::new(method, params, sender).id(id);
        let token = Token::from(params.get(STATE));
        self.check(incoming, token).map(Examined::Request)
    }

    /// Replaces the token with the plain state, and removes the answers that the handler must not see.
    pub(super) fn deliver(&self, opened: Opened, message: &mut Value) -> Round {
        let Opened { round, state } = opened;
        if let Some(params) = json_rpc::params_mut(message) {
            match (state, params.get_mut(STATE)) {
                (Some(plain), Some(state)) => *state = Value::String(plain),
                (_, None) => {}
                (None, Some(_)) => drop(params.remove(STATE)),
            }
            self.filter_answers(&round, params);
        }
        round
    }

    /// Rejects a batch if a request in it carries a state. A batch is not a round, and protocol versions with
    /// `requestState` have no batches.
    fn open_batch(&self, batch: &mut Value) -> Result<Round, Refusal> {
        let mut rejected = None;
        let mut forgotten = 0usize;
        json_rpc::for_each(batch, |message| {
            let Some(method) = json_rpc::covered_method(message) else {
                return;
            };
            let has_state = json_rpc::params_mut(message)
                .and_then(|params| params.get(STATE))
                .is_some_and(|state| !state.is_null());
            if has_state && json_rpc::id(message).is_some() {
                rejected = Some(method);
            } else {
                forgotten = forgotten.saturating_add(forget(message));
            }
        });
        if let Some(method) = rejected {
            let round = Round::of(Kind::NoRequest, Some(method), None);
            self.event(&round).rejected(Reason::Batch, None);
            return Err(Refusal::rejected());
        }
        let round = Round::of(Kind::NoRequest, None, None);
        self.log_forgotten(&round, forgotten);
        Ok(round)
    }

    fn log_forgotten(&self, round: &Round, answers: usize) {
        if answers > 0 {
            self.event(round)
                .served(Reason::AnswersWithoutState(answers));
        }
    }

    /// Seals the questions and the state in the handler's response to the request of `round`.
    ///
    /// `response` is any value that the handler returned. This method never fails: if a question or a state
    /// cannot be sealed, the response becomes the error -32603, and the cause is logged.
    pub fn seal_response(&self, round: &Round, response: &mut Value) {
        match (&round.kind, &response) {
            (Kind::Other, _) | (Kind::Request(_) | Kind::Unbound { .. }, Value::Object(_)) => {
                json_rpc::for_each(response, |response| self.seal_one(round, response));
            }
            _ => {
                let no_request = Round::of(Kind::NoRequest, round.method, None);
                json_rpc::for_each(response, |response| self.seal_one(&no_request, response));
            }
        }
    }

    fn seal_one(&self, round: &Round, response: &mut Value) {
        let sealed = response
            .get_mut("result")
            .map(|result| self.seal_result(round, result));
        if let Some(Err(_)) = sealed {
            json_rpc::turn_into_internal_error(response);
        }
    }

    /// Seals the questions and the state in `result`, the member `result` of the handler's response to the
    /// request of `round`. A result that is not `input_required` passes unchanged.
    ///
    /// # Errors
    ///
    /// Returns a [`SealError`], which has been logged. Send the client the error -32603 without detail: the
    /// result may contain the plain state.
    pub fn seal_result(&self, round: &Round, result: &mut Value) -> Result<(), SealError> {
        let Some(result) = json_rpc::asking(result) else {
            return Ok(());
        };
        // A result of another method may ask for input, as a task does, but has no state.
        if matches!(round.kind, Kind::Other) && Token::from(result.get(STATE)).is_absent() {
            return Ok(());
        }
        let token = self
            .token_for(round, result)
            .inspect_err(|error| self.event(round).not_sealed(error.reason(), error))?;
        let token = Value::String(token);
        match result.get_mut(STATE) {
            Some(state) => *state = token,
            None => drop(result.insert(STATE.into(), token)),
        }
        Ok(())
    }

    fn token_for(&self, round: &Round, result: &Map<String, Value>) -> Result<String, SealError> {
        let questions = match result.get(REQUESTS) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(requests)) => questions(requests)?,
            Some(_) => return Err(SealError::NotAnObject),
        };
        let plain = match result.get(STATE) {
            None | Some(Value::Null) => None,
            Some(Value::String(plain)) => Some(plain.as_str()),
            Some(_) => return Err(SealError::NotAString),
        };
        self.try_seal(round, &questions, plain)
    }
}

/// The result of checking a message.
pub(super) enum Examined {
    /// A batch, or a message that is not a request of the three methods. The states of messages of these
    /// methods have been removed.
    Done(Round),
    Request(Checked),
}

/// Removes the states and the answers that the handler must not see from a message or a batch.
pub(super) fn forget_all(message: &mut Value) {
    json_rpc::for_each(message, |message| {
        if json_rpc::covered_method(message).is_some() {
            forget(message);
        }
    });
}

/// Removes the state and the answers of a message. Returns the number of answers.
fn forget(message: &mut Value) -> usize {
    let Some(params) = json_rpc::params_mut(message) else {
        return 0;
    };
    params.remove(STATE);
    match params.remove(RESPONSES) {
        None | Some(Value::Null) => 0,
        Some(Value::Object(answers)) => answers.len(),
        Some(_) => 1,
    }
}
