//! The trait for stores of redemptions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::codec::BoxError;

/// The future that the methods of a [`RedemptionStore`] return.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store that keeps which rounds and tokens were redeemed, for all replicas of a server.
///
/// [`MemoryStore`](super::MemoryStore) serves one process. `RedisStore` of the crate `request-state-redis`
/// serves any number. For another database, implement this trait and run
/// `request_state_conformance::check_store` on your store.
///
/// A store is shared: `&S`, `Box<S>` and `Arc<S>` of a store are stores too, and so is
/// `Arc<dyn RedemptionStore>`. The futures may depend on any runtime that the store requires.
///
/// # Contract
///
/// Every implementation must follow these rules.
///
/// - **Decide once.** Of any number of [`claim`](Self::claim)s of one id, on any replica and at any time, at
///   most one is [`First`](Claimed::First). The decision is one atomic step: checking first and writing
///   afterwards is not enough.
/// - **Compare the nonce.** A claim that finds its own nonce is [`First`](Claimed::First), since database
///   clients repeat commands on their own.
/// - **Keep entries.** An entry stays for at least [`keep_for`](Claim::keep_for), by the store's own clock. A
///   full store returns [`Full`](StoreError::Full) and drops nothing.
/// - **Know what was forgotten.** If the store started empty or from an earlier copy, it cannot tell whether an
///   older token was redeemed. A claim or a look-up for a token that may be older than the store's history
///   returns [`HistoryLost`](StoreError::HistoryLost).
/// - **Fail closed.** If the answer is not known, the result is an error, and never [`First`](Claimed::First).
/// - **Answer in time.** Every call ends, with an error if necessary. This library sets no timeout.
/// - **Check the holder.** Only the holder of a claim's nonce can [`record`](Self::record) an answer for it or
///   [`release`](Self::release) it.
pub trait RedemptionStore: Send + Sync {
    /// Claims an id for the holder of a nonce.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store cannot decide about the claim. After
    /// [`Failed`](StoreError::Failed), the claim may have been made nevertheless. After the other two errors,
    /// it has not been made.
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed>;

    /// Returns the entry of an id, or `None` if nobody has claimed it.
    ///
    /// `issued_at_ms` has the same meaning as [`Claim::issued_at_ms`].
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store cannot tell whether the id was claimed.
    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>>;

    /// Records the answer to the presentation that claimed the id, and keeps it for as long as the claim.
    ///
    /// Returns `false`, and keeps nothing, if the claim is gone or belongs to another nonce. An existing answer
    /// is replaced.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store is full or fails.
    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool>;

    /// Removes a claim, so that its id can be claimed again.
    ///
    /// Returns `false`, and removes nothing, if the claim is gone, belongs to another nonce, or has an answer.
    /// A release may arrive late. An answer that was recorded before may already have been sent to the client,
    /// so it stays.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool>;
}

/// A request to record a redemption.
#[derive(Clone, PartialEq, Eq)]
pub struct Claim {
    /// The id of the redeemed round or token: a SHA-256 digest, so clients cannot choose any part of it.
    pub id: [u8; 32],
    /// A random value, different for each claim.
    pub nonce: [u8; 16],
    /// The digest of the presentation: the same for two presentations of one token with the same answers, and
    /// for no others.
    pub presentation: [u8; 32],
    /// The earliest time at which the token can have been issued, in milliseconds since 1970, by the clocks of
    /// this server's replicas. For a round of a boundary, this is the beginning of its flow.
    pub issued_at_ms: u64,
    /// The minimum time for which the entry must be kept.
    pub keep_for: Duration,
}

impl fmt::Debug for Claim {
    /// Omits the nonce, since whoever has it holds the claim.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("id", &self.id)
            .field("issued_at_ms", &self.issued_at_ms)
            .field("keep_for", &self.keep_for)
            .finish_non_exhaustive()
    }
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// This claim is the first: it found no entry, or its own.
    First,
    /// An earlier claim of the id exists, with this entry.
    Used(Entry),
}

/// The entry of an earlier claim.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The [`Claim::presentation`] of the first claim.
    pub presentation: [u8; 32],
    /// The time since that claim, by the store's clock.
    pub age: Duration,
    /// The answer recorded for that claim, if any.
    pub answer: Option<Vec<u8>>,
}

impl fmt::Debug for Entry {
    /// Prints the length of the answer instead of the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("age", &self.age)
            .field("answer_len", &self.answer.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// An error that a [`RedemptionStore`] returns when it cannot tell whether a round was redeemed.
///
/// The text of each variant is fixed, and it is logged. The source of [`Failed`](Self::Failed) may contain a
/// secret, such as the password in a database's address, and is not logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store has no history of the time when the token was issued.
    #[error("the store has no history of the time when the token was issued")]
    HistoryLost,
    /// The store is full and does not drop entries.
    #[error("the store is full")]
    Full,
    /// The store did not answer in time, or returned an error or an unexpected value.
    #[error("the store failed")]
    Failed(#[source] BoxError),
}

impl StoreError {
    /// Creates a [`Failed`](Self::Failed) from an error.
    pub fn failed(error: impl Into<BoxError>) -> Self {
        Self::Failed(error.into())
    }
}

impl<S: RedemptionStore + ?Sized> RedemptionStore for &S {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        (**self).claim(claim)
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        (**self).find(id, issued_at_ms)
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        (**self).record(id, nonce, answer)
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        (**self).release(id, nonce)
    }
}

impl<S: RedemptionStore + ?Sized> RedemptionStore for Box<S> {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        (**self).claim(claim)
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        (**self).find(id, issued_at_ms)
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        (**self).record(id, nonce, answer)
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        (**self).release(id, nonce)
    }
}

impl<S: RedemptionStore + ?Sized> RedemptionStore for Arc<S> {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        (**self).claim(claim)
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        (**self).find(id, issued_at_ms)
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        (**self).record(id, nonce, answer)
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        (**self).release(id, nonce)
    }
}
