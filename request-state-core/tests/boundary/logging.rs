//! What the operator reads, and what nobody does.
#![cfg(feature = "tracing")]

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use request_state_core::{
    AnswerAgain, Binding, Boundary, OnceBoundary, Request, Sealer, Sender, Token, Unidentified,
};
use serde_json::{Value, json};

use crate::kit::*;
use crate::stores::{Fault, Store, ready};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything that is logged, at any level, while `work` runs.
fn logged(work: impl FnOnce()) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// Says whether `log` is one event with this level, reason and message, and these fields.
#[track_caller]
fn is_one(log: &str, level: &str, reason: &str, message: &str, fields: &[&str]) {
    assert_eq!(log.lines().count(), 1, "{log}");
    let start = format!("{level} request_state: {message} reason=\"{reason}\"");
    assert!(log.trim_start().starts_with(&start), "{start} in {log}");
    for field in fields {
        assert!(log.contains(field), "{field} in {log}");
    }
}

const REJECTED: &str = "requestState rejected";
const COMMON: [&str; 3] = ["server=\"billing\"", "method=\"tools/call\"", "id=\"7\""];

#[test]
fn each_rejection_is_one_event_with_its_reason() {
    let (boundary, clock) = boundary_with_clock();
    let boundary = boundary.restart_expired(false);
    let first = request("tools/call");
    let retry = with_state(&first, ask(&boundary, &first, ALICE, "asked"));
    let late = with_state(&first, ask(&boundary, &first, ALICE, "asked"));
    let version = "version=\"2026-07-28\"";
    let mut unnamed = retry.clone();
    unnamed["params"]["_meta"] = Value::Null;
    let mut other = retry.clone();
    other["params"]["arguments"]["amount"] = json!(11);
    let bob = Some("user:bob");
    for (message, principal, reason, field) in [
        (with_state(&first, "junk"), ALICE, "malformed", version),
        (
            with_state(&first, "ledger.99"),
            ALICE,
            "unauthentic",
            "kid=\"ledger\"",
        ),
        (retry.clone(), bob, "principal", version),
        (other, ALICE, "request", version),
        (with_state(&first, 5), ALICE, "not_a_string", version),
        (unnamed, ALICE, "binding", "names no protocol version"),
        (retry.clone(), Some(""), "binding", "principal is empty"),
    ] {
        let log = logged(|| drop(refused(&boundary, message, principal)));
        is_one(&log, "WARN", reason, REJECTED, &COMMON);
        is_one(&log, "WARN", reason, REJECTED, &[field]);
    }
    // An empty version is none, in the log too.
    let mut empty = retry.clone();
    empty["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": ""});
    let log = logged(|| drop(refused(&boundary, empty, ALICE)));
    let cause = "names no protocol version";
    is_one(&log, "WARN", "binding", REJECTED, &[cause]);
    assert!(!log.contains("version=\"\""), "{log}");

    let log = logged(|| drop(refused(&boundary, json!([retry, [retry]]), ALICE)));
    is_one(&log, "WARN", "batch", REJECTED, &COMMON[..2]);

    // People are late: that is no warning.
    clock.advance(Duration::from_millis(300_250));
    let log = logged(|| drop(refused(&boundary, late, ALICE)));
    is_one(&log, "INFO", "expired", REJECTED, &COMMON);
    is_one(&log, "INFO", "expired", REJECTED, &["late_ms=250"]);
}

#[test]
fn who_sent_a_request_is_unidentified_under_one_name() {
    let first = request("tools/call");
    let strict = boundary().require_principal(true);
    let retry = with_state(&first, "junk");
    let unknown = || Sender::unidentified(Unidentified::new("no session layer"));
    for (sender, cause) in [
        (Sender::from(None), "require_principal is set"),
        (unknown(), "no session layer"),
    ] {
        let log = logged(|| drop(refused(&strict, retry.clone(), sender.clone())));
        is_one(&log, "WARN", "unidentified", REJECTED, &COMMON);
        assert!(log.contains(cause), "{log}");
        let (_, round) = opened(&strict, first.clone(), sender);
        let log = logged(|| drop(sealed(&strict, &round, asks("plain"))));
        is_one(
            &log,
            "WARN",
            "unidentified",
            "requestState not sealed",
            &COMMON,
        );
        assert!(log.contains(cause), "{log}");
    }
}

#[test]
fn an_outage_is_an_error_and_says_of_what_kind() {
    let down = Boundary::new(Sealer::new("billing", Down).unwrap());
    let first = request("tools/call");
    let log = logged(|| drop(refused(&down, with_state(&first, "k.x"), ALICE)));
    is_one(
        &log,
        "ERROR",
        "unavailable",
        REJECTED,
        &["io=TimedOut", "kid=\"k\""],
    );
    let (_, round) = opened(&down, first, ALICE);
    let log = logged(|| drop(sealed(&down, &round, asks("asked"))));
    is_one(
        &log,
        "ERROR",
        "unavailable",
        "requestState not sealed",
        &["io=TimedOut"],
    );
}

