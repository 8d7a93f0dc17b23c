//! Over HTTP: the identity that an authentication layer leaves in the request.

use std::sync::Arc;

use http::Request;
use http_body_util::BodyExt;
use request_state::{AesGcmCodec, Key, Keyring, Principal, Sealer, Unidentified};
use request_state_rmcp::SealedService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::kit::*;

#[derive(Clone)]
struct User(&'static str);

#[derive(Clone)]
struct SomethingElse;

type Server = SealedService<Wizard, AesGcmCodec>;
type Service = StreamableHttpService<Server, NeverSessionManager>;

fn service(wizard: &Wizard) -> Service {
    let (wizard, sealer) = (wizard.clone(), sealer());
    service_of(move || {
        let server = SealedService::new(wizard.clone(), sealer.clone());
        server.http_identity(|user: &User| match user.0 {
            "guest" => Ok(Principal::Anonymous),
            "unknown" => Err(Unidentified::new("the directory does not know the user")),
            name => Ok(Principal::Named(format!("user:{name}"))),
        })
    })
}

fn service_of(server: impl Fn() -> Server + Send + Sync + 'static) -> Service {
    StreamableHttpService::new(
        move || Ok(server()),
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

#[tokio::test]
async fn who_is_unidentified_is_logged_with_what_is_missing() {
    let service = service(&Wizard::default());
    let first = request("tools/call");
    let token = post(&service, &first, Some(User("guest"))).await["result"]["requestState"].take();
    for (user, cause) in [
        (
            None,
            "no service::http::User in the HTTP request's extensions: the authentication layer",
        ),
        (
            Some(User("unknown")),
            "the directory does not know the user",
        ),
    ] {
        for message in [first.clone(), retry(&first, token.clone())] {
            let log = Log::start();
            post(&service, &message, user.clone()).await;
            let log = log.text();
            assert!(
                log.contains(r#"reason="unidentified""#) && log.contains(cause),
                "{log}"
            );
        }
    }
}

#[tokio::test]
async fn http_identity_is_for_http() {
    let server = SealedService::new(Wizard::default(), sealer());
    let server = server.http_identity(|user: &User| Ok(Principal::Named(user.0.into())));
    let mut raw = Raw::connect(server, MODERN);
    let log = Log::start();
    assert_eq!(raw.ask(&request("tools/call")).await, internal_error());
    let log = log.text();
    assert!(
        log.contains("http_identity is for servers over HTTP"),
        "{log}"
    );
}

/// Also where rmcp makes a service for each request.
#[tokio::test]
async fn who_was_never_told_who_asks_warns_once() {
    let first = request("tools/call");
    let warning = r#"reason="anonymous_by_default" server="forgetful""#;
    for (anonymous, warnings) in [(true, 0), (false, 1)] {
        let keys = Keyring::new([("k", Key::from([7; 32]))]).unwrap();
        let sealer = Sealer::new("forgetful", AesGcmCodec::new(&keys)).unwrap();
        let service = service_of(move || {
            let server = SealedService::new(Wizard::default(), sealer.clone());
            if anonymous {
                server.anonymous()
            } else {
                server
            }
        });
        let log = Log::start();
        for _ in 0..3 {
            let asked = post(&service, &first, None).await;
            assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        }
        let log = log.text();
        assert_eq!(log.matches(warning).count(), warnings, "{log}");
    }
    // On stdio there is one user.
    let mut raw = Raw::connect(SealedService::new(Wizard::default(), sealer()), MODERN);
    let log = Log::start();
    raw.token(&first).await;
    assert_eq!(log.text(), "");
}
