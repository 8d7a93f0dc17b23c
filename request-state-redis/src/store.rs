//! The store.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use redis::Value;
use request_state_core::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
use tokio::time::{Instant, timeout_at};

use crate::entry::{self, BUCKETS, bucket, entry_key, mark_key};
use crate::error::RedisStoreError;
use crate::link::{Connection, Link};
use crate::script::{Reply, Script, Scripts};

/// The limit for scripts that only read the mark: no mark is younger. It is the end of the year
/// 9999 in milliseconds, and also the longest lifetime.
const LATEST_MS: u64 = 253_402_300_799_999;

/// The time for which a policy that evicts nothing is assumed to stay unchanged. The policy can be
/// changed while the server runs. Reading it takes longer than a claim, so it is not part of every
/// claim.
const POLICY_VALID: Duration = Duration::from_secs(60);

/// A store of redemptions in Redis 7 or Valkey, for all replicas of a server.
///
/// The [crate's front page](crate) lists the settings that the server needs, and the losses of data
/// that are covered.
///
/// Clones share the connection. If it breaks, the next call opens it again. Use the store within a
/// Tokio runtime.
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    link: Arc<Link>,
    scripts: Scripts,
    prefix: String,
    timeout: Duration,
    clock_margin_ms: u64,
    /// The time at which the policy was last read, for each bucket and therefore for each node of a
    /// cluster.
    policy_read: Mutex<[Option<Instant>; BUCKETS as usize]>,
}

impl RedisStore {
    pub(crate) fn new(
        link: Link,
        scripts: Scripts,
        prefix: String,
        timeout: Duration,
        clock_margin: Duration,
    ) -> Self {
        Self(Arc::new(Inner {
            link: Arc::new(link),
            scripts,
            prefix,
            timeout,
            clock_margin_ms: whole_ms(clock_margin),
            policy_read: Mutex::new([None; BUCKETS as usize]),
        }))
    }

    pub(crate) async fn open(&self) -> Result<(), RedisStoreError> {
        let inner = &*self.0;
        let connected = timeout_at(inner.deadline(), inner.connection()).await;
        connected.map_err(|_| inner.timed_out())??;
        Ok(())
    }

    pub(crate) async fn provision_marks(&self) -> Result<(), RedisStoreError> {
        let inner = &*self.0;
        let provision = async {
            let unprepared = |_| std::future::ready(Ok(()));
            let (_, mut connection) = inner.link.get(unprepared).await?;
            match connection.query(&redis::cmd("DBSIZE")).await? {
                Value::Int(0) => {
                    let provision = &inner.scripts.provision;
                    all_of(inner.for_all_buckets(provision, connection).await)
                }
                Value::Int(keys) => Err(RedisStoreError::NotEmpty {
                    keys: keys.unsigned_abs(),
                }),
                _ => Err(RedisStoreError::Unexpected),
            }
        };
        let provisioned = timeout_at(inner.deadline(), provision).await;
        provisioned.map_err(|_| inner.timed_out())?
    }
}

