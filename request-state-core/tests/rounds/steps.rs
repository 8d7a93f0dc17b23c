//! What happens in a conversation: policies, messages of every kind, and what the handler answers.

use proptest::prelude::*;
use request_state_core::QuestionKind;
use serde_json::{Value, json};

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Policy {
    pub encrypts: bool,
    pub allow: bool,
    pub restart: bool,
    pub require_principal: bool,
    pub replicas: [Replica; 2],
}

/// What two replicas may differ in while a fleet changes.
#[derive(Clone, Debug)]
pub struct Replica {
    pub max_rounds: u16,
    pub max_flow_ms: u64,
    /// How far its clock is ahead.
    pub ahead_ms: u64,
}

pub fn policy() -> impl Strategy<Value = Policy> {
    (
        any::<bool>(),
        any::<bool>(),
        proptest::bool::weighted(0.7),
        proptest::bool::weighted(0.2),
        [replica(), replica()],
    )
        .prop_map(
            |(encrypts, allow, restart, require_principal, replicas)| Policy {
                encrypts,
                allow,
                restart,
                require_principal,
                replicas,
            },
        )
}

fn replica() -> impl Strategy<Value = Replica> {
    (
        prop_oneof![1 => 0..4u16, 1 => Just(32)],
        prop_oneof![
            1 => Just(0),
            4 => Just(90_000),
            4 => Just(600_000),
            4 => Just(3_600_000),
        ],
        prop_oneof![
            4 => Just(0),
            1 => Just(60_000),
            1 => Just(60_001),
            1 => Just(200_000),
        ],
    )
        .prop_map(|(max_rounds, max_flow_ms, ahead_ms)| Replica {
            max_rounds,
            max_flow_ms,
            ahead_ms,
        })
}

pub const USERS: [Option<&str>; 3] = [Some("alice"), Some("bob"), None];

