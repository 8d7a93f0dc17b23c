//! Opening and sealing in terms of rmcp.

use std::sync::Arc;

use request_state_core::{Boundary, OpenError, Request, RequestStateCodec, Round};
use rmcp::model::{CustomNotification, CustomResult, InputRequiredResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::params::Params;

/// Says who makes a request.
pub(crate) type Principal = dyn Fn(&RequestContext<RoleServer>) -> Option<String> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Gate<C> {
    pub(crate) boundary: Boundary<C>,
    pub(crate) principal: Arc<Principal>,
}

impl<C: RequestStateCodec> Gate<C> {
    /// Puts the plain state in the place of the client's token, or refuses the request.
    pub(crate) fn open<P: Params>(
        &self,
        method: &str,
        params: &mut P,
        context: &RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let (version, principal) = (version(context), (self.principal)(context));
        let request = Request {
            version: &version,
            method,
            params: &*params,
            principal: principal.as_deref(),
        };
        let opened = self.boundary.open(request, params.token());
        let opened = opened.map_err(|_| refusal())?;
        params.set_state(opened.state);
        if opened.round.restarted() {
            params.forget_responses();
        }
        Ok(opened.round)
    }

    /// Seals what the handler wrote, for the request of `round`.
    pub(crate) fn seal(
        &self,
        round: &Round,
        mut result: InputRequiredResult,
    ) -> Result<InputRequiredResult, ErrorData> {
        if let Some(plain) = &mut result.request_state {
            *plain = self
                .boundary
                .seal(round, plain)
                .map_err(|_| internal_error())?;
        }
        Ok(result)
    }

    /// The same for a result that rmcp has no type for.
    pub(crate) fn seal_custom(
        &self,
        round: &Round,
        result: CustomResult,
    ) -> Result<CustomResult, ErrorData> {
        let mut response = json!({"result": result.0});
        self.boundary.seal_response(round, &mut response);
        match response.get_mut("result") {
            Some(result) => Ok(CustomResult(result.take())),
            None => Err(internal_error()),
        }
    }

    /// Removes the state of a request without an id, which rmcp takes for a notification.
    pub(crate) fn strip(&self, notification: &mut CustomNotification) {
        if self.boundary.covers(&notification.method) {
            notification.params.set_state(None);
        }
    }
}

/// The version that the request itself names, else the one of the session, else none: the empty
/// string. What the request names is never guessed at: if it is no string, it is none.
fn version(context: &RequestContext<RoleServer>) -> String {
    match context.meta.get("io.modelcontextprotocol/protocolVersion") {
        Some(version) => version.as_str().unwrap_or_default().to_owned(),
        None => context
            .protocol_version()
            .map(|version| version.to_string())
            .unwrap_or_default(),
    }
}

/// One answer to every bad `requestState`.
fn refusal() -> ErrorData {
    let data: Value = json!({"reason": OpenError::REASON});
    ErrorData::invalid_params(OpenError::MESSAGE, Some(data))
}

/// The cause has been logged, and is none of the client's business.
fn internal_error() -> ErrorData {
    ErrorData::internal_error("Internal error", None)
}
