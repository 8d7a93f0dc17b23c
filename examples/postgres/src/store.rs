//! A store of redemptions, with one table and one statement for each claim.

use std::fmt;
use std::time::Duration;

use request_state::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::database::{Database, DatabaseError};

/// The table. Its row with the empty ID is its birth: the table knows every redemption since then.
/// If the table was emptied or dropped, its birth is lost as well, and `create` sets a new one.
///
/// The lock is for replicas that start at the same time.
const CREATE: &str = "
select pg_advisory_xact_lock(hashtext('request-state redemptions'));
create table if not exists redemptions (
    id bytea primary key,
    nonce bytea not null,
    presentation bytea not null,
    claimed_at timestamptz not null,
    keep_until timestamptz not null,
    answer bytea
);
create index if not exists redemptions_keep_until on redemptions (keep_until);
insert into redemptions (id, nonce, presentation, claimed_at, keep_until)
values ('', '', '', clock_timestamp(), 'infinity')
on conflict (id) do nothing;
";

/// Sets the birth anew.
const FORGET: &str = "
insert into redemptions (id, nonce, presentation, claimed_at, keep_until)
values ('', '', '', clock_timestamp(), 'infinity')
on conflict (id) do update set claimed_at = excluded.claimed_at
";

/// Inserts a row, unless one exists or the token may be older than the table.
///
/// The unique index decides, even among transactions that do not see each other yet: the second
/// waits for the first to end.
const CLAIM: &str = "
insert into redemptions (id, nonce, presentation, claimed_at, keep_until)
select $1::bytea, $2::bytea, $3::bytea, clock_timestamp(),
    clock_timestamp() + $4::int8 * interval '1 millisecond'
from redemptions as birth
where birth.id = '' and extract(epoch from birth.claimed_at) * 1000 <= $5::int8
on conflict (id) do nothing
";

/// Returns no row if there is no birth.
const FIND: &str = "
select extract(epoch from birth.claimed_at) * 1000 <= $2::int8 as is_remembered,
    kept.nonce, kept.presentation, kept.answer,
    (extract(epoch from greatest(clock_timestamp() - kept.claimed_at, '0')) * 1000)::int8 as age_ms
from redemptions as birth left join redemptions as kept on kept.id = $1::bytea
where birth.id = ''
";

const RECORD: &str = "update redemptions set answer = $3 where id = $1 and nonce = $2";

const RELEASE: &str = "delete from redemptions where id = $1 and nonce = $2 and answer is null";

/// Deletes expired rows. `now()` is the time at which the statement begins, so no row is deleted
/// early.
const CLEAN_UP: &str = "
delete from redemptions where id in (
    select id from redemptions where keep_until < now()
    order by keep_until limit 10000 for update skip locked
)
";

/// A time later than any four-digit year, and within the range of Postgres.
const TEN_THOUSAND_YEARS_MS: u64 = 315_576_000_000_000;

/// A store of redemptions in a Postgres table, for any number of replicas.
///
/// # Exactly one claim is first
///
/// A claim is one `INSERT .. ON CONFLICT DO NOTHING`. If it inserts its row, the claim is first,
/// regardless of other transactions. If not, a second statement reads the existing row. (One
/// statement could not do both, because it does not see a row that was committed after it began.)
/// The existing row may be gone by then, because it was released or had expired. In that case no
/// claim is first yet, and the claim is tried again.
///
/// # History
///
/// A redemption counts from the moment its insertion is committed, and a commit is on disk before
/// Postgres confirms it: [`Database`] rejects servers that are configured otherwise. A crash, a
/// `kill -9` or a power failure therefore loses no confirmed redemption. The table knows every
/// redemption since its birth, which is the time at which [`create`](Self::create) created it. For
/// a token that may be older, the store returns [`HistoryLost`](StoreError::HistoryLost).
///
/// Two events undo confirmed commits: a database was **restored from a backup**, or an
/// **asynchronous standby was promoted**. After either, and before the first server connects, call
/// [`forget`](Self::forget), or execute
///
/// ```sql
/// update redemptions set claimed_at = clock_timestamp() where id = '';
/// ```
///
/// # Lifetimes
///
/// Rows stay until [`clean_up`](Self::clean_up) deletes them, once they have expired according to
/// Postgres' clock. Nothing else deletes them. Call it from a job, once a minute.
///
/// # Errors
///
/// All outages are reported as [`Failed`](StoreError::Failed): an unreachable server, a call that
/// exceeds its time limit, a full disk. They end by themselves when the server is back.
#[derive(Clone)]
pub struct PostgresStore {
    database: Database,
    clock_margin: Duration,
}

