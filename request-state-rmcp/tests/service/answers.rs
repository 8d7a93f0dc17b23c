//! Answers reach a handler only where they were asked for, and it can look up what was.

use std::sync::{Arc, Mutex};

use request_state::{AnswersWithoutState, Boundary, FlowId, Round};
use request_state_rmcp::SealedService;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

use crate::kit::*;

/// What a handler saw: of a request that came without a token, nothing.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    state: Option<String>,
    answers: Value,
    flow: Option<FlowId>,
    number: Option<u16>,
    restarted_from: Option<FlowId>,
    asked: Vec<String>,
}

/// Asks for `confirm`, without a state, until there is an answer. An answer with a `next` is followed
/// by the question of that name.
#[derive(Clone, Default)]
struct Confirm(Arc<Mutex<Vec<Seen>>>);

impl Confirm {
    fn next(&self) -> Seen {
        let mut seen = self.0.lock().unwrap();
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }

    /// What to ask, if anything. Notes what the handler saw.
    fn step(
        &self,
        state: Option<String>,
        answers: Value,
        context: &RequestContext<RoleServer>,
    ) -> Option<InputRequiredResult> {
        let round = context.extensions.get::<Round>().expect("a round");
        let asked = round.asked().iter();
        let asked = asked.map(|question| format!("{}: {:?}", question.name(), question.kind()));
        let next = match &answers {
            Value::Null => Some("confirm".to_owned()),
            answers => answers["confirm"]["next"].as_str().map(str::to_owned),
        };
        self.0.lock().unwrap().push(Seen {
            state,
            answers,
            flow: round.flow(),
            number: round.number(),
            restarted_from: round.restarted_from(),
            asked: asked.collect(),
        });
        Some(question(&next?))
    }
}

/// One question of each kind that MCP has.
fn kinds() -> InputRequiredResult {
    let kinds = json!({
        "form": {"method": "elicitation/create", "params": {
            "mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}},
        }},
        "url": {"method": "elicitation/create", "params": {
            "mode": "url", "message": "?", "url": "https://id.example", "elicitationId": "1",
        }},
        "sampling": {"method": "sampling/createMessage", "params": {
            "messages": [], "maxTokens": 1,
        }},
        "roots": {"method": "roots/list"},
    });
    InputRequiredResult::from_input_requests(serde_json::from_value(kinds).unwrap())
}

