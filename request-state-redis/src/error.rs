//! The errors of opening a store, and the mapping of Redis errors to redemption errors.

use std::time::Duration;

use redis::RedisError;
use request_state_core::StoreError;

/// The reason why a [`RedisStore`](crate::RedisStore) cannot be opened.
///
/// No error text contains a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisStoreError {
    /// The URL cannot be parsed, or it needs a feature that was not compiled in.
    #[error("url is not valid: {0}")]
    Url(RedisError),
    /// The time limit is zero or more than a day.
    #[error("timeout is {} ms; it must be above 0 and at most a day", .0.as_millis())]
    Timeout(Duration),
    /// The prefix would put keys into the wrong slot of a cluster.
    #[error("prefix contains '{{' or '}}', which mark the part of a key that chooses its slot")]
    Prefix,
    /// The server may evict entries. A round whose entry was evicted could be redeemed again.
    #[error(
        "maxmemory is set and maxmemory-policy is {policy}; \
         set maxmemory-policy to noeviction, or maxmemory to 0"
    )]
    Evicts {
        /// The server's policy.
        policy: String,
    },
    /// The server does not show whether it evicts, or the user may not run `INFO`.
    #[error(
        "INFO memory does not show maxmemory_policy; allow the user to run INFO, \
         or make sure that the policy is noeviction and call assume_noeviction"
    )]
    PolicyHidden,
    /// The server, or a proxy in front of it, does not identify its process, or the user may not
    /// run `INFO`.
    #[error(
        "INFO does not show run_id, server_time_usec, role and master_replid; use Redis 7 or Valkey, allow the \
         user to run INFO, and connect without a proxy that hides them"
    )]
    IdentityHidden,
    /// The database is not empty, so it cannot be provisioned.
    #[error("the database is not empty: it has {keys} keys; provision an empty one")]
    NotEmpty {
        /// The number of keys in the database.
        keys: u64,
    },
    /// The server did not answer in time.
    #[error("the server did not answer within the timeout of {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The server cannot be reached, or returned an error.
    #[error("the server failed: {0}")]
    Redis(RedisError),
    /// The server returned a value that no script of this crate returns.
    #[error("the server returned an unexpected value")]
    Unexpected,
}

impl From<RedisError> for RedisStoreError {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("EVICTS") => Self::Evicts {
                policy: error.detail().unwrap_or_default().to_owned(),
            },
            Some("NOPOLICY") => Self::PolicyHidden,
            Some("NOIDENTITY") => Self::IdentityHidden,
            _ => Self::Redis(error),
        }
    }
}

impl RedisStoreError {
    /// Returns `true` if the connection may not be used again.
    pub(crate) fn breaks_connection(&self) -> bool {
        match self {
            Self::TimedOut(_) => true,
            // A replica remains a replica for this connection, even if the address now points to
            // another server.
            Self::Redis(error) => {
                error.is_io_error()
                    || error.is_unrecoverable_error()
                    || error.code() == Some("READONLY")
            }
            _ => false,
        }
    }
}

/// `Full` is for the only error that proves that nothing was written. All other errors are treated
/// alike: after `MOVED`, `READONLY`, a timeout or a lost connection, the outcome is unknown.
impl From<RedisStoreError> for StoreError {
    fn from(error: RedisStoreError) -> Self {
        match &error {
            RedisStoreError::Redis(redis) if redis.code() == Some("OOM") => Self::Full,
            _ => Self::failed(error),
        }
    }
}
