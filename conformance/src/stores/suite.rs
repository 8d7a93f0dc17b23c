//! The cases as tests, and the function that runs a case.

use std::io;
use std::sync::LazyLock;

use tokio::runtime::{Builder, Handle, Runtime};

use super::catalogue::{RUNS, Run, STORE_CASES};
use super::kit::Kit;
use super::subject::StoreSuite;
use crate::catalogue::Case;
use crate::report::{Outcome, Report};
use crate::stop::{Stop, Verdict};

/// Generates a module of tests, one for each [case](crate::STORE_CASES), so that `cargo test` names
/// each failing case.
///
/// The arguments are the module's name and a function that connects to the store: see
/// [`check_store`](crate::check_store). The module can use the names in the surrounding scope. To
/// describe a store in more detail, pass `suite:` and a [`StoreSuite`](crate::StoreSuite) as the
/// second argument.
///
/// # Examples
///
/// ```
/// use std::sync::LazyLock;
/// use request_state_conformance::{History, StoreSuite, store_suite};
/// # use request_state_core::MemoryStore as MyStore;
/// # async fn connect() -> &'static MyStore { store() }
///
/// fn store() -> &'static MyStore {
///     static STORE: LazyLock<MyStore> = LazyLock::new(MyStore::new);
///     &STORE
/// }
///
/// store_suite!(in_memory, || async { store() });
/// store_suite!(in_a_database, suite: StoreSuite::new(connect).history(History::Older));
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! store_suite {
    ($module:ident, suite: $suite:expr) => {
        $crate::__store_cases!([$crate::__store_suite] [$module $suite]);
    };
    ($module:ident, $make:expr) => {
        $crate::__store_cases!([$crate::__store_suite] [$module $crate::StoreSuite::new($make)]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_suite {
    ([$module:ident $suite:expr] $($group:ident { $($name:ident $why:literal)* })*) => {
        #[cfg(test)]
        mod $module {
            $(mod $group {
                use super::super::*;
                $(#[test]
                fn $name() -> Result<(), String> {
                    let name = concat!(stringify!($group), "::", stringify!($name));
                    $crate::run_store_case(name, &$suite)
                })*
            })*
        }
    };
}

/// Runs the case with this name. The tests of [`store_suite!`](crate::store_suite) call it.
#[doc(hidden)]
pub fn run_store_case(name: &str, suite: &StoreSuite<'_>) -> Result<(), String> {
    let mut cases = STORE_CASES.iter().zip(RUNS);
    let found = cases.find(|(case, _)| case.to_string() == name);
    let (case, run) = found.ok_or_else(|| format!("there is no case {name}"))?;
    outcome(case, *run, suite).tell()
}

impl StoreSuite<'_> {
    /// Runs every case and returns the report.
    pub fn check(&self) -> Report {
        let cases = STORE_CASES.iter().zip(RUNS);
        Report::of(cases.map(|(case, run)| outcome(case, *run, self)))
    }
}

/// Runs one case.
fn outcome(case: &'static Case, run: Run, suite: &StoreSuite<'_>) -> Outcome {
    let kit = Kit::new(suite);
    Outcome::of(case, || wait(run(&kit)), || kit.take_note())
}

/// Runs a future to completion.
///
/// All cases of a process share one runtime. It drives a connection that was opened in one case and
/// that your store reuses in the next.
fn wait(future: impl Future<Output = Verdict>) -> Verdict {
    static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().build()
    });
    if Handle::try_current().is_ok() {
        return Err(Stop::Failed(
            "the suite was called within a runtime: call it from a plain #[test]".into(),
        ));
    }
    match &*RUNTIME {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => Err(Stop::Failed(format!(
            "the suite could not create a runtime: {error}"
        ))),
    }
}