#[test]
fn what_was_served_is_not_logged_as_rejected() {
    let (boundary, clock) = boundary_with_clock();
    let first = request("tools/call");
    let token = ask_for(&boundary, &first, ALICE, &["confirm", "junk"]);
    let answers = json!({"confirm": accept(), "junk": 5, "a": accept(), "b": accept()});
    let removed = "inputResponses removed";

    let log = logged(|| {
        drop(opened(
            &boundary,
            with_answers(&first, answers.clone()),
            ALICE,
        ))
    });
    is_one(&log, "WARN", "answers_without_state", removed, &COMMON);
    assert!(log.contains("answers=4"), "{log}");

    let retry = with_state(&first, token);
    let log = logged(|| {
        drop(opened(
            &boundary,
            with_answers(&retry, answers.clone()),
            ALICE,
        ))
    });
    let (not_asked, not_an_object) = log.split_once('\n').expect("two events");
    is_one(
        not_asked,
        "DEBUG",
        "answers_not_asked",
        removed,
        &["answers=2"],
    );
    is_one(
        not_an_object,
        "DEBUG",
        "answers_not_an_object",
        removed,
        &["answers=1"],
    );

    let log = logged(|| drop(opened(&boundary, with_answers(&retry, json!([5])), ALICE)));
    is_one(
        &log,
        "DEBUG",
        "answers_not_an_object",
        removed,
        &["answers=1"],
    );

    let mut notification = with_answers(&first, answers.clone());
    notification.as_object_mut().unwrap().remove("id");
    for message in [notification.clone(), json!([notification, [1]])] {
        let log = logged(|| drop(opened(&boundary, message, ALICE)));
        is_one(
            &log,
            "WARN",
            "answers_without_state",
            removed,
            &["answers=4"],
        );
    }

    for answers in [json!(null), json!({}), json!({"confirm": accept()})] {
        let log = logged(|| drop(opened(&boundary, with_answers(&retry, answers), ALICE)));
        assert_eq!(log, "");
    }
    // Nothing was removed.
    for answers in [json!(null), json!({})] {
        notification["params"]["inputResponses"] = answers;
        for message in [notification.clone(), json!([notification])] {
            let log = logged(|| drop(opened(&boundary, message, ALICE)));
            assert_eq!(log, "");
        }
    }

    clock.advance(Duration::from_millis(300_250));
    for answers in [answers, json!([5])] {
        let late = with_answers(&retry, answers);
        let log = logged(|| drop(opened(&boundary, late, ALICE)));
        is_one(
            &log,
            "INFO",
            "restarted",
            "requestState expired: the request starts over",
            &COMMON,
        );
    }
    let log = logged(|| drop(opened(&boundary, retry, ALICE)));
    let message = "requestState expired: the request starts over";
    is_one(&log, "INFO", "restarted", message, &["late_ms=250"]);
}

#[test]
fn a_seal_that_fails_is_logged_with_its_cause() {
    let (boundary, clock) = boundary_with_clock();
    let boundary = boundary.max_rounds(1).max_flow(Duration::from_secs(60));
    let first = request("prompts/get");
    let (_, round) = opened(&boundary, first.clone(), ALICE);
    let (_, batch) = opened(&boundary, json!([first]), ALICE);
    let mut unidentifiable = first.clone();
    unidentifiable["id"] = Value::Null;
    let (_, notification) = opened(&boundary, unidentifiable, ALICE);
    let (_, listing) = opened(&boundary, request("tools/list"), ALICE);
    let token = ask(&boundary, &first, ALICE, "asked");
    let (_, second) = opened(&boundary, with_state(&first, token), ALICE);
    let mut unknown = asks(Value::Null);
    unknown["result"]["inputRequests"] = json!({"hunter2": {"method": "ping"}});
    for (round, response, level, reason, cause) in [
        (
            &round,
            asks(5),
            "ERROR",
            "seal",
            "requestState is not a string",
        ),
        (
            &round,
            asks(Value::Null),
            "ERROR",
            "seal",
            "neither inputRequests nor requestState",
        ),
        (
            &round,
            unknown,
            "ERROR",
            "seal",
            "inputRequests: entry 1 is not an elicitation",
        ),
        // What a client can bring about is no mistake of the handler's.
        (
            &batch,
            asks("asked"),
            "WARN",
            "binding",
            "there is no request to seal",
        ),
        (
            &notification,
            asks("asked"),
            "WARN",
            "binding",
            "there is no request to seal",
        ),
        (
            &listing,
            asks("asked"),
            "ERROR",
            "seal",
            "results of this method have no requestState",
        ),
        (
            &second,
            asks("asked"),
            "WARN",
            "rounds",
            "the flow has reached max_rounds, 1",
        ),
    ] {
        let log = logged(|| drop(sealed(&boundary, round, response)));
        is_one(
            &log,
            level,
            reason,
            "requestState not sealed",
            &["server=\"billing\"", cause],
        );
    }
    let boundary = boundary.max_rounds(2);
    clock.advance(Duration::from_secs(60));
    let log = logged(|| drop(sealed(&boundary, &second, asks("asked"))));
    is_one(
        &log,
        "INFO",
        "flow",
        "requestState not sealed",
        &["older than max_flow, 60s"],
    );
}

