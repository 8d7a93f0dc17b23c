//! Honest clients: three rounds, of which the handler sees plain states and the client tokens.

use rmcp::model::*;
use serde_json::{Value, json};

use crate::kit::*;

fn states() -> Vec<Value> {
    vec![json!(null), json!("PLAIN-STATE 1"), json!("PLAIN-STATE 2")]
}

#[tokio::test]
async fn a_client_of_rmcp_goes_through_three_rounds() {
    let (server, wizard) = sealed(ALICE);
    let client = connect(server).await;

    let arguments = json!({"amount": 10, "to": "Bob"});
    let call = CallToolRequestParams::new("transfer")
        .with_arguments(serde_json::from_value(arguments).unwrap());
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "done");
    assert_eq!(wizard.seen(), states());

    let prompt = GetPromptRequestParams::new("transfer");
    let result = client.get_prompt(prompt).await.unwrap();
    assert_eq!(result.messages[0].content.as_text().unwrap().text, "done");
    assert_eq!(wizard.seen(), states());

    let resource = ReadResourceRequestParams::new("bank://transfer");
    let result = client.read_resource(resource).await.unwrap();
    assert_eq!(
        result.contents,
        [ResourceContents::text("done", "bank://transfer")]
    );
    assert_eq!(wizard.seen(), states());
}

#[tokio::test]
async fn the_client_sees_tokens_only_and_each_is_another() {
    let (server, wizard) = sealed(ALICE);
    let client = connect(server).await;
    let mut call = CallToolRequestParams::new("transfer");
    let mut tokens = Vec::new();
    loop {
        match client.call_tool_once(call.clone()).await.unwrap() {
            CallToolResponse::InputRequired(result) => {
                assert!(result.input_requests.is_some());
                let token = result.request_state.unwrap();
                assert!(
                    token.starts_with("2026-10.") && !token.contains(PLAIN),
                    "{token}"
                );
                assert!(!tokens.contains(&token));
                tokens.push(token.clone());
                call.request_state = Some(token);
                call.input_responses = Some([("confirm".to_owned(), json!({}))].into());
            }
            CallToolResponse::Complete(result) => {
                assert_eq!(result.content[0].as_text().unwrap().text, "done");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(tokens.len(), 2);
    assert_eq!(wizard.seen(), states());
}

/// Each round lands on another replica, and each message is written by hand.
#[tokio::test]
async fn replicas_that_share_a_keyring_continue_each_others_rounds() {
    for method in METHODS {
        let first = request(method);
        let mut state = Value::Null;
        for expected in states() {
            let (server, wizard) = sealed(ALICE);
            let mut replica = Raw::connect(server, MODERN);
            let mut message = retry(&first, state.clone());
            if state.is_null() {
                message = first.clone();
            }
            let mut answer = replica.ask(&message).await;
            state = answer["result"]["requestState"].take();
            assert_eq!(wizard.seen(), [expected]);
        }
        assert!(state.is_null(), "complete");
    }
}

#[tokio::test]
async fn an_honest_client_may_reformat_the_request() {
    let (server, _) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    let token = raw.token(&request("tools/call")).await;
    raw.send(&format!(
        r#"{{"id":1,"params":{{"_meta":{{"progressToken":5}},"inputResponses":{{"confirm":{{}}}},
        "requestState":"{token}","arguments":{{"\u0061mount":1e1}},"name":"transfer"}},
        "method":"tools/call","jsonrpc":"2.0"}}"#
    ).replace('\n', ""))
    .await;
    let answer = raw.receive().await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

#[tokio::test]
async fn null_is_absent() {
    for method in METHODS {
        let (server, wizard) = sealed(ALICE);
        let mut raw = Raw::connect(server, MODERN);
        let mut message = request(method);
        message["params"]["requestState"] = Value::Null;
        raw.token(&message).await;
        assert_eq!(wizard.seen(), [Value::Null]);
    }
}
