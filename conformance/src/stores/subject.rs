//! The description of a store under test.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use request_state_core::RedemptionStore;

/// The description of a store under test.
///
/// `make` connects to the store. It is called once or more for each case, and **every call must
/// return a handle to the same store**, as each replica of a server has one: a new connection to
/// the same database, or a clone of the same `Arc`. If `make` or the store panics, the case fails
/// and the others still run.
///
/// Futures run on a tokio runtime with several threads, which the suite creates once for each
/// process. Call the suite from a plain `#[test]` and not from within another runtime.
///
/// The store needs room for 20,000 entries. IDs are random, so the store need not be empty, and
/// other tests may use it at the same time. Most entries that the suite leaves behind expire after
/// ten minutes, and some after thousands of years.
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

/// The extent of a store's history.
///
/// For a token that may be older than the history, the store must return
/// [`HistoryLost`](request_state_core::StoreError::HistoryLost).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum History {
    /// The store was created empty for this run: tokens issued an hour earlier are too old for it.
    /// This is the default.
    #[default]
    New,
    /// The store was created at some earlier time, such as a test database that is kept between
    /// runs: tokens issued in 1970 are too old for it.
    Older,
    /// The operator declared that the store has its complete history: no token is too old.
    Complete,
}

type Connecting<'a> = Pin<Box<dyn Future<Output = Box<dyn RedemptionStore + 'a>> + 'a>>;

/// A constructor of handles to a store of any type.
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

    /// Sets the extent of the store's history.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Sets a constructor for a store whose database does not answer, such as a store connected to
    /// a port that nothing listens on. Each call on that store must fail within ten seconds.
    ///
    /// Without such a store, the cases of the group `outage` do not apply.
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
