//! The boundary's face for JSON-RPC messages.

use serde_json::Value;

use super::json_rpc::{self, RESPONSES, STATE};
use super::round::{Kind, Opened, Refusal, Round};
use super::{Boundary, log};
use crate::binding::Request;
use crate::codec::RequestStateCodec;

impl<C: RequestStateCodec> Boundary<C> {
    /// Opens the state of a message that arrived, and puts the plain string in its place.
    ///
    /// `request` is any JSON-RPC message or batch, as it arrived; what is not a request of the three
    /// methods passes untouched. `principal` is who sent it, as the server's authentication says,
    /// and `None` is anonymous (see [`Request::principal`]).
    ///
    /// Keep the [`Round`] for the response, and hand it to [`seal_response`](Self::seal_response).
    ///
    /// # Errors
    ///
    /// A [`Refusal`], which has the answer for the client: the handler must not see the request.
    pub fn open_request(
        &self,
        request: &mut Value,
        principal: Option<&str>,
    ) -> Result<Round, Refusal> {
        if request.is_array() {
            return open_batch(request);
        }
        let Some(method) = json_rpc::covered_method(request) else {
            return Ok(Round::of(Kind::Other, ""));
        };
        let Some(id) = json_rpc::id(request) else {
            remove_state(request);
            return Ok(Round::of(Kind::NoRequest, method));
        };
        let refusal = || Refusal::of(id.clone());
        let params = request.get("params").unwrap_or(&Value::Null);
        let token = match params.get(STATE) {
            None | Some(Value::Null) => None,
            Some(Value::String(token)) => Some(token.as_str()),
            Some(_) => {
                log::refused("not_a_string", method);
                return Err(refusal());
            }
        };
        let version = json_rpc::version(params, &self.version);
        let bound = Request {
            version,
            method,
            params,
            principal,
        };
        let Opened { round, state } = self.open(bound, token).map_err(|_| refusal())?;
        if let Some(params) = json_rpc::params_mut(request) {
            match (state, params.get_mut(STATE)) {
                (Some(plain), Some(state)) => *state = Value::String(plain),
                (_, None) => {}
                (None, Some(_)) => {
                    params.remove(STATE);
                    if round.restarted() {
                        params.remove(RESPONSES);
                    }
                }
            }
        }
        Ok(round)
    }

    /// Seals the state of the response to the request of `round`.
    ///
    /// `response` is whatever the handler answered. It never fails: a state that cannot be sealed
    /// turns the response into the error -32603, and the cause is logged.
    pub fn seal_response(&self, round: &Round, response: &mut Value) {
        match (&round.kind, &response) {
            (Kind::Other, _) => {}
            (Kind::Request(_), Value::Object(_)) => self.seal_one(round, response),
            _ => {
                let no_request = Round::of(Kind::NoRequest, round.method);
                json_rpc::for_each(response, |response| self.seal_one(&no_request, response));
            }
        }
    }

    fn seal_one(&self, round: &Round, response: &mut Value) {
        match json_rpc::asked_state(response) {
            None => return,
            Some(Value::String(plain)) => {
                if let Ok(token) = self.seal(round, plain) {
                    *plain = token;
                    return;
                }
            }
            Some(_) => log::not_sealed(round.method, &"the handler's requestState is no string"),
        }
        json_rpc::turn_into_internal_error(response);
    }
}

/// Refuses a batch if a request in it carries a state: a batch is not a round, and protocol
/// versions that know `requestState` know no batches.
fn open_batch(batch: &mut Value) -> Result<Round, Refusal> {
    let mut refused = None;
    json_rpc::for_each(batch, |message| {
        let Some(method) = json_rpc::covered_method(message) else {
            return;
        };
        let has_state = json_rpc::params_mut(message)
            .and_then(|params| params.get(STATE))
            .is_some_and(|state| !state.is_null());
        if has_state && json_rpc::id(message).is_some() {
            refused = Some(method);
        } else {
            remove_state(message);
        }
    });
    if let Some(method) = refused {
        log::refused("batch", method);
        return Err(Refusal::of(Value::Null));
    }
    Ok(Round::of(Kind::NoRequest, ""))
}

fn remove_state(message: &mut Value) {
    if let Some(params) = json_rpc::params_mut(message) {
        params.remove(STATE);
    }
}
