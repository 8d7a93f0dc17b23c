//! The API for frameworks that have their own types for requests.

use std::time::Duration;

use serde::Serialize;

use super::flow::{self, Body, FLOW_LEN, FlowId, Position};
use super::json_rpc;
use super::question::Question;
use super::refusal::Refusal;
use super::round::{Kind, Opened, Round};
use super::sender::{Incoming, Token};
use super::settings::Boundary;
use crate::binding::Binding;
use crate::claims::Layout;
use crate::codec::{EncodeError, RequestStateCodec};
use crate::log::{Event, cut};
use crate::once::keep_until_ms;
use crate::reason::Reason;
use crate::sealer::{CLOCK_SKEW_MS, SealError, milliseconds};
use crate::wire;

/// A request whose token was checked. Whether it starts over is decided later: with single use, the store is
/// asked first.
pub(super) struct Checked {
    /// The round, without the data of the token.
    pub(super) round: Round,
    pub(super) presented: Option<Presented>,
}

/// An authentic token for this request and principal. It may have expired.
pub(super) struct Presented {
    pub(super) position: Position,
    /// Sorted by name.
    pub(super) asked: Vec<Question<'static>>,
    state: Option<String>,
    /// The time from which no token of the flow opens on any replica.
    pub(super) keep_until_ms: u64,
    /// The time at which the token was opened.
    pub(super) now_ms: u64,
    /// The time since the token's expiry, if it has expired.
    pub(super) late_ms: Option<u64>,
}

impl<C: RequestStateCodec> Boundary<C> {
    /// Returns `true` if requests of `method` may carry a state. This is the case for exactly `tools/call`,
    /// `prompts/get` and `resources/read`.
    #[must_use]
    pub fn covers(&self, method: &str) -> bool {
        json_rpc::covered(method).is_some()
    }

