//! Everything else that a server of rmcp can do, it can do behind the wrapper.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use request_state_rmcp::SealedService;
use rmcp::model::*;
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RoleServer};
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::{
    ErrorData, RoleClient, ServerHandler, ServiceError, ServiceExt, tool, tool_handler, tool_router,
};
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::*;

/// A server made with rmcp's macros.
#[derive(Clone, Default)]
struct Toolbox {
    tasks: Arc<TaskManager>,
    waiting: Arc<Notify>,
    cancelled: Arc<Notify>,
}

#[tool_router]
impl Toolbox {
    #[tool(description = "Reports its progress")]
    async fn count(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let token = context.meta.get_progress_token().unwrap();
        for step in 1..=3 {
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
            context.peer.notify_progress(progress).await.unwrap();
        }
        Ok("3".into())
    }

    #[tool(description = "Waits until it is cancelled")]
    async fn wait(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        self.waiting.notify_one();
        context.ct.cancelled().await;
        self.cancelled.notify_one();
        Ok("cancelled".into())
    }

    #[tool(description = "Asks once")]
    async fn ask(
        &self,
        rmcp::handler::server::tool::RequestState(state): rmcp::handler::server::tool::RequestState,
    ) -> Result<CallToolResponse, ErrorData> {
        match state {
            None => Ok(InputRequiredResult::from_request_state(PLAIN).into()),
            Some(state) => Ok(CallToolResult::success(vec![ContentBlock::text(state)]).into()),
        }
    }
}

#[tool_handler]
impl ServerHandler for Toolbox {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tasks()
                .build(),
        )
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }
}

#[tokio::test]
async fn tools_made_with_macros_read_and_write_plain_states() {
    let server = SealedService::new(Toolbox::default(), sealer());
    let client = connect(server).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 3);
    let call = CallToolRequestParams::new("ask");
    let asked = client.call_tool_once(call.clone()).await.unwrap();
    let CallToolResponse::InputRequired(asked) = asked else {
        panic!("{asked:?}")
    };
    assert_ne!(asked.request_state.as_deref(), Some(PLAIN));
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, PLAIN);
}

#[tokio::test]
async fn progress_reaches_the_client() {
    #[derive(Clone, Default)]
    struct Progress(Arc<Mutex<Vec<f64>>>);
    impl rmcp::ClientHandler for Progress {
        async fn on_progress(
            &self,
            params: ProgressNotificationParam,
            _: NotificationContext<RoleClient>,
        ) {
            self.0.lock().unwrap().push(params.progress);
        }
    }
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = SealedService::new(Toolbox::default(), sealer());
    tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
    let progress = Progress::default();
    let client = progress.clone().serve(theirs).await.unwrap();
    let result = client
        .call_tool(CallToolRequestParams::new("count"))
        .await
        .unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "3");
    // A notification is handled in a task of its own.
    let arrived = async {
        while progress.0.lock().unwrap().len() < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), arrived)
        .await
        .unwrap();
}

#[tokio::test]
async fn cancelling_reaches_the_handler() {
    let toolbox = Toolbox::default();
    let client = connect_legacy(SealedService::new(toolbox.clone(), sealer())).await;
    let wait = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new("wait")));
    let handle = client
        .send_cancellable_request(wait, PeerRequestOptions::no_options())
        .await
        .unwrap();
    toolbox.waiting.notified().await;
    handle.cancel(None).await.unwrap();
    let cancelled = toolbox.cancelled.notified();
    tokio::time::timeout(Duration::from_secs(120), cancelled)
        .await
        .unwrap();
}

#[tokio::test]
async fn lists_prompts_resources_and_results_without_a_state() {
    let (server, wizard) = sealed(ALICE);
    let client = connect(server).await;
    assert!(client.list_all_tools().await.unwrap().is_empty());
    assert!(client.list_all_prompts().await.unwrap().is_empty());
    assert!(client.list_all_resources().await.unwrap().is_empty());
    let result = client
        .call_tool(CallToolRequestParams::new("plain"))
        .await
        .unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "42");
    assert_eq!(wizard.seen(), [] as [serde_json::Value; 0]);
}

/// A task has no state, and what is in it is none of ours.
#[tokio::test]
async fn tasks_are_left_alone() {
    fn answers() -> InputResponses {
        [("confirm".to_owned(), json!({"action": "accept"}))].into()
    }
    #[derive(Clone, Default)]
    struct Tasks(Arc<TaskManager>);
    impl ServerHandler for Tasks {
        async fn call_tool(
            &self,
            _: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let options = TaskOptions::new().with_poll_interval_ms(1);
            let task = self.0.spawn(options, |_| {
                Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text("42")])) })
            });
            Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
        }
        async fn get_task(
            &self,
            request: GetTaskParams,
            _: RequestContext<RoleServer>,
        ) -> Result<GetTaskResult, ErrorData> {
            Ok(GetTaskResult::new(self.0.get_task(&request.task_id)?))
        }
        async fn update_task(
            &self,
            request: UpdateTaskParams,
            _: RequestContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            // A task's questions are its own: nobody was asked in a request of the three methods.
            assert_eq!(request.input_responses, answers());
            Ok(())
        }
        async fn cancel_task(
            &self,
            request: CancelTaskParams,
            _: RequestContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            self.0.cancel_task(&request.task_id)
        }
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(
                ServerCapabilities::builder()
                    .enable_tools()
                    .enable_tasks()
                    .build(),
            )
        }
    }
    let client = connect(SealedService::new(Tasks::default(), sealer())).await;
    let call = CallToolRequestParams::new("anything");
    let response = client.call_tool_once(call).await.unwrap();
    let CallToolResponse::Task(created) = response else {
        panic!("{response:?}")
    };
    let id = created.task.task_id;
    let update = UpdateTaskParams::new(id.clone(), answers());
    client.update_task(update).await.unwrap();
    let done = loop {
        let got = client
            .get_task(GetTaskParams::new(id.clone()))
            .await
            .unwrap();
        if got.task.status().is_terminal() {
            break got.task;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    let TaskPayload::Completed { result } = done.payload else {
        panic!("{done:?}")
    };
    assert_eq!(result["content"][0]["text"], "42");
    client.cancel_task(CancelTaskParams::new(id)).await.unwrap();
}

#[tokio::test]
async fn clients_of_older_versions_are_served() {
    let (server, wizard) = sealed(ALICE);
    let client = connect_legacy(server).await;
    let version = &client.peer_info().unwrap().protocol_version;
    assert!(version.as_str() < "2026-07-28", "{version}");
    let result = client
        .call_tool(CallToolRequestParams::new("plain"))
        .await
        .unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "42");
    // To ask is not in their protocol: rmcp says so, and no state leaves.
    let error = client
        .call_tool(CallToolRequestParams::new("transfer"))
        .await
        .unwrap_err();
    let ServiceError::McpError(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.code, ErrorCode::INVALID_REQUEST);
    assert!(!json!(error).to_string().contains(PLAIN));
    assert_eq!(wizard.seen().len(), 1);
}

#[tokio::test]
async fn a_version_that_the_server_does_not_speak_is_said_before_anything_is_opened() {
    let (server, _) = sealed(ALICE);
    let mut raw = Raw::connect(server, MODERN);
    let mut message = retry(&request("tools/call"), "junk");
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = raw.ask(&message).await;
    assert_eq!(
        answer["error"]["code"],
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0
    );
}
