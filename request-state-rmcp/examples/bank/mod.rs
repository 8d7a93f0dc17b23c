//! The code that both examples share: the transfer wizard of the tour as an rmcp tool, and a client
//! that answers its questions.
//!
//! The tool does not handle tokens, keys or expiry. It writes its state as a plain string and reads
//! the same string back. It only gets answers to questions that it asked.

use std::sync::atomic::{AtomicU64, Ordering};

use request_state::Round;
use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService};
use rmcp::{
    ClientHandler, ErrorData, ServerHandler, ServiceError, tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The number of the next payment.
static PAYMENTS: AtomicU64 = AtomicU64::new(1);

/// The code that the user's device shows. A real server checks it with the service that issued it.
const CODE: &str = "491773";

/// All that the tool remembers between two rounds: which question is open, and the earlier answers.
/// The arguments arrive in every round, and a token opens only with the arguments it was sealed for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "asked", rename_all = "snake_case")]
enum Wizard {
    Bank,
    Confirm { bank: String },
    Code { bank: String },
}

#[derive(Deserialize, rmcp::schemars::JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Transfer {
    to: String,
    amount: u64,
}

#[derive(Clone)]
pub struct Bank;

#[tool_router]
impl Bank {
    #[tool(description = "Sends money, after three questions")]
    async fn transfer(
        &self,
        Parameters(Transfer { to, amount }): Parameters<Transfer>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        eprintln!(
            "   the tool sees the state {}",
            state.as_deref().unwrap_or("none")
        );
        let Some(state) = state else {
            return ask(&Wizard::Bank, &to, amount);
        };
        let asked: Wizard = serde_json::from_str(&state).map_err(internal)?;
        let answer = |name: &str| {
            let response = responses.as_ref().and_then(|responses| responses.get(name));
            // Who declines or cancels has answered nothing, whatever else the client sends.
            let accepted = response.filter(|response| response["action"] == "accept");
            accepted.map_or(Value::Null, |response| response["content"][name].clone())
        };
        let next = match asked {
            Wizard::Bank => match answer("bank") {
                Value::String(bank) => Wizard::Confirm { bank },
                _ => Wizard::Bank,
            },
            Wizard::Confirm { bank } if answer("confirm") == true => Wizard::Code { bank },
            Wizard::Code { bank } if answer("code") == CODE => {
                // The same in every branch of this conversation: the bank pays once for it.
                let flow = context.extensions.get::<Round>().and_then(Round::flow);
                let flow = flow.ok_or_else(|| ErrorData::internal_error("Internal error", None))?;
                eprintln!("   the tool pays under the idempotency key transfer:{flow}");
                let number = PAYMENTS.fetch_add(1, Ordering::SeqCst);
                let text = format!("Payment {number}: {amount} EUR to {to} at {bank}.");
                return Ok(complete(text));
            }
            _ => return Ok(complete("Nothing was sent.".into())),
        };
        ask(&next, &to, amount)
    }
}

#[tool_handler]
impl ServerHandler for Bank {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Asks the open question of `state`.
fn ask(state: &Wizard, to: &str, amount: u64) -> Result<CallToolResponse, ErrorData> {
    let (name, kind, text) = match state {
        Wizard::Bank => ("bank", "string", format!("Which bank is {to} with?")),
        Wizard::Confirm { bank } => {
            let text = format!("Send {amount} EUR to {to} at {bank}?");
            ("confirm", "boolean", text)
        }
        Wizard::Code { .. } => ("code", "string", "Which code is on your device?".into()),
    };
    let schema = json!({
        "type": "object", "properties": {name: {"type": kind}}, "required": [name],
    });
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: text,
        requested_schema: serde_json::from_value(schema).map_err(internal)?,
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(form));
    let questions = InputRequests::from([(name.to_owned(), question)]);
    let plain = serde_json::to_string(state).map_err(internal)?;
    Ok(InputRequiredResult::new(Some(questions), Some(plain)).into())
}

