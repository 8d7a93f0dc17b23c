//! The connection. It is opened on demand, shared by all calls, and replaced when it breaks.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
#[cfg(feature = "cluster")]
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisResult, Value};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::error::RedisStoreError;

/// The minimum time between opening two clients of a cluster.
#[cfg(feature = "cluster")]
const PAUSE: Duration = Duration::from_secs(1);

/// The address of the server.
pub(crate) enum Target {
    Single(redis::Client),
    #[cfg(feature = "cluster")]
    Cluster(Box<redis::cluster::ClusterClient>),
}

/// A connection that any number of calls can use concurrently.
#[derive(Clone)]
pub(crate) enum Connection {
    Single(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(ClusterConnection),
}

impl Target {
    async fn connect(&self) -> RedisResult<Connection> {
        match self {
            Self::Single(client) => {
                // The store limits each call as a whole.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let connection = client.get_multiplexed_async_connection_with_config(&config);
                connection.await.map(Connection::Single)
            }
            #[cfg(feature = "cluster")]
            Self::Cluster(client) => client.get_async_connection().await.map(Connection::Cluster),
        }
    }
}

impl Connection {
    pub(crate) async fn query(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => command.query_async(connection).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => command.query_async(connection).await,
        }
    }
}

/// The connection of a store.
///
/// The reconnecting `ConnectionManager` of `redis` is not suitable. It gives up permanently when
/// the server is still loading its data, does not notice a peer that only stopped answering, and
/// reconnects without an opportunity to read the server's settings.
pub(crate) struct Link {
    target: Target,
    /// The open connection, with a number that is new for each connection.
    open: StdMutex<Option<(u64, Connection)>>,
    /// The number of connections so far. The call that connects holds the lock.
    connecting: Mutex<u64>,
    /// Whether a probe is in progress.
    probing: AtomicBool,
}

/// A guard that marks the end of a probe, even if the runtime drops the probe.
struct Probing(Arc<Link>);

impl Drop for Probing {
    fn drop(&mut self) {
        self.0.probing.store(false, Ordering::Relaxed);
    }
}

impl Link {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            open: StdMutex::new(None),
            connecting: Mutex::new(0),
            probing: AtomicBool::new(false),
        }
    }

    /// Returns the connection and its number. If there is none, opens one. `prepare` must approve a
    /// new connection.
    pub(crate) async fn get<F>(
        &self,
        prepare: impl FnOnce(Connection) -> F + Send,
    ) -> Result<(u64, Connection), RedisStoreError>
    where
        F: Future<Output = Result<(), RedisStoreError>> + Send,
    {
        if let Some(open) = self.current() {
            return Ok(open);
        }
        let mut number = self.connecting.lock().await;
        if let Some(open) = self.current() {
            return Ok(open);
        }
        let connection = self.target.connect().await?;
        prepare(connection.clone()).await?;
        *number = number.wrapping_add(1);
        let open = (*number, connection);
        self.set(Some(open.clone()));
        Ok(open)
    }

    /// Discards the connection with this number. The next call opens another. A cluster's
    /// connection is kept until another is open.
    pub(crate) fn discard(self: &Arc<Self>, number: u64) {
        if self.current().is_none_or(|(current, _)| current != number) {
            return;
        }
        match self.target {
            Target::Single(_) => self.set(None),
            #[cfg(feature = "cluster")]
            Target::Cluster(_) => drop(tokio::spawn(Arc::clone(self).replace())),
        }
    }

    /// Opens another connection to a cluster, unless one is already being opened.
    ///
    /// The client of a cluster replaces broken connections by itself. But it keeps sending to a
    /// node that only stopped answering, and never asks the other nodes which of them took over its
    /// slots. A new client does ask. Calls to the nodes that do answer must not wait for the new
    /// client, so they use the old one meanwhile.
    #[cfg(feature = "cluster")]
    async fn replace(self: Arc<Self>) {
        let Ok(mut number) = self.connecting.try_lock() else {
            return;
        };
        // The policy of the nodes is read with the claims. After an error, the next call that fails
        // comes here again.
        if let Ok(connection) = self.target.connect().await {
            *number = number.wrapping_add(1);
            self.set(Some((*number, connection)));
        }
        // If a whole shard is down, every call to it fails at once, and each new client connects to
        // every node.
        tokio::time::sleep(PAUSE).await;
    }

    /// Checks whether the connection with this number still reaches the node that has `key`, and
    /// discards the connection if not. The call that would have noticed was dropped before its time
    /// limit.
    pub(crate) fn probe(
        self: &Arc<Self>,
        number: u64,
        mut connection: Connection,
        key: String,
        limit: Duration,
    ) {
        // Outside of a runtime, no probe can be spawned.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if self.probing.swap(true, Ordering::Relaxed) {
            return;
        }
        let probing = Probing(Arc::clone(self));
        runtime.spawn(async move {
            let get = redis::cmd("GET").arg(key).to_owned();
            let answered = timeout(limit, connection.query(&get)).await;
            let is_broken = match answered {
                Ok(Ok(_)) => false,
                Ok(Err(error)) => RedisStoreError::from(error).breaks_connection(),
                Err(_) => true,
            };
            if is_broken {
                probing.0.discard(number);
            }
        });
    }

    fn current(&self) -> Option<(u64, Connection)> {
        // No code that can panic runs while the mutex is locked.
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    fn set(&self, connection: Option<(u64, Connection)>) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

impl fmt::Debug for Link {
    /// Prints the address, but not the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Single(client) => write!(f, "{}", client.get_connection_info().addr()),
            #[cfg(feature = "cluster")]
            Target::Cluster(_) => f.write_str("cluster"),
        }
    }
}
