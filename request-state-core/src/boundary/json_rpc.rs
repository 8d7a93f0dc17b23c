//! The parts of a JSON-RPC message, and the place of its state. No message makes any function here panic.

use serde_json::{Map, Value, json};

use super::sender::Token;
use crate::binding::METHODS;

/// The member of `_meta` that names the protocol version of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of params and results that holds the state.
pub(super) const STATE: &str = "requestState";

/// The member of a result that holds the handler's questions.
pub(super) const REQUESTS: &str = "inputRequests";

/// The member of params that holds the client's answers.
pub(super) const RESPONSES: &str = "inputResponses";

/// Returns `method` if its requests may carry a state.
pub(super) fn covered(method: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|covered| *covered == method)
}

/// Returns the method of `message` if its requests may carry a state.
///
/// Nothing else in the message is checked: a framework may accept it despite other errors.
pub(super) fn covered_method(message: &Value) -> Option<&'static str> {
    covered(message.get("method")?.as_str()?)
}

/// Returns the id of a request. MCP allows strings and numbers only.
pub(super) fn id(message: &Value) -> Option<&Value> {
    message
        .get("id")
        .filter(|id| id.is_string() || id.is_number())
}

/// Returns the id for the response to `message`: null for a batch, and for a message without an id.
pub(super) fn id_or_null(message: &Value) -> Value {
    id(message).cloned().unwrap_or_default()
}

/// Returns the state of `message`, as the client sent it.
pub(super) fn token(message: &Value) -> Token<'_> {
    let params = message.get("params");
    Token::from(params.and_then(|params| params.get(STATE)))
}

/// Returns the name of the tool or prompt, or the URI of the resource.
pub(super) fn name(message: &Value) -> Option<&str> {
    let member = match covered_method(message)? {
        "resources/read" => "uri",
        _ => "name",
    };
    message.get("params")?.get(member)?.as_str()
}

/// Returns the client's answers, whether they were asked for or not.
pub(super) fn answers(message: &Value) -> Option<&Map<String, Value>> {
    message.get("params")?.get(RESPONSES)?.as_object()
}

/// Returns the protocol version that `params` name, or else `given`.
///
/// Returns `None` if there is neither, and if `_meta` or the version in it has the wrong type.
pub(super) fn version<'a>(params: &'a Value, given: Option<&'a str>) -> Option<&'a str> {
    match params.get("_meta") {
        None | Some(Value::Null) => given,
        Some(Value::Object(meta)) => match meta.get(VERSION) {
            None => given,
            Some(version) => version.as_str(),
        },
        Some(_) => None,
    }
}

/// Returns the params of `message`, for changing them.
pub(super) fn params_mut(message: &mut Value) -> Option<&mut Map<String, Value>> {
    message.get_mut("params")?.as_object_mut()
}

/// Returns the members of a result that asks for input.
pub(super) fn asking(result: &mut Value) -> Option<&mut Map<String, Value>> {
    let result = result.as_object_mut()?;
    (result.get("resultType")?.as_str()? == "input_required").then_some(result)
}

/// Replaces `response` with an error without detail.
pub(super) fn turn_into_internal_error(response: &mut Value) {
    let id = response.get_mut("id").map(Value::take);
    let error = json!({"code": -32603, "message": "Internal error"});
    *response = json!({"jsonrpc": "2.0", "id": id, "error": error});
}

/// Calls `work` with each message of a batch, including messages in nested arrays.
///
/// This does not recurse, since the client chooses how deep arrays are nested.
pub(super) fn for_each(batch: &mut Value, mut work: impl FnMut(&mut Value)) {
    if !batch.is_array() {
        return work(batch);
    }
    let mut waiting = vec![batch];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            message => work(message),
        }
    }
}
