//! Ten thousand conversations at once, of many users, over three replicas whose keys are rotated in
//! the middle: no honest one is rejected, no honest answer is lost, no state crosses from one to
//! another, and no answer arrives that was not asked for.
//!
//! ```text
//! cargo test -p request-state-rmcp --test load
//! ```
//!
//! All conversations stand in the second round at the same time: the handlers of that round wait for
//! each other.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, RwLock};
use std::time::{Duration, Instant, UNIX_EPOCH};

use request_state::{
    AesGcmCodec, DecodeError, EncodeError, Key, Keyring, Principal, RequestStateCodec, Sealer,
};
use request_state_rmcp::SealedService;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService, ServiceExt};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ErrorData, ServerHandler, ServiceError};
use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

const FLOWS: usize = 10_000;
const USERS: usize = 8;
const REPLICAS: usize = 3;

/// The steps of a rotation: after how many seals of the whole fleet which replica is given which
/// keys, of which the first seals. Every replica takes each step at another time.
///
/// The last step waits until no token of the old key is out, as an operator waits for a TTL and a
/// minute: the first ten thousand seals are those of the first round, and all of them have been
/// opened before the second round seals.
const ROTATION: [(usize, usize, &str); 9] = [
    (1_000, 0, "old,new"),
    (2_000, 1, "old,new"),
    (3_000, 2, "old,new"),
    (4_000, 0, "new,old"),
    (6_000, 1, "new,old"),
    (8_000, 2, "new,old"),
    (12_000, 0, "new"),
    (14_000, 1, "new"),
    (16_000, 2, "new"),
];

/// The keys of all replicas, which an operator exchanges while they serve.
struct Fleet {
    codecs: [RwLock<AesGcmCodec>; REPLICAS],
    sealed: AtomicUsize,
    sealed_by_old: AtomicUsize,
}

#[derive(Clone)]
struct Replica {
    fleet: Arc<Fleet>,
    number: usize,
}

fn codec(kids: &str) -> AesGcmCodec {
    let key = |kid: &str| match kid {
        "old" => Key::from([1; 32]),
        _ => Key::from([2; 32]),
    };
    let entries = kids.split(',').map(|kid| (kid, key(kid)));
    AesGcmCodec::new(&Keyring::new(entries).unwrap())
}

impl RequestStateCodec for Replica {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let Fleet {
            codecs,
            sealed,
            sealed_by_old,
        } = &*self.fleet;
        let token = codecs[self.number]
            .read()
            .unwrap()
            .encode(payload, context)?;
        sealed_by_old.fetch_add(usize::from(token.starts_with("old.")), SeqCst);
        let count = sealed.fetch_add(1, SeqCst) + 1;
        for (_, replica, kids) in ROTATION.iter().filter(|(when, ..)| *when == count) {
            *codecs[*replica].write().unwrap() = codec(kids);
        }
        Ok(token)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let codec = self.fleet.codecs[self.number].read().unwrap();
        codec.decode(token, context)
    }

    fn encrypts(&self) -> bool {
        true
    }
}

/// What happened, and who waits for whom.
struct Load {
    all_in_round_two: Barrier,
    in_round_two: AtomicUsize,
    most_in_round_two: AtomicUsize,
    /// States that reached a handler and were not of its user and request.
    crossed: AtomicUsize,
    /// Answers that reached a handler which had not asked for them in the last round.
    not_asked: AtomicUsize,
    /// Answers that were asked for and did not arrive.
    lost: AtomicUsize,
    completed: AtomicUsize,
    stolen_refused: AtomicUsize,
}

/// Serves one user, and remembers in each state whose it is and what for.
#[derive(Clone)]
struct Bank {
    user: usize,
    load: Arc<Load>,
}

impl ServerHandler for Bank {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let amount = request.arguments.unwrap()["amount"].clone();
        let state = |round: usize| format!("{round} {} {amount}", self.user);
        let answers = request.input_responses.unwrap_or_default();
        let Some(came) = request.request_state else {
            self.load.not_asked.fetch_add(answers.len(), SeqCst);
            return Ok(ask(1, state(1)));
        };
        let asked = if came == state(1) {
            "round 1"
        } else {
            "round 2"
        };
        match answers.get(asked) {
            Some(answer) if answer["amount"] == amount => {}
            _ => drop(self.load.lost.fetch_add(1, SeqCst)),
        }
        let others = answers.keys().filter(|name| *name != asked);
        self.load.not_asked.fetch_add(others.count(), SeqCst);
        if came == state(1) {
            let load = &self.load;
            let now = load.in_round_two.fetch_add(1, SeqCst) + 1;
            load.most_in_round_two.fetch_max(now, SeqCst);
            load.all_in_round_two.wait().await;
            load.in_round_two.fetch_sub(1, SeqCst);
            return Ok(ask(2, state(2)));
        }
        if came != state(2) {
            self.load.crossed.fetch_add(1, SeqCst);
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }
}

/// Asks the question of a round.
fn ask(round: usize, state: String) -> CallToolResponse {
    let question = InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Really?".into(),
            requested_schema: serde_json::from_value(json!({"type": "object", "properties": {}}))
                .unwrap(),
        },
    ));
    let questions = InputRequests::from([(format!("round {round}"), question)]);
    InputRequiredResult::new(Some(questions), Some(state)).into()
}

type Client = RunningService<RoleClient, ()>;

async fn connect(replica: Replica, user: usize, load: &Arc<Load>) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let load = load.clone();
    // The clock stands still: no token expires on a busy machine.
    let sealer = Sealer::builder("bank", replica)
        .clock(|| UNIX_EPOCH + Duration::from_secs(1_796_212_800))
        .build()
        .unwrap();
    let server = SealedService::new(Bank { user, load }, sealer)
        .principal(move |_| Ok(Principal::Named(format!("user:{user}"))));
    tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    ().serve_with_lifecycle(theirs, lifecycle).await.unwrap()
}

