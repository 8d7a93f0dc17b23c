//! Over HTTP: the identity that an authentication layer leaves in the request.

use std::sync::Arc;

use http::Request;
use http_body_util::BodyExt;
use request_state_rmcp::SealedService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::kit::*;

#[derive(Clone)]
struct User(&'static str);

#[derive(Clone)]
struct SomethingElse;

type Service =
    StreamableHttpService<SealedService<Wizard, request_state::AesGcmCodec>, NeverSessionManager>;

fn service(wizard: &Wizard) -> Service {
    let (wizard, sealer) = (wizard.clone(), sealer());
    StreamableHttpService::new(
        move || {
            let server = SealedService::new(wizard.clone(), sealer.clone());
            Ok(server.http_identity(|user: &User| match user.0 {
                "guest" => None,
                name => Some(format!("user:{name}")),
            }))
        },
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true),
    )
}

/// Posts `message` as an authentication layer would pass it on for `user`.
async fn post(service: &Service, message: &Value, user: Option<User>) -> Value {
    let mut message = message.clone();
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut request = Request::post("http://localhost/mcp")
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", message["method"].as_str().unwrap())
        .header("Mcp-Name", message["params"]["name"].as_str().unwrap())
        .extension(SomethingElse)
        .body(message.to_string())
        .unwrap();
    if let Some(user) = user {
        request.extensions_mut().insert(user);
    }
    let response = service.handle(request).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&body)))
}

#[tokio::test]
async fn a_state_is_bound_to_the_identity_of_its_request() {
    let wizard = Wizard::default();
    let service = service(&wizard);
    let first = request("tools/call");
    let (alice, bob) = (Some(User("alice")), Some(User("bob")));
    let asked = post(&service, &first, alice.clone()).await;
    let token = asked["result"]["requestState"].as_str().expect("a token");
    assert_ne!(token, "PLAIN-STATE 1");
    wizard.seen();
    let again = retry(&first, token);
    for stranger in [bob, None] {
        assert_eq!(
            post(&service, &again, stranger).await["error"],
            refusal()["error"]
        );
    }
    assert_eq!(wizard.seen(), [] as [Value; 0]);
    let answer = post(&service, &again, alice.clone()).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert_eq!(wizard.seen(), ["PLAIN-STATE 1"]);

    // A guest is anonymous, and that is not Alice.
    let guest = Some(User("guest"));
    let asked = post(&service, &first, guest.clone()).await;
    let again = retry(&first, asked["result"]["requestState"].clone());
    assert_eq!(
        post(&service, &again, alice).await["error"],
        refusal()["error"]
    );
    assert!(post(&service, &again, guest).await["result"].is_object());
}

/// There is an identity of another type only, as when a layer is missing or leaves an `Arc` of it.
#[tokio::test]
async fn a_request_without_an_identity_is_nobodys_and_not_anonymous() {
    let wizard = Wizard::default();
    let service = service(&wizard);
    let first = request("tools/call");
    let asked = post(&service, &first, None).await;
    assert_eq!(asked["error"]["code"], -32603, "{asked}");
    assert!(!asked.to_string().contains("PLAIN-STATE"), "{asked}");

    let asked = post(&service, &first, Some(User("guest"))).await;
    let token = asked["result"]["requestState"].as_str().expect("a token");
    wizard.seen();
    let answer = post(&service, &retry(&first, token), None).await;
    assert_eq!(answer["error"], refusal()["error"]);
    assert_eq!(wizard.seen(), [] as [Value; 0]);
}