#[test]
fn what_a_client_chose_is_shortened() {
    let boundary = boundary();
    let mut message = with_state(&request("tools/call"), "junk");
    message["id"] = json!("i".repeat(1000));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v".repeat(1000));
    let log = logged(|| drop(refused(&boundary, message, ALICE)));
    let fields = [
        format!("version=\"{}\"", "v".repeat(32)),
        format!("id=\"{}\"", "i".repeat(32)),
    ];
    is_one(
        &log,
        "WARN",
        "malformed",
        REJECTED,
        &fields.each_ref().map(String::as_str),
    );

    // A server that opens by hand may take any method from a client.
    let binding = Binding::new(Request {
        version: VERSION,
        method: &"m".repeat(1000),
        params: &(),
        principal: ALICE,
    });
    let binding = binding.unwrap();
    let log = logged(|| drop(sealer().open::<Value>("junk", &binding)));
    let field = format!("method=\"{}\"", "m".repeat(32));
    is_one(&log, "WARN", "malformed", REJECTED, &[&field]);
}

/// Nor does it forge an event, or a color.
#[test]
fn what_a_client_chose_breaks_no_line() {
    let boundary = boundary();
    let forged = "\n WARN \r\u{1b}[2J\u{202e}\"";
    let mut message = with_state(&request("tools/call"), format!("kid{forged}.x"));
    message["id"] = forged.into();
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = forged.into();
    let log = logged(|| drop(refused(&boundary, message, ALICE)));
    let fields = ["version", "id"].map(|field| format!("{field}={forged:?}"));
    let fields = fields.each_ref().map(String::as_str);
    is_one(&log, "WARN", "malformed", REJECTED, &fields);
    let line = log.trim_end_matches('\n');
    assert!(!line.contains(char::is_control), "{log:?}");
    assert!(!log.contains("kid="), "{log}");
}

/// Also where a framework says so.
#[test]
fn an_empty_version_is_none() {
    let boundary = boundary();
    let message = request("tools/call");
    let request = Request {
        version: "",
        method: "tools/call",
        params: &message["params"],
        principal: ALICE,
    };
    let log = logged(|| drop(boundary.open(request, Token::Text("junk"))));
    let cause = "the request's version is empty";
    is_one(&log, "WARN", "binding", REJECTED, &[cause]);
    assert!(!log.contains("version=\""), "{log}");
}

