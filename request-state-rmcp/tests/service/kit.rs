//! A server that keeps plain states, and two clients: one of rmcp, and one that writes what it likes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state::{AesGcmCodec, Boundary, Key, Keyring, Principal, Sealer};
use request_state_rmcp::{AnyBoundary, SealedService};
use rmcp::model::*;
use rmcp::service::{
    NotificationContext, RequestContext, RoleClient, RoleServer, RunningService, Service,
    serve_directly,
};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, ServerHandler, ServiceExt,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

pub const ALICE: Option<&str> = Some("user:alice");
pub const BOB: Option<&str> = Some("user:bob");

/// What no client may ever see.
pub const PLAIN: &str = "PLAIN-STATE";

/// When all of it happens, in seconds: on a busy machine a test may take longer than a TTL.
const NOW: u64 = 1_796_212_800;

pub fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

pub fn sealer() -> Sealer<AesGcmCodec> {
    sealer_at(now)
}

pub fn sealer_at(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Sealer<AesGcmCodec> {
    let keys = Keyring::new([("2026-10", Key::from([7; 32]))]).unwrap();
    let sealer = Sealer::builder("bank", AesGcmCodec::new(&keys));
    sealer.clock(clock).build().unwrap()
}

/// A question under `name`, without a state.
pub fn question(name: &str) -> InputRequiredResult {
    let schema = json!({"type": "object", "properties": {"yes": {"type": "boolean"}}});
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Really?".into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(form));
    InputRequiredResult::from_input_requests([(name.to_owned(), question)].into())
}

/// Asks twice, then completes, whatever the method. Knows nothing of tokens.
#[derive(Clone, Default)]
pub struct Wizard {
    /// The state of each request that reached a handler, and the custom messages.
    pub seen: Arc<Mutex<Vec<Value>>>,
}

impl Wizard {
    pub fn seen(&self) -> Vec<Value> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// What reaches a handler next: notifications are handled in their own time.
    pub async fn next(&self) -> Vec<Value> {
        for _ in 0..120_000 {
            let seen = self.seen();
            if !seen.is_empty() {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("nothing has reached a handler");
    }

    fn step(
        &self,
        state: Option<String>,
        responses: &Option<InputResponses>,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        self.seen.lock().unwrap().push(json!(state));
        let next = match (state.as_deref(), responses) {
            (None, _) => format!("{PLAIN} 1"),
            (Some("PLAIN-STATE 1"), Some(_)) => format!("{PLAIN} 2"),
            (Some("PLAIN-STATE 2"), Some(_)) => return Ok(None),
            _ => return Err(ErrorData::internal_error("out of order", None)),
        };
        let mut asked = question("confirm");
        asked.request_state = Some(next);
        Ok(Some(asked))
    }
}

impl ServerHandler for Wizard {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_resources()
                .build(),
        );
        info.protocol_version = ProtocolVersion::V_2026_07_28;
        info
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "plain" => return Ok(CallToolResult::success(vec![ContentBlock::text("42")]).into()),
            "too_long" => {
                let state = PLAIN.repeat(10_000);
                return Ok(InputRequiredResult::from_request_state(state).into());
            }
            _ => {}
        }
        match self.step(request.request_state, &request.input_responses)? {
            Some(asked) => Ok(asked.into()),
            None => Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into()),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.step(request.request_state, &request.input_responses)? {
            Some(asked) => Ok(asked.into()),
            None => {
                Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, "done")]).into())
            }
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.step(request.request_state, &request.input_responses)? {
            Some(asked) => Ok(asked.into()),
            None => {
                let contents = vec![ResourceContents::text("done", request.uri)];
                Ok(ReadResourceResult::new(contents).into())
            }
        }
    }

    /// Believes whatever state it is given, and asks for more if it is given none.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        let asks = params["requestState"].is_null();
        self.seen.lock().unwrap().push(json!({"custom": params}));
        let questions = json!({"confirm": {"method": "elicitation/create"}});
        let asked = json!({
            "resultType": "input_required", "requestState": PLAIN, "inputRequests": questions,
        });
        let complete = json!({"resultType": "complete", "requestState": PLAIN});
        Ok(CustomResult(if asks { asked } else { complete }))
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleServer>,
    ) {
        let params = notification.params.unwrap_or_default();
        self.seen
            .lock()
            .unwrap()
            .push(json!({"notification": params}));
    }
}

pub fn named(user: Option<&str>) -> Principal {
    user.map_or(Principal::Anonymous, |name| Principal::Named(name.into()))
}

/// A clock that tests set.
#[derive(Clone)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    pub fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

