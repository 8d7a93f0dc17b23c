//! Single use: what a store promises, and the ids it keeps.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | ids, and how long they are kept |
//! | `store.rs` | the trait for stores |
//! | `memory.rs` | the store of one process |
//! | `sealer.rs` | `Sealer::open_once` |

mod memory;
mod sealer;
mod store;

use std::sync::LazyLock;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

pub use self::memory::MemoryStore;
pub use self::sealer::RedeemError;
pub use self::store::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
use crate::binding::labelled;
use crate::wire;

static ROUND: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 round redemption"));
static TOKEN: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 token redemption"));
static PRESENTATION: LazyLock<Sha256> =
    LazyLock::new(|| labelled(b"request-state v1 presentation"));

/// How long an entry is kept after no token for it opens any more: two minutes, for replicas whose
/// clocks differ by a minute each way.
const MARGIN_MS: u64 = 120_000;

/// The last moment of the year 9999, beyond which no calendar goes.
const LATEST_MS: u64 = 253_402_300_799_999;

/// What a store keeps of a round that was redeemed, for handlers that keep it themselves.
///
/// See [`Round::redemption`](crate::Round::redemption).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redemption {
    /// The id of the round: 32 bytes, the same for every branch of the flow that answers it, and for no
    /// other round of any flow, user or server.
    pub id: [u8; 32],
    /// Until when the id must be kept: from then on no token of its flow opens. At most the end of the
    /// year 9999.
    pub keep_until: SystemTime,
}

/// The id of a round: `SHA-256(block(label) ‖ flow ‖ round)`. Branches of one round share it, so only
/// one of them counts.
pub(crate) fn round_id(flow: &[u8; 16], round: u16) -> [u8; 32] {
    let hash = ROUND.clone().chain_update(flow);
    hash.chain_update(round.to_be_bytes()).finalize().into()
}

/// The id of a token that belongs to no flow: `SHA-256(block(label) ‖ token)`.
pub(crate) fn token_id(token: &str) -> [u8; 32] {
    TOKEN.clone().chain_update(token).finalize().into()
}

/// What makes two presentations of a round the same: the token, and the form of the answers that reach
/// the handler. `SHA-256(block(label) ‖ SHA-256(block(token label) ‖ token) ‖ form)`.
pub(crate) fn presentation(token: &str, answers: &[u8]) -> [u8; 32] {
    let hash = PRESENTATION.clone().chain_update(token_id(token));
    hash.chain_update(answers).finalize().into()
}

/// The presentation of a round that was closed because its request starts over. No digest is zero.
pub(crate) const CLOSED: [u8; 32] = [0; 32];

/// Draws the nonce of a claim.
pub(crate) fn nonce() -> Result<[u8; 16], StoreError> {
    wire::random().map_err(StoreError::failed)
}

/// Claims, and takes back a claim of which it is not known whether it was made.
///
/// By best effort: where that fails too, the round stays used, and nobody has acted on it.
pub(crate) async fn claim(
    store: &(impl RedemptionStore + ?Sized),
    claim: &Claim,
) -> Result<Claimed, StoreError> {
    let claimed = store.claim(claim).await;
    if let Err(StoreError::Failed(_)) = claimed {
        drop(store.release(&claim.id, &claim.nonce).await);
    }
    claimed
}

/// Claims, for a token that must still open once the claim is made.
///
/// A process may be suspended between the check of a token and its claim. An entry of before is certain to be
/// there for as long as a token opens, and no longer. `now_ms` returns the time.
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

/// Until when to keep an entry for tokens none of which opens after `end_ms`.
pub(crate) fn keep_until_ms(end_ms: u64) -> u64 {
    end_ms.saturating_add(MARGIN_MS).min(LATEST_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_by_flow_round_kind_and_token() {
        let (flow, other) = ([1; 16], [2; 16]);
        let mut ids = vec![
            round_id(&flow, 1),
            round_id(&flow, 2),
            round_id(&flow, 256),
            round_id(&other, 1),
            token_id("a.b"),
            token_id("a.c"),
            token_id(""),
            presentation("a.b", b""),
            presentation("a.b", b"{}"),
            presentation("a.c", b""),
        ];
        assert_eq!(round_id(&flow, 1), ids[0]);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 10);
    }

    #[test]
    fn an_entry_is_kept_for_two_minutes_more_and_never_beyond_the_calendar() {
        assert_eq!(keep_until_ms(1_000), 121_000);
        assert_eq!(keep_until_ms(u64::MAX), LATEST_MS);
    }
}
