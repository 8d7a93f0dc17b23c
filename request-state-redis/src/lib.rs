//! Single use for [`request-state`](https://docs.rs/request-state) with any number of replicas. The
//! store records redeemed rounds and tokens in Redis 7 or Valkey.
//!
//! [`RedisStore`] is a [`RedemptionStore`](request_state_core::RedemptionStore). Pass it to
//! `Boundary::once`, `SealedService::once` or `Sealer::open_once`:
//!
//! ```no_run
//! use request_state_core::{Boundary, OnceBoundary, RequestStateCodec, Sealer};
//! use request_state_redis::{RedisStore, RedisStoreError};
//!
//! async fn protect<C: RequestStateCodec>(
//!     sealer: Sealer<C>,
//! ) -> Result<OnceBoundary<C>, RedisStoreError> {
//!     let store = RedisStore::connect("redis://user:password@redis.internal:6379").await?;
//!     Ok(Boundary::new(sealer).once(store))
//! }
//! ```
//!
//! # Requirements of the server
//!
//! - **Redis 7 or Valkey**, with a user that may run `EVAL`, `EVALSHA`, `GET`, `GETRANGE`, `SET`,
//!   `DEL`, `TIME` and `INFO` on the keys `request-state:*`. [`RedisStore::provision`] also needs
//!   `DBSIZE`, and a cluster needs `CLUSTER SLOTS`.
//! - **`maxmemory-policy noeviction`**, or `maxmemory 0`. With any other policy
//!   [`RedisStore::connect`] returns an error, because a round whose entry is evicted counts again.
//!   When the server is full, the response to each request is the error -32603. The policy is read
//!   when the store connects, when it reconnects, whenever a mark is set anew, and once a minute.
//! - **Memory**: about 300 bytes for each redemption, for the maximum lifetime of its flow, plus
//!   the kept answers.
//! - **A clock** within a minute of the clocks of your servers.
//! - **Persistence is optional.** By default it does not keep tokens available across a restart,
//!   see below. Lax settings do not reduce safety.
//!
//! For TLS, use a `rediss://` URL and enable a TLS feature of the crate `redis`, such as
//! `tokio-rustls-comp`.
//!
//! # Loss of data
//!
//! Redis can lose writes that it acknowledged: all of them without persistence, those of the last
//! second with `appendfsync everysec`, and the end of the stream when a replica takes over. The
//! store therefore does not rely on acknowledgments. It keeps marks that name the process with the
//! whole history (`run_id` and `master_replid`) and the time at which that history begins. If a
//! mark is missing or names another process, it is set anew, and every token that may be older is
//! **unavailable**: the response is the error -32603, and the client starts a new flow.
//!
//! | event | tokens issued before it | tokens issued afterwards |
//! |---|---|---|
//! | the server restarts, with any data | unavailable | unavailable for two minutes, then redeemed |
//! | a replica takes over, in a cluster or not | unavailable, in its slots | unavailable for two minutes, then redeemed |
//! | a slot moves to another node | unavailable, in that slot | unavailable for two minutes, then redeemed |
//! | the first replica attaches, or the primary has been without one for `repl-backlog-ttl` (an hour) | unavailable | unavailable for two minutes, then redeemed |
//! | the database is emptied | unavailable | unavailable for two minutes, then redeemed |
//! | the server does not answer, is full, or is loading its data | unavailable until it recovers | redeemed |
//!
//! The two minutes are the [`clock_margin`](RedisStoreBuilder::clock_margin). They also apply after
//! the first connection to a new database, unless [`RedisStore::provision`] was run before. You do
//! not need to restart your servers in any of these cases.
//!
//! One node with `appendonly yes`, `appendfsync always` and `no-appendfsync-on-rewrite no` (the
//! default) loses nothing that it acknowledged. With
//! [`trust_persistence`](RedisStoreBuilder::trust_persistence), its restarts do not make tokens
//! unavailable.
//!
//! # Cases that are not covered
//!
//! In these cases a used round could be redeemed again:
//!
//! - **With `Sealer::open_once`, after a loss of data, if a shorter TTL was deployed** while tokens
//!   with the longer TTL were still valid. The store's history is compared with the time at which a
//!   token was issued, and this time is computed from the token's expiry and the TTL. Change the
//!   key together with the TTL. Rounds of a boundary contain the beginning of their flow.
//! - **In a split brain**: two primaries accept writes. `min-replicas-to-write 1` and
//!   `min-replicas-max-lag` limit the time. The same holds if a primary that was replaced is used
//!   again without having been told: it was frozen and resumes, or the promotion of its replica was
//!   reverted. Restart it, or empty it, before its clients reach it again.
//! - **After entries are deleted by hand** while the marks are kept: delete with `FLUSHDB`, which
//!   removes both. The same holds for data that is restored into a running server, by `RESTORE`,
//!   `SWAPDB` or `DEBUG RELOAD NOSAVE`, and for a machine that is resumed from a snapshot of its
//!   memory: delete the marks (`request-state:{00}:mark` to `request-state:{63}:mark`) afterwards.
//! - **When a slot returns** to a node that had it before, if the node in between lost data and
//!   received no claim in that slot since: the mark still names the first node. The same holds for
//!   a slot whose migration was aborted after some entries had been moved but before the mark was.
//!   Delete the marks of slots that you move.
//! - **Behind a proxy that hides `run_id`** or returns the `run_id` of another server, such as a
//!   proxy that distributes reads and writes over several servers.
//! - **When a node that takes over has a clock that is behind or ahead** by more than the margin.
//! - **When eviction is switched on** while the store is connected. The policy is read again with
//!   the next connection, and with the first claim of each bucket in a minute. Until then, evicted
//!   rounds count again, and eviction that has ended by then is not noticed. Once the store finds
//!   that a server evicts, it does not use the server until the policy is changed back. The server
//!   has then lost its history.
//! - **After [`RedisStore::provision`]** on a database that lost its data.
//!
//! # Cost
//!
//! Each redemption takes one round trip and one script. The script reads the identity from `INFO`
//! each time, because a connection can outlive it: a primary that becomes a replica and then a
//! primary again keeps its clients.
//! [Performance](https://docs.rs/request-state/latest/request_state/manual/performance/) has the
//! figures.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `cluster` | `RedisStore::cluster`, for a Redis Cluster |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod entry;
mod error;
mod link;
mod script;
mod store;

pub use crate::builder::RedisStoreBuilder;
pub use crate::error::RedisStoreError;
pub use crate::store::RedisStore;
