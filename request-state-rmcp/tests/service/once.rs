//! Single use behind the wrapper: one presentation reaches the handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use request_state::{AesGcmCodec, AnswerAgain, Boundary, MemoryStore, OnceBoundary, Round, Sender};
use request_state_rmcp::{AnyService, SealedService};
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::kit::*;

fn store() -> MemoryStore {
    MemoryStore::with_clock(10_000, now)
}

fn once() -> OnceBoundary<AesGcmCodec> {
    Boundary::new(sealer()).once(store())
}

fn answering() -> OnceBoundary<AesGcmCodec> {
    once().answer_again(AnswerAgain::new()).unwrap()
}

/// The same message as another request.
fn with_id(message: &Value, id: i32) -> Value {
    let mut message = message.clone();
    message["id"] = id.into();
    message
}

fn token_of(answer: &Value) -> String {
    answer["result"]["requestState"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// What rmcp has no type for, since the arguments are not an object.
fn custom() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "transfer", "arguments": [10]}})
}

fn requests() -> Vec<Value> {
    let mut requests: Vec<_> = METHODS.iter().map(|method| request(method)).collect();
    requests.push(custom());
    requests
}

#[tokio::test]
async fn of_many_presentations_one_reaches_the_handler() {
    for message in requests() {
        let (server, wizard) = sealed_by(Boundary::new(sealer()), ALICE);
        let server = server.once(store());
        let mut client = Raw::connect(server.clone(), MODERN);
        // A session of its own shares the store.
        let mut other = Raw::connect(server, MODERN);
        let again = retry(&message, client.token(&message).await);
        wizard.seen();
        let first = client.ask(&again).await;
        assert!(first["error"].is_null(), "{first}");
        assert_eq!(other.ask(&again).await, refusal());
        assert_eq!(client.ask(&again).await, refusal());
        assert_eq!(wizard.seen().len(), 1);
    }
}

#[tokio::test]
async fn of_simultaneous_presentations_one_reaches_the_handler() {
    let (server, wizard) = sealed_by(once(), ALICE);
    let mut client = Raw::connect(server, MODERN);
    let message = request("tools/call");
    let again = retry(&message, client.token(&message).await);
    wizard.seen();
    for id in 0..64 {
        client.send(&with_id(&again, id).to_string()).await;
    }
    let mut served = 0;
    for _ in 0..64 {
        served += usize::from(client.receive().await["error"].is_null());
    }
    assert_eq!((served, wizard.seen().len()), (1, 1));
}

