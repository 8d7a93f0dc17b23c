//! The fixtures that the scenarios `input-required-result-*` of the official suite require of a
//! server.
//!
//! The handlers read and write plain state, and trust it. Nothing in this module knows that the
//! state is sealed.

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::handler::server::common::schema_for_empty_input;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    InputResponses, ListPromptsResult, ListToolsResult, PaginatedRequestParams, Prompt,
    PromptMessage, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];
const PROMPT: &str = "test_input_required_result_prompt";

/// The state of handlers that ask one round of questions.
const ASKED: &str = "asked";
/// The state of `multi_round` after its second question: this prefix and the given name.
const NAMED: &str = "named ";

/// The server for the suite.
#[derive(Clone, Copy, Debug)]
pub struct Fixtures;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name| Tool::new(name, "A fixture of the suite", schema_for_empty_input());
        Ok(ListToolsResult::with_all_items(TOOLS.map(tool).to_vec()))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(PROMPT, Some("A fixture of the suite"), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state = request.request_state.as_deref();
        let answers = Answers(request.input_responses.unwrap_or_default());
        let result = match request.name.strip_prefix("test_input_required_result_") {
            Some("elicitation") => elicitation(&answers),
            Some("sampling") => sampling(&answers),
            Some("list_roots") => list_roots(&answers),
            Some("request_state") => request_state(state, &answers),
            Some("multiple_inputs") => multiple_inputs(state, &answers),
            Some("multi_round") => multi_round(state, &answers),
            Some("tampered_state") => tampered_state(state),
            Some("capabilities") => capabilities(context.client_capabilities()),
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        result.map(|round| match round {
            Round::Done(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Round::Ask(ask) => ask.into(),
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params("no such prompt", None));
        }
        let answers = Answers(request.input_responses.unwrap_or_default());
        Ok(match prompt(request.request_state.as_deref(), &answers)? {
            Round::Done(text) => {
                GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into()
            }
            Round::Ask(ask) => ask.into(),
        })
    }
}

/// The end of a round: the text of a result, or questions.
enum Round {
    Done(String),
    Ask(InputRequiredResult),
}

fn elicitation(answers: &Answers) -> Result<Round, ErrorData> {
    match answers.text("user_name", "/content/name") {
        Some(name) => done(format!("Hello, {name}!")),
        None => ask(
            json!({"user_name": name_question("What is your name?")}),
            None,
        ),
    }
}

fn sampling(answers: &Answers) -> Result<Round, ErrorData> {
    match answers.text("capital_question", "/content/text") {
        Some(text) => done(text),
        None => ask(
            json!({"capital_question": sample("What is the capital of France?", 100)}),
            None,
        ),
    }
}

fn list_roots(answers: &Answers) -> Result<Round, ErrorData> {
    match answers.text("client_roots", "/roots/0/uri") {
        Some(uri) => done(format!("The first root is {uri}")),
        None => ask(json!({"client_roots": roots()}), None),
    }
}

fn request_state(state: Option<&str>, answers: &Answers) -> Result<Round, ErrorData> {
    match (state, answers.truth("confirm", "/content/ok")) {
        (Some(ASKED), Some(true)) => done("state-ok"),
        (None | Some(ASKED), _) => ask(json!({"confirm": confirmation()}), Some(ASKED)),
        (Some(_), _) => foreign_state(),
    }
}

fn multiple_inputs(state: Option<&str>, answers: &Answers) -> Result<Round, ErrorData> {
    let name = answers.text("user_name", "/content/name");
    let greeting = answers.text("greeting", "/content/text");
    let root = answers.text("client_roots", "/roots/0/uri");
    match (state, name, greeting, root) {
        (Some(ASKED), Some(name), Some(greeting), Some(root)) => {
            done(format!("{greeting} {name} of {root}"))
        }
        (None | Some(ASKED), ..) => ask(
            json!({
                "user_name": name_question("What is your name?"),
                "greeting": sample("Generate a greeting", 50),
                "client_roots": roots(),
            }),
            Some(ASKED),
        ),
        (Some(_), ..) => foreign_state(),
    }
}

/// Asks two questions. The third round has the second round's answer only if the state carried it
/// there.
fn multi_round(state: Option<&str>, answers: &Answers) -> Result<Round, ErrorData> {
    let first = || {
        ask(
            json!({"step1": name_question("Step 1: What is your name?")}),
            Some(ASKED),
        )
    };
    let second = |name: &str| {
        ask(
            json!({"step2": elicit("Step 2: What is your favorite color?", "color", "string")}),
            Some(&format!("{NAMED}{name}")),
        )
    };
    match state {
        None => first(),
        Some(ASKED) => match answers.text("step1", "/content/name") {
            Some(name) => second(&name),
            None => first(),
        },
        Some(state) => match state.strip_prefix(NAMED) {
            Some(name) => match answers.text("step2", "/content/color") {
                Some(color) => done(format!("{name} likes {color}")),
                None => second(name),
            },
            None => foreign_state(),
        },
    }
}

/// Accepts any state. If the suite sees that a changed state is rejected, this handler did not
/// reject it.
fn tampered_state(state: Option<&str>) -> Result<Round, ErrorData> {
    match state {
        Some(_) => done("confirmed"),
        None => ask(json!({"confirm": confirmation()}), Some(ASKED)),
    }
}

fn capabilities(client: Option<ClientCapabilities>) -> Result<Round, ErrorData> {
    let client = client.unwrap_or_default();
    let mut questions = serde_json::Map::new();
    if client.elicitation.is_some() {
        questions.insert("user_name".into(), name_question("What is your name?"));
    }
    if client.sampling.is_some() {
        questions.insert("greeting".into(), sample("Generate a greeting", 50));
    }
    if questions.is_empty() {
        return done("Nothing to ask that this client can answer");
    }
    ask(Value::Object(questions), None)
}

fn prompt(state: Option<&str>, answers: &Answers) -> Result<Round, ErrorData> {
    match (state, answers.text("user_context", "/content/context")) {
        (Some(ASKED), Some(context)) => done(format!("Write about {context}")),
        (None | Some(ASKED), _) => ask(
            json!({"user_context":
                elicit("What context should the prompt use?", "context", "string")}),
            Some(ASKED),
        ),
        (Some(_), _) => foreign_state(),
    }
}

fn done(text: impl Into<String>) -> Result<Round, ErrorData> {
    Ok(Round::Done(text.into()))
}

fn ask(questions: Value, state: Option<&str>) -> Result<Round, ErrorData> {
    let questions = serde_json::from_value(questions)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(Round::Ask(InputRequiredResult::new(
        Some(questions),
        state.map(Into::into),
    )))
}

/// Returns an error. A handler that wrote its state itself never gets here, unless the client did
/// not return that state.
fn foreign_state() -> Result<Round, ErrorData> {
    Err(ErrorData::internal_error(
        "not a state of this handler",
        None,
    ))
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {field: {"type": kind}},
            "required": [field],
        },
    }})
}

fn name_question(message: &str) -> Value {
    elicit(message, "name", "string")
}

fn confirmation() -> Value {
    elicit("Please confirm", "ok", "boolean")
}

fn sample(text: &str, max_tokens: u32) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        "maxTokens": max_tokens,
    }})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// The client's answers, which may be anything.
struct Answers(InputResponses);

impl Answers {
    fn at(&self, question: &str, pointer: &str) -> Option<&Value> {
        self.0.get(question)?.pointer(pointer)
    }

    fn text(&self, question: &str, pointer: &str) -> Option<String> {
        Some(self.at(question, pointer)?.as_str()?.to_owned())
    }

    fn truth(&self, question: &str, pointer: &str) -> Option<bool> {
        self.at(question, pointer)?.as_bool()
    }
}