impl PostgresStore {
    /// Creates the table if it does not exist, and connects to it.
    ///
    /// Call it before the server accepts requests. During the first two minutes of the table, all
    /// tokens may be older than the table.
    ///
    /// # Errors
    ///
    /// Returns a [`DatabaseError`] if Postgres cannot be reached or a statement fails.
    pub async fn create(database: Database) -> Result<Self, DatabaseError> {
        let created = async { Ok(database.connect().await?.batch_execute(CREATE).await?) };
        database.in_time(created).await?;
        Ok(Self {
            database,
            clock_margin: Duration::from_secs(120),
        })
    }

    /// Sets the maximum total difference between the clocks of this server's replicas and the clock
    /// of Postgres. Default: two minutes. Change it in tests, which use a single clock.
    #[must_use]
    pub fn clock_margin(mut self, margin: Duration) -> Self {
        self.clock_margin = margin;
        self
    }

    /// Makes the store unavailable for every token that was issued before this call.
    ///
    /// For an operator who has restored the database from a backup or promoted an asynchronous
    /// standby.
    ///
    /// # Errors
    ///
    /// Returns a [`DatabaseError`] if Postgres cannot be reached or the statement fails.
    pub async fn forget(&self) -> Result<(), DatabaseError> {
        let forgotten = async { Ok(self.database.connect().await?.execute(FORGET, &[]).await?) };
        self.database.in_time(forgotten).await?;
        Ok(())
    }

    /// Deletes up to 10,000 expired rows, and returns their number. Call it again until it returns
    /// 0.
    ///
    /// # Errors
    ///
    /// Returns a [`DatabaseError`] if Postgres cannot be reached or the statement fails.
    pub async fn clean_up(&self) -> Result<u64, DatabaseError> {
        let cleaned = async {
            Ok(self
                .database
                .connect()
                .await?
                .execute(CLEAN_UP, &[])
                .await?)
        };
        self.database.in_time(cleaned).await
    }

    /// Returns the latest birth of a table that covers a token, in the form that Postgres expects.
    fn latest_birth_ms(&self, issued_at_ms: u64) -> i64 {
        let margin_ms = whole_ms(self.clock_margin);
        i64::try_from(issued_at_ms.saturating_sub(margin_ms)).unwrap_or(i64::MAX)
    }

    async fn claim_now(&self, claim: &Claim) -> Result<Found, DatabaseError> {
        let client = self.database.connect().await?;
        let keep_for_ms = whole_ms(claim.keep_for).min(TEN_THOUSAND_YEARS_MS);
        let keep_for_ms = i64::try_from(keep_for_ms).map_err(|_| DatabaseError::Contents)?;
        let birth_ms = self.latest_birth_ms(claim.issued_at_ms);
        let (id, nonce, presentation) = (&claim.id[..], &claim.nonce[..], &claim.presentation[..]);
        let insert = client.prepare_cached(CLAIM).await?;
        let select = client.prepare_cached(FIND).await?;
        // Until the time limit of the call.
        loop {
            let row: [&(dyn ToSql + Sync); 5] =
                [&id, &nonce, &presentation, &keep_for_ms, &birth_ms];
            if client.execute(&insert, &row).await? == 1 {
                return Ok(Found::Nothing);
            }
            match found(client.query_opt(&select, &[&id, &birth_ms]).await?)? {
                Found::Nothing => {}
                other => return Ok(other),
            }
        }
    }