impl Inner {
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        // Adding up to a day does not overflow. If it did, the call would fail.
        now.checked_add(self.timeout).unwrap_or(now)
    }

    fn timed_out(&self) -> RedisStoreError {
        RedisStoreError::TimedOut(self.timeout)
    }

    /// Returns the connection. When a new connection is opened, reads the server's policy and
    /// writes the missing marks. Otherwise the history of a bucket without a mark would begin with
    /// its first claim, perhaps days later.
    async fn connection(&self) -> Result<(u64, Connection), RedisStoreError> {
        let prepare = async |connection| {
            let marked = self.for_all_buckets(&self.scripts.mark, connection).await;
            // A node of a cluster may be down while the others serve. An invalid setting is an
            // error on any node.
            let is_down = |error: &RedisStoreError| matches!(error, RedisStoreError::Redis(_));
            if marked.iter().any(Result::is_ok)
                && marked
                    .iter()
                    .all(|marked| marked.as_ref().err().is_none_or(is_down))
            {
                return Ok(());
            }
            all_of(marked)
        };
        self.link.get(prepare).await
    }

    /// Runs a script on the mark of every bucket concurrently, even if some of them fail.
    async fn for_all_buckets(
        &self,
        script: &Script,
        connection: Connection,
    ) -> Vec<Result<(), RedisStoreError>> {
        let limit = LATEST_MS.to_string();
        let mark = async |bucket: u8| -> Result<(), RedisStoreError> {
            let mut connection = connection.clone();
            let key = [mark_key(&self.prefix, bucket)];
            let value = script
                .run(&mut connection, &key, &[limit.as_bytes()])
                .await?;
            match Reply::parse(value) {
                Some(Reply::Marked | Reply::Forgot) => Ok(()),
                _ => Err(RedisStoreError::Unexpected),
            }
        };
        // The first call loads the script.
        let mut marked = vec![mark(0).await];
        marked.extend(join_all((1..BUCKETS).map(mark)).await);
        marked
    }

    /// Runs a script within the time limit.
    async fn run(
        &self,
        script: &Script,
        keys: &[String],
        args: &[&[u8]],
        deadline: Instant,
    ) -> Result<Value, RedisStoreError> {
        let connected = timeout_at(deadline, self.connection()).await;
        let (number, mut connection) = connected.map_err(|_| self.timed_out())??;
        let mut unanswered = Unanswered {
            inner: self,
            call: keys.first().map(|key| (number, connection.clone(), key)),
        };
        let result = match timeout_at(deadline, script.run(&mut connection, keys, args)).await {
            Ok(result) => result.map_err(RedisStoreError::from),
            Err(_) => Err(self.timed_out()),
        };
        unanswered.call = None;
        if let Err(error) = &result
            && error.breaks_connection()
        {
            self.link.discard(number);
        }
        result
    }

    /// Runs a script that needs the history since the token was issued.
    async fn with_history(
        &self,
        script: &Script,
        id: &[u8; 32],
        issued_at_ms: u64,
        args: &[&[u8]],
    ) -> Result<Reply, StoreError> {
        let deadline = self.deadline();
        let keys = [
            mark_key(&self.prefix, bucket(id)),
            entry_key(&self.prefix, id),
        ];
        let limit = issued_at_ms
            .saturating_sub(self.clock_margin_ms)
            .to_string();
        let args = [&[limit.as_bytes()], args].concat();
        let value = self.run(script, &keys, &args, deadline).await;
        if let Err(RedisStoreError::Evicts { .. }) = value {
            // The other buckets lose their marks too, because their entries may be gone.
            drop(timeout_at(deadline, self.mark_again()).await);
        }
        match Reply::parse(value?).ok_or(RedisStoreError::Unexpected)? {
            Reply::Young => Err(StoreError::HistoryLost),
            Reply::Forgot => {
                // The other buckets have lost their history too. This is best effort: if it fails,
                // their own claims set the marks later.
                drop(timeout_at(deadline, self.mark_again()).await);
                Err(StoreError::HistoryLost)
            }
            reply => Ok(reply),
        }
    }

    async fn mark_again(&self) -> Result<(), RedisStoreError> {
        let (_, connection) = self.connection().await?;
        all_of(self.for_all_buckets(&self.scripts.mark, connection).await)
    }

    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let head = entry::head(claim);
        let lifetime_ms = whole_ms(claim.keep_for).clamp(1, LATEST_MS).to_string();
        let now = Instant::now();
        let is_due = self.is_policy_due(&claim.id, now);
        let check: &[u8] = if is_due { b"check" } else { b"" };
        let args = [head.as_slice(), lifetime_ms.as_bytes(), check];
        let script = &self.scripts.claim;
        let reply = self.with_history(script, &claim.id, claim.issued_at_ms, &args);
        let reply = reply.await?;
        if is_due {
            self.note_policy(&claim.id, now);
        }
        match reply {
            Reply::First => Ok(Claimed::First),
            Reply::Entry { bytes, now_ms } => Ok(Claimed::Used(parse(&bytes, now_ms)?)),
            _ => Err(RedisStoreError::Unexpected.into()),
        }
    }

    fn is_policy_due(&self, id: &[u8; 32], now: Instant) -> bool {
        // No code that can panic runs while the mutex is locked.
        let read = self
            .policy_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let last = read.get(usize::from(bucket(id))).copied().flatten();
        last.is_none_or(|last| now.duration_since(last) >= POLICY_VALID)
    }

    /// Records that the server of this bucket evicts nothing.
    fn note_policy(&self, id: &[u8; 32], now: Instant) {
        let mut read = self
            .policy_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = read.get_mut(usize::from(bucket(id))) {
            *last = Some(now);
        }
    }

    async fn find(&self, id: &[u8; 32], issued_at_ms: u64) -> Result<Option<Entry>, StoreError> {
        let reply = self.with_history(&self.scripts.find, id, issued_at_ms, &[]);
        match reply.await? {
            Reply::None => Ok(None),
            Reply::Entry { bytes, now_ms } => parse(&bytes, now_ms).map(Some),
            _ => Err(RedisStoreError::Unexpected.into()),
        }
    }

    /// Runs a script that changes the entry if the entry's nonce equals the first of `args`.
    async fn change(
        &self,
        script: &Script,
        id: &[u8; 32],
        args: &[&[u8]],
    ) -> Result<bool, StoreError> {
        let keys = [entry_key(&self.prefix, id)];
        match self.run(script, &keys, args, self.deadline()).await? {
            Value::Int(changed) => Ok(changed == 1),
            _ => Err(RedisStoreError::Unexpected.into()),
        }
    }
}

fn all_of(results: Vec<Result<(), RedisStoreError>>) -> Result<(), RedisStoreError> {
    results.into_iter().collect()
}

/// A call that waits for the server. If the caller drops the call first, a probe must notice that
/// the server does not answer. If every caller gave up before the time limit, no call would ever
/// reach the limit.
struct Unanswered<'a> {
    inner: &'a Inner,
    call: Option<(u64, Connection, &'a String)>,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if let Some((number, connection, key)) = self.call.take() {
            let limit = self.inner.timeout;
            self.inner
                .link
                .probe(number, connection, key.clone(), limit);
        }
    }
}

fn parse(bytes: &[u8], now_ms: u64) -> Result<Entry, StoreError> {
    entry::parse(bytes, now_ms).ok_or_else(|| RedisStoreError::Unexpected.into())
}

/// Converts to milliseconds, rounded up: an entry is never kept for less than its time.
fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

impl RedemptionStore for RedisStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        Box::pin(self.0.claim(claim))
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        Box::pin(self.0.find(id, issued_at_ms))
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let script = &self.0.scripts.record;
            self.0.change(script, id, &[nonce, answer]).await
        })
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.0.change(&self.0.scripts.release, id, &[nonce]).await })
    }
}

impl fmt::Debug for RedisStore {
    /// Prints the address and the settings, but not the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", &self.0.link)
            .field("prefix", &self.0.prefix)
            .field("timeout", &self.0.timeout)
            .finish_non_exhaustive()
    }
}
