//! The connection: opened when it is needed, shared by all calls, and replaced when it breaks.

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

/// How long after one client of a cluster another may be opened.
#[cfg(feature = "cluster")]
const PAUSE: Duration = Duration::from_secs(1);

/// Where the server is.
pub(crate) enum Target {
    Single(redis::Client),
    #[cfg(feature = "cluster")]
    Cluster(Box<redis::cluster::ClusterClient>),
}

/// A connection that any number of calls may use at once.
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
/// The reconnecting `ConnectionManager` of `redis` does not serve: it gives up for good when the server
/// is still loading its data, does not notice a peer that only stopped answering, and reconnects without
/// a chance to read the server's settings.
pub(crate) struct Link {
    target: Target,
    /// With a number that is new for each connection.
    open: StdMutex<Option<(u64, Connection)>>,
    /// Held by the one call that connects, with how many connections there were.
    connecting: Mutex<u64>,
    /// Whether a probe is on its way.
    probing: AtomicBool,
}

/// Ends a probe, also where its runtime ends it.
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

    /// Returns the connection and its number. Where there is none, opens one, of which `prepare` must
    /// approve.
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

    /// Forgets the connection of this number. The next call opens another. That of a cluster stays until
    /// another is open.
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

    /// Opens another connection to a cluster, unless somebody does.
    ///
    /// The client of a cluster replaces a connection that breaks by itself. But it goes on sending to a
    /// node that only stopped answering, and never asks the others who took over its slots. A new client
    /// asks. The nodes that answer must not wait for it: their calls use the old one meanwhile.
    #[cfg(feature = "cluster")]
    async fn replace(self: Arc<Self>) {
        let Ok(mut number) = self.connecting.try_lock() else {
            return;
        };
        // The policy of its nodes is read with the claims. After an error the next call that fails comes here again.
        if let Ok(connection) = self.target.connect().await {
            *number = number.wrapping_add(1);
            self.set(Some((*number, connection)));
        }
        // Where a whole shard is gone, every call to it fails at once, and each client connects to every node.
        tokio::time::sleep(PAUSE).await;
    }

    /// Finds out whether the connection of this number still serves the node that has `key`, and discards it
    /// if not: the call that would have noticed was dropped before its time limit.
    pub(crate) fn probe(
        self: &Arc<Self>,
        number: u64,
        mut connection: Connection,
        key: String,
        limit: Duration,
    ) {
        // Outside of a runtime there is none to ask.
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
        // No code that can panic runs while it is locked.
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    fn set(&self, connection: Option<(u64, Connection)>) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

impl fmt::Debug for Link {
    /// Prints the address, and nothing of the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Single(client) => write!(f, "{}", client.get_connection_info().addr()),
            #[cfg(feature = "cluster")]
            Target::Cluster(_) => f.write_str("cluster"),
        }
    }
}
