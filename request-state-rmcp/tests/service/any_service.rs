//! A service that is not a `ServerHandler`.

use request_state_rmcp::{AnyService, SealedService};
use rmcp::ServerHandler;
use rmcp::handler::server::router::Router;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service, ServiceExt};
use rmcp::{ErrorData, service::DynService};
use serde_json::json;

use crate::kit::*;

/// The wizard behind a router, and a look at what it sees.
fn routed() -> (impl Service<RoleServer>, Wizard) {
    let wizard = Wizard::default();
    let mut router = Router::new(wizard.clone());
    router.tool_router.transparent_when_not_found = true;
    let server = SealedService::new(AnyService(router), sealer());
    (server.principal(|_| Ok(named(ALICE))), wizard)
}

#[tokio::test]
async fn three_rounds_of_each_method() {
    let (server, wizard) = routed();
    let client = connect(server).await;
    let call = CallToolRequestParams::new("transfer");
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "done");
    let prompt = GetPromptRequestParams::new("transfer");
    client.get_prompt(prompt).await.unwrap();
    let resource = ReadResourceRequestParams::new("bank://transfer");
    client.read_resource(resource).await.unwrap();
    assert_eq!(wizard.seen().len(), 9);
    assert!(client.list_tools(None).await.is_ok());
    assert!(client.peer_info().unwrap().capabilities.tools.is_some());
}

#[tokio::test]
async fn what_is_not_ours_is_refused_and_nothing_plain_leaves() {
    for method in METHODS {
        let (server, wizard) = routed();
        let mut raw = Raw::connect(server, MODERN);
        let first = request(method);
        let token = raw.token(&first).await;
        for state in [json!("junk"), json!(PLAIN), json!(5), json!(token[1..])] {
            assert_eq!(raw.ask(&retry(&first, state)).await, refusal());
        }
        wizard.seen();
        raw.ask(&retry(&first, token)).await;
        assert_eq!(wizard.seen(), ["PLAIN-STATE 1"]);

        // A custom request, and a notification.
        let mut odd = first.clone();
        odd["params"]["name"] = json!(["transfer"]);
        odd["params"]["uri"] = json!(["transfer"]);
        let token = raw.token(&odd).await;
        assert_eq!(raw.ask(&retry(&odd, "junk")).await, refusal());
        raw.ask(&retry(&odd, token)).await;
        assert_eq!(wizard.seen()[1]["custom"]["requestState"], PLAIN);
        let mut note = retry(&first, "junk");
        note.as_object_mut().unwrap().remove("id");
        raw.send(&note.to_string()).await;
        let seen = wizard.next().await.remove(0);
        let params = seen["notification"].as_object().unwrap();
        assert!(!params.contains_key("requestState"), "{seen}");
        assert!(!params.contains_key("inputResponses"), "{seen}");
    }
}

#[tokio::test]
async fn a_boxed_service_is_wrapped_too() {
    let wizard = Wizard::default();
    let boxed: Box<dyn DynService<RoleServer>> = wizard.clone().into_dyn();
    let server = SealedService::new(AnyService(boxed), sealer());
    let mut raw = Raw::connect(server, MODERN);
    let first = request("tools/call");
    let token = raw.token(&first).await;
    raw.token(&retry(&first, token)).await;
    assert_eq!(wizard.seen(), [json!(null), json!("PLAIN-STATE 1")]);
}

/// A service may answer a typed request with a result that rmcp has no type for.
#[tokio::test]
async fn a_result_without_a_type_is_sealed_too() {
    struct Untyped;
    impl Service<RoleServer> for Untyped {
        async fn handle_request(
            &self,
            request: ClientRequest,
            _: RequestContext<RoleServer>,
        ) -> Result<ServerResult, ErrorData> {
            let state = match request {
                ClientRequest::CallToolRequest(_) => json!(PLAIN),
                _ => json!([PLAIN]),
            };
            let result = json!({"resultType": "input_required", "requestState": state});
            Ok(ServerResult::CustomResult(CustomResult(result)))
        }

        async fn handle_notification(
            &self,
            _: ClientNotification,
            _: NotificationContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            Ok(())
        }

        fn get_info(&self) -> ServerConfig {
            ServerHandler::get_info(&Wizard::default())
        }
    }
    let server = SealedService::new(AnyService(Untyped), sealer());
    let mut raw = Raw::connect(server, MODERN);
    raw.token(&request("tools/call")).await;
    assert_eq!(raw.ask(&request("prompts/get")).await, internal_error());
    // In answer to another method, it may not leave at all.
    for method in ["acme/x", "tools/list"] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        assert_eq!(raw.ask(&message).await, internal_error());
    }
}

/// A typed question in answer to a method that may not ask, be it without a state: nothing would
/// check the answers to it.
#[tokio::test]
async fn a_question_to_another_method_does_not_leave() {
    struct Confused(InputRequiredResult);
    impl Service<RoleServer> for Confused {
        async fn handle_request(
            &self,
            _: ClientRequest,
            _: RequestContext<RoleServer>,
        ) -> Result<ServerResult, ErrorData> {
            Ok(ServerResult::InputRequiredResult(self.0.clone()))
        }

        async fn handle_notification(
            &self,
            _: ClientNotification,
            _: NotificationContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            Ok(())
        }

        fn get_info(&self) -> ServerConfig {
            ServerHandler::get_info(&Wizard::default())
        }
    }
    for result in [
        InputRequiredResult::from_request_state(PLAIN),
        question("confirm"),
    ] {
        let server = SealedService::new(AnyService(Confused(result)), sealer());
        let mut raw = Raw::connect(server, MODERN);
        raw.token(&request("tools/call")).await;
        for method in ["tools/list", "acme/x"] {
            let log = Log::start();
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
            assert_eq!(raw.ask(&message).await, internal_error(), "{method}");
            let log = log.text();
            assert_eq!(log.lines().count(), 1, "{log}");
            assert!(log.contains("requestState not sealed"), "{log}");
        }
    }
}