#[test]
fn no_event_says_anything_secret() {
    let boundary = boundary();
    let mut message = request("tools/call");
    message["params"]["arguments"]["to"] = json!("DE02120300000000202051");
    let log = logged(|| {
        let token = ask(&boundary, &message, ALICE, "TOP-SECRET-STATE");
        let retry = with_state(&message, token);
        passes(&boundary, retry.clone(), ALICE);
        let answers = json!({"TOP-SECRET-NAME": {"content": "TOP-SECRET-ANSWER"}});
        passes(&boundary, with_answers(&retry, answers.clone()), ALICE);
        passes(&boundary, with_answers(&message, answers), ALICE);
        refused(&boundary, retry.clone(), Some("user:bob"));
        refused(&boundary, retry.clone(), Some(""));
        refused(&boundary, json!([retry]), ALICE);
        refused(
            &boundary,
            with_state(&message, json!({"TOP-SECRET-STATE": 1})),
            ALICE,
        );
        let mut deep = json!("TOP-SECRET-STATE");
        for _ in 0..200 {
            deep = json!({"DE02120300000000202051": deep});
        }
        let mut undigestible = retry;
        undigestible["params"]["arguments"] = deep;
        refused(&boundary, undigestible, ALICE);
        let (_, round) = opened(&boundary, message.clone(), ALICE);
        sealed(&boundary, &round, asks(json!(["TOP-SECRET-STATE"])));
        let (_, round) = opened(&boundary, json!([message]), ALICE);
        sealed(&boundary, &round, asks("TOP-SECRET-STATE"));
    });
    assert_eq!(log.lines().count(), 9, "{log}");
    for secret in [
        "TOP-SECRET",
        "DE0212",
        "alice",
        "bob",
        "ledger.0",
        "hunter2",
    ] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn each_redemption_that_is_not_the_first_is_one_event() {
    let (plain, clock) = boundary_with_clock();
    let store = Arc::new(Store::new(&clock));
    let boundary = plain.once(Arc::clone(&store));
    let first = request("tools/call");
    let retry = || {
        let token = ask_for(boundary.boundary(), &first, ALICE, &["confirm"]);
        with_answers(&with_state(&first, token), json!({"confirm": accept()}))
    };
    let log = |boundary: &OnceBoundary<Ledger>, message: &Value| {
        let mut message = message.clone();
        logged(|| drop(ready(boundary.open_request(&mut message, ALICE))))
    };
    let paid = retry();
    assert_eq!(log(&boundary, &paid), "");
    let again = log(&boundary, &paid);
    is_one(&again, "WARN", "already_used", REJECTED, &COMMON);
    is_one(
        &again,
        "WARN",
        "already_used",
        REJECTED,
        &["kid=\"ledger\""],
    );

    let not_redeemed = "requestState not redeemed";
    for (fault, fields) in [
        (Fault::Down, ["cause=the store failed", "io=TimedOut"]),
        (
            Fault::Forgot,
            ["cause=the store has no history of the time", "id=\"7\""],
        ),
    ] {
        store.set(fault);
        let down = log(&boundary, &retry());
        is_one(&down, "ERROR", "unavailable", not_redeemed, &COMMON);
        is_one(&down, "ERROR", "unavailable", not_redeemed, &fields);
        assert!(!down.contains("hunter2"), "{down}");
        // Also when a token has expired.
        let late = retry();
        clock.advance(Duration::from_secs(300));
        let down = log(&boundary, &late);
        is_one(&down, "ERROR", "unavailable", not_redeemed, &fields);
    }
    store.set(Fault::None);

    let boundary = boundary.clone().answer_again(AnswerAgain::new()).unwrap();
    let paid = retry();
    let mut message = paid.clone();
    let round = ready(boundary.open_request(&mut message, ALICE)).unwrap();
    let before = "requestState redeemed before";
    is_one(
        &log(&boundary, &paid),
        "INFO",
        "in_progress",
        before,
        &COMMON,
    );
    clock.advance(Duration::from_secs(60));
    let unknown = log(&boundary, &paid);
    is_one(&unknown, "WARN", "outcome_unknown", before, &COMMON);
    is_one(
        &unknown,
        "WARN",
        "outcome_unknown",
        before,
        &["cause=no answer was kept"],
    );

    let keep = || {
        let mut response = json!({"jsonrpc": "2.0", "id": 7, "result": {"secret": "hunter2"}});
        logged(|| ready(boundary.seal_response(&round, &mut response)))
    };
    let odd = logged(|| ready(boundary.seal_response(&round, &mut json!({"id": 7}))));
    let fields = ["cause=the response has neither a result nor an error"];
    is_one(&odd, "WARN", "answer_not_kept", "answer not kept", &fields);
    store.set(Fault::Full);
    let not_kept = keep();
    is_one(
        &not_kept,
        "WARN",
        "answer_not_kept",
        "answer not kept",
        &COMMON,
    );
    is_one(
        &not_kept,
        "WARN",
        "answer_not_kept",
        "answer not kept",
        &["cause=the store is full"],
    );
    assert!(!not_kept.contains("hunter2"));
    store.set(Fault::None);
    assert_eq!(keep(), "");
    let message = "requestState redeemed before: the same answer again";
    is_one(
        &log(&boundary, &paid),
        "INFO",
        "answered_again",
        message,
        &COMMON,
    );
}

#[test]
fn open_once_logs_what_open_does_and_what_the_store_says() {
    let clock = Clock::default();
    let sealer = sealer_behind(&clock, Duration::ZERO, &Ledger::default());
    let store = Store::new(&clock);
    let request = Request {
        version: VERSION,
        method: "tools/call",
        params: &json!({}),
        principal: ALICE,
    };
    let binding = Binding::new(request).unwrap();
    let token = sealer.seal(&1, &binding).unwrap();
    let log =
        |token: &str| logged(|| drop(ready(sealer.open_once::<u32>(token, &binding, &store))));
    let fields = [
        "server=\"billing\"",
        "method=\"tools/call\"",
        "version=\"2026-07-28\"",
    ];
    is_one(&log("junk"), "WARN", "malformed", REJECTED, &fields);
    assert_eq!(log(&token), "");
    is_one(&log(&token), "WARN", "already_used", REJECTED, &fields);
    store.set(Fault::Down);
    let down = log(&token);
    is_one(
        &down,
        "ERROR",
        "unavailable",
        "requestState not redeemed",
        &fields,
    );
    assert!(!down.contains("hunter2"), "{down}");
}
