//! Single use: what a store promises, and the ids it keeps.
//!
//! | file | subject |
//! |---|---|
//! | `store.rs` | the trait for stores |
//! | `redemption.rs` | ids, and how long they are kept |
//! | `claim.rs` | a claim, and what takes it back |
//! | `memory.rs` | the store of one process |
//! | `shard.rs` | a part of it, under a lock of its own |
//! | `sealer.rs` | `Sealer::open_once` |

mod claim;
mod memory;
mod redemption;
mod sealer;
mod shard;
mod store;

pub(crate) use self::claim::{CLOSED, claim_in_time, nonce};
pub use self::memory::MemoryStore;
pub use self::redemption::Redemption;
pub(crate) use self::redemption::{keep_until_ms, presentation, round_id};
pub use self::sealer::RedeemError;
pub use self::store::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
