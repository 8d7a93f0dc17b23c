//! What happens in a conversation: policies, messages of every kind, and what the handler answers.

use proptest::prelude::*;
use serde_json::{Value, json};

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Policy {
    pub encrypts: bool,
    pub allow: bool,
    pub restart: bool,
    pub require_principal: bool,
    pub max_rounds: u16,
    pub max_flow_ms: u64,
}

pub fn policy() -> impl Strategy<Value = Policy> {
    (
        any::<bool>(),
        any::<bool>(),
        proptest::bool::weighted(0.7),
        proptest::bool::weighted(0.2),
        prop_oneof![0..4u16, Just(32)],
        prop_oneof![Just(90_000), Just(600_000), Just(3_600_000)],
    )
        .prop_map(
            |(encrypts, allow, restart, require_principal, max_rounds, max_flow_ms)| Policy {
                encrypts,
                allow,
                restart,
                require_principal,
                max_rounds,
                max_flow_ms,
            },
        )
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

/// What the handler answers.
#[derive(Clone, Debug)]
pub enum Reply {
    Complete,
    /// `input_required`, with these names and this state.
    Ask(Vec<usize>, Option<String>),
}

#[derive(Clone, Debug)]
pub enum Step {
    Wait(u64),
    Send {
        user: usize,
        request: usize,
        presented: Presented,
        answers: Option<Value>,
        envelope: Envelope,
        reply: Reply,
    },
}

pub fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![
        4 => Just(1),
        2 => Just(29_999),
        2 => Just(60_000),
        1 => Just(299_999),
        1 => Just(300_000),
        1 => Just(1_000_000),
    ];
    prop_oneof![1 => wait.prop_map(Step::Wait), 5 => send()]
}

fn send() -> impl Strategy<Value = Step> {
    // Mostly the same user and request, so that conversations go on.
    let user = prop_oneof![6 => Just(0), 1 => 0..USERS.len()];
    let request = prop_oneof![4 => 0..2usize, 1 => 0..REQUESTS.len()];
    let envelope = prop_oneof![
        12 => Just(Envelope::One),
        1 => Just(Envelope::WithoutId),
        1 => Just(Envelope::Batch),
    ];
    (user, request, presented(), answers(), envelope, reply()).prop_map(
        |(user, request, presented, answers, envelope, reply)| Step::Send {
            user,
            request,
            presented,
            answers,
            envelope,
            reply,
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
    let names = proptest::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 0..5);
    let state = prop_oneof![
        2 => Just(None),
        1 => Just(Some(String::new())),
        3 => "state [0-9]{1,4}".prop_map(Some),
    ];
    prop_oneof![
        1 => Just(Reply::Complete),
        6 => (names, state).prop_map(|(names, state)| Reply::Ask(names, state)),
    ]
}
