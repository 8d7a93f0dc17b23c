//! The redemption of a round, and the typed API with single use.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::Refusal;
use super::again::Reply;
use super::once::OnceBoundary;
use super::question::Question;
use super::round::Opened;
use super::sender::{Incoming, Token};
use super::typed::{Checked, Presented};
use crate::binding::BindingError;
use crate::codec::RequestStateCodec;
use crate::log::Event;
use crate::once::{self, Claim, Claimed, Entry, RedemptionStore, StoreError};
use crate::reason::Reason;
use crate::sealer::{SealError, milliseconds};
use crate::value;

/// A request whose token was checked and whose round is not redeemed yet.
pub(super) struct Arrived<'a> {
    pub(super) checked: Checked,
    pub(super) token: Token<'a>,
    /// Of the tool or prompt, or the URI of the resource.
    pub(super) name: Option<&'a str>,
}

/// The claim by which a request is the first of its round.
pub(super) struct Held {
    pub(super) store: Arc<dyn RedemptionStore>,
    pub(super) id: [u8; 32],
    pub(super) nonce: [u8; 16],
    pub(super) presentation: [u8; 32],
    /// How many further tokens were issued for the round, or are about to be. It may not be given back then:
    /// they would open next to it.
    asks: AtomicUsize,
    release_asked: AtomicBool,
    released: AtomicBool,
}

impl Held {
    pub(super) async fn release(&self) -> Result<bool, StoreError> {
        // Of an asking and a release at the same time, one at least sees the other: both write first.
        self.release_asked.store(true, Ordering::SeqCst);
        if self.asks.load(Ordering::SeqCst) > 0 {
            return Ok(false);
        }
        let released = self.store.release(&self.id, &self.nonce).await;
        if matches!(released, Ok(true)) {
            self.released.store(true, Ordering::Release);
        }
        released
    }

    /// Issues a further token by `seal`, unless the round may have been given back.
    pub(super) fn ask(
        &self,
        seal: impl FnOnce() -> Result<String, SealError>,
    ) -> Result<String, SealError> {
        self.asks.fetch_add(1, Ordering::SeqCst);
        let sealed = if self.release_asked.load(Ordering::SeqCst) {
            Err(SealError::Released)
        } else {
            seal()
        };
        if sealed.is_err() {
            self.asks.fetch_sub(1, Ordering::SeqCst);
        }
        sealed
    }

    pub(super) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Held {
    /// Prints neither the id nor the nonce.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("released", &self.is_released())
            .finish_non_exhaustive()
    }
}

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Digests `request`, opens the `token` that came with it, as [`Boundary::open`] does, and redeems
    /// its round.
    ///
    /// `answers` are the names and values of `inputResponses`, as they arrived: those that the handler
    /// may see tell a repetition from another answer. Set [`Incoming::name`] where there is a
    /// [filter](Self::only).
    ///
    /// If the future is dropped before it is done, the round may have been redeemed.
    ///
    /// [`Boundary::open`]: super::Boundary::open
    ///
    /// # Errors
    ///
    /// A [`Reply`]: a rejection, an outage, or the answer that was kept.
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

    /// Redeems the round of the token that came with a request, if one did.
    pub(super) async fn redeem<'v>(
        &self,
        arrived: Arrived<'_>,
        answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<Opened, Reply> {
        let Some(claim) = self.claim_for(&arrived, answers)? else {
            return Ok(self.boundary.settle(arrived.checked, arrived.token)?);
        };
        let used = match claim {
            // Whoever starts over closes the round: a replica whose clock is behind, or a claim that is
            // still on its way, must not redeem it beside the new flow.
            ToDo::Find(claim) if self.boundary.restart_expired => {
                let closing = Claim {
                    presentation: once::CLOSED,
                    ..claim.clone()
                };
                // Never given back: another request may have found it closed, and started over.
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
                    let mut opened = self.boundary.settle(arrived.checked, arrived.token)?;
                    opened.round.claim = Some(Arc::new(Held {
                        store: Arc::clone(&self.store),
                        id: claim.id,
                        nonce: claim.nonce,
                        presentation: claim.presentation,
                        asks: AtomicUsize::new(0),
                        release_asked: AtomicBool::new(false),
                        released: AtomicBool::new(false),
                    }));
                    return Ok(opened);
                }
                Err(error) => Err(error),
            },
        };
        let event = self.boundary.event(&arrived.checked.round);
        match used {
            Ok(None) => Ok(self.boundary.settle(arrived.checked, arrived.token)?),
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

    /// Says what to ask the store, if it has a say.
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
        // Nothing is kept for so long, and no branch of the flow opens any more.
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
            // Not the expiry less the TTL: the token may be of another TTL. Little is lost by it, since no
            // flow goes on whose earlier token is unavailable.
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

    /// The reply to a request whose round was redeemed.
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

/// What to ask the store about a round.
enum ToDo {
    /// Its token opens: redeem it.
    Claim { claim: Claim, keep_until_ms: u64 },
    /// Its token has expired: whether it was redeemed before.
    Find(Claim),
}

/// The canonical form of the answers that the handler may see.
fn form_of<'v>(
    presented: &Presented,
    answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
) -> Result<Vec<u8>, BindingError> {
    let asked: BTreeMap<_, _> = answers
        .into_iter()
        .filter(|(name, answer)| Question::is_among(&presented.asked, name) && answer.is_object())
        .collect();
    // One level down: at the top level, what is not of the request is left out.
    let answers = BTreeMap::from([("answers", asked)]);
    value::canonical_form(&answers)
        .map_err(|(path, problem)| BindingError::Params { path, problem })
}