/// Requests, as the client writes them. Those of one number are the same request.
pub const REQUESTS: [(usize, &str, &str); 7] = [
    (
        0,
        "tools/call",
        r#"{"name":"pay","arguments":{"amount":10}}"#,
    ),
    (
        0,
        "tools/call",
        r#"{"arguments":{"amount":1e1},"name":"pay","cursor":null}"#,
    ),
    (
        1,
        "tools/call",
        r#"{"name":"pay","arguments":{"amount":11}}"#,
    ),
    (
        2,
        "prompts/get",
        r#"{"name":"pay","arguments":{"amount":10}}"#,
    ),
    (3, "resources/read", r#"{"uri":"x"}"#),
    (3, "resources/read", r#"{"uri":"x","arguments":{}}"#),
    (
        3,
        "resources/read",
        r#"{"uri":"x","_meta":null,"arguments":null}"#,
    ),
];

pub const NAMES: [&str; 5] = ["a", "b", "", "\0\"", "a name of more than a few bytes, é"];

/// The `requestState` of a message.
#[derive(Clone, Debug)]
pub enum Presented {
    Absent,
    Null,
    Number,
    Junk,
    /// One of those that were issued, counted from the last.
    Issued(usize),
    /// The same, with a character more.
    Changed(usize),
    /// One of a sealer, for this very request and user.
    OfSealer,
}

#[derive(Clone, Debug)]
pub enum Envelope {
    One,
    WithoutId,
    Batch,
}

/// A question of the handler: its name, and its kind where MCP knows it.
pub type Asked = (String, Option<QuestionKind>);

/// What the handler answers.
#[derive(Clone, Debug)]
pub enum Reply {
    Complete,
    /// `input_required`, with these questions, no name twice, and this state.
    Ask(Vec<Asked>, Option<String>),
}

#[derive(Clone, Debug)]
pub enum Step {
    Wait(u64),
    Send {
        replica: usize,
        user: usize,
        request: usize,
        presented: Presented,
        answers: Option<Value>,
        envelope: Envelope,
        /// How long the handler takes.
        takes_ms: u64,
        reply: Reply,
        /// Whether the API for frameworks seals the reply.
        typed: bool,
    },
}

/// Mostly of the same user, so that conversations go on.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let home = prop_oneof![3 => Just(0), 1 => 1..USERS.len()];
    home.prop_flat_map(|home| proptest::collection::vec(step(home), 1..40))
}

fn step(home: usize) -> impl Strategy<Value = Step> {
    let wait = prop_oneof![
        4 => Just(1),
        2 => Just(29_999),
        2 => Just(60_000),
        1 => Just(299_999),
        1 => Just(300_000),
        1 => Just(1_000_000),
    ];
    prop_oneof![1 => wait.prop_map(Step::Wait), 5 => send(home)]
}

fn send(home: usize) -> impl Strategy<Value = Step> {
    let user = prop_oneof![6 => Just(home), 1 => 0..USERS.len()];
    let request = prop_oneof![4 => 0..2usize, 1 => 0..REQUESTS.len()];
    let envelope = prop_oneof![
        12 => Just(Envelope::One),
        1 => Just(Envelope::WithoutId),
        1 => Just(Envelope::Batch),
    ];
    let takes_ms = prop_oneof![12 => Just(0), 1 => Just(1), 1 => Just(90_000)];
    let replica = prop_oneof![3 => Just(0), 1 => Just(1)];
    (
        (replica, user, request),
        (presented(), answers(), envelope),
        (takes_ms, reply(), any::<bool>()),
    )
        .prop_map(
            |(
                (replica, user, request),
                (presented, answers, envelope),
                (takes_ms, reply, typed),
            )| Step::Send {
                replica,
                user,
                request,
                presented,
                answers,
                envelope,
                takes_ms,
                reply,
                typed,
            },
        )
}

fn presented() -> impl Strategy<Value = Presented> {
    prop_oneof![
        3 => Just(Presented::Absent),
        1 => Just(Presented::Null),
        1 => Just(Presented::Number),
        1 => Just(Presented::Junk),
        10 => (0..3usize).prop_map(Presented::Issued),
        2 => (0..20usize).prop_map(Presented::Issued),
        1 => (0..3usize).prop_map(Presented::Changed),
        1 => Just(Presented::OfSealer),
    ]
}

/// `inputResponses` of every shape.
fn answers() -> impl Strategy<Value = Option<Value>> {
    let value = prop_oneof![
        4 => Just(json!({"action": "accept"})),
        1 => Just(json!({})),
        1 => Just(json!("accept")),
        1 => Just(json!(null)),
        1 => Just(json!([{"action": "accept"}])),
    ];
    let name = prop_oneof![5 => proptest::sample::select(&NAMES[..]), 1 => Just("other")];
    let object = proptest::collection::vec((name.prop_map(str::to_owned), value), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let other = proptest::sample::select(vec![json!(null), json!([]), json!("a"), json!(5)]);
    prop_oneof![
        8 => object.prop_map(Some),
        1 => other.prop_map(Some),
        2 => Just(None),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let names = proptest::sample::subsequence(NAMES.to_vec(), 0..5);
    let few = names.prop_flat_map(|names| {
        let question = |name: &str| (Just(name.to_owned()), kind());
        names.into_iter().map(question).collect::<Vec<_>>()
    });
    let questions = prop_oneof![40 => few, 1 => crowd()];
    let state = prop_oneof![
        2 => Just(None),
        1 => Just(Some(String::new())),
        3 => "state [0-9]{1,4}".prop_map(Some),
    ];
    prop_oneof![
        1 => Just(Reply::Complete),
        6 => (questions, state).prop_map(|(questions, state)| Reply::Ask(questions, state)),
    ]
}

fn kind() -> impl Strategy<Value = Option<QuestionKind>> {
    prop_oneof![
        10 => Just(Some(QuestionKind::ElicitationForm)),
        3 => Just(Some(QuestionKind::ElicitationUrl)),
        3 => Just(Some(QuestionKind::Sampling)),
        3 => Just(Some(QuestionKind::Roots)),
        1 => Just(None),
    ]
}

/// As many questions, or names as long, as just fit or just do not.
fn crowd() -> impl Strategy<Value = Vec<Asked>> {
    let roots = |name: String| (name, Some(QuestionKind::Roots));
    prop_oneof![
        (255..258usize).prop_map(move |count| {
            let names = (0..count).map(|number| number.to_string());
            names.map(roots).collect()
        }),
        (16_383..16_386usize).prop_map(move |length| {
            // Two names, so that it is their sum that counts.
            let names = ["a".to_owned(), "n".repeat(length - 1)];
            names.map(roots).to_vec()
        }),
    ]
}
