//! The tokens of a boundary: those that open, and those that do not.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use request_state::{
    Boundary, Question, QuestionKind, Request, RequestStateCodec, Round, Sealer, Token,
};
use serde_json::{Value, json};

use crate::file::{RoundVector, Vectors, logged};
use crate::recorder::Recorder;

fn kind(name: &str) -> QuestionKind {
    match name {
        "elicitation form" => QuestionKind::ElicitationForm,
        "elicitation URL" => QuestionKind::ElicitationUrl,
        "sampling" => QuestionKind::Sampling,
        "roots" => QuestionKind::Roots,
        other => panic!("unknown kind {other}"),
    }
}

impl RoundVector {
    /// The boundary that opens the token, at `now_ms`. Before 1970, no clock of the tests goes.
    fn boundary<C: RequestStateCodec>(&self, codec: C) -> Boundary<C> {
        let now = self.now_ms;
        let clock = move || {
            let distance = Duration::from_millis(now.unsigned_abs());
            if now < 0 {
                UNIX_EPOCH - distance
            } else {
                UNIX_EPOCH + distance
            }
        };
        let ttl = Duration::from_millis(self.ttl_ms);
        let sealer = Sealer::builder(&self.server, codec)
            .ttl(ttl)
            .anonymous_ttl(ttl);
        Boundary::new(sealer.clock(clock).build().unwrap())
            .max_flow(Duration::from_millis(self.max_flow_ms))
            .max_rounds(u16::MAX)
            .restart_expired(false)
    }

    /// The token as a client sends it, as JSON-RPC.
    fn message(&self) -> Value {
        let mut params: Value = serde_json::from_str(&self.params).unwrap();
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": self.version});
        params["requestState"] = json!(self.token);
        json!({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": params})
    }

    fn questions(&self) -> Vec<Question<'_>> {
        let questions = self.questions.iter();
        questions
            .map(|(name, of)| Question::new(name.as_str(), kind(of)))
            .collect()
    }

    #[track_caller]
    fn assert_is_round(&self, round: &Round) {
        assert_eq!(
            round.flow().unwrap().to_string(),
            self.flow,
            "{}",
            self.name
        );
        assert_eq!(round.number(), Some(self.round), "{}", self.name);
        let mut questions = self.questions();
        questions.sort_unstable_by(|one, other| one.name().cmp(other.name()));
        assert_eq!(round.asked(), questions, "{}", self.name);
    }
}

#[test]
fn every_round_opens_in_its_time() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let mut algorithms = BTreeSet::new();
    for mut vector in vectors.rounds() {
        let (now, end) = (vector.now_ms, vector.expires_at_ms);
        for now in [now, end - 1] {
            vector.now_ms = now;
            for codec in vector.codecs(&keys) {
                let boundary = vector.boundary(codec);
                let mut message = vector.message();
                let round = boundary
                    .open_request(&mut message, vector.principal.as_deref())
                    .expect(&vector.name);
                vector.assert_is_round(&round);
                assert_eq!(
                    message["params"].get("requestState"),
                    vector.state.clone().map(Value::from).as_ref()
                );
            }
        }
        vector.now_ms = end;
        for codec in vector.codecs(&keys) {
            let boundary = vector.boundary(codec);
            let opened = boundary.open_request(&mut vector.message(), vector.principal.as_deref());
            assert!(opened.is_err(), "{}", vector.name);
        }
        algorithms.insert(vector.algorithm);
    }
    assert_eq!(algorithms.len(), 3);
}

/// What a boundary hands its codec, to the byte: in the round after another one, where the flow is
/// given.
#[test]
fn the_next_round_is_as_written() {
    let vectors: Vec<_> = Vectors::read().rounds().collect();
    let mut chains = 0;
    for next in &vectors {
        let Some(after) = &next.after else { continue };
        let first = vectors
            .iter()
            .find(|vector| vector.name == *after)
            .expect(after);
        // Gives back the payload of the first round, and notes that of the next.
        let recorder = Recorder::giving(first.algorithm != "hmac-sha256", &first.payload);
        let boundary = next.boundary(&recorder);
        let params: Value = serde_json::from_str(&next.params).unwrap();
        let request = Request {
            version: &next.version,
            method: &next.method,
            params: &params,
            principal: next.principal.as_deref(),
        };
        let opened = boundary.open(request, Token::Text("k.")).expect(&next.name);
        first.assert_is_round(&opened.round);
        boundary
            .seal(&opened.round, &next.questions(), next.state.as_deref())
            .expect(&next.name);
        let (payload, context) = recorder.seen();
        assert_eq!(payload, next.payload, "{}", next.name);
        assert_eq!(context, next.context, "{}", next.name);
        chains += 1;
    }
    assert_eq!(chains, 3);
}

