//! Single use for [`request-state`](https://docs.rs/request-state) with any number of replicas: keeps in
//! Redis 7 or Valkey which rounds and tokens were redeemed.
//!
//! [`RedisStore`] is a [`RedemptionStore`](request_state_core::RedemptionStore). Give it to
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
//! # What the server needs
//!
//! - **Redis 7 or Valkey**, and a user that may run `EVAL`, `EVALSHA`, `GET`, `GETRANGE`, `SET`, `DEL`,
//!   `TIME` and `INFO` on the keys `request-state:*`. [`RedisStore::provision`] also needs `DBSIZE`, and a
//!   cluster `CLUSTER SLOTS`.
//! - **`maxmemory-policy noeviction`**, or `maxmemory 0`. With any other policy [`RedisStore::connect`] is
//!   an error: an entry that is evicted is a round that counts again. When the server is full, requests
//!   are answered with -32603. The policy is read when the store connects, when it reconnects, and
//!   whenever a mark is set anew, and once a minute.
//! - **Memory**: about 300 bytes for each redemption, for as long as its flow may live, and the kept
//!   answers.
//! - **A clock** within a minute of those of your servers.
//! - **Persistence is optional.** It saves your users nothing by default, see below, and costs nothing in
//!   safety when it is lax.
//!
//! For TLS, use a `rediss://` URL, and switch on a TLS feature of the crate `redis`, such as
//! `tokio-rustls-comp`.
//!
//! # What happens when data is lost
//!
//! Redis acknowledges writes that it may lose: all of them without persistence, the last second with
//! `appendfsync everysec`, the end of the stream when a replica takes over. So the store does not rely on
//! it. It keeps marks that name the process with the whole history (`run_id` and `master_replid`) and the
//! time at which that history begins. A mark that is missing, or that names another process, is set
//! anew, and every token that may be older is **unavailable**: -32603, and the client starts a new flow.
//!
//! | event | tokens issued before it | tokens issued afterwards |
//! |---|---|---|
//! | the server restarts, with whatever data | unavailable | unavailable for two minutes, then redeemed |
//! | a replica takes over, in a cluster or not | unavailable, in its slots | unavailable for two minutes, then redeemed |
//! | a slot moves to another node | unavailable, in that slot | unavailable for two minutes, then redeemed |
//! | the first replica attaches, or the primary has been without one for `repl-backlog-ttl` (an hour) | unavailable | unavailable for two minutes, then redeemed |
//! | the database is emptied | unavailable | unavailable for two minutes, then redeemed |
//! | the server does not answer, is full, or is loading its data | unavailable meanwhile | redeemed |
//!
//! The two minutes are the [`clock_margin`](RedisStoreBuilder::clock_margin). They also follow the first
//! connection to a new database, unless [`RedisStore::provision`] was run before. No restart of your
//! servers is needed in any of these cases.
//!
//! One node with `appendonly yes`, `appendfsync always` and `no-appendfsync-on-rewrite no` (the default) loses
//! nothing that it acknowledged. [`trust_persistence`](RedisStoreBuilder::trust_persistence) lets its restarts go unnoticed.
//!
//! # What is not covered
//!
//! A used round could be redeemed again:
//!
//! - **by `Sealer::open_once`, after a loss of data, where a shorter TTL was deployed** while tokens of the
//!   longer one were still good: the time at which such a token was issued is computed from its expiry and
//!   the TTL. Change the key with the TTL. Rounds of a boundary carry the beginning of their flow.
//! - **in a split brain**: two primaries that both accept writes. `min-replicas-to-write 1` and
//!   `min-replicas-max-lag` bound the time. So it is when a primary that was replaced is used again and was
//!   never told: it was frozen and goes on, or the promotion of its replica was taken back. Restart it, or
//!   empty it, before it gets its clients back.
//! - **after entries are deleted by hand** and the marks are not: delete with `FLUSHDB`, which removes
//!   both. The same holds for data that is put back into a live server, by `RESTORE`, `SWAPDB` or
//!   `DEBUG RELOAD NOSAVE`, and of a machine that is resumed from a snapshot of its memory: delete the marks (`request-state:{00}:mark` to `request-state:{63}:mark`)
//!   afterwards.
//! - **when a slot comes back** to a node that had it before, and the node in between lost data and took no
//!   claim in it since: the mark still names the first node. The same holds for a slot whose move was broken
//!   off when some entries were gone and the mark was not. Delete the marks of slots that you move.
//! - **behind a proxy that hides `run_id`** or returns that of another server, such as one that spreads
//!   reads and writes over several.
//! - **when a node that takes over has a clock that is behind or ahead** by more than the margin.
//! - **when eviction is switched on** while the store is connected: the policy is read again with the next
//!   connection, and with the first claim of each bucket in a minute. Until then, what was evicted counts
//!   again, and eviction that is over by then is not noticed. A server that is found to evict is not used until its policy is changed back, and has then lost its
//!   history.
//! - **after [`RedisStore::provision`]** on a database that lost its data.
//!
//! # Cost
//!
//! One round trip and one script for each redemption. The script reads `INFO` for the identity each time,
//! because a connection can outlive it: a primary that becomes a replica and then a primary again keeps
//! its clients. [Performance](https://docs.rs/request-state/latest/request_state/manual/performance/) has the figures.
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
