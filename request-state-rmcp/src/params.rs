//! The location of the state and the answers in rmcp's params of each request.

use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, InputResponses, ReadResourceRequestParams,
};
use serde::Serialize;

/// Params that may carry a state. They serialize to the JSON that is bound.
pub(crate) trait Params: Serialize + Sync {
    /// Returns the name of the tool or prompt, or the URI of the resource.
    fn name(&self) -> &str;

    /// Returns the token that the client sent.
    fn token(&self) -> Option<&str>;

    /// Sets the state that the handler receives.
    fn set_state(&mut self, plain: Option<String>);

    /// Returns the client's answers, as received.
    fn given_answers(&self) -> Option<&InputResponses>;

    /// Returns a mutable reference to the client's answers.
    fn answers(&mut self) -> &mut Option<InputResponses>;

    /// Keeps only the answers that `filter` keeps. If none is left, removes the member.
    fn filter_answers(&mut self, filter: impl FnOnce(&mut InputResponses)) {
        let answers = self.answers();
        if let Some(given) = answers {
            filter(given);
            if given.is_empty() {
                *answers = None;
            }
        }
    }
}

impl Params for CallToolRequestParams {
    fn name(&self) -> &str {
        &self.name
    }

    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn given_answers(&self) -> Option<&InputResponses> {
        self.input_responses.as_ref()
    }

    fn answers(&mut self) -> &mut Option<InputResponses> {
        &mut self.input_responses
    }
}

impl Params for GetPromptRequestParams {
    fn name(&self) -> &str {
        &self.name
    }

    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn given_answers(&self) -> Option<&InputResponses> {
        self.input_responses.as_ref()
    }

    fn answers(&mut self) -> &mut Option<InputResponses> {
        &mut self.input_responses
    }
}

impl Params for ReadResourceRequestParams {
    fn name(&self) -> &str {
        &self.uri
    }

    fn token(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    fn set_state(&mut self, plain: Option<String>) {
        self.request_state = plain;
    }

    fn given_answers(&self) -> Option<&InputResponses> {
        self.input_responses.as_ref()
    }

    fn answers(&mut self) -> &mut Option<InputResponses> {
        &mut self.input_responses
    }
}
