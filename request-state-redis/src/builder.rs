//! The settings of a store, and the constructors.

use std::fmt;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{ConnectionInfo, IntoConnectionInfo};

use crate::error::RedisStoreError;
use crate::link::{Link, Target};
use crate::script::Scripts;
use crate::store::RedisStore;

/// The settings of a [`RedisStore`].
///
/// Returned by [`RedisStore::builder`] or, for a cluster, by `RedisStore::cluster`.
#[derive(Clone)]
#[must_use]
pub struct RedisStoreBuilder {
    urls: Vec<String>,
    #[cfg(feature = "cluster")]
    cluster: bool,
    prefix: String,
    timeout: Duration,
    clock_margin: Duration,
    trust_persistence: bool,
    assume_noeviction: bool,
}

impl RedisStoreBuilder {
    fn new(urls: Vec<String>) -> Self {
        Self {
            urls,
            #[cfg(feature = "cluster")]
            cluster: false,
            prefix: "request-state:".to_owned(),
            timeout: Duration::from_secs(1),
            clock_margin: Duration::from_secs(120),
            trust_persistence: false,
            assume_noeviction: false,
        }
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn of_cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    /// Sets the time limit of each call, including connecting. Default: one second.
    ///
    /// A call that takes longer fails, and the response to the request is the error -32603.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum difference between the clocks of the servers that seal and the clock of the
    /// Redis server. Default: two minutes.
    ///
    /// The margin has two parts. A replica accepts tokens that expire up to a minute beyond its own
    /// TTL, and its clock may differ from the clock of Redis by the other minute. After the Redis
    /// server has lost its history, tokens are unavailable until they are issued this much later.
    /// Set it to zero in tests, where all parties share one clock.
    pub fn clock_margin(mut self, margin: Duration) -> Self {
        self.clock_margin = margin;
        self
    }

    /// Sets whether a restarted server is trusted to have everything that it acknowledged. Default:
    /// `false`, which makes older tokens unavailable after each restart and failover.
    ///
    /// **Only for one node without replicas, with `appendonly yes` and `appendfsync always`, whose
    /// files are never replaced by a backup.** Any other server can lose a redemption that it
    /// acknowledged, and a used round could be redeemed again.
    ///
    /// Rounds redeemed while the server was not trusted are not trusted afterwards, so switching
    /// this on loses the history once.
    pub fn trust_persistence(mut self, trust: bool) -> Self {
        self.trust_persistence = trust;
        self
    }

    /// Declares, on the operator's behalf, that the server evicts nothing: `maxmemory-policy` is
    /// `noeviction`, or `maxmemory` is 0.
    ///
    /// **Only for servers whose `INFO memory` does not show this.** The store then checks nothing,
    /// and a server that evicts lets used rounds be redeemed again.
    pub fn assume_noeviction(mut self) -> Self {
        self.assume_noeviction = true;
        self
    }

    /// Sets the prefix of all keys. Default: `request-state:`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Connects, checks that the server evicts nothing, and writes any missing birth marks.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisStoreError`]. If a setting is invalid, the error names it.
    pub async fn connect(self) -> Result<RedisStore, RedisStoreError> {
        let store = self.store()?;
        store.open().await?;
        Ok(store)
    }

    /// Does the same as [`RedisStore::provision`], with these settings.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisStoreError`] if the server cannot be provisioned.
    pub async fn provision(self) -> Result<(), RedisStoreError> {
        self.store()?.provision_marks().await
    }

    fn store(&self) -> Result<RedisStore, RedisStoreError> {
        let timeout = self.checked_timeout()?;
        let prefix = self.checked_prefix()?;
        let link = Link::new(self.target()?);
        let scripts = Scripts::new(self.trust_persistence, self.assume_noeviction);
        Ok(RedisStore::new(
            link,
            scripts,
            prefix,
            timeout,
            self.clock_margin,
        ))
    }

    fn checked_prefix(&self) -> Result<String, RedisStoreError> {
        if self.prefix.contains(['{', '}']) {
            return Err(RedisStoreError::Prefix);
        }
        Ok(self.prefix.clone())
    }

    fn checked_timeout(&self) -> Result<Duration, RedisStoreError> {
        if self.timeout.is_zero() || self.timeout > Duration::from_secs(86_400) {
            return Err(RedisStoreError::Timeout(self.timeout));
        }
        Ok(self.timeout)
    }

    fn target(&self) -> Result<Target, RedisStoreError> {
        let addresses: Result<Vec<_>, _> = self.urls.iter().map(|url| address(url)).collect();
        let addresses = addresses.map_err(RedisStoreError::Url)?;
        #[cfg(feature = "cluster")]
        if self.cluster {
            // The client may retry commands: a nonce that was first stays first when its claim is
            // repeated. The client connects to the nodes of the URLs and then to the nodes of the
            // cluster, and waits for all of them. A node that does not answer must leave time for
            // the call itself.
            let connection_timeout = self.timeout.checked_div(4).unwrap_or(self.timeout);
            let client = redis::cluster::ClusterClient::builder(addresses)
                .tcp_settings(tcp())
                .connection_timeout(connection_timeout)
                .response_timeout(self.timeout)
                .retries(3)
                .min_retry_wait(10)
                .max_retry_wait(100)
                .build();
            let target = client.map(Box::new).map(Target::Cluster);
            return target.map_err(RedisStoreError::Url);
        }
        let client = match <[ConnectionInfo; 1]>::try_from(addresses) {
            Ok([address]) => redis::Client::open(address),
            Err(_) => return Err(RedisStoreError::Unexpected),
        };
        client.map(Target::Single).map_err(RedisStoreError::Url)
    }
}

impl RedisStore {
    /// Connects to the server at `url`, such as `redis://user:password@host:6379/0`.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisStoreError`]. If a setting is invalid, the error names it.
    pub async fn connect(url: &str) -> Result<Self, RedisStoreError> {
        Self::builder(url).connect().await
    }

    /// Returns a builder for the server at `url`, for changing the settings.
    pub fn builder(url: &str) -> RedisStoreBuilder {
        RedisStoreBuilder::new(vec![url.to_owned()])
    }

    /// Returns a builder for a Redis Cluster. `urls` are some of its nodes.
    #[cfg(feature = "cluster")]
    pub fn cluster<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> RedisStoreBuilder {
        RedisStoreBuilder::new(urls.into_iter().map(Into::into).collect()).of_cluster()
    }

    /// Declares that an **empty** database has the whole history, so that tokens issued earlier can
    /// be redeemed at once. Run it once, by hand, before the first replica connects.
    ///
    /// Without it, tokens issued before [`connect`](Self::connect) and up to two minutes afterwards
    /// are unavailable. Never run it on a database that lost its data: every used round would be
    /// valid again.
    ///
    /// # Errors
    ///
    /// Returns [`RedisStoreError::NotEmpty`] if the database has keys, or another
    /// [`RedisStoreError`].
    pub async fn provision(url: &str) -> Result<(), RedisStoreError> {
        Self::builder(url).provision().await
    }
}

fn address(url: &str) -> redis::RedisResult<ConnectionInfo> {
    Ok(url.into_connection_info()?.set_tcp_settings(tcp()))
}

/// Returns the TCP settings. Calls share a connection, so none may wait until another is
/// acknowledged.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

impl fmt::Debug for RedisStoreBuilder {
    /// Prints the settings, but not the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .field("clock_margin", &self.clock_margin)
            .field("trust_persistence", &self.trust_persistence)
            .field("assume_noeviction", &self.assume_noeviction)
            .finish_non_exhaustive()
    }
}