fn complete(text: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn internal(_: serde_json::Error) -> ErrorData {
    ErrorData::internal_error("Internal error", None)
}

/// A client whose user answers every question of the bank's.
#[derive(Clone)]
pub struct User;

pub type Client = RunningService<RoleClient, User>;

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder().enable_elicitation().build(),
            Implementation::new("example", "1.0.0"),
        )
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(&request).map_err(internal)?;
        println!(
            "   the user is asked: {}",
            asked["message"].as_str().unwrap_or_default()
        );
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answers()))
    }
}

/// What the user says to any question.
fn answers() -> Value {
    json!({"bank": "Harbor Bank", "confirm": true, "code": CODE})
}

/// The call of every example: 10 EUR to Bob.
pub fn transfer(amount: u64) -> CallToolRequestParams {
    let mut arguments = JsonObject::new();
    arguments.insert("to".into(), "Bob".into());
    arguments.insert("amount".into(), amount.into());
    CallToolRequestParams::new("transfer").with_arguments(arguments)
}

/// The token in the answer to the first round of `call`.
pub async fn first_token(client: &Client, call: CallToolRequestParams) -> Result<String, String> {
    match client.call_tool_once(call).await {
        Ok(CallToolResponse::InputRequired(InputRequiredResult {
            request_state: Some(token),
            ..
        })) => {
            println!("   the client sees the requestState {token}");
            Ok(token)
        }
        other => Err(format!("no requestState in {other:?}")),
    }
}

/// Goes through all rounds of `call`, and returns the last call and what it was answered.
pub async fn last_call(
    client: &Client,
    mut call: CallToolRequestParams,
) -> Result<(CallToolRequestParams, CallToolResult), String> {
    loop {
        match client.call_tool_once(call.clone()).await {
            Ok(CallToolResponse::InputRequired(asked)) => {
                let names = asked.input_requests.unwrap_or_default().into_keys();
                let answer = json!({"action": "accept", "content": answers()});
                call.input_responses = Some(names.map(|name| (name, answer.clone())).collect());
                call.request_state = asked.request_state;
            }
            Ok(CallToolResponse::Complete(result)) => return Ok((call, result)),
            other => return Err(format!("neither questions nor a result: {other:?}")),
        }
    }
}

/// The last word of a conversation, through all of its rounds.
pub async fn last_word(client: &Client, call: CallToolRequestParams) -> Result<String, String> {
    let result = client.call_tool(call).await;
    let result = result.map_err(|error| error.to_string())?;
    let text = result.content.first().and_then(|content| content.as_text());
    Ok(text.map(|text| text.text.clone()).unwrap_or_default())
}

/// Sends `call` with `token` and an answer, and expects the one error that every bad state gets.
pub async fn is_refused(
    client: &Client,
    mut call: CallToolRequestParams,
    token: String,
) -> Result<(), String> {
    call.request_state = Some(token);
    let answer = json!({"action": "accept", "content": answers()});
    call.input_responses = Some([("bank".to_owned(), answer)].into());
    expect_refusal(client, call).await
}

/// Sends `call`, and expects the same error.
pub async fn expect_refusal(client: &Client, call: CallToolRequestParams) -> Result<(), String> {
    match client.call_tool_once(call).await {
        Err(ServiceError::McpError(error))
            if error.code == ErrorCode::INVALID_PARAMS
                && error.message == "Invalid or expired requestState"
                && error.data == Some(json!({"reason": "invalid_request_state"})) =>
        {
            println!("   refused: {} {}", error.code.0, error.message);
            Ok(())
        }
        other => Err(format!("not refused: {other:?}")),
    }
}

/// Fails the example unless `found` is what it says it shows.
pub fn expect(found: &str, expected: &str) -> Result<(), String> {
    println!("   {found}");
    if found == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, found {found:?}"))
}