#[tokio::test]
async fn a_repetition_gets_the_same_answer() {
    for message in requests() {
        let (server, wizard) = sealed_by(answering(), ALICE);
        let mut client = Raw::connect(server, MODERN);
        let mut next = message.clone();
        // Two rounds: the answer to the first asks again, the answer to the second is complete.
        let mut token = client.token(&message).await;
        for _ in 0..2 {
            next = retry(&next, token.clone());
            wizard.seen();
            let first = client.ask(&next).await;
            assert!(first["error"].is_null(), "{first}");
            let mut expected = first.clone();
            expected["id"] = 2.into();
            assert_eq!(client.ask(&with_id(&next, 2)).await, expected);
            assert_eq!(wizard.seen().len(), 1, "{message}");
            // Another answer does not get it.
            let mut other = next.clone();
            other["params"]["inputResponses"]["confirm"]["action"] = "decline".into();
            assert_eq!(client.ask(&other).await, refusal());
            match first["result"]["resultType"].as_str() {
                Some("input_required") => token = token_of(&first),
                _ => break,
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_rmcp_cannot_read_leaves_the_outcome_unknown() {
    let result = json!({"result": {"resultType": "complete", "content": 7}});
    let error = json!({"error": {"code": "not a number", "message": "no funds"}});
    for message in requests() {
        for kept in [&result, &error] {
            // Servers that share a store need not be of one version.
            let store = Arc::new(store());
            let boundary = || {
                let once = Boundary::new(sealer()).once(Arc::clone(&store));
                once.answer_again(AnswerAgain::new()).unwrap()
            };
            let (server, wizard) = sealed_by(boundary(), ALICE);
            let mut client = Raw::connect(server, MODERN);
            let again = retry(&message, client.token(&message).await);
            wizard.seen();
            let other = boundary();
            let version = ProtocolVersion::V_2026_07_28.to_string();
            let sender = Sender::from(ALICE).version(&version);
            let opened = other.open_request(&mut again.clone(), sender).await;
            other
                .seal_response(&opened.unwrap(), &mut kept.clone())
                .await;
            let answer = client.ask(&again).await;
            let is_read = message == custom() && kept["error"].is_null();
            if is_read {
                assert_eq!(answer["result"], kept["result"]);
            } else {
                let data = json!({"reason": "request_state_outcome_unknown"});
                let error = json!({"code": -32603, "message": "Internal error", "data": data});
                assert_eq!(answer["error"], error, "{message}");
            }
            assert!(wizard.seen().is_empty());
        }
    }
}

#[tokio::test]
async fn the_same_around_any_service() {
    let wizard = Wizard::default();
    let server =
        SealedService::new(AnyService(wizard.clone()), answering()).principal(|_| Ok(named(ALICE)));
    for message in requests() {
        let mut client = Raw::connect(server.clone(), MODERN);
        let again = retry(&message, client.token(&message).await);
        wizard.seen();
        let mut first = client.ask(&again).await;
        assert!(first["error"].is_null(), "{first}");
        first["id"] = 2.into();
        assert_eq!(client.ask(&with_id(&again, 2)).await, first);
        assert_eq!(wizard.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_filter_knows_names_and_uris() {
    let filter = |method: &str, name: &str| match method {
        "resources/read" => name == "bank://transfer",
        _ => name == "other",
    };
    let (server, _) = sealed_by(once().only(filter), ALICE);
    let mut client = Raw::connect(server, MODERN);
    for message in requests() {
        let again = retry(&message, client.token(&message).await);
        assert!(client.ask(&again).await["error"].is_null());
        let is_used = message["method"] == "resources/read";
        assert_eq!(client.ask(&again).await == refusal(), is_used, "{message}");
    }
}

/// Asks once, and does then what the name of the tool says.
#[derive(Clone)]
struct Bank {
    paid: Arc<AtomicUsize>,
    /// A permit for each slow payment that may go on.
    open: Arc<Semaphore>,
}

impl Bank {
    fn new() -> Self {
        Self {
            paid: Arc::default(),
            open: Arc::new(Semaphore::new(0)),
        }
    }

    fn paid(&self) -> usize {
        self.paid.load(Ordering::SeqCst)
    }
}

impl ServerHandler for Bank {
    fn get_info(&self) -> ServerConfig {
        Wizard::default().get_info()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let round = context.extensions.get::<Round>().unwrap();
        if !round.is_asked("confirm") {
            return Ok(question("confirm").into());
        }
        match request.name.as_ref() {
            "fails" => {
                return Err(ErrorData::invalid_params(
                    "no funds",
                    Some(json!({"left": 3})),
                ));
            }
            "gives_back" => {
                assert!(round.release().await.unwrap());
                return Err(ErrorData::internal_error("try again", None));
            }
            "slow" => self.open.acquire().await.unwrap().forget(),
            "task" => {
                self.paid.fetch_add(1, Ordering::SeqCst);
                let task = json!({"resultType": "task", "taskId": "t", "status": "working",
                    "createdAt": "2026-12-02T00:00:00Z", "lastUpdatedAt": "2026-12-02T00:00:00Z",
                    "ttl": 1000, "ttlMs": 1000});
                let task: CreateTaskResult = serde_json::from_value(task).unwrap();
                return Ok(task.into());
            }
            _ => {}
        }
        self.paid.fetch_add(1, Ordering::SeqCst);
        Ok(CallToolResult::success(vec![ContentBlock::text("paid")]).into())
    }
}

fn bank(boundary: OnceBoundary<AesGcmCodec>) -> (Bank, Raw) {
    let bank = Bank::new();
    let server = SealedService::new(bank.clone(), boundary).principal(|_| Ok(named(ALICE)));
    (bank, Raw::connect(server, MODERN))
}

fn call(name: &str) -> Value {
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    let params = json!({"name": name, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn errors_and_tasks_are_answers_too() {
    for (name, paid) in [("fails", 0), ("task", 1)] {
        let (bank, mut client) = bank(answering());
        let message = call(name);
        let again = retry(&message, client.token(&message).await);
        let mut first = client.ask(&again).await;
        match name {
            "fails" => assert_eq!(first["error"]["data"]["left"], 3, "{first}"),
            _ => assert_eq!(first["result"]["taskId"], "t", "{first}"),
        }
        first["id"] = 2.into();
        assert_eq!(client.ask(&with_id(&again, 2)).await, first);
        assert_eq!(bank.paid(), paid);
    }
}

#[tokio::test]
async fn a_handler_can_give_its_round_back() {
    let (_, mut client) = bank(answering());
    let message = call("gives_back");
    let again = retry(&message, client.token(&message).await);
    for _ in 0..2 {
        let answer = client.ask(&again).await;
        assert_eq!(answer["error"]["message"], "try again");
    }
}

#[tokio::test]
async fn a_request_that_is_cancelled_has_used_its_round_up() {
    let (bank, mut client) = bank(answering());
    let message = call("slow");
    let again = retry(&message, client.token(&message).await);
    let in_progress =
        |answer: &Value| answer["error"]["data"]["reason"] == "request_state_in_progress";
    client.send(&with_id(&again, 10).to_string()).await;
    let answer = client.ask(&with_id(&again, 11)).await;
    assert!(in_progress(&answer), "{answer}");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 10, "reason": "the user is gone"}});
    client.send(&cancelled.to_string()).await;
    let answer = client.ask(&with_id(&again, 12)).await;
    assert!(in_progress(&answer), "{answer}");
    // The handler goes on, and pays once. Who repeats gets its answer.
    bank.open.add_permits(2);
    let answer = loop {
        let answer = client.ask(&with_id(&again, 13)).await;
        if answer["id"] == 13 && !in_progress(&answer) {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(answer["result"]["content"][0]["text"], "paid", "{answer}");
    assert_eq!(bank.paid(), 1);
}
