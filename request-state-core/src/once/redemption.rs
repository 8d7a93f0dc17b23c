//! The ids of redeemed rounds and tokens, and how long they are kept.

use std::sync::LazyLock;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::binding::labelled;

static ROUND: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 round redemption"));
static TOKEN: LazyLock<Sha256> = LazyLock::new(|| labelled(b"request-state v1 token redemption"));
static PRESENTATION: LazyLock<Sha256> =
    LazyLock::new(|| labelled(b"request-state v1 presentation"));

/// The time for which an entry is kept after the last token for it has expired: two minutes, for replicas whose
/// clocks are off by up to a minute in either direction.
pub(super) const MARGIN_MS: u64 = 120_000;

/// The last millisecond of the year 9999, beyond which calendars do not go.
const LATEST_MS: u64 = 253_402_300_799_999;

/// The record of a redeemed round, for handlers that store it themselves.
///
/// [`Round::redemption`](crate::Round::redemption) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redemption {
    /// The id of the round: 32 bytes. Every branch of the flow that answers the round has the same id. No other
    /// round of any flow, user or server has it.
    pub id: [u8; 32],
    /// The time until which the id must be kept. From then on, no token of its flow opens. It is at most the
    /// end of the year 9999.
    pub keep_until: SystemTime,
}

/// Returns the id of a round: `SHA-256(block(label) ‖ flow ‖ round)`. Branches of one round share it, so only
/// one of them counts.
pub(crate) fn round_id(flow: &[u8; 16], round: u16) -> [u8; 32] {
    let hash = ROUND.clone().chain_update(flow);
    hash.chain_update(round.to_be_bytes()).finalize().into()
}

/// Returns the id of a token that belongs to no flow: `SHA-256(block(label) ‖ token)`.
pub(crate) fn token_id(token: &str) -> [u8; 32] {
    TOKEN.clone().chain_update(token).finalize().into()
}

/// Returns the digest of a presentation, which is the token and the canonical form of the answers that reach
/// the handler: `SHA-256(block(label) ‖ SHA-256(block(token label) ‖ token) ‖ form)`.
pub(crate) fn presentation(token: &str, answers: &[u8]) -> [u8; 32] {
    let hash = PRESENTATION.clone().chain_update(token_id(token));
    hash.chain_update(answers).finalize().into()
}

/// Returns the time until which to keep an entry for tokens that no longer open after `end_ms`.
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
