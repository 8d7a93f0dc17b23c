//! Tests of both ways with a real Postgres, which the tests start and stop themselves.
//!
//! | file | subject |
//! |---|---|
//! | `server.rs` | a Postgres for a single test |
//! | `claims.rs` | claims and nonces |
//! | `history.rs` | lifetimes and the table's history |
//! | `outages.rs` | crashes and servers that do not answer |
//! | `suite.rs` | the suite for stores |
//! | `transfer.rs` | the transaction of the effect |
#![forbid(unsafe_code)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod claims;
mod history;
mod outages;
mod server;
mod suite;
mod transfer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state::{Claim, Claimed, RedemptionStore};
use request_state_example_postgres::{Database, PostgresStore};

use crate::server::Server;

/// A time limit that is long enough for a busy machine. No test waits for it.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns a store with its own pool, as in a separate process.
async fn store(server: &Server) -> PostgresStore {
    let database = Database::new(server.config(), 16, LIMIT).unwrap();
    let store = PostgresStore::create(database).await.unwrap();
    store.clock_margin(Duration::ZERO)
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// Returns a claim of a new ID, for a token that is issued now.
fn new_claim() -> Claim {
    static IDS: AtomicU64 = AtomicU64::new(0);
    let mut id = [7; 32];
    id[..8].copy_from_slice(&IDS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    Claim {
        id,
        nonce: [1; 16],
        presentation: [1; 32],
        // Not before the table: both clocks are rounded.
        issued_at_ms: now_ms() + 1,
        keep_for: Duration::from_secs(3_600),
    }
}

/// Returns a claim of the same ID by another presentation.
fn by(nonce: u8, claim: &Claim) -> Claim {
    Claim {
        nonce: [nonce; 16],
        presentation: [nonce; 32],
        ..claim.clone()
    }
}

async fn is_first(store: &PostgresStore, claim: &Claim) -> bool {
    store.claim(claim).await.unwrap() == Claimed::First
}
