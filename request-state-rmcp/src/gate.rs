//! Opening and sealing in terms of rmcp.

use request_state_core::{
    Boundary, Incoming, Opened, Principal, Refusal, Request, RequestStateCodec, Round, SealError,
    Sender, Token, Unidentified,
};
use rmcp::model::{
    CustomNotification, CustomRequest, CustomResult, ErrorCode, InputRequiredResult, ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::params::Params;
use crate::sealed_service::Asks;

#[derive(Clone)]
pub(crate) struct Gate<C> {
    pub(crate) boundary: Boundary<C>,
    pub(crate) asks: Asks,
}

impl<C: RequestStateCodec> Gate<C> {
    /// Puts the plain state in the place of the client's token and leaves only the answers that were
    /// asked for, or rejects the request. The handler finds the round in the context.
    pub(crate) fn open<P: Params>(
        &self,
        method: &str,
        params: &mut P,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let (principal, unidentified) = match self.principal(context) {
            Ok(principal) => (principal, None),
            Err(error) => (Principal::Anonymous, Some(error)),
        };
        let version = version(context).unwrap_or_default();
        let request = Incoming::from(Request {
            version: &version,
            method,
            params: &*params,
            principal: principal.name(),
        })
        .id(&id(context));
        let request = match unidentified {
            Some(error) => request.unidentified(error),
            None => request,
        };
        let token = Token::from(params.token());
        let Opened { round, state, .. } = self.boundary.open(request, token).map_err(rejected)?;
        params.set_state(state);
        params.filter_answers(|answers| {
            let mut filter = self.boundary.answers(&round);
            answers.retain(|name, answer| filter.keeps(name, answer));
        });
        context.extensions.insert(round.clone());
        Ok(round)
    }

    /// The same for a request that rmcp has no type for: one of the three methods whose params are
    /// not what rmcp expects, with a `requestState` that is a number, say.
    pub(crate) fn open_custom(
        &self,
        request: &mut CustomRequest,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        if !self.boundary.covers(&request.method) {
            // Who asks makes no difference, and finding out may be expensive.
            let round = Round::uncovered();
            context.extensions.insert(round.clone());
            return Ok(round);
        }
        let principal = self.principal(context);
        let sender = match &principal {
            Ok(principal) => Sender::from(principal),
            Err(error) => Sender::unidentified(error.clone()),
        };
        // Also where there is none: the version of the boundary would be a guess.
        let version = version(context).unwrap_or_default();
        let sender = sender.version(&version);
        let mut message = message(&request.method, &mut request.params);
        if let Some(message) = message.as_object_mut() {
            message.insert("id".into(), id(context));
        }
        let opened = self.boundary.open_request(&mut message, sender);
        request.params = params(message);
        let round = opened.map_err(rejected)?;
        context.extensions.insert(round.clone());
        Ok(round)
    }

    /// Removes the state and the answers of a request without an id, which rmcp takes for a
    /// notification.
    pub(crate) fn strip(&self, notification: &mut CustomNotification) {
        if !self.boundary.covers(&notification.method) {
            return;
        }
        let mut message = message(&notification.method, &mut notification.params);
        // Neither a rejection nor a response: a message without an id has none.
        drop(self.boundary.open_request(&mut message, None));
        notification.params = params(message);
    }

    /// Seals what the handler asked, for the request of `round`.
    pub(crate) fn seal(
        &self,
        round: &Round,
        mut result: InputRequiredResult,
    ) -> Result<InputRequiredResult, ErrorData> {
        // A handler can set it to something else, and the plain state would leave.
        result.result_type = ResultType::INPUT_REQUIRED;
        let mut json = serde_json::to_value(&result).map_err(|_| internal_error())?;
        self.boundary
            .seal_result(round, &mut json)
            .map_err(not_sealed)?;
        let token = match json.get("requestState").and_then(Value::as_str) {
            Some(token) => token.to_owned(),
            // Another method's, which may not ask: this fails and is logged. Nothing would check the
            // answers.
            None => self.boundary.seal(round, &[], None).map_err(not_sealed)?,
        };
        result.request_state = Some(token);
        Ok(result)
    }

    /// The same for a result that rmcp has no type for.
    pub(crate) fn seal_custom(
        &self,
        round: &Round,
        mut result: CustomResult,
    ) -> Result<CustomResult, ErrorData> {
        self.boundary
            .seal_result(round, &mut result.0)
            .map_err(not_sealed)?;
        Ok(result)
    }

    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<Principal, Unidentified> {
        self.asks.principal(self.boundary.server(), context)
    }
}

/// The version that the request itself names, else the one of the session. What the request names is
/// never guessed at: if it is not a string, there is none.
fn version(context: &RequestContext<RoleServer>) -> Option<String> {
    match context.meta.get("io.modelcontextprotocol/protocolVersion") {
        Some(version) => version.as_str().map(str::to_owned),
        None => context
            .protocol_version()
            .map(|version| version.to_string()),
    }
}

/// The JSON-RPC id of the request.
fn id(context: &RequestContext<RoleServer>) -> Value {
    serde_json::to_value(&context.id).unwrap_or_default()
}

/// The message that rmcp took apart, without its id.
fn message(method: &str, params: &mut Option<Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(params), Some(message)) = (params.take(), message.as_object_mut()) {
        message.insert("params".into(), params);
    }
    message
}

fn params(mut message: Value) -> Option<Value> {
    message.as_object_mut()?.remove("params")
}

fn rejected(refusal: Refusal) -> ErrorData {
    ErrorData::new(ErrorCode(refusal.code()), refusal.message(), refusal.data())
}

/// The cause has been logged, and must not reach the client.
fn not_sealed(_: SealError) -> ErrorData {
    internal_error()
}

fn internal_error() -> ErrorData {
    ErrorData::internal_error("Internal error", None)
}
