//! Opening and sealing in terms of rmcp.

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
    /// Puts the plain state in the place of the client's token and leaves only the answers that were
    /// asked for. Or the request is answered in the handler's place. The handler finds the round in
    /// the context.
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

    /// The same for a request that rmcp has no type for: one of the three methods whose params are
    /// not what rmcp expects, with a `requestState` that is a number, say.
    pub(crate) async fn open_custom(
        &self,
        request: &mut CustomRequest,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, Reply> {
        if !self.boundary.plain().covers(&request.method) {
            // Who asks makes no difference, and finding out may be expensive.
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

    /// Removes the state and the answers of a request without an id, which rmcp takes for a
    /// notification.
    pub(crate) fn strip(&self, notification: &mut CustomNotification) {
        let boundary = self.boundary.plain();
        if !boundary.covers(&notification.method) {
            return;
        }
        let mut message = message(&notification.method, &mut notification.params);
        // Neither a rejection nor a response: a message without an id has none.
        drop(boundary.open_request(&mut message, None));
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
        let boundary = self.boundary.plain();
        boundary.seal_result(round, &mut json).map_err(not_sealed)?;
        let token = match json.get("requestState").and_then(Value::as_str) {
            Some(token) => token.to_owned(),
            // Another method's, which may not ask: this fails and is logged. Nothing would check the
            // answers.
            None => boundary.seal(round, &[], None).map_err(not_sealed)?,
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
        let boundary = self.boundary.plain();
        boundary
            .seal_result(round, &mut result.0)
            .map_err(not_sealed)?;
        Ok(result)
    }

    /// Keeps an answer for repetitions of its request, where that is wanted.
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
        // The version of the boundary would be a guess.
        None => sender.no_version(),
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
    context.id.clone().into_json_value()
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

/// The cause has been logged, and must not reach the client.
fn not_sealed(_: SealError) -> ErrorData {
    internal_error()
}