/// A sealer whose time is that of the clock.
pub fn sealer_with_clock() -> (Sealer<AesGcmCodec>, Clock) {
    let clock = Clock(Arc::new(NOW.into()));
    let time = clock.clone();
    let sealer =
        sealer_at(move || UNIX_EPOCH + Duration::from_secs(time.0.load(Ordering::Relaxed)));
    (sealer, clock)
}

/// A wizard that is sealed for one user, and a look at what it sees.
pub fn sealed(user: Option<&'static str>) -> (SealedService<Wizard, AesGcmCodec>, Wizard) {
    sealed_by(Boundary::new(sealer()), user)
}

/// The same behind a boundary with a policy of its own.
pub fn sealed_by(
    boundary: impl Into<AnyBoundary<AesGcmCodec>>,
    user: Option<&'static str>,
) -> (SealedService<Wizard, AesGcmCodec>, Wizard) {
    let wizard = Wizard::default();
    let server = SealedService::new(wizard.clone(), boundary);
    (server.principal(move |_| Ok(named(user))), wizard)
}

/// A client of rmcp that accepts everything it is asked.
#[derive(Clone, Default)]
pub struct Yes;

impl ClientHandler for Yes {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"yes": true})))
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder()
                .enable_elicitation()
                .enable_tasks()
                .build(),
            Implementation::new("test", "0"),
        )
    }
}

/// Connects a client of rmcp to `server` by the handshake of 2026-07-28.
pub async fn connect<S: Service<RoleServer>>(server: S) -> RunningService<RoleClient, Yes> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    Yes.serve_with_lifecycle(theirs, lifecycle).await.unwrap()
}

/// Connects one by the handshake of the versions before.
pub async fn connect_legacy<S: Service<RoleServer>>(server: S) -> RunningService<RoleClient, Yes> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
    Yes.serve(theirs).await.unwrap()
}

/// A client that writes lines of its own.
pub struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

impl Raw {
    /// Connects to `server` in a session of `version`, without a handshake.
    pub fn connect<S: Service<RoleServer>>(server: S, version: Option<ProtocolVersion>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let info = version.map(|version| {
            InitializeRequestParams::new(
                ClientCapabilities::default(),
                Implementation::new("raw", "0"),
            )
            .with_protocol_version(version)
        });
        let running = serve_directly::<RoleServer, _, _, _, _>(server, ours, info);
        tokio::spawn(running.waiting());
        let (read, out) = tokio::io::split(theirs);
        let lines = BufReader::new(read).lines();
        Self { lines, out }
    }

    pub async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    pub async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(120), self.lines.next_line()).await;
        serde_json::from_str(&line.expect("in time").unwrap().expect("a line")).unwrap()
    }

    /// The answer to `message`.
    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string()).await;
        self.receive().await
    }

    /// The token in the answer to `message`, which asks for input.
    pub async fn token(&mut self, message: &Value) -> String {
        let answer = self.ask(message).await;
        let token = answer["result"]["requestState"].as_str();
        let token = token.unwrap_or_else(|| panic!("no token in {answer}"));
        assert!(!answer.to_string().contains(PLAIN), "{answer}");
        token.to_owned()
    }
}

pub const MODERN: Option<ProtocolVersion> = Some(ProtocolVersion::V_2026_07_28);

/// The request that the wizard asks about.
pub fn request(method: &str) -> Value {
    let params = match method {
        "resources/read" => json!({"uri": "bank://transfer"}),
        "prompts/get" => json!({"name": "transfer", "arguments": {"amount": "10"}}),
        _ => json!({"name": "transfer", "arguments": {"amount": 10}}),
    };
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// The same request again, with `state` and an answer.
pub fn retry(message: &Value, state: impl Into<Value>) -> Value {
    let mut message = message.clone();
    message["params"]["requestState"] = state.into();
    message["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
    message
}

pub const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// The one answer to a bad state, to the letter.
pub fn refusal() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        },
    })
}

pub fn internal_error() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Internal error"}})
}

/// What this thread logs, at any level and with the file it is in, as long as this is alive.
pub struct Log {
    bytes: Arc<Mutex<Vec<u8>>>,
    _subscriber: tracing::subscriber::DefaultGuard,
}

struct Writer(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub fn start() -> Self {
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let writer = bytes.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_ansi(false)
            .without_time()
            .with_file(true)
            .with_writer(move || Writer(writer.clone()))
            .finish();
        Self {
            bytes,
            _subscriber: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The events of all libraries.
    pub fn everything(self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }

    /// The events of this library.
    pub fn text(self) -> String {
        let text = self.everything();
        let is_ours = |line: &&str| line.contains("request_state: ") && line.contains("reason=");
        let ours = text.lines().filter(is_ours);
        ours.map(|line| format!("{line}\n")).collect()
    }
}
