//! The API for frameworks that have requests as types of their own.

use std::time::Duration;

use serde::Serialize;

use super::flow::{self, Body, FLOW_LEN, FlowId, Position};
use super::question::Question;
use super::round::{Kind, Opened, Round};
use super::sender::{Incoming, Token};
use super::{Boundary, Refusal, json_rpc};
use crate::binding::{Binding, BindingError};
use crate::claims::Layout;
use crate::codec::{EncodeError, RequestStateCodec};
use crate::log::{Event, RequestId, cut};
use crate::reason::Reason;
use crate::sealer::{CLOCK_SKEW_MS, SealError, milliseconds};
use crate::wire;

/// What came with a request.
#[derive(Default)]
struct Found {
    state: Option<String>,
    position: Option<Position>,
    asked: Vec<Question<'static>>,
    restarted_from: Option<FlowId>,
}

/// Why a token did not open.
enum Rejected {
    /// It is authentic, for this request and principal, and too late.
    Expired {
        flow: FlowId,
        late_ms: u64,
    },
    For(Reason),
}

impl From<Reason> for Rejected {
    fn from(reason: Reason) -> Self {
        Self::For(reason)
    }
}

impl<C: RequestStateCodec> Boundary<C> {
    /// Returns `true` if requests of `method` may carry a state, that is, if it is exactly
    /// `tools/call`, `prompts/get` or `resources/read`.
    #[must_use]
    pub fn covers(&self, method: &str) -> bool {
        json_rpc::covered(method).is_some()
    }

    /// Digests `request` and opens the `token` that came with it, if any.
    ///
    /// For frameworks: call it for each request of a method that is [covered](Self::covers), with
    /// the params as they arrived. `request` is a [`Request`](crate::Request), or an [`Incoming`]
    /// with the JSON-RPC id for the log. The [`version`](Self::version) of the boundary is not used
    /// here. An empty version means that the request has none.
    ///
    /// The handler must see [`Opened::state`] in the place of the token, and of the answers only
    /// what [`answers`](Self::answers) keeps. If your framework hands messages without an id, or
    /// batches, to the same handlers, remove both from those.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when there is a token and it does not open, or the request cannot be bound, or
    /// nothing is known about the token because the codec cannot tell. Without a token this never
    /// fails.
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
        let incoming = request.into();
        let bound = incoming.bind(self.require_principal);
        let Incoming { request, id, .. } = incoming;
        let version = Some(request.version).filter(|version| !version.is_empty());
        self.open_bound(request.method, bound, version, id, token)
    }

    /// Opens `token` for a request that is bound, or that cannot be.
    pub(super) fn open_bound(
        &self,
        method: &str,
        bound: Result<Binding, BindingError>,
        version: Option<&str>,
        id: Option<RequestId>,
        token: Token<'_>,
    ) -> Result<Opened, Refusal> {
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
                let round = Round::of(Kind::Unbound { error, version }, covered, id);
                return Ok(Opened { round, state: None });
            }
        };
        let found = match token.map(|token| (token, self.open_token(&binding, token))) {
            None => Found::default(),
            Some((_, Ok(found))) => found,
            Some((_, Err(Rejected::Expired { flow, late_ms }))) if self.restart_expired => {
                event.served(Reason::Restarted(late_ms));
                Found {
                    restarted_from: Some(flow),
                    ..Found::default()
                }
            }
            Some((token, Err(rejected))) => {
                let reason = match rejected {
                    Rejected::Expired { late_ms, .. } => Reason::Expired(late_ms),
                    Rejected::For(reason) => reason,
                };
                event.rejected(reason, Some(token));
                return Err(match reason {
                    Reason::Unavailable(_) => Refusal::unavailable(),
                    _ => Refusal::rejected(),
                });
            }
        };
        let round = Round {
            position: found.position,
            asked: found.asked,
            restarted_from: found.restarted_from,
            ..Round::of(Kind::Request(binding), covered, id)
        };
        let state = found.state;
        Ok(Opened { round, state })
    }

    fn open_token(&self, binding: &Binding, token: &str) -> Result<Found, Rejected> {
        let payload = self.sealer.decode(token, binding)?;
        let claims = self.sealer.claims(&payload, Layout::Round)?;
        let body = Body::read(claims.body).ok_or(Reason::Malformed)?;
        claims.check(binding)?;
        let now_ms = milliseconds(self.sealer.now());
        let position = body.position;
        let end_ms = position.started_at_ms.saturating_add(self.max_flow_ms);
        let (expires_at_ms, flow) = (claims.expires_at_ms, position.flow);
        self.sealer
            .check_time(expires_at_ms, Some(end_ms), binding, now_ms)
            .map_err(|reason| match reason {
                Reason::Expired(late_ms) => Rejected::Expired { flow, late_ms },
                reason => Rejected::For(reason),
            })?;
        let latest_ms = now_ms.map(|now_ms| now_ms.saturating_add(CLOCK_SKEW_MS));
        if latest_ms.is_none_or(|latest_ms| position.started_at_ms > latest_ms) {
            return Err(Reason::MintedInFuture.into());
        }
        let mut asked: Vec<_> = body.asked.into_iter().map(Question::into_owned).collect();
        asked.sort_unstable_by(|one, other| one.name().cmp(other.name()));
        Ok(Found {
            state: body.state.map(str::to_owned),
            position: Some(position),
            asked,
            restarted_from: None,
        })
    }

    /// Seals what the handler asks in its answer to the request of `round`: the names and kinds of
    /// the `questions`, and the `plain` state if it wrote one.
    ///
    /// The client gets the token as `requestState`, also where the handler wrote no state: the token
    /// says what was asked.
    ///
    /// # Errors
    ///
    /// A [`SealError`], which has been logged. Answer the client with the error -32603 and without
    /// detail.
    pub fn seal(
        &self,
        round: &Round,
        questions: &[Question<'_>],
        plain: Option<&str>,
    ) -> Result<String, SealError> {
        self.try_seal(round, questions, plain)
            .inspect_err(|error| self.event(round).not_sealed(error))
    }

    pub(super) fn try_seal(
        &self,
        round: &Round,
        questions: &[Question<'_>],
        plain: Option<&str>,
    ) -> Result<String, SealError> {
        let binding = round.binding()?;
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

    /// The round after that of the token that came with the request, or the first of a new flow.
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

    /// An event about the request of `round`.
    pub(super) fn event<'a>(&'a self, round: &'a Round) -> Event<'a> {
        Event {
            server: self.sealer.server(),
            version: round.version(),
            method: round.method,
            id: round.id.as_ref(),
        }
    }
}

fn new_flow() -> Result<FlowId, EncodeError> {
    wire::random::<FLOW_LEN>().map(FlowId::from_bytes)
}
