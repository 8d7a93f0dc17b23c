//! The flow of a request, and the layout of a token's body.
//!
//! The body of a boundary's token follows its claims:
//!
//! `flow[16] ‖ round[2] ‖ started_at_ms[8] ‖ questions ‖ state`
//!
//! Integers are big-endian. `questions` is the number of questions in 2 bytes and, for each question,
//! `kind[1] ‖ length[2] ‖ name`. `state` is `00` if there is none, or `01` and its bytes in UTF-8.

use std::fmt;

use super::question::{Question, QuestionKind};
use crate::once;
use crate::sealer::SealError;

/// The maximum number of questions in one round.
const MAX_QUESTIONS: usize = 256;

/// The maximum length of all names of one round together, in bytes.
const MAX_NAMES: usize = 16 * 1024;

/// The length of a flow id, in bytes.
pub(super) const FLOW_LEN: usize = 16;

/// The id of a flow: all rounds from the first question to the final answer of one request.
///
/// The id is drawn at random when the first question of a flow is sealed. Tokens carry it from round to round.
/// A client cannot choose it, but can begin any number of flows. It is not secret: the holder of an HMAC token
/// can read it.
///
/// # As an idempotency key
///
/// Use the flow id together with the effect's own name, such as `transfer`, as the idempotency key of an effect
/// outside the server. Do not use the round: two branches of one flow can reach the effect in different rounds.
/// Do not use a digest of the answers either: each branch would pay once. If the provider rejects the key
/// because it was used with other content, treat the effect as done.
///
/// ```
/// # use request_state_core::FlowId;
/// # fn example(flow: FlowId) {
/// let idempotency_key = format!("transfer:{flow}"); // 32 hexadecimal digits
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId([u8; FLOW_LEN]);

