//! `Sealer::open_once`, which accepts a token once.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::claim::{claim_in_time, nonce};
use super::redemption::{keep_until_ms, token_id};
use super::store::{Claim, Claimed, RedemptionStore};
use crate::binding::Binding;
use crate::codec::{BoxError, DecodeError, RequestStateCodec};
use crate::error::OpenError;
use crate::reason::{Reason, io_kind};
use crate::sealer::{Sealer, Undecoded, milliseconds};

/// An error that [`Sealer::open_once`] can return.
///
/// The text of each variant can be shown to clients: it does not disclose why a token was rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedeemError {
    /// The token does not open at all. The store was not asked.
    #[error(transparent)]
    Refused(#[from] OpenError),
    /// The token was opened before, here or on another replica.
    #[error("{}", OpenError::MESSAGE)]
    AlreadyUsed,
    /// The codec or the store is unable to decide about the token: an outage, not a rejection. After an error
    /// of the store, the token may have been used up. The source may contain a secret of the database or the
    /// key service.
    #[error("Internal error")]
    Unavailable(#[source] BoxError),
}

impl RedeemError {
    /// Returns the JSON-RPC error code: -32603 for an outage, -32602 otherwise.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::Refused(_) | Self::AlreadyUsed => OpenError::CODE,
            Self::Unavailable(_) => -32603,
        }
    }
}

/// A token that opens: its state, and the claim to make for it.
struct Redeemable<T> {
    state: T,
    claim: Claim,
    keep_until_ms: u64,
}

impl<C: RequestStateCodec> Sealer<C> {
    /// Opens a token that counts once. Of any number of calls with the same token, on all replicas that share
    /// `store`, only one returns the state.
    ///
    /// This first checks everything that [`open`](Self::open) checks, and that the state is a `T`. A token that
    /// does not open is not used up, and costs no call to the store. `store` is any [`RedemptionStore`]. It
    /// keeps the token's id until two minutes after the token's expiry.
    ///
    /// If you shorten the TTL, change the key as well. The store compares its history with the time at which
    /// the token was issued, and that time is computed from the token's expiry and the TTL.
    ///
    /// If the caller is dropped or crashes afterwards, the token is used up: it counts at most once, not
    /// exactly once.
    ///
    /// # Errors
    ///
    /// Returns a [`RedeemError`]. [`Unavailable`](RedeemError::Unavailable) also means that the token expired
    /// before the claim was made. The exact reason is logged as for [`open`](Self::open); the store adds the
    /// reasons `already_used` and `unavailable`.
    ///
    /// # Examples
    ///
    /// See [`MemoryStore`](crate::MemoryStore).
    pub async fn open_once<T>(
        &self,
        token: &str,
        binding: &Binding,
        store: &(impl RedemptionStore + ?Sized),
    ) -> Result<T, RedeemError>
    where
        T: DeserializeOwned,
    {
        let Redeemable {
            state,
            claim,
            keep_until_ms,
        } = self.prepare(token, binding)?;
        let now_ms = || milliseconds(self.now());
        match claim_in_time(store, &claim, keep_until_ms, now_ms).await {
            Ok(Claimed::First) => Ok(state),
            Ok(Claimed::Used(_)) => {
                let event = self.event(binding);
                event.rejected(Reason::AlreadyUsed, Some(token));
                Err(RedeemError::AlreadyUsed)
            }
            Err(error) => {
                self.event(binding).unavailable(&error);
                Err(RedeemError::Unavailable(error.into()))
            }
        }
    }

    /// Opens the token, and returns its state and the claim to make for it.
    fn prepare<T>(&self, token: &str, binding: &Binding) -> Result<Redeemable<T>, RedeemError>
    where
        T: DeserializeOwned,
    {
        let opened = match self.decode(token, binding) {
            Ok(payload) => self.read(&payload, binding, self.now()),
            Err(Undecoded::Codec(DecodeError::Unavailable(error))) => {
                let reason = Reason::Unavailable(io_kind(&*error));
                self.event(binding).rejected(reason, Some(token));
                return Err(RedeemError::Unavailable(error));
            }
            Err(undecoded) => Err(undecoded.into()),
        };
        let read = opened.map_err(|reason| {
            self.event(binding).rejected(reason, Some(token));
            reason.disclose(self.disclosure())
        })?;
        let nonce = nonce().map_err(|error| {
            self.event(binding).unavailable(&error);
            RedeemError::Unavailable(error.into())
        })?;
        let id = token_id(token);
        let keep_until_ms = keep_until_ms(read.expires_at_ms);
        let keep_for_ms = keep_until_ms.saturating_sub(read.now_ms);
        let claim = Claim {
            id,
            nonce,
            // No answers come with a token, and no answer is kept for it.
            presentation: id,
            issued_at_ms: read.expires_at_ms.saturating_sub(self.ttl_ms(binding)),
            keep_for: Duration::from_millis(keep_for_ms),
        };
        Ok(Redeemable {
            state: read.state,
            claim,
            keep_until_ms,
        })
    }
}
