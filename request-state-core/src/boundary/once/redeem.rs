//! The redemption of a round, and the typed API with single use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::again::Reply;
use super::settings::OnceBoundary;
use crate::binding::BindingError;
use crate::boundary::held::Held;
use crate::boundary::question::Question;
use crate::boundary::refusal::Refusal;
use crate::boundary::round::Opened;
use crate::boundary::sender::{Incoming, Token};
use crate::boundary::typed::{Checked, Presented};
use crate::codec::RequestStateCodec;
use crate::log::Event;
use crate::once::{self, Claim, Claimed, Entry, StoreError};
use crate::reason::Reason;
use crate::sealer::milliseconds;
use crate::value;

/// A request whose token was checked and whose round is not redeemed yet.
pub(super) struct Arrived<'a> {
    pub(super) checked: Checked,
    pub(super) token: Token<'a>,
    /// The name of the tool or prompt, or the URI of the resource.
    pub(super) name: Option<&'a str>,
}

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Digests `request`, opens the `token` that came with it, as [`Boundary::open`] does, and redeems
    /// its round.
    ///
    /// `answers` are the names and values of `inputResponses`, as they arrived. A repetition has the same
    /// answers as the first presentation; only those that the handler may see are compared. Set
    /// [`Incoming::name`] if there is a [filter](Self::only).
    ///
    /// If the future is dropped before it completes, the round may have been redeemed.
    ///
    /// [`Boundary::open`]: crate::Boundary::open
    ///
    /// # Errors
    ///
    /// Returns a [`Reply`] if the handler must not see the request: a rejection, an outage, or the kept answer.
    pub async fn open<'a, 'v, P>(
        &self,
        request: impl Into<Incoming<'a, P>>,
        token: Token<'_>,
        answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<Opened, Reply>
    where
        P: Serialize + ?Sized + 'a,
    {
        let incoming = request.into();
        let name = incoming.name;
        let arrived = Arrived {
            checked: self.boundary.check(incoming, token)?,
            token,
            name,
        };
        self.redeem(arrived, answers).await
    }

    /// Redeems the round of the token that came with a request, if any.
    pub(super) async fn redeem<'v>(
        &self,
        arrived: Arrived<'_>,
        answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<Opened, Reply> {
        let Some(claim) = self.claim_for(&arrived, answers)? else {
            return Ok(self.boundary.settle(arrived.checked, || arrived.token)?);
        };
        let used = match claim {
            // A request that starts over closes the round. Otherwise, a replica whose clock is behind, or a
            // claim that is still on its way, could redeem the round next to the new flow.
            ToDo::Find(claim) if self.boundary.restart_expired => {
                let closing = Claim {
                    presentation: once::CLOSED,
                    ..claim.clone()
                };
                // Never released: another request may have found the round closed, and started over.
                match self.store.claim(&closing).await {
                    Ok(Claimed::First) => Ok(None),
                    Ok(Claimed::Used(entry)) if entry.presentation == once::CLOSED => Ok(None),
                    Ok(Claimed::Used(entry)) => Ok(Some((claim, entry))),
                    Err(error) => Err(error),
                }
            }
            ToDo::Find(claim) => {
                let found = self.store.find(&claim.id, claim.issued_at_ms).await;
                found.map(|entry| entry.map(|entry| (claim, entry)))
            }
            ToDo::Claim {
                claim,
                keep_until_ms,
            } => match self.claim_in_time(&claim, keep_until_ms).await {
                Ok(Claimed::Used(entry)) => Ok(Some((claim, entry))),
                Ok(Claimed::First) => {
                    let mut opened = self.boundary.settle(arrived.checked, || arrived.token)?;
                    let held = Held::new(Arc::clone(&self.store), &claim);
                    opened.round.claim = Some(Arc::new(held));
                    return Ok(opened);
                }
                Err(error) => Err(error),
            },
        };
        let event = self.boundary.event(&arrived.checked.round);
        match used {
            Ok(None) => Ok(self.boundary.settle(arrived.checked, || arrived.token)?),
            Ok(Some((claim, entry))) => Err(self.used(&claim, entry, event, arrived.token)),
            Err(error) => {
                event.unavailable(&error);
                Err(Refusal::unavailable().into())
            }
        }
    }

    async fn claim_in_time(
        &self,
        claim: &Claim,
        keep_until_ms: u64,
    ) -> Result<Claimed, StoreError> {
        let now_ms = || milliseconds(self.boundary.sealer.now());
        once::claim_in_time(&*self.store, claim, keep_until_ms, now_ms).await
    }

    /// Returns the request to the store, or `None` if the store need not be asked.
    fn claim_for<'v>(
        &self,
        arrived: &Arrived<'_>,
        answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<Option<ToDo>, Refusal> {
        let round = &arrived.checked.round;
        let (Some(presented), Some(token)) = (&arrived.checked.presented, arrived.token.text())
        else {
            return Ok(None);
        };
        if !self.redeems(round.method(), arrived.name) {
            return Ok(None);
        }
        // The time for keeping the entry is over, and no branch of the flow opens any more.
        if presented.late_ms.is_some() && presented.now_ms >= presented.keep_until_ms {
            return Ok(None);
        }
        let event = self.boundary.event(round);
        let answers = form_of(presented, answers).map_err(|error| {
            event.not_bound(error.reason(), &error);
            Refusal::rejected()
        })?;
        let nonce = once::nonce().map_err(|error| {
            event.unavailable(&error);
            Refusal::unavailable()
        })?;
        let keep_for_ms = presented.keep_until_ms.saturating_sub(presented.now_ms);
        let claim = Claim {
            id: presented.position.redemption_id(),
            nonce,
            presentation: once::presentation(token, &answers),
            // Not the expiry minus the TTL, since the token may have been issued under another TTL. Little is
            // lost by this: a flow does not go on if an earlier token of it is unavailable.
            issued_at_ms: presented.position.started_at_ms,
            keep_for: Duration::from_millis(keep_for_ms),
        };
        Ok(Some(match presented.late_ms {
            None => ToDo::Claim {
                claim,
                keep_until_ms: presented.keep_until_ms,
            },
            Some(_) => ToDo::Find(claim),
        }))
    }

    /// Returns the reply to a request whose round was redeemed.
    fn used(&self, claim: &Claim, entry: Entry, event: Event<'_>, token: Token<'_>) -> Reply {
        match &self.again {
            Some(policy) if entry.presentation == claim.presentation => {
                self.repeat(policy, claim, entry, event)
            }
            _ => {
                event.rejected(Reason::AlreadyUsed, token.text());
                Refusal::rejected().into()
            }
        }
    }
}

/// A request to the store about a round.
enum ToDo {
    /// The redemption of the round, since its token opens.
    Claim { claim: Claim, keep_until_ms: u64 },
    /// A look-up of an earlier redemption, since the token has expired.
    Find(Claim),
}

/// Returns the canonical form of the answers that the handler may see.
fn form_of<'v>(
    presented: &Presented,
    answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
) -> Result<Vec<u8>, BindingError> {
    let asked: BTreeMap<_, _> = answers
        .into_iter()
        .filter(|(name, answer)| Question::is_among(&presented.asked, name) && answer.is_object())
        .collect();
    // One level down, since the canonical form omits some members at the top level.
    let answers = BTreeMap::from([("answers", asked)]);
    value::canonical_form(&answers)
        .map_err(|(path, problem)| BindingError::Params { path, problem })
}