    /// Digests `request` and opens the `token` that came with it, if any.
    ///
    /// For frameworks: call this for each request of a [covered](Self::covers) method, with the params as they
    /// arrived. `request` is a [`Request`](crate::Request) or an [`Incoming`]. Use an [`Incoming`] to pass the
    /// JSON-RPC id for the log, and for a request without a version or with an unidentified sender.
    ///
    /// Pass [`Opened::state`] to the handler in place of the token, and only those answers that
    /// [`answers`](Self::answers) keeps. If your framework passes messages without an id, or batches, to the
    /// same handlers, remove the state and the answers from those.
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`] if there is a token and one of these is true: the token does not open, the request
    /// cannot be bound, or the codec is unavailable. Without a token, this never fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use request_state_core::*;
    /// use serde_json::{Value, json};
    ///
    /// /// Returns the result, or code, message and data of an error.
    /// fn call<C: RequestStateCodec>(
    ///     boundary: &Boundary<C>,
    ///     params: &Value,
    ///     user: &str,
    /// ) -> Result<Value, (i32, &'static str, Option<Value>)> {
    ///     let request = Request {
    ///         version: "2026-07-28",
    ///         method: "tools/call",
    ///         params,
    ///         principal: Some(user),
    ///     };
    ///     let token = Token::from(params.get("requestState"));
    ///     let Opened { round, state, .. } = boundary
    ///         .open(request, token)
    ///         .map_err(|refusal| (refusal.code(), refusal.message(), refusal.data()))?;
    ///     let mut answers = boundary.answers(&round);
    ///     let answer = params.pointer("/inputResponses/confirm");
    ///     if let Some(answer) = answer.filter(|answer| answers.keeps("confirm", answer)) {
    ///         let said = &answer["action"]; // accept, decline or cancel
    ///         return Ok(json!({"resultType": "complete", "was": state, "said": said}));
    ///     }
    ///     let questions = [Question::new("confirm", QuestionKind::ElicitationForm)];
    ///     let token = boundary
    ///         .seal(&round, &questions, Some("my state"))
    ///         .map_err(|_| (-32603, "Internal error", None))?;
    ///     Ok(json!({"resultType": "input_required", "requestState": token})) // and inputRequests
    /// }
    /// ```
    pub fn open<'a, P>(
        &self,
        request: impl Into<Incoming<'a, P>>,
        token: Token<'_>,
    ) -> Result<Opened, Refusal>
    where
        P: Serialize + ?Sized + 'a,
    {
        self.settle(self.check(request.into(), token)?, || token)
    }

    /// Digests a request and checks its token.
    pub(super) fn check<P>(
        &self,
        incoming: Incoming<'_, P>,
        token: Token<'_>,
    ) -> Result<Checked, Refusal>
    where
        P: Serialize + ?Sized,
    {
        let version = incoming.sender().version_or(self.version.as_deref());
        let bound = incoming.bind(version, self.require_principal);
        let (method, id) = (incoming.method(), incoming.id);
        // An empty version is an error, and is not logged.
        let version = version.filter(|version| !version.is_empty());
        let event = Event {
            server: self.sealer.server(),
            version,
            method: Some(method),
            id: id.as_ref(),
        };
        let covered = json_rpc::covered(method);
        let token = match token {
            Token::Absent => None,
            Token::Text(token) => Some(token),
            Token::NotAString => {
                event.rejected(Reason::NotAString, None);
                return Err(Refusal::rejected());
            }
        };
        let binding = match (bound, token) {
            (Ok(binding), _) => binding,
            (Err(error), Some(_)) => {
                event.not_bound(error.reason(), &error);
                return Err(Refusal::rejected());
            }
            (Err(error), None) => {
                let version = version.map(|version| cut(version).into());
                return Ok(Checked {
                    round: Round::of(Kind::Unbound { error, version }, covered, id),
                    presented: None,
                });
            }
        };
        let presented = token.map(|token| self.open_token(&binding, token));
        let presented = presented.transpose().map_err(|reason| {
            event.rejected(reason, token);
            match reason {
                Reason::Unavailable(_) => Refusal::unavailable(),
                _ => Refusal::rejected(),
            }
        })?;
        Ok(Checked {
            round: Round::of(Kind::Request(binding), covered, id),
            presented,
        })
    }

    /// Accepts a checked request with its state. If its token has expired, starts over or rejects the request.
    /// `token` is for the log of a rejection.
    pub(super) fn settle<'t>(
        &self,
        checked: Checked,
        token: impl FnOnce() -> Token<'t>,
    ) -> Result<Opened, Refusal> {
        let Checked {
            mut round,
            presented,
        } = checked;
        let Some(presented) = presented else {
            return Ok(Opened { round, state: None });
        };
        round.keep_until_ms = Some(presented.keep_until_ms);
        let Some(late_ms) = presented.late_ms else {
            round.position = Some(presented.position);
            round.asked = presented.asked;
            let state = presented.state;
            return Ok(Opened { round, state });
        };
        if !self.restart_expired {
            self.event(&round)
                .rejected(Reason::Expired(late_ms), token().text());
            return Err(Refusal::rejected());
        }
        self.event(&round).served(Reason::Restarted(late_ms));
        round.restarted_from = Some(presented.position);
        Ok(Opened { round, state: None })
    }

    fn open_token(&self, binding: &Binding, token: &str) -> Result<Presented, Reason> {
        let payload = self.sealer.decode(token, binding)?;
        let claims = self.sealer.claims(&payload, Layout::Round)?;
        let body = Body::read(claims.body).ok_or(Reason::Malformed)?;
        claims.check(binding)?;
        let position = body.position;
        let now_ms = milliseconds(self.sealer.now()).ok_or(Reason::MintedInFuture)?;
        let end_ms = position.started_at_ms.saturating_add(self.max_flow_ms);
        let expires_at_ms = claims.expires_at_ms;
        let in_time = self
            .sealer
            .check_time(expires_at_ms, Some(end_ms), binding, now_ms);
        let late_ms = match in_time {
            Ok(()) => None,
            Err(Reason::Expired(late_ms)) => Some(late_ms),
            Err(reason) => return Err(reason),
        };
        if late_ms.is_none() && position.started_at_ms > now_ms.saturating_add(CLOCK_SKEW_MS) {
            return Err(Reason::MintedInFuture);
        }
        let mut asked: Vec<_> = body.asked.into_iter().map(Question::into_owned).collect();
        asked.sort_unstable_by(|one, other| one.name().cmp(other.name()));
        Ok(Presented {
            position,
            asked,
            state: body.state.map(str::to_owned),
            // A token that was sealed under a longer `max_flow` may outlive this boundary's limit.
            keep_until_ms: keep_until_ms(end_ms.max(expires_at_ms)),
            now_ms,
            late_ms,
        })
    }

    /// Seals the names and kinds of the `questions` that the handler asks in its response to the request of
    /// `round`, and the `plain` state if the handler wrote one.
    ///
    /// Send the token to the client as `requestState`, even if the handler wrote no state: the token contains
    /// the names and kinds of the questions.
    ///
    /// # Errors
    ///
    /// Returns a [`SealError`], which has been logged. Send the client the error -32603 without detail.
    pub fn seal(
        &self,
        round: &Round,
        questions: &[Question<'_>],
        plain: Option<&str>,
    ) -> Result<String, SealError> {
        self.try_seal(round, questions, plain)
            .inspect_err(|error| self.event(round).not_sealed(error.reason(), error))
    }

    pub(super) fn try_seal(
        &self,
        round: &Round,
        questions: &[Question<'_>],
        plain: Option<&str>,
    ) -> Result<String, SealError> {
        let binding = round.binding()?;
        let seal = || self.seal_next(round, binding, questions, plain);
        match &round.claim {
            // If the round were released, its token could be answered again next to the new token: two
            // branches, and two effects.
            Some(claim) => claim.ask(seal),
            None => seal(),
        }
    }

    /// Seals the token of the next round.
    fn seal_next(
        &self,
        round: &Round,
        binding: &Binding,
        questions: &[Question<'_>],
        plain: Option<&str>,
    ) -> Result<String, SealError> {
        if questions.is_empty() && plain.is_none() {
            return Err(SealError::NothingAsked);
        }
        let now_ms = milliseconds(self.sealer.now()).ok_or(SealError::Clock)?;
        let position = self.next_position(round, now_ms)?;
        let expires_at_ms = now_ms
            .checked_add(self.sealer.ttl_ms(binding))
            .ok_or(SealError::Clock)?
            .min(position.started_at_ms.saturating_add(self.max_flow_ms));
        if expires_at_ms <= now_ms {
            return Err(SealError::Flow {
                limit: Duration::from_millis(self.max_flow_ms),
            });
        }
        self.sealer
            .seal_body(Layout::Round, expires_at_ms, binding, |payload| {
                flow::write(payload, position, questions, plain)
            })
    }

    /// Returns the position after that of the request's token, or the first position of a new flow.
    fn next_position(&self, round: &Round, now_ms: u64) -> Result<Position, SealError> {
        let limit = self.max_rounds;
        let last = round.position.map_or(0, |position| position.round);
        let next = last.checked_add(1).filter(|next| *next <= limit);
        let next = next.ok_or(SealError::Rounds { limit })?;
        match round.position {
            Some(position) => Ok(Position {
                round: next,
                ..position
            }),
            None => Ok(Position {
                flow: new_flow().map_err(SealError::Codec)?,
                round: next,
                started_at_ms: now_ms,
            }),
        }
    }

    /// Returns an event about the request of `round`.
    pub(super) fn event<'a>(&'a self, round: &'a Round) -> Event<'a> {
        Event {
            server: self.sealer.server(),
            version: round.version(),
            method: round.method(),
            id: round.id.as_ref(),
        }
    }
}

fn new_flow() -> Result<FlowId, EncodeError> {
    wire::random::<FLOW_LEN>().map(FlowId::from_bytes)
}
