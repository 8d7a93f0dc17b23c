//! Single use with Postgres, in the two ways that there are:
//!
//! | file | subject |
//! |---|---|
//! | `store.rs` | [`PostgresStore`]: a store of redemptions, for `Boundary::once` and `Sealer::open_once` |
//! | `transfer.rs` | [`Bank`]: a handler that redeems in the transaction of its effect, without a store |
//! | `database.rs` | [`Database`]: what both ask of a connection |
//!
//! `README.md` says when to use which. Copy what you need: this crate is not published.
#![forbid(unsafe_code)]

mod database;
mod store;
mod transfer;

pub use crate::database::{Database, DatabaseError};
pub use crate::store::PostgresStore;
pub use crate::transfer::Bank;
