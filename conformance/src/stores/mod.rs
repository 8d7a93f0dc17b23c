//! The suite for stores of redemptions.
//!
//! | file | subject |
//! |---|---|
//! | `subject.rs` | what the suite is told about a store |
//! | `suite.rs` | the cases as tests |
//! | `catalogue.rs` | every case, with a sentence on why it matters |
//! | `kit.rs` | what a case works with: handles to a store, and claims |
//! | `handle.rs` | calls with a time limit, and what they must return |
//! | `together.rs` | futures that run at the same time, in a given order |
//! | `cases/` | the cases, one group a file |

mod cases;
mod catalogue;
mod handle;
mod kit;
mod subject;
mod suite;
mod together;

use request_state_core::RedemptionStore;

use crate::report::Report;
pub use catalogue::STORE_CASES;
pub use subject::{History, StoreSuite};
#[doc(hidden)]
pub use suite::run_store_case;

/// Tries every case on the store that `make` returns, which was created for this run.
///
/// See [`StoreSuite`] for what `make` is, and for stores that are older or have their complete
/// history.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use request_state_conformance::check_store;
/// use request_state_core::MemoryStore;
///
/// let store = Arc::new(MemoryStore::new());
/// let report = check_store(|| async { store.clone() });
/// assert!(report.is_ok(), "{report}");
/// ```
pub fn check_store<'a, S: RedemptionStore + 'a>(make: impl AsyncFn() -> S + 'a) -> Report {
    StoreSuite::new(make).check()
}
