//! A faulty store and the case that finds it.

use std::sync::Arc;

use request_state_conformance::{History, StoreSuite};
use request_state_core::{RedemptionStore, StoreError};

use super::base::{Base, Database, RIGHT, Steps};

type Make = dyn Fn() -> StoreSuite<'static> + Send + Sync;

#[derive(Clone)]
pub struct Fault {
    /// What is wrong with it.
    pub about: &'static str,
    /// The case that was written for faults of its kind. Others may find it too.
    pub found_by: &'static str,
    pub suite: Arc<Make>,
}

/// The right store with one step exchanged.
pub fn step(about: &'static str, found_by: &'static str, steps: Steps) -> Fault {
    with(about, found_by, move || suite(steps))
}

/// A store that each connection makes in its own way.
pub fn connecting<S: RedemptionStore + 'static>(
    about: &'static str,
    found_by: &'static str,
    connect: impl Fn(&Arc<Database>) -> S + Clone + Send + Sync + 'static,
) -> Fault {
    with(about, found_by, move || {
        let (database, connect) = (Database::new(), connect.clone());
        StoreSuite::new(async move || connect(&database))
    })
}

/// A fault that shows in what the suite is told.
pub fn with(
    about: &'static str,
    found_by: &'static str,
    suite: impl Fn() -> StoreSuite<'static> + Send + Sync + 'static,
) -> Fault {
    Fault {
        about,
        found_by,
        suite: Arc::new(suite),
    }
}

/// A suite for a fresh store of these steps.
pub fn suite(steps: Steps) -> StoreSuite<'static> {
    let database = Database::new();
    StoreSuite::new(async move || Base::new(&database, steps)).unreachable(async || down(DOWN))
}

/// A store whose database does not answer.
pub fn down(steps: Steps) -> Base {
    Base::new(&Database::new(), steps)
}

pub const DOWN: Steps = Steps {
    claim: |_, _| Box::pin(async { Err(no_answer()) }),
    find: |_, _, _| Box::pin(async { Err(no_answer()) }),
    record: |_, _, _, _| Box::pin(async { Err(no_answer()) }),
    release: |_, _, _| Box::pin(async { Err(no_answer()) }),
    ..RIGHT
};

fn no_answer() -> StoreError {
    StoreError::failed("the database does not answer")
}

/// A suite for a store that is said to have its complete history.
pub fn complete(steps: Steps) -> StoreSuite<'static> {
    suite(steps).history(History::Complete)
}