/// One user's conversation. Each round lands on another replica.
struct Flow {
    number: usize,
    clients: Arc<Vec<Vec<Client>>>,
    tokens: Arc<Vec<OnceLock<String>>>,
    all_have_tokens: Arc<Barrier>,
    load: Arc<Load>,
}

impl Flow {
    async fn call(
        &self,
        round: usize,
        token: Option<&str>,
    ) -> Result<CallToolResponse, ServiceError> {
        let arguments = json!({"amount": self.number / USERS, "to": "Bob"});
        let mut call = CallToolRequestParams::new("transfer")
            .with_arguments(serde_json::from_value(arguments).unwrap());
        call.request_state = token.map(Into::into);
        // In every round answers to all questions: of this one, of others, and of no round at all.
        let answer = json!({"action": "accept", "amount": self.number / USERS});
        let names = ["round 1", "round 2", "round 3", "confirm"];
        call.input_responses = Some(names.map(|name| (name.into(), answer.clone())).into());
        let replica = (self.number + self.number / USERS + round) % REPLICAS;
        self.clients[replica][self.number % USERS]
            .call_tool_once(call)
            .await
    }

    /// The token of a round that asks for input.
    async fn token(&self, round: usize, token: Option<&str>) -> String {
        match self.call(round, token).await.expect("honest") {
            CallToolResponse::InputRequired(asked) => asked.request_state.unwrap(),
            other => panic!("no question in round {round}: {other:?}"),
        }
    }

    async fn run(self) {
        let first = self.token(0, None).await;
        let second = self.token(1, Some(&first)).await;
        self.tokens[self.number].set(second.clone()).unwrap();
        self.all_have_tokens.wait().await;

        // Another user's token for the same request, and one's own for another request.
        for other in [self.number ^ 1, (self.number + USERS) % FLOWS] {
            let stolen = self.tokens[other].get().unwrap();
            let error = self
                .call(2, Some(stolen))
                .await
                .expect_err("a stolen token");
            let ServiceError::McpError(error) = error else {
                panic!("{error}")
            };
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
            assert_eq!(error.message, "Invalid or expired requestState");
            self.load.stolen_refused.fetch_add(1, SeqCst);
        }

        match self.call(2, Some(&second)).await.expect("honest") {
            CallToolResponse::Complete(_) => self.load.completed.fetch_add(1, SeqCst),
            other => panic!("{other:?}"),
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_flows_at_once_while_keys_are_rotated() {
    let start = Instant::now();
    let load = Arc::new(Load {
        all_in_round_two: Barrier::new(FLOWS),
        in_round_two: AtomicUsize::new(0),
        most_in_round_two: AtomicUsize::new(0),
        crossed: AtomicUsize::new(0),
        not_asked: AtomicUsize::new(0),
        lost: AtomicUsize::new(0),
        completed: AtomicUsize::new(0),
        stolen_refused: AtomicUsize::new(0),
    });
    let fleet = Arc::new(Fleet {
        codecs: [(); REPLICAS].map(|()| RwLock::new(codec("old"))),
        sealed: AtomicUsize::new(0),
        sealed_by_old: AtomicUsize::new(0),
    });
    let mut clients = Vec::new();
    for number in 0..REPLICAS {
        let fleet = fleet.clone();
        let replica = Replica { fleet, number };
        let mut of_replica = Vec::new();
        for user in 0..USERS {
            of_replica.push(connect(replica.clone(), user, &load).await);
        }
        clients.push(of_replica);
    }
    let clients = Arc::new(clients);
    let tokens = Arc::new((0..FLOWS).map(|_| OnceLock::new()).collect::<Vec<_>>());
    let all_have_tokens = Arc::new(Barrier::new(FLOWS));
    // The first that fails ends the test: the others would wait for it.
    let mut flows = JoinSet::new();
    for number in 0..FLOWS {
        let flow = Flow {
            number,
            clients: clients.clone(),
            tokens: tokens.clone(),
            all_have_tokens: all_have_tokens.clone(),
            load: load.clone(),
        };
        flows.spawn(flow.run());
    }
    while let Some(flow) = flows.join_next().await {
        flow.expect("a flow as it should be");
    }

    let count = |counter: &AtomicUsize| counter.load(SeqCst);
    let old = count(&fleet.sealed_by_old);
    let report = format!(
        "load: {} flows of three rounds complete, {} at once in flight, {USERS} users, {REPLICAS} \
         replicas, {old} tokens under the old key and {} under the new, {} stolen tokens refused, \
         {} crossed, {} answers not asked for, {} lost, {:.1} s\n",
        count(&load.completed),
        count(&load.most_in_round_two),
        count(&fleet.sealed) - old,
        count(&load.stolen_refused),
        count(&load.crossed),
        count(&load.not_asked),
        count(&load.lost),
        start.elapsed().as_secs_f64(),
    );
    // Not printed, so that cargo shows it also when the test passes.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
    assert_eq!(count(&load.completed), FLOWS);
    assert_eq!(count(&load.most_in_round_two), FLOWS);
    assert_eq!(count(&load.stolen_refused), 2 * FLOWS);
    assert_eq!(count(&load.crossed), 0);
    assert_eq!(count(&load.not_asked), 0);
    assert_eq!(count(&load.lost), 0);
    assert_eq!(count(&fleet.sealed), 2 * FLOWS);
    // The rotation was in the middle of it: the first round sealed under both, the second under the
    // new one alone.
    assert!((4_000..8_000).contains(&old), "{old}");
}