/// The first round too, but for the flow, which is random.
#[test]
fn a_first_round_is_as_written_but_for_its_flow() {
    for vector in Vectors::read().rounds() {
        if vector.round != 1 {
            continue;
        }
        let recorder = Recorder::new(vector.algorithm != "hmac-sha256");
        let boundary = vector.boundary(&recorder);
        let params: Value = serde_json::from_str(&vector.params).unwrap();
        let request = Request {
            version: &vector.version,
            method: &vector.method,
            params: &params,
            principal: vector.principal.as_deref(),
        };
        let opened = boundary.open(request, Token::Absent).unwrap();
        let sealed = boundary.seal(&opened.round, &vector.questions(), vector.state.as_deref());
        sealed.expect(&vector.name);
        let (payload, _) = recorder.seen();
        let flow = vector.payload.find(&vector.flow).unwrap();
        let end = flow + vector.flow.len();
        assert_eq!(payload[..flow], vector.payload[..flow], "{}", vector.name);
        assert_ne!(
            payload[flow..end],
            vector.payload[flow..end],
            "{}",
            vector.name
        );
        assert_eq!(payload[end..], vector.payload[end..], "{}", vector.name);
    }
}

#[test]
fn every_refused_round_has_the_reason_written() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let mut reasons = BTreeSet::new();
    for refused in &vectors.rounds_refused {
        let of = vectors
            .rounds
            .iter()
            .find(|round| round["name"] == *refused.of);
        let mut round = of.expect("a round of that name").clone();
        for (field, value) in &refused.changes {
            round[field] = value.clone();
        }
        round["name"] = format!("{}: {}", refused.of, refused.name).into();
        round["token"] = (*refused.token).into();
        let vector: RoundVector = serde_json::from_value(round).unwrap();
        for codec in vector.codecs(&keys) {
            let boundary = vector.boundary(codec);
            let mut message = vector.message();
            let mut opened = None;
            let event = logged(|| {
                opened = Some(boundary.open_request(&mut message, vector.principal.as_deref()));
            });
            let refusal = opened.unwrap().expect_err(&vector.name);
            assert_eq!(refusal.code(), -32602);
            let reason = format!("reason=\"{}\"", refused.reason);
            assert!(event.contains(&reason), "{}: {event}", vector.name);
        }
        reasons.insert(&*refused.reason);
    }
    assert_eq!(reasons.len(), 7, "{reasons:?}");
}

/// One layout is never taken for the other.
#[test]
fn a_sealer_opens_no_round() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for vector in vectors.rounds() {
        let params: Value = serde_json::from_str(&vector.params).unwrap();
        let binding = request_state::Binding::new(Request {
            version: &vector.version,
            method: &vector.method,
            params: &params,
            principal: vector.principal.as_deref(),
        })
        .unwrap();
        for codec in vector.codecs(&keys) {
            let sealer = Sealer::new(&vector.server, codec).unwrap();
            let event = logged(|| {
                let opened = sealer.open_at::<Value>(
                    &vector.token,
                    &binding,
                    UNIX_EPOCH + Duration::from_millis(vector.now_ms.unsigned_abs()),
                );
                assert!(opened.is_err(), "{}", vector.name);
            });
            assert!(
                event.contains("reason=\"malformed\""),
                "{}: {event}",
                vector.name
            );
        }
    }
}

#[test]
fn states_open_as_written() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for vector in &vectors.states {
        let exact = serde_json::from_str::<Value>("1e400").is_ok();
        if vector.only.as_deref() == Some("double build") && exact {
            continue;
        }
        let of = vectors
            .tokens()
            .find(|token| token.name == vector.of)
            .unwrap();
        for codec in of.codecs(&keys) {
            let sealer = of.sealer(codec, request_state::Disclosure::Typed);
            let now = UNIX_EPOCH + Duration::from_millis(of.now_ms.unsigned_abs());
            let opened = sealer.open_at::<Value>(&vector.token, &of.binding(), now);
            let expected = vector.opens_as.as_ref();
            let expected = expected.map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(opened.ok(), expected, "{}", vector.note);
        }
    }
}
