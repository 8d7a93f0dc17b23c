//! What a store of redemptions promises.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::codec::BoxError;

/// What the methods of a [`RedemptionStore`] return.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps which rounds and tokens were redeemed, for all replicas of a server.
///
/// [`MemoryStore`](super::MemoryStore) serves one process, `RedisStore` of the crate
/// `request-state-redis` any number. Implement this trait for another database, and run
/// `request_state_conformance::check_store` on it.
///
/// A store is shared: `&S`, `Box<S>` and `Arc<S>` are stores too, and so is
/// `Arc<dyn RedemptionStore>`. The futures may use whatever runtime the store asks for.
///
/// # What a store must do
///
/// - **Decide once.** Of any number of [`claim`](Self::claim)s of one id, on any replica and at any
///   time, at most one is [`First`](Claimed::First). Checking and then setting is not enough: it is one
///   atomic step.
/// - **Compare the nonce.** A claim that finds its own nonce is first: clients of databases repeat
///   commands by themselves.
/// - **Keep.** An entry stays for [`keep_for`](Claim::keep_for) at least, by the store's own clock. A
///   store that is full is [`Full`](StoreError::Full) and drops nothing.
/// - **Know what it has forgotten.** A claim or a look-up for a token that may be older than the store's
///   history is [`HistoryLost`](StoreError::HistoryLost): the store came up empty, or from a copy of an
///   earlier time, and cannot tell whether the token was redeemed.
/// - **Fail closed.** When the answer is not known, the result is an error, and never first.
/// - **Answer in time.** A call ends, with an error if need be. Nothing else ends it.
/// - **Let only the holder of the nonce** [`record`](Self::record) an answer or
///   [`release`](Self::release) a claim.
pub trait RedemptionStore: Send + Sync {
    /// Claims an id for the holder of a nonce.
    ///
    /// # Errors
    ///
    /// A [`StoreError`]. The claim may have been made all the same after
    /// [`Failed`](StoreError::Failed), and has not been made after the other two.
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed>;

    /// Returns the entry of an id, or `None` if nobody has claimed it.
    ///
    /// `issued_at_ms` is as in [`Claim::issued_at_ms`].
    ///
    /// # Errors
    ///
    /// A [`StoreError`].
    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>>;

    /// Keeps the answer to the presentation that claimed the id, for as long as the claim. Returns
    /// `false`, and keeps nothing, where the claim is gone or belongs to another nonce.
    ///
    /// An answer that is there already is replaced.
    ///
    /// # Errors
    ///
    /// A [`StoreError`].
    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool>;

    /// Removes a claim, so that its id can be claimed again. Returns `false`, and removes nothing, where
    /// it is gone, belongs to another nonce, or has an answer.
    ///
    /// A release can be late on its way. An answer that was recorded before it arrives may have been given,
    /// and stays.
    ///
    /// # Errors
    ///
    /// A [`StoreError`].
    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool>;
}

/// What a store is asked to keep.
#[derive(Clone, PartialEq, Eq)]
pub struct Claim {
    /// What is redeemed. A SHA-256 digest, so no part of it can be chosen by a client.
    pub id: [u8; 32],
    /// Random, and different for each claim.
    pub nonce: [u8; 16],
    /// The same for two presentations of one token with the same answers, and for no others.
    pub presentation: [u8; 32],
    /// The token was issued at this time or later, in milliseconds since 1970, by the clocks of this
    /// server's replicas. For a round of a boundary, it is the beginning of its flow.
    pub issued_at_ms: u64,
    /// For how long the entry must be kept, at least.
    pub keep_for: Duration,
}

impl fmt::Debug for Claim {
    /// Prints no nonce: whoever has it holds the claim.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("id", &self.id)
            .field("issued_at_ms", &self.issued_at_ms)
            .field("keep_for", &self.keep_for)
            .finish_non_exhaustive()
    }
}

/// What a claim found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Nothing, or itself: this claim is the first.
    First,
    /// An earlier claim.
    Used(Entry),
}

/// An earlier claim.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// [`Claim::presentation`] of the claim that was first.
    pub presentation: [u8; 32],
    /// How long ago that claim was made, by the store's clock.
    pub age: Duration,
    /// The answer that was recorded for it, if one was.
    pub answer: Option<Vec<u8>>,
}

impl fmt::Debug for Entry {
    /// Prints nothing of the answer but its length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("age", &self.age)
            .field("answer_len", &self.answer.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// Why a store cannot tell whether a round was redeemed.
///
/// Its text is fixed and is logged. The source of [`Failed`](Self::Failed) may contain a secret, such as the
/// password in a database's address, and is not logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store does not know what was redeemed when the token was issued.
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
    /// Creates a [`Failed`](Self::Failed).
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
