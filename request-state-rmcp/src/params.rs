//! Where rmcp keeps the state of each request.

use rmcp::model::{CallToolRequestParams, GetPromptRequestParams, ReadResourceRequestParams};
use serde::Serialize;
use serde_json::{Map, Value};

/// Params that may carry a state. They serialize to the JSON that is bound.
pub(crate) trait Params: Serialize {
    /// The token that the client sent; for a state that is no string, one that never opens.
    fn token(&self) -> Option<&str>;

    /// What the handler is to see.
    fn set_state(&mut self, plain: Option<String>);

    /// Forgets the client's answers, which belong to a state that is gone.
    fn forget_responses(&mut self);
}

impl Params for CallToolRequestParams {
    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn forget_responses(&mut self) {
        self.input_responses = None;
    }
}

impl Params for GetPromptRequestParams {
    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn forget_responses(&mut self) {
        self.input_responses = None;
    }
}

impl Params for ReadResourceRequestParams {
    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn forget_responses(&mut self) {
        self.input_responses = None;
    }
}

/// The params of a custom request. A request of the three methods arrives as one when its params
/// are not what rmcp expects: with a `requestState` that is a number, say, or `arguments` that are
/// an array.
impl Params for Option<Value> {
    fn token(&self) -> Option<&str> {
        match self.as_ref()?.get("requestState")? {
            Value::Null => None,
            Value::String(token) => Some(token),
            _ => Some(""),
        }
    }

    fn set_state(&mut self, plain: Option<String>) {
        let Some(params) = members(self) else { return };
        match plain {
            Some(plain) => drop(params.insert("requestState".into(), plain.into())),
            None => drop(params.remove("requestState")),
        }
    }

    fn forget_responses(&mut self) {
        if let Some(params) = members(self) {
            params.remove("inputResponses");
        }
    }
}

fn members(params: &mut Option<Value>) -> Option<&mut Map<String, Value>> {
    params.as_mut()?.as_object_mut()
}
