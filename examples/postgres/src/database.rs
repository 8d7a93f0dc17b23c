//! Connections to Postgres, with a time limit for each call.

use std::fmt;
use std::time::Duration;

use deadpool_postgres::{
    BuildError, Client, ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, PoolError,
    RecyclingMethod, Timeouts,
};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Config, NoTls};

/// A query that returns whether a commit that Postgres has confirmed survives a crash.
const IS_DURABLE: &str =
    "select current_setting('fsync')::bool and current_setting('synchronous_commit') <> 'off'";

/// A pool of connections to one Postgres, with a time limit for each call.
///
/// Clones share the pool. Each connection is to a server that accepts writes, because a standby may
/// not yet know which rounds were redeemed. A server that confirms commits before they are on disk
/// is an error.
///
/// Connections are **not encrypted**. For a server that is not on the same host, replace `NoTls`
/// with a connector such as `tokio-postgres-rustls`.
#[derive(Clone)]
pub struct Database {
    pool: Pool,
    limit: Duration,
}

/// An error of a call to Postgres.
///
/// Do not show it to clients, and review it before you log it: it may quote rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The pool could not be created.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// No connection was available.
    #[error(transparent)]
    Connect(#[from] PoolError),
    /// A statement failed.
    #[error(transparent)]
    Statement(#[from] tokio_postgres::Error),
    /// The call took more than twice the time limit. Its statement may have been executed.
    #[error("the database did not answer in time")]
    TimedOut,
    /// The tables contain data that this crate does not write.
    #[error("a row has unexpected contents")]
    Contents,
}

impl Database {
    /// Creates a pool of up to `connections` connections, which are opened on demand.
    ///
    /// Postgres cancels a statement after `limit`. A call ends after twice the limit in any case:
    /// by then the outcome of a statement that waited for a lock is known.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError::Build`] if the pool cannot be created.
    pub fn new(
        mut config: Config,
        connections: usize,
        limit: Duration,
    ) -> Result<Self, DatabaseError> {
        // 0 would mean no limit.
        let limit_ms = limit.as_millis().clamp(1, 3_600_000);
        let given = config.get_options().unwrap_or_default();
        config.options(format!(
            "{given} -c statement_timeout={limit_ms} \
             -c idle_in_transaction_session_timeout={limit_ms} \
             -c default_transaction_isolation=read\\ committed"
        ));
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(limit);
        // For a peer that disappears without closing the connection.
        config.tcp_user_timeout(limit);
        let manager = ManagerConfig {
            // This asks the server, because an interrupted statement may still run on the
            // connection.
            recycling_method: RecyclingMethod::Verified,
        };
        let pool = Pool::builder(Manager::from_config(config, NoTls, manager))
            .max_size(connections)
            .timeouts(Timeouts {
                wait: Some(limit),
                create: Some(limit),
                recycle: limit.checked_div(4),
            })
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(must_be_durable(client))
            }))
            .build()?;
        Ok(Self { pool, limit })
    }

    /// Returns a connection.
    pub(crate) async fn connect(&self) -> Result<Client, DatabaseError> {
        Ok(self.pool.get().await?)
    }

    /// Runs `call`, and cancels it after twice the limit.
    pub(crate) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let limit = self.limit.saturating_mul(2);
        let ended = tokio::time::timeout(limit, call).await;
        ended.map_err(|_| DatabaseError::TimedOut)?
    }
}

async fn must_be_durable(client: &mut ClientWrapper) -> Result<(), HookError> {
    let row = client.query_one(IS_DURABLE, &[]).await;
    let is_durable = row.and_then(|row| row.try_get(0));
    if is_durable.map_err(HookError::Backend)? {
        return Ok(());
    }
    Err(HookError::message(
        "fsync or synchronous_commit is off; both must be on, or a crash loses redemptions",
    ))
}

impl fmt::Debug for Database {
    /// Prints neither the address nor the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
