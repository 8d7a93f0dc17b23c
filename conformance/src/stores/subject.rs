//! What the suite is told about a store.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use request_state_core::RedemptionStore;

/// What the suite is told about a store.
///
/// `make` connects to the store. It is called once or more for each case, and **every call returns a
/// handle to the same store**, as each replica of a server has one: a new connection to the one
/// database, or a clone of the one `Arc`. If it panics, or the store does, the case fails and the others
/// run.
///
/// Futures run on a tokio runtime with several threads, which the suite creates once for each process.
/// So call the suite from a plain `#[test]` and not from within another runtime.
///
/// The store needs room for 20,000 entries. Ids are random, so it need not be empty, and other tests may
/// use it. Most entries that the suite leaves behind end after ten minutes, some after thousands of
/// years.
///
/// # Examples
///
/// ```no_run
/// use std::sync::LazyLock;
/// use request_state_conformance::{History, StoreSuite};
/// # use request_state_core::{Claim, Claimed, Entry, MemoryStore, RedemptionStore, StoreError, StoreFuture};
/// # struct MyStore;
/// # impl MyStore {
/// #     async fn connect(_: &str) -> &'static MemoryStore {
/// #         static STORE: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
/// #         &STORE
/// #     }
/// #     fn disconnected() -> Self { Self }
/// # }
/// # fn failed<'a, T: Send + 'a>() -> StoreFuture<'a, T> {
/// #     Box::pin(std::future::ready(Err(StoreError::failed("no connection"))))
/// # }
/// # impl RedemptionStore for MyStore {
/// #     fn claim<'a>(&'a self, _: &'a Claim) -> StoreFuture<'a, Claimed> { failed() }
/// #     fn find<'a>(&'a self, _: &'a [u8; 32], _: u64) -> StoreFuture<'a, Option<Entry>> { failed() }
/// #     fn record<'a>(&'a self, _: &'a [u8; 32], _: &'a [u8; 16], _: &'a [u8]) -> StoreFuture<'a, bool> { failed() }
/// #     fn release<'a>(&'a self, _: &'a [u8; 32], _: &'a [u8; 16]) -> StoreFuture<'a, bool> { failed() }
/// # }
///
/// let report = StoreSuite::new(|| MyStore::connect("localhost"))
///     .history(History::New)
///     .unreachable(async || MyStore::disconnected())
///     .check();
/// assert!(report.is_ok(), "{report}");
/// ```
pub struct StoreSuite<'a> {
    pub(super) make: Box<dyn Connect + 'a>,
    pub(super) history: History,
    pub(super) unreachable: Option<Box<dyn Connect + 'a>>,
}

/// How far back the history of a store goes.
///
/// A token that may be older must be [`HistoryLost`](request_state_core::StoreError::HistoryLost).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum History {
    /// The store came up empty for this run: tokens issued an hour before are too old for it. The
    /// default.
    #[default]
    New,
    /// The store came up at some time, such as a test database that stays between runs: tokens issued in
    /// 1970 are too old for it.
    Older,
    /// The operator stated that the store has its complete history: no token is too old.
    Complete,
}

type Connecting<'a> = Pin<Box<dyn Future<Output = Box<dyn RedemptionStore + 'a>> + 'a>>;

/// What connects to a store of whatever type.
pub(super) trait Connect {
    fn connect(&self) -> Connecting<'_>;
}

struct Connector<F, S>(F, PhantomData<fn() -> S>);

impl<F: AsyncFn() -> S, S: RedemptionStore> Connect for Connector<F, S> {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move { Box::new((self.0)().await) as Box<dyn RedemptionStore + '_> })
    }
}

impl<'a> StoreSuite<'a> {
    /// Creates a suite for the store that `make` connects to.
    pub fn new<S: RedemptionStore + 'a>(make: impl AsyncFn() -> S + 'a) -> Self {
        Self {
            make: Box::new(Connector(make, PhantomData)),
            history: History::default(),
            unreachable: None,
        }
    }

    /// Sets how far back the store's history goes.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Sets what makes a store whose database does not answer, such as one that is connected to a port
    /// where nobody listens. Each call on it must end with an error, within ten seconds.
    ///
    /// Without it the cases of the group `outage` do not apply.
    #[must_use]
    pub fn unreachable<S: RedemptionStore + 'a>(mut self, make: impl AsyncFn() -> S + 'a) -> Self {
        self.unreachable = Some(Box::new(Connector(make, PhantomData)));
        self
    }
}

impl fmt::Debug for StoreSuite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreSuite")
            .field("history", &self.history)
            .field("unreachable", &self.unreachable.is_some())
            .finish_non_exhaustive()
    }
}