    async fn find_now(&self, id: &[u8; 32], issued_at_ms: u64) -> Result<Found, DatabaseError> {
        let client = self.database.connect().await?;
        let select = client.prepare_cached(FIND).await?;
        let birth_ms = self.latest_birth_ms(issued_at_ms);
        found(client.query_opt(&select, &[&&id[..], &birth_ms]).await?)
    }

    async fn record_now(
        &self,
        id: &[u8; 32],
        nonce: &[u8; 16],
        answer: &[u8],
    ) -> Result<bool, DatabaseError> {
        let client = self.database.connect().await?;
        let update = client.prepare_cached(RECORD).await?;
        let values: [&(dyn ToSql + Sync); 3] = [&&id[..], &&nonce[..], &answer];
        Ok(client.execute(&update, &values).await? == 1)
    }

    async fn release_now(&self, id: &[u8; 32], nonce: &[u8; 16]) -> Result<bool, DatabaseError> {
        let client = self.database.connect().await?;
        let delete = client.prepare_cached(RELEASE).await?;
        let values: [&(dyn ToSql + Sync); 2] = [&&id[..], &&nonce[..]];
        Ok(client.execute(&delete, &values).await? == 1)
    }
}

/// The table's information about an ID.
enum Found {
    /// The token may be older than the table.
    NoHistory,
    Nothing,
    Entry {
        nonce: Vec<u8>,
        entry: Entry,
    },
}

fn found(row: Option<Row>) -> Result<Found, DatabaseError> {
    let Some(row) = row else {
        return Ok(Found::NoHistory);
    };
    if !row.try_get::<_, bool>("is_remembered")? {
        return Ok(Found::NoHistory);
    }
    let Some(nonce) = row.try_get("nonce")? else {
        return Ok(Found::Nothing);
    };
    let presentation: &[u8] = row.try_get("presentation")?;
    let age_ms: i64 = row.try_get("age_ms")?;
    let age_ms = u64::try_from(age_ms).map_err(|_| DatabaseError::Contents)?;
    let entry = Entry {
        presentation: presentation
            .try_into()
            .map_err(|_| DatabaseError::Contents)?,
        age: Duration::from_millis(age_ms),
        answer: row.try_get("answer")?,
    };
    Ok(Found::Entry { nonce, entry })
}

/// Converts to milliseconds, rounded up: an entry is never kept for less than its time.
fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

impl RedemptionStore for PostgresStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        Box::pin(async move {
            let found = self.database.in_time(self.claim_now(claim)).await;
            match found.map_err(StoreError::failed)? {
                Found::NoHistory => Err(StoreError::HistoryLost),
                Found::Nothing => Ok(Claimed::First),
                // A repetition of this claim.
                Found::Entry { nonce, .. } if nonce == claim.nonce => Ok(Claimed::First),
                Found::Entry { entry, .. } => Ok(Claimed::Used(entry)),
            }
        })
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let found = self.database.in_time(self.find_now(id, issued_at_ms)).await;
            match found.map_err(StoreError::failed)? {
                Found::NoHistory => Err(StoreError::HistoryLost),
                Found::Nothing => Ok(None),
                Found::Entry { entry, .. } => Ok(Some(entry)),
            }
        })
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let recorded = self.database.in_time(self.record_now(id, nonce, answer));
            recorded.await.map_err(StoreError::failed)
        })
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let released = self.database.in_time(self.release_now(id, nonce));
            released.await.map_err(StoreError::failed)
        })
    }
}

impl fmt::Debug for PostgresStore {
    /// Prints neither the address nor the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("database", &self.database)
            .field("clock_margin", &self.clock_margin)
            .finish()
    }
}
