//! The results of the three methods, stored as JSON and read back.

use request_state_core::{Refusal, Reply};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CreateTaskResult, CustomResult, ErrorCode, GetPromptResponse,
    InputRequiredResult, ReadResourceResponse, ServerResult,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A result that can be stored as the `result` of a JSON-RPC response, and read back from it.
pub(crate) trait Answer: Clone + Into<ServerResult> {
    fn read(result: Value) -> serde_json::Result<Self>;
}

impl Answer for CallToolResponse {
    fn read(result: Value) -> serde_json::Result<Self> {
        Ok(match result_type(&result) {
            Some("input_required") => Self::InputRequired(serde_json::from_value(result)?),
            Some("task") => serde_json::from_value::<CreateTaskResult>(result)?.into(),
            _ => Self::Complete(serde_json::from_value(result)?),
        })
    }
}

impl Answer for GetPromptResponse {
    fn read(result: Value) -> serde_json::Result<Self> {
        Ok(match result_type(&result) {
            Some("input_required") => serde_json::from_value::<InputRequiredResult>(result)?.into(),
            _ => Self::Complete(serde_json::from_value(result)?),
        })
    }
}

impl Answer for ReadResourceResponse {
    fn read(result: Value) -> serde_json::Result<Self> {
        Ok(match result_type(&result) {
            Some("input_required") => serde_json::from_value::<InputRequiredResult>(result)?.into(),
            _ => Self::Complete(serde_json::from_value(result)?),
        })
    }
}

impl Answer for CustomResult {
    fn read(result: Value) -> serde_json::Result<Self> {
        Ok(Self(result))
    }
}

impl Answer for ServerResult {
    /// Wraps the JSON unchanged: it does not contain the type of the result.
    fn read(result: Value) -> serde_json::Result<Self> {
        Ok(Self::CustomResult(CustomResult(result)))
    }
}

fn result_type(result: &Value) -> Option<&str> {
    result.get("resultType")?.as_str()
}

/// A serializer of a handler's result as the `result` of a response.
pub(crate) struct Written<'a, A>(pub(crate) &'a A);

impl<A: Answer> Serialize for Written<'_, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let result: ServerResult = self.0.clone().into();
        result.serialize(serializer)
    }
}

/// Returns the response that the client receives in place of the handler's.
pub(crate) fn instead<A: Answer>(reply: Reply) -> Result<A, ErrorData> {
    match reply {
        Reply::Refused(refusal) => Err(refused(&refusal)),
        Reply::Kept(kept) => match kept.outcome() {
            Ok(result) => A::read(result).map_err(|_| refused(&Refusal::outcome_unknown())),
            Err(error) => Err(serde_json::from_value(error)
                .unwrap_or_else(|_| refused(&Refusal::outcome_unknown()))),
        },
    }
}

fn refused(refusal: &Refusal) -> ErrorData {
    ErrorData::new(ErrorCode(refusal.code()), refusal.message(), refusal.data())
}

pub(crate) fn internal_error() -> ErrorData {
    ErrorData::internal_error("Internal error", None)
}
