//! Keeping answers, and repeating them.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::again::{AnswerAgain, Kept, Outcome, Reply};
use super::settings::OnceBoundary;
use crate::boundary::held::Held;
use crate::boundary::refusal::Refusal;
use crate::boundary::round::Round;
use crate::codec::{DecodeError, RequestStateCodec};
use crate::log::Event;
use crate::once::{Claim, Entry};
use crate::reason::{Reason, io_kind};
use crate::wire::push_prefixed;

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Keeps the answer to the request of `round` for its repetitions, if [answers are
    /// repeated](Self::answer_again) and the round was redeemed.
    ///
    /// For frameworks: call this after [`seal`](crate::Boundary::seal) and before you send the answer, with the
    /// `result` or with the JSON-RPC `error` object. If the answer cannot be kept, that is logged, and you can
    /// send it nevertheless.
    pub async fn keep_answer<R, E>(&self, round: &Round, answer: Result<&R, &E>)
    where
        R: Serialize + ?Sized,
        E: Serialize + ?Sized,
    {
        if self.again.is_none() || round.claim.is_none() {
            return;
        }
        let outcome = match answer {
            Ok(result) => serde_json::to_value(result).map(Outcome::Result),
            Err(error) => serde_json::to_value(error).map(Outcome::Error),
        };
        match &outcome {
            Ok(Outcome::Result(result)) => self.keep(round, Outcome::Result(result)).await,
            Ok(Outcome::Error(error)) => self.keep(round, Outcome::Error(error)).await,
            Err(_) => self.not_kept(round, &"the answer is not JSON"),
        }
    }

    pub(super) async fn keep(&self, round: &Round, outcome: Outcome<&Value>) {
        let (Some(policy), Some(held)) = (&self.again, &round.claim) else {
            return;
        };
        if held.is_released() {
            return;
        }
        let sealed = match self.seal_answer(policy, held, &outcome) {
            Ok(sealed) => sealed,
            Err(cause) => {
                self.not_kept(round, &cause);
                // An empty answer means that the handler is done: the outcome is unknown at once.
                drop(held.store.record(&held.id, &held.nonce, b"").await);
                return;
            }
        };
        let recorded = held.store.record(&held.id, &held.nonce, sealed.as_bytes());
        match recorded.await {
            Ok(true) => {}
            Ok(false) => self.not_kept(round, &"the claim is gone from the store"),
            Err(error) => self.not_kept(round, &error),
        }
    }

    pub(super) fn not_kept(&self, round: &Round, cause: &dyn fmt::Display) {
        self.boundary.event(round).not_kept(cause);
    }

    fn seal_answer(
        &self,
        policy: &AnswerAgain,
        held: &Held,
        outcome: &Outcome<&Value>,
    ) -> Result<String, String> {
        let payload = outcome.write().map_err(|_| "the answer is not JSON")?;
        let (_kind, json) = payload.split_first().ok_or("the answer is empty")?;
        let (length, limit) = (json.len(), policy.max_len);
        if length > limit {
            return Err(format!(
                "the answer is {length} bytes long; the maximum is {limit}"
            ));
        }
        let context = self.answer_context(&held.id, &held.presentation);
        let sealed = self.boundary.sealer.codec().encode(&payload, &context);
        sealed.map_err(|error| error.to_string())
    }

    /// Returns the context of a kept answer: `lp(label) ‖ lp(server) ‖ id ‖ presentation`.
    ///
    /// A token's context is `lp(version) ‖ lp(method) ‖ lp(server) ‖ ..`. A client chooses the version, so a
    /// token's context could begin with this label. For both contexts to be equal, the server would need the
    /// name of one of the three methods, and eight bytes of a digest would have to be a length.
    fn answer_context(&self, id: &[u8; 32], presentation: &[u8; 32]) -> Vec<u8> {
        let mut context = Vec::new();
        push_prefixed(&mut context, b"request-state v1 kept answer");
        push_prefixed(&mut context, self.boundary.server().as_bytes());
        context.extend_from_slice(id);
        context.extend_from_slice(presentation);
        context
    }

    /// Returns the reply to a repeated presentation of a redeemed round.
    pub(super) fn repeat(
        &self,
        policy: &AnswerAgain,
        claim: &Claim,
        entry: Entry,
        event: Event<'_>,
    ) -> Reply {
        let unknown = |cause: &str| {
            event.repeated(Reason::OutcomeUnknown, Some(&cause));
            Refusal::outcome_unknown().into()
        };
        let Some(sealed) = entry.answer else {
            if entry.age < policy.in_progress_limit {
                event.repeated(Reason::InProgress, None);
                return Refusal::in_progress().into();
            }
            return unknown("no answer was kept");
        };
        if sealed.is_empty() {
            return unknown("the answer could not be kept");
        }
        let context = self.answer_context(&claim.id, &claim.presentation);
        let opened = std::str::from_utf8(&sealed)
            .map_err(|_| DecodeError::Malformed)
            .and_then(|sealed| self.boundary.sealer.codec().decode(sealed, &context));
        match opened {
            Ok(payload) => match Outcome::read(&payload) {
                Some(outcome) => {
                    event.repeated(Reason::AnsweredAgain, None);
                    Reply::Kept(Kept {
                        id: Value::Null,
                        outcome,
                    })
                }
                None => unknown("the kept answer is not JSON"),
            },
            Err(DecodeError::Unavailable(error)) => {
                event.rejected(Reason::Unavailable(io_kind(&*error)), None);
                Refusal::unavailable().into()
            }
            Err(_) => unknown("the kept answer does not open; its key may be gone"),
        }
    }
}
