//! Single use: the trait for stores, the store in memory, and `Sealer::open_once`.
//!
//! | file | subject |
//! |---|---|
//! | `store.rs` | the trait for stores |
//! | `redemption.rs` | the ids of rounds and tokens, and how long they are kept |
//! | `claim.rs` | a claim, and its release in case of doubt |
//! | `memory.rs` | the store for a single process |
//! | `shard.rs` | a part of that store, with its own lock |
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
