//! The claim of a round or a token, and its release if the result is unknown or the token has expired.

use super::redemption::MARGIN_MS;
use super::store::{Claim, Claimed, RedemptionStore, StoreError};
use crate::wire;

/// The presentation of a round that was closed because its request starts over. No digest is all zeros.
pub(crate) const CLOSED: [u8; 32] = [0; 32];

/// Returns a random nonce for a claim.
pub(crate) fn nonce() -> Result<[u8; 16], StoreError> {
    wire::random().map_err(StoreError::failed)
}

/// Makes a claim, and releases it if it is unknown whether it was made.
///
/// The release is best effort. If it fails too, the round stays used, and nobody has acted on it.
async fn claim(
    store: &(impl RedemptionStore + ?Sized),
    claim: &Claim,
) -> Result<Claimed, StoreError> {
    let claimed = store.claim(claim).await;
    if let Err(StoreError::Failed(_)) = claimed {
        drop(store.release(&claim.id, &claim.nonce).await);
    }
    claimed
}

/// Makes a claim for a token, and returns an error if the token has expired by then.
///
/// A process may be suspended between the check of a token and its claim. An earlier entry is guaranteed to
/// exist only for as long as the token opens. `now_ms` returns the time.
pub(crate) async fn claim_in_time(
    store: &(impl RedemptionStore + ?Sized),
    claim: &Claim,
    keep_until_ms: u64,
    now_ms: impl FnOnce() -> Option<u64>,
) -> Result<Claimed, StoreError> {
    let claimed = self::claim(store, claim).await?;
    let end_ms = keep_until_ms.saturating_sub(MARGIN_MS);
    if claimed == Claimed::First && now_ms().is_none_or(|now_ms| now_ms >= end_ms) {
        drop(store.release(&claim.id, &claim.nonce).await);
        return Err(StoreError::failed(
            "the token expired while it was redeemed",
        ));
    }
    Ok(claimed)
}