impl FlowId {
    pub(super) fn from_bytes(bytes: [u8; FLOW_LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the 16 bytes of the id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for FlowId {
    /// Formats the id as 32 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The position in a flow: the last round that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) flow: FlowId,
    /// The number of the round, counted from 1.
    pub(super) round: u16,
    pub(super) started_at_ms: u64,
}

impl Position {
    /// Returns the id under which a store keeps that this round was redeemed. Branches of a round share the id.
    pub(super) fn redemption_id(self) -> [u8; 32] {
        once::round_id(self.flow.as_bytes(), self.round)
    }
}

/// The body of a boundary's token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body<'a> {
    pub(super) position: Position,
    pub(super) asked: Vec<Question<'a>>,
    pub(super) state: Option<&'a str>,
}

impl<'a> Body<'a> {
    /// Parses a body. Returns `None` if it does not have the layout that [`write`] writes.
    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        let (flow, rest) = body.split_first_chunk()?;
        let (round, rest) = rest.split_first_chunk()?;
        let (started_at_ms, rest) = rest.split_first_chunk()?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let count = usize::from(u16::from_be_bytes(*count));
        if count > MAX_QUESTIONS {
            return None;
        }
        let mut asked = Vec::with_capacity(count);
        for _ in 0..count {
            let (&[kind], tail) = rest.split_first_chunk()?;
            let (length, tail) = tail.split_first_chunk()?;
            let (name, tail) = tail.split_at_checked(u16::from_be_bytes(*length).into())?;
            let name = std::str::from_utf8(name).ok()?;
            asked.push(Question::new(name, QuestionKind::from_byte(kind)?));
            rest = tail;
        }
        let state = match rest.split_first()? {
            (0, []) => None,
            (1, state) => Some(std::str::from_utf8(state).ok()?),
            _ => return None,
        };
        Some(Self {
            position: Position {
                flow: FlowId(*flow),
                round: u16::from_be_bytes(*round),
                started_at_ms: u64::from_be_bytes(*started_at_ms),
            },
            asked,
            state,
        })
    }
}

/// Appends the body of a token to `payload`.
pub(super) fn write(
    payload: &mut Vec<u8>,
    position: Position,
    asked: &[Question<'_>],
    state: Option<&str>,
) -> Result<(), SealError> {
    let too_many = SealError::TooManyQuestions {
        count: asked.len(),
        limit: MAX_QUESTIONS,
    };
    if asked.len() > MAX_QUESTIONS {
        return Err(too_many);
    }
    let count = u16::try_from(asked.len()).map_err(|_| too_many)?;
    let length = asked.iter().fold(0, |length: usize, question| {
        length.saturating_add(question.name().len())
    });
    let too_long = || SealError::NamesTooLong {
        length,
        limit: MAX_NAMES,
    };
    if length > MAX_NAMES {
        return Err(too_long());
    }
    payload.extend_from_slice(position.flow.as_bytes());
    payload.extend_from_slice(&position.round.to_be_bytes());
    payload.extend_from_slice(&position.started_at_ms.to_be_bytes());
    payload.extend_from_slice(&count.to_be_bytes());
    for question in asked {
        let name = question.name();
        let length = u16::try_from(name.len()).map_err(|_| too_long())?;
        payload.push(question.kind() as u8);
        payload.extend_from_slice(&length.to_be_bytes());
        payload.extend_from_slice(name.as_bytes());
    }
    payload.push(u8::from(state.is_some()));
    if let Some(state) = state {
        payload.extend_from_slice(state.as_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind() -> impl Strategy<Value = QuestionKind> {
        prop_oneof![
            Just(QuestionKind::ElicitationForm),
            Just(QuestionKind::ElicitationUrl),
            Just(QuestionKind::Sampling),
            Just(QuestionKind::Roots),
        ]
    }

    fn position() -> impl Strategy<Value = Position> {
        any::<([u8; FLOW_LEN], u16, u64)>().prop_map(|(flow, round, started_at_ms)| Position {
            flow: FlowId(flow),
            round,
            started_at_ms,
        })
    }

    proptest! {
        #[test]
        fn a_body_reads_back_and_no_part_of_it_does(
            position in position(),
            asked in proptest::collection::vec((".{0,40}", kind()), 0..5),
            state in proptest::option::of(".{0,40}"),
        ) {
            let asked: Vec<_> = asked
                .iter()
                .map(|(name, kind)| Question::new(name.as_str(), *kind))
                .collect();
            let mut body = Vec::new();
            write(&mut body, position, &asked, state.as_deref()).unwrap();
            let read = Body::read(&body).unwrap();
            prop_assert_eq!(read.position, position);
            prop_assert_eq!(&read.asked, &asked);
            prop_assert_eq!(read.state, state.as_deref());
            let before_state = body.len() - state.as_ref().map_or(0, String::len);
            for end in 0..before_state {
                prop_assert_eq!(Body::read(&body[..end]), None);
            }
            if state.is_none() {
                body.push(b'x');
                prop_assert_eq!(Body::read(&body), None);
            }
        }

        /// Changes one byte of a body: to a value that may have a meaning, or to any value.
        #[test]
        fn a_changed_body_reads_as_what_it_spells_or_not_at_all(
            position in position(),
            state in proptest::option::of("[a-z]{0,4}"),
            at in any::<proptest::sample::Index>(),
            byte in prop_oneof![0..5u8, any::<u8>()],
        ) {
            let asked = [Question::new("ab", QuestionKind::Roots), Question::new("", QuestionKind::Sampling)];
            let mut body = Vec::new();
            write(&mut body, position, &asked, state.as_deref()).unwrap();
            // After the position, of which any bytes are valid.
            let start = FLOW_LEN + 2 + 8;
            let at = start + at.index(body.len() - start);
            body[at] = byte;
            if let Some(read) = Body::read(&body) {
                let mut again = Vec::new();
                write(&mut again, read.position, &read.asked, read.state).unwrap();
                prop_assert_eq!(again, body);
            }
        }
    }

    const START: Position = Position {
        flow: FlowId([7; FLOW_LEN]),
        round: 1,
        started_at_ms: 0,
    };

    #[test]
    fn questions_and_their_names_are_bounded() {
        let sealed = |asked: &[Question<'_>]| write(&mut Vec::new(), START, asked, None);
        let short = Question::new("a", QuestionKind::Roots);
        assert!(sealed(&vec![short.clone(); 256]).is_ok());
        let error = sealed(&vec![short; 257]).unwrap_err();
        let expected = "inputRequests has 257 entries; the maximum is 256";
        assert_eq!(error.to_string(), expected);

        let long = "n".repeat(16 * 1024);
        let long = Question::new(long.as_str(), QuestionKind::Roots);
        assert!(sealed(std::slice::from_ref(&long)).is_ok());
        let error = sealed(&[long, Question::new("x", QuestionKind::Roots)]).unwrap_err();
        let expected =
            "the names in inputRequests are 16385 bytes long together; the maximum is 16384";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_flow_prints_as_hexadecimal_digits() {
        let mut bytes = [0; FLOW_LEN];
        bytes[1] = 0xab;
        let flow = FlowId(bytes);
        assert_eq!(flow.to_string(), "00ab0000000000000000000000000000");
        assert_eq!(format!("{flow:?}"), flow.to_string());
    }
}
