//! Answers reach a handler only where they were asked for, and it can look up what was.

use std::sync::{Arc, Mutex};

use request_state::{AnswersWithoutState, Boundary, FlowId, Round};
use request_state_rmcp::SealedService;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

use crate::kit::*;

/// What a handler saw: the answers, the flow and round, the flow before a restart, and what was
/// asked.
type Seen = (
    Value,
    Option<FlowId>,
    Option<u16>,
    Option<FlowId>,
    Vec<String>,
);

/// Asks for `confirm`, without a state, until it is answered. Asks for nothing when the tool is
/// called `nothing`.
#[derive(Clone, Default)]
struct Confirm(Arc<Mutex<Vec<Seen>>>);

impl Confirm {
    fn next(&self) -> Seen {
        let mut seen = self.0.lock().unwrap();
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }

    /// Whether there was an answer. Notes what the handler saw.
    fn is_answered(&self, answers: Value, context: &RequestContext<RoleServer>) -> bool {
        let round = context.extensions.get::<Round>().expect("a round");
        let asked = round.asked().iter();
        let asked = asked.map(|question| format!("{}: {:?}", question.name(), question.kind()));
        let is_answered = !answers.is_null();
        self.0.lock().unwrap().push((
            answers,
            round.flow(),
            round.number(),
            round.restarted_from(),
            asked.collect(),
        ));
        is_answered
    }
}

fn question() -> InputRequiredResult {
    let schema = json!({"type": "object", "properties": {}});
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Really?".into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(form));
    InputRequiredResult::from_input_requests([("confirm".to_owned(), question)].into())
}

impl ServerHandler for Confirm {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "nothing" {
            return Ok(InputRequiredResult::new(None, None).into());
        }
        if self.is_answered(json!(request.input_responses), &context) {
            return Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into());
        }
        Ok(question().into())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.is_answered(json!(request.input_responses), &context) {
            let message = PromptMessage::new_text(Role::User, "done");
            return Ok(GetPromptResult::new(vec![message]).into());
        }
        Ok(question().into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if self.is_answered(json!(request.input_responses), &context) {
            let contents = vec![ResourceContents::text("done", request.uri)];
            return Ok(ReadResourceResult::new(contents).into());
        }
        Ok(question().into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let answers = request.params.unwrap_or_default()["inputResponses"].take();
        if self.is_answered(answers, &context) {
            return Ok(CustomResult(json!({"text": "done"})));
        }
        Ok(CustomResult(serde_json::to_value(question()).unwrap()))
    }
}

/// The three methods, and what rmcp has no type for.
fn requests() -> Vec<Value> {
    let mut odd = request("tools/call");
    odd["params"]["name"] = json!(["transfer"]);
    METHODS.map(request).into_iter().chain([odd]).collect()
}

fn with_answers(message: &Value, answers: Value) -> Value {
    let mut message = message.clone();
    message["params"]["inputResponses"] = answers;
    message
}

fn with_state(message: &Value, state: &str) -> Value {
    let mut message = message.clone();
    message["params"]["requestState"] = state.into();
    message
}

#[tokio::test]
async fn only_what_was_asked_is_delivered() {
    let accept = json!({"action": "accept"});
    for first in requests() {
        let handler = Confirm::default();
        let server = SealedService::new(handler.clone(), sealer());
        let mut raw = Raw::connect(server, MODERN);

        // An accept that nobody asked for: the handler asks.
        let unasked = with_answers(&first, json!({"confirm": accept}));
        let token = raw.token(&unasked).await;
        assert_eq!(handler.next(), (Value::Null, None, None, None, vec![]));

        // Other names, and what is not an object.
        let again = with_state(&first, &token);
        for answers in [
            json!({}),
            json!({"Confirm": accept, "": accept}),
            json!({"confirm": "accept"}),
            json!({"confirm": null}),
        ] {
            raw.token(&with_answers(&again, answers)).await;
            assert_eq!(handler.next().0, Value::Null);
        }

        let both = json!({"confirm": accept, "deploy": accept, "junk": 5});
        let answer = raw.ask(&with_answers(&again, both)).await;
        assert!(answer.to_string().contains("done"), "{answer}");
        let (answers, flow, number, restarted_from, asked) = handler.next();
        assert_eq!(answers, json!({"confirm": accept}));
        assert!(flow.is_some());
        assert_eq!((number, restarted_from), (Some(1), None));
        assert_eq!(asked, ["confirm: ElicitationForm"]);
    }
}

/// To rmcp these are not answers, and the request is a custom one.
#[tokio::test]
async fn answers_of_another_shape_reach_no_handler() {
    for first in requests() {
        let handler = Confirm::default();
        let server = SealedService::new(handler.clone(), sealer());
        let mut raw = Raw::connect(server, MODERN);
        for answers in [
            json!([{"action": "accept"}]),
            json!("confirm"),
            json!(5),
            json!(null),
        ] {
            let message = with_answers(&first, answers);
            let token = raw.token(&message).await;
            assert_eq!(handler.next().0, Value::Null);
            raw.token(&with_state(&message, &token)).await;
            assert_eq!(handler.next().0, Value::Null);
        }
    }
}

#[tokio::test]
async fn who_starts_over_sees_which_flow_it_was_and_no_answers() {
    for first in requests() {
        let (sealer, clock) = sealer_with_clock();
        let handler = Confirm::default();
        let server = SealedService::new(handler.clone(), sealer).anonymous();
        let mut raw = Raw::connect(server, MODERN);
        let token = raw.token(&first).await;
        handler.next();
        let again = retry(&first, token);
        raw.ask(&again).await;
        let flow = handler.next().1;
        assert!(flow.is_some());
        clock.advance(60);
        let next = raw.token(&again).await;
        assert_eq!(handler.next(), (Value::Null, None, None, flow, vec![]));
        raw.ask(&retry(&first, next)).await;
        assert_ne!(handler.next().1, flow);
    }
}

#[tokio::test]
async fn a_server_may_have_to_live_with_clients_that_lose_states() {
    let accept = json!({"confirm": {"action": "accept"}});
    for first in requests() {
        let handler = Confirm::default();
        let boundary = Boundary::new(sealer());
        let boundary = boundary.answers_without_state(AnswersWithoutState::Allow);
        let server = SealedService::new(handler.clone(), boundary);
        let mut raw = Raw::connect(server, MODERN);
        raw.ask(&with_answers(&first, accept.clone())).await;
        let (answers, flow, .., asked) = handler.next();
        assert_eq!((answers, flow, asked), (accept.clone(), None, vec![]));
    }
}

#[tokio::test]
async fn who_is_asked_nothing_is_told_of_an_error() {
    let server = SealedService::new(Confirm::default(), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let mut nothing = request("tools/call");
    nothing["params"]["name"] = json!("nothing");
    assert_eq!(raw.ask(&nothing).await, internal_error());
}

#[tokio::test]
async fn the_thirty_third_question_is_an_error() {
    let server = SealedService::new(Confirm::default(), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let mut message = request("tools/call");
    for _ in 0..32 {
        let token = raw.token(&message).await;
        message = with_state(&request("tools/call"), &token);
    }
    assert_eq!(raw.ask(&message).await, internal_error());
}