impl ServerHandler for Confirm {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answers = json!(request.input_responses);
        let asked = self.step(request.request_state, answers, &context);
        match (request.name.as_ref(), asked) {
            ("nothing", _) => Ok(InputRequiredResult::new(None, None).into()),
            ("kinds", Some(_)) => Ok(kinds().into()),
            ("disguised", Some(mut asked)) => {
                asked.result_type = ResultType::COMPLETE;
                asked.request_state = Some(PLAIN.into());
                Ok(asked.into())
            }
            (_, Some(asked)) => Ok(asked.into()),
            (_, None) => Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into()),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let answers = json!(request.input_responses);
        match self.step(request.request_state, answers, &context) {
            Some(asked) => Ok(asked.into()),
            None => {
                let message = PromptMessage::new_text(Role::User, "done");
                Ok(GetPromptResult::new(vec![message]).into())
            }
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let answers = json!(request.input_responses);
        match self.step(request.request_state, answers, &context) {
            Some(asked) => Ok(asked.into()),
            None => {
                let contents = vec![ResourceContents::text("done", request.uri)];
                Ok(ReadResourceResult::new(contents).into())
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let mut params = request.params.unwrap_or_default();
        let state = params["requestState"].as_str().map(str::to_owned);
        let result = match self.step(state, params["inputResponses"].take(), &context) {
            Some(asked) => serde_json::to_value(asked).unwrap(),
            None => json!({"text": "done"}),
        };
        Ok(CustomResult(result))
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
        assert_eq!(handler.next(), Seen::default());

        // Other names, and what is not an object.
        let again = with_state(&first, &token);
        for answers in [
            json!({}),
            json!({"Confirm": accept, "": accept}),
            json!({"confirm": "accept"}),
            json!({"confirm": null}),
        ] {
            raw.token(&with_answers(&again, answers)).await;
            assert_eq!(handler.next().answers, Value::Null);
        }

        let both = json!({"confirm": accept, "deploy": accept, "junk": 5});
        let answer = raw.ask(&with_answers(&again, both)).await;
        assert!(answer.to_string().contains("done"), "{answer}");
        let seen = handler.next();
        assert!(seen.flow.is_some());
        let expected = Seen {
            answers: json!({"confirm": accept}),
            flow: seen.flow,
            number: Some(1),
            asked: vec!["confirm: ElicitationForm".into()],
            // It wrote no state, and the client has a token.
            ..Seen::default()
        };
        assert_eq!(seen, expected);
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
            assert_eq!(handler.next().answers, Value::Null);
            raw.token(&with_state(&message, &token)).await;
            assert_eq!(handler.next().answers, Value::Null);
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
        let flow = handler.next().flow;
        assert!(flow.is_some());
        clock.advance(60);
        let next = raw.token(&again).await;
        let expected = Seen {
            restarted_from: flow,
            ..Seen::default()
        };
        assert_eq!(handler.next(), expected);
        raw.ask(&retry(&first, next)).await;
        let next = handler.next().flow;
        assert!(next.is_some() && next != flow);
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
        let expected = Seen {
            answers: accept.clone(),
            ..Seen::default()
        };
        assert_eq!(handler.next(), expected);
    }
}

#[tokio::test]
async fn who_is_asked_nothing_is_told_of_an_error() {
    let server = SealedService::new(Confirm::default(), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let mut nothing = request("tools/call");
    nothing["params"]["name"] = json!("nothing");
    let log = Log::start();
    assert_eq!(raw.ask(&nothing).await, internal_error());
    let log = log.text();
    assert!(
        log.contains("neither inputRequests nor requestState"),
        "{log}"
    );
}

/// rmcp lets a handler say that its question is something else.
#[tokio::test]
async fn a_question_that_does_not_say_so_is_sealed_too() {
    let server = SealedService::new(Confirm::default(), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let mut call = request("tools/call");
    call["params"]["name"] = json!("disguised");
    raw.token(&call).await;
}

/// As rmcp writes them.
#[tokio::test]
async fn a_question_of_every_kind_is_sealed_with_its_kind() {
    let handler = Confirm::default();
    let server = SealedService::new(handler.clone(), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let mut call = request("tools/call");
    call["params"]["name"] = json!("kinds");
    let token = raw.token(&call).await;
    assert_eq!(handler.next(), Seen::default());
    raw.ask(&retry(&call, token)).await;
    let expected = [
        "form: ElicitationForm",
        "roots: Roots",
        "sampling: Sampling",
        "url: ElicitationUrl",
    ];
    assert_eq!(handler.next().asked, expected);
}

/// The client sends answers of an earlier round again, alone and with those of this one, and goes
/// back to the earlier round.
#[tokio::test]
async fn an_answer_counts_in_the_round_that_asked_for_it() {
    let accept = json!({"action": "accept"});
    for first in requests() {
        let handler = Confirm::default();
        let server = SealedService::new(handler.clone(), sealer());
        let mut raw = Raw::connect(server, MODERN);
        let first_token = raw.token(&first).await;
        let again = with_state(&first, &first_token);
        let bank = json!({"confirm": {"action": "accept", "next": "code"}});
        let second_token = raw.token(&with_answers(&again, bank.clone())).await;
        handler.0.lock().unwrap().clear();

        let second = with_state(&first, &second_token);
        raw.token(&with_answers(&second, bank)).await;
        let seen = handler.next();
        assert_eq!((seen.answers, seen.number), (Value::Null, Some(2)));
        assert_eq!(seen.asked, ["code: ElicitationForm"]);
        let both = json!({"confirm": accept, "code": accept});
        raw.ask(&with_answers(&second, both.clone())).await;
        assert_eq!(handler.next().answers, json!({"code": accept}));
        raw.ask(&with_answers(&again, both)).await;
        let seen = handler.next();
        assert_eq!(seen.answers, json!({"confirm": accept}));
        assert_eq!(seen.number, Some(1));
    }
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
