//! The suite for stores of redemptions.
//!
//! | file | subject |
//! |---|---|
//! | `subject.rs` | the description of a store under test |
//! | `suite.rs` | the cases as tests |
//! | `catalogue.rs` | every case, with the reason for it |
//! | `kit.rs` | the tools of a case: handles to a store, and claims |
//! | `handle.rs` | calls with a time limit, and checks of their results |
//! | `together.rs` | futures that run at the same time, in a given order |
//! | `cases/` | the cases, one file for each group |

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

/// Runs every case on the store that `make` connects to, which must have been created for this run.
///
/// See [`StoreSuite`] for the requirements on `make`, and for stores that are older or have their
/// complete history.
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
