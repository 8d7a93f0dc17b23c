//! The tokens of a boundary: those that open, and those that do not.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use request_state::{
    Binding, Boundary, DecodeError, Disclosure, EncodeError, Question, QuestionKind,
    RequestStateCodec, Round, SealError, Sealer, Token, wire,
};
use serde_json::{Value, json};

use crate::file::{ALGORITHMS, RoundVector, Vectors, logged, parsed};
use crate::recorder::{Recorder, hex, unhex};

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
        let sealer = Sealer::builder(&self.server, codec)
            .ttl(Duration::from_millis(self.ttl_ms))
            .anonymous_ttl(Duration::from_millis(self.anonymous_ttl_ms))
            .max_token_len(self.max_token_len.unwrap_or(65_536));
        Boundary::new(sealer.clock(clock).build().unwrap())
            .max_flow(Duration::from_millis(self.max_flow_ms))
            .max_rounds(u16::MAX)
            .restart_expired(false)
    }

    /// The token as a client sends it, as JSON-RPC.
    fn message(&self) -> Value {
        let mut params = parsed(&self.params);
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
        let asked = round.asked();
        assert!(asked.is_sorted_by_key(Question::name), "{}", self.name);
        // A name may be there twice.
        let sorted = |questions: &[Question<'_>]| {
            let questions = questions.iter();
            let mut questions: Vec<_> = questions
                .map(|question| (question.name().to_owned(), question.kind() as u8))
                .collect();
            questions.sort_unstable();
            questions
        };
        assert_eq!(sorted(asked), sorted(&self.questions()), "{}", self.name);
        for question in asked {
            assert!(round.is_asked(question.name()), "{}", self.name);
        }
    }
}

/// From a minute before it was sealed, to the last millisecond before the expiry, at a limit of just
/// its length.
#[test]
fn every_round_opens_in_its_time() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    let mut algorithms = BTreeSet::new();
    for mut vector in vectors.rounds() {
        vector.max_token_len = Some(vector.token.len());
        let (now, end) = (vector.now_ms, vector.expires_at_ms);
        for now in [now - 60_000, now, end - 1] {
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
    assert!(algorithms.iter().eq(&ALGORITHMS));
}

#[test]
fn every_codec_of_the_algorithm_decodes_the_rounds() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for vector in vectors.rounds() {
        let (_, body) = wire::split_kid(&vector.token).unwrap();
        let body = wire::decode_base64url(body.split('.').next().unwrap()).unwrap();
        assert!(hex(&body).starts_with(&vector.nonce), "{}", vector.name);
        let context = unhex(&vector.context);
        for codec in vector.codecs(&keys) {
            let payload = codec.decode(&vector.token, &context);
            assert_eq!(hex(&payload.expect(&vector.name)), vector.payload);
        }
    }
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
        let params = parsed(&next.params);
        let opened = boundary.open(next.request(&params), Token::Text("k."));
        let opened = opened.expect(&next.name);
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
        let params = parsed(&vector.params);
        let opened = boundary.open(vector.request(&params), Token::Absent);
        let opened = opened.expect(&vector.name);
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
            assert_eq!(refusal.response()["error"], vectors.error);
            let reason = format!("reason=\"{}\"", refused.reason);
            assert!(event.contains(&reason), "{}: {event}", vector.name);
        }
        reasons.insert(&*refused.reason);
    }
    // All but `unavailable`, which is no token's doing, and `state`: that of a round is any text.
    assert_eq!(reasons.len(), 9, "{reasons:?}");
}

/// One layout is never taken for the other.
#[test]
fn a_sealer_opens_no_round() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for vector in vectors.rounds() {
        let params = parsed(&vector.params);
        let binding = Binding::new(vector.request(&params)).unwrap();
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
fn a_boundary_opens_no_state() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for token in vectors.tokens() {
        let params = parsed(&token.params);
        for codec in token.codecs(&keys) {
            let boundary = Boundary::new(Sealer::new(&token.server, codec).unwrap());
            let event = logged(|| {
                let opened = boundary.open(token.request(&params), Token::Text(&token.token));
                assert!(opened.is_err(), "{}", token.name);
            });
            let malformed = event.contains("reason=\"malformed\"");
            assert!(malformed, "{}: {event}", token.name);
        }
    }
}

/// At a limit of just its length, and not at a byte less.
#[test]
fn the_limit_holds_at_seal_too() {
    let vectors = Vectors::read();
    let keys = vectors.keyring();
    for mut vector in vectors.rounds() {
        let params = parsed(&vector.params);
        let longest = vector.token.len();
        for limit in [longest, longest - 1] {
            vector.max_token_len = Some(limit);
            for codec in vector.codecs(&keys) {
                let boundary = vector.boundary(codec);
                let opened = boundary.open(vector.request(&params), Token::Absent);
                let round = opened.expect(&vector.name).round;
                match boundary.seal(&round, &vector.questions(), vector.state.as_deref()) {
                    Ok(sealed) => assert_eq!((sealed.len(), limit), (longest, longest)),
                    Err(SealError::TooLong { length, .. }) => {
                        assert_eq!((length, limit), (longest, longest - 1), "{}", vector.name);
                    }
                    Err(error) => panic!("{}: {error}", vector.name),
                }
            }
        }
    }
}

/// Cannot tell whether a token is authentic, and seals nothing.
struct Outage;

impl RequestStateCodec for Outage {
    fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> {
        Err(EncodeError::Unavailable("no connection".into()))
    }

    fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError::Unavailable("no connection".into()))
    }

    fn encrypts(&self) -> bool {
        true
    }
}

#[test]
fn an_outage_is_answered_as_written() {
    let vectors = Vectors::read();
    let vector = vectors.rounds().next().unwrap();
    let principal = vector.principal.as_deref();
    let boundary = vector.boundary(Outage);
    let mut message = vector.message();
    let mut refusal = None;
    let event = logged(|| refusal = boundary.open_request(&mut message, principal).err());
    let refusal = refusal.expect("nothing is known about the token");
    assert_eq!(refusal.response()["error"], vectors.outage);
    assert!(event.contains("reason=\"unavailable\""), "{event}");

    // The state has been removed: without one, the request goes on, and its result fails.
    let round = boundary.open_request(&mut message, principal).unwrap();
    let result = json!({"resultType": "input_required", "requestState": "plain"});
    let mut response = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    boundary.seal_response(&round, &mut response);
    let written = json!({"jsonrpc": "2.0", "id": 1, "error": vectors.outage});
    assert_eq!(response, written);
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
            let sealer = of.sealer(codec, Disclosure::Typed);
            let now = UNIX_EPOCH + Duration::from_millis(of.now_ms.unsigned_abs());
            let opened = sealer.open_at::<Value>(&vector.token, &of.binding(), now);
            let expected = vector.opens_as.as_ref();
            let expected = expected.map(|text| parsed(text));
            assert_eq!(opened.ok(), expected, "{}", vector.note);
        }
    }
}
