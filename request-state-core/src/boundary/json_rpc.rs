//! What a JSON-RPC message is, and where its state is. No message makes any of this panic.

use serde_json::{Map, Value, json};

use super::sender::Token;

/// The methods whose requests may carry a state and whose results may be `input_required`.
const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// The member of `_meta` that names the protocol version of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of params and results that this is all about.
pub(super) const STATE: &str = "requestState";

/// The questions in a result that asks for input.
pub(super) const REQUESTS: &str = "inputRequests";

/// The client's answers to questions.
pub(super) const RESPONSES: &str = "inputResponses";

/// `method`, if its requests may carry a state.
pub(super) fn covered(method: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|covered| *covered == method)
}

/// The method of `message`, if its requests may carry a state.
///
/// Whatever else is wrong with the message is not asked: a framework may forgive it.
pub(super) fn covered_method(message: &Value) -> Option<&'static str> {
    covered(message.get("method")?.as_str()?)
}

/// The id of a request. MCP allows strings and numbers only.
pub(super) fn id(message: &Value) -> Option<&Value> {
    message
        .get("id")
        .filter(|id| id.is_string() || id.is_number())
}

/// The id that answers `message`: null for a batch, and for what has none.
pub(super) fn id_or_null(message: &Value) -> Value {
    id(message).cloned().unwrap_or_default()
}

/// The state of `message`, as the client sent it.
pub(super) fn token(message: &Value) -> Token<'_> {
    let params = message.get("params");
    Token::from(params.and_then(|params| params.get(STATE)))
}

/// The name of the tool or prompt, or the URI of the resource.
pub(super) fn name(message: &Value) -> Option<&str> {
    let member = match covered_method(message)? {
        "resources/read" => "uri",
        _ => "name",
    };
    message.get("params")?.get(member)?.as_str()
}

/// The client's answers, whether they were asked for or not.
pub(super) fn answers(message: &Value) -> Option<&Map<String, Value>> {
    message.get("params")?.get(RESPONSES)?.as_object()
}

/// The protocol version that `params` name, else the one that is `given`. `None` when neither does,
/// and when what should name one is not a string.
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

/// The params of `message`, to change them.
pub(super) fn params_mut(message: &mut Value) -> Option<&mut Map<String, Value>> {
    message.get_mut("params")?.as_object_mut()
}

/// The members of a result that asks for input.
pub(super) fn asking(result: &mut Value) -> Option<&mut Map<String, Value>> {
    let result = result.as_object_mut()?;
    (result.get("resultType")?.as_str()? == "input_required").then_some(result)
}

/// Puts an error that says nothing in the place of `response`.
pub(super) fn turn_into_internal_error(response: &mut Value) {
    let id = response.get_mut("id").map(Value::take);
    let error = json!({"code": -32603, "message": "Internal error"});
    *response = json!({"jsonrpc": "2.0", "id": id, "error": error});
}

/// Calls `work` with each message of a batch, also where arrays are in arrays.
///
/// Without recursion: how deep they are is the client's choice.
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
