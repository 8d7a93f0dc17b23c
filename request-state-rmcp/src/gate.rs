//! Opening and sealing of rmcp's types.

use request_state_core::{
    Incoming, Opened, Principal, Reply, RequestStateCodec, Round, SealError, Sender, Token,
    Unidentified,
};
use rmcp::model::{
    CustomNotification, CustomRequest, CustomResult, InputRequiredResult, ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::answer::{Answer, Written, internal_error};
use crate::any_boundary::AnyBoundary;
use crate::asks::Asks;
use crate::params::Params;

#[derive(Clone)]
pub(crate) struct Gate<C> {
    pub(crate) boundary: AnyBoundary<C>,
    pub(crate) asks: Asks,
}

impl<C: RequestStateCodec> Gate<C> {
    /// Replaces the client's token with the plain state and removes every answer that was not asked
    /// for, or returns a reply to send instead of calling the handler. Puts the round into the
    /// context, for the handler.
    pub(crate) async fn open<P: Params>(
        &self,
        method: &str,
        params: &mut P,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, Reply> {
        let (principal, version) = (self.principal(context), version(context));
        let request = Incoming::new(method, &*params, sender(&principal, version.as_deref()))
            .id(&id(context))
            .name(params.name());
        let token = Token::from(params.token());
        let answers = params.given_answers().into_iter().flatten();
        let answers = answers.map(|(name, answer)| (name.as_str(), answer));
        let Opened { round, state, .. } = self.boundary.open(request, token, answers).await?;
        params.set_state(state);
        params.filter_answers(|answers| {
            let mut filter = self.boundary.plain().answers(&round);
            answers.retain(|name, answer| filter.keeps(name, answer));
        });
        context.extensions.insert(round.clone());
        Ok(round)
    }

    /// Does the same as [`open`](Self::open) for a request without a type in rmcp: one of the three
    /// methods with params that rmcp does not expect, such as a `requestState` that is a number.
    pub(crate) async fn open_custom(
        &self,
        request: &mut CustomRequest,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, Reply> {
        if !self.boundary.plain().covers(&request.method) {
            // The principal makes no difference here, and determining it may be expensive.
            let round = Round::uncovered();
            context.extensions.insert(round.clone());
            return Ok(round);
        }
        let (principal, version) = (self.principal(context), version(context));
        let sender = sender(&principal, version.as_deref());
        let mut message = message(&request.method, &mut request.params);
        if let Some(message) = message.as_object_mut() {
            message.insert("id".into(), id(context));
        }
        let opened = self.boundary.open_request(&mut message, sender).await;
        request.params = params(message);
        let round = opened?;
        context.extensions.insert(round.clone());
        Ok(round)
    }

    /// Removes the state and the answers of a request without an ID. rmcp treats such a request as
    /// a notification.
    pub(crate) fn strip(&self, notification: &mut CustomNotification) {
        let boundary = self.boundary.plain();
        if !boundary.covers(&notification.method) {
            return;
        }
        let mut message = message(&notification.method, &mut notification.params);
        // The result is neither a rejection nor a response: a message without an ID has none.
        drop(boundary.open_request(&mut message, None));
        notification.params = params(message);
    }

    /// Seals the handler's result for the request of `round`.
    pub(crate) fn seal(
        &self,
        round: &Round,
        mut result: InputRequiredResult,
    ) -> Result<InputRequiredResult, ErrorData> {
        // A handler can set another type, and the plain state would then leave the server.
        result.result_type = ResultType::INPUT_REQUIRED;
        let mut json = serde_json::to_value(&result).map_err(|_| internal_error())?;
        let boundary = self.boundary.plain();
        boundary.seal_result(round, &mut json).map_err(not_sealed)?;
        let token = match json.get("requestState").and_then(Value::as_str) {
            Some(token) => token.to_owned(),
            // The method is one that may not ask questions, so nothing would check the answers.
            // This fails and is logged.
            None => boundary.seal(round, &[], None).map_err(not_sealed)?,
        };
        result.request_state = Some(token);
        Ok(result)
    }

    /// Does the same as [`seal`](Self::seal) for a result without a type in rmcp.
    pub(crate) fn seal_custom(
        &self,
        round: &Round,
        mut result: CustomResult,
    ) -> Result<CustomResult, ErrorData> {
        let boundary = self.boundary.plain();
        boundary
            .seal_result(round, &mut result.0)
            .map_err(not_sealed)?;
        Ok(result)
    }

    /// Keeps an answer for repetitions of its request, if the policy asks for that.
    pub(crate) async fn keep<A: Answer>(&self, round: &Round, answer: &Result<A, ErrorData>) {
        if let AnyBoundary::Once(once) = &self.boundary {
            once.keep_answer(round, answer.as_ref().map(Written).as_ref())
                .await;
        }
    }

    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<Principal, Unidentified> {
        self.asks.principal(self.boundary.plain().server(), context)
    }
}

fn sender<'a>(
    principal: &'a Result<Principal, Unidentified>,
    version: Option<&'a str>,
) -> Sender<'a> {
    let sender = match principal {
        Ok(principal) => Sender::from(principal),
        Err(error) => Sender::unidentified(error.clone()),
    };
    match version {
        Some(version) => sender.version(version),
        // Using the boundary's version would be a guess.
        None => sender.no_version(),
    }
}

/// Returns the version named in the request itself, or else the version of the session. If the
/// request names a version that is not a string, returns `None` and does not guess.
fn version(context: &RequestContext<RoleServer>) -> Option<String> {
    match context.meta.get("io.modelcontextprotocol/protocolVersion") {
        Some(version) => version.as_str().map(str::to_owned),
        None => context
            .protocol_version()
            .map(|version| version.to_string()),
    }
}

/// Returns the JSON-RPC ID of the request.
fn id(context: &RequestContext<RoleServer>) -> Value {
    context.id.clone().into_json_value()
}

/// Assembles the message that rmcp took apart, without its ID.
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

/// Converts the error of a failed seal. The cause has been logged and must not reach the client.
fn not_sealed(_: SealError) -> ErrorData {
    internal_error()
}
