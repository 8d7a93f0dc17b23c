//! Why a store cannot be opened, and what an error of Redis means for a redemption.

use std::time::Duration;

use redis::RedisError;
use request_state_core::StoreError;

/// Why a [`RedisStore`](crate::RedisStore) cannot be opened.
///
/// None of the texts holds a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisStoreError {
    /// The URL cannot be parsed, or is of a kind that was not compiled in.
    #[error("url is not valid: {0}")]
    Url(RedisError),
    /// The time limit is zero or beyond a day.
    #[error("timeout is {} ms; it must be above 0 and at most a day", .0.as_millis())]
    Timeout(Duration),
    /// The prefix would put keys into the wrong slot of a cluster.
    #[error("prefix contains '{{' or '}}', which mark the part of a key that chooses its slot")]
    Prefix,
    /// The server may evict entries, and a round whose entry is gone could be redeemed again.
    #[error(
        "maxmemory is set and maxmemory-policy is {policy}; \
         set maxmemory-policy to noeviction, or maxmemory to 0"
    )]
    Evicts {
        /// The policy that the server has.
        policy: String,
    },
    /// The server does not show whether it evicts, or the user may not run `INFO`.
    #[error(
        "INFO memory does not show maxmemory_policy; allow the user to run INFO, \
         or make sure that the policy is noeviction and call assume_noeviction"
    )]
    PolicyHidden,
    /// The server, or a proxy in front of it, does not show which process it is, or the user may not run
    /// `INFO`.
    #[error(
        "INFO does not show run_id, master_replid and server_time_usec; use Redis 7 or Valkey, allow the \
         user to run INFO, and connect without a proxy that hides them"
    )]
    IdentityHidden,
    /// There is no history to provision: the database was in use.
    #[error("the database is not empty: it has {keys} keys; provision an empty one")]
    NotEmpty {
        /// How many keys the database has.
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
            // A replica stays one for this connection, wherever the address points by now.
            Self::Redis(error) => {
                error.is_io_error()
                    || error.is_unrecoverable_error()
                    || error.code() == Some("READONLY")
            }
            _ => false,
        }
    }
}

/// `Full` is for the one error that says that nothing was written. Nothing else is told apart:
/// after `MOVED`, `READONLY`, a time-out or a lost connection nobody knows what was.
impl From<RedisStoreError> for StoreError {
    fn from(error: RedisStoreError) -> Self {
        match &error {
            RedisStoreError::Redis(redis) if redis.code() == Some("OOM") => Self::Full,
            _ => Self::failed(error),
        }
    }
}
