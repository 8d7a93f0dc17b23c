//! Single use with Postgres, in two ways:
//!
//! | file | subject |
//! |---|---|
//! | `store.rs` | [`PostgresStore`]: a store of redemptions, for `Boundary::once` and `Sealer::open_once` |
//! | `transfer.rs` | [`Bank`]: a handler that redeems in the transaction of its effect, without a store |
//! | `database.rs` | [`Database`]: the connections for both |
//!
//! `README.md` explains when to use which. Copy the code that you need: this crate is not
//! published.
#![forbid(unsafe_code)]

mod database;
mod store;
mod transfer;

pub use crate::database::{Database, DatabaseError};
pub use crate::store::PostgresStore;
pub use crate::transfer::Bank;
