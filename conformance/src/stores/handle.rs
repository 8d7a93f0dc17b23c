//! A handle to the store under test. It limits the time of calls and checks their results.

use std::error::Error;
use std::fmt::{self, Display};
use std::time::Duration;

use request_state_core::{Claim, Claimed, Entry, RedemptionStore, StoreError};
use tokio::time::timeout;

use crate::kit::show_bytes;
use crate::stop::{Stop, Verdict, ensure};

/// The time limit of a call. A request waits for the call.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

pub(super) struct Handle<'a>(Box<dyn RedemptionStore + 'a>);

/// The result of a call that returned within the limit.
type Answer<T> = Result<T, StoreError>;

impl<'a> Handle<'a> {
    pub(super) fn new(store: Box<dyn RedemptionStore + 'a>) -> Self {
        Self(store)
    }

    /// Calls `claim`, which may fail.
    pub(super) async fn try_claim(&self, claim: &Claim) -> Result<Answer<Claimed>, Stop> {
        in_time("claim", self.0.claim(claim)).await
    }

    pub(super) async fn try_find(
        &self,
        id: &[u8; 32],
        issued_at_ms: u64,
    ) -> Result<Answer<Option<Entry>>, Stop> {
        in_time("find", self.0.find(id, issued_at_ms)).await
    }

    pub(super) async fn try_record(
        &self,
        id: &[u8; 32],
        nonce: &[u8; 16],
        answer: &[u8],
    ) -> Result<Answer<bool>, Stop> {
        in_time("record", self.0.record(id, nonce, answer)).await
    }

    pub(super) async fn try_release(
        &self,
        id: &[u8; 32],
        nonce: &[u8; 16],
    ) -> Result<Answer<bool>, Stop> {
        in_time("release", self.0.release(id, nonce)).await
    }

    /// Calls `claim`, which must not fail.
    pub(super) async fn claim(&self, claim: &Claim) -> Result<Claimed, Stop> {
        succeeded("claim", self.try_claim(claim).await?)
    }

    /// Looks up the entry of a claim.
    pub(super) async fn find(&self, claim: &Claim) -> Result<Option<Entry>, Stop> {
        let found = self.try_find(&claim.id, claim.issued_at_ms).await?;
        succeeded("find", found)
    }

    /// Records an answer for the claim's nonce.
    pub(super) async fn record(&self, claim: &Claim, answer: &[u8]) -> Result<bool, Stop> {
        let recorded = self.try_record(&claim.id, &claim.nonce, answer).await?;
        succeeded("record", recorded)
    }

    /// Releases the claim.
    pub(super) async fn release(&self, claim: &Claim) -> Result<bool, Stop> {
        succeeded("release", self.try_release(&claim.id, &claim.nonce).await?)
    }

    /// Fails unless the claim is the first.
    pub(super) async fn must_be_first(&self, claim: &Claim, about: impl Display) -> Verdict {
        match self.claim(claim).await? {
            Claimed::First => Ok(()),
            Claimed::Used(entry) => Err(Stop::Failed(format!(
                "{about}: the claim must be first; the store returned {}",
                show(&entry)
            ))),
        }
    }

    /// Fails unless the claim finds an earlier one. Returns the earlier one.
    pub(super) async fn must_be_used(
        &self,
        claim: &Claim,
        about: impl Display,
    ) -> Result<Entry, Stop> {
        match self.claim(claim).await? {
            Claimed::Used(entry) => Ok(entry),
            Claimed::First => Err(Stop::Failed(format!(
                "{about}: the claim was first; an earlier one holds the id"
            ))),
        }
    }

    /// Fails unless an entry exists. Returns the entry.
    pub(super) async fn must_find(
        &self,
        claim: &Claim,
        about: impl Display,
    ) -> Result<Entry, Stop> {
        let found = self.find(claim).await?;
        found.ok_or_else(|| Stop::Failed(format!("{about}: find returned None for a claimed id")))
    }

    /// Fails if an entry exists.
    pub(super) async fn must_find_nothing(&self, claim: &Claim, about: impl Display) -> Verdict {
        match self.find(claim).await? {
            None => Ok(()),
            Some(entry) => Err(Stop::Failed(format!(
                "{about}: find must return None; it returned {}",
                show(&entry)
            ))),
        }
    }

    /// Fails unless both `find` and a claim by `other` return the entry of `first` with this
    /// answer.
    pub(super) async fn must_show(
        &self,
        first: &Claim,
        other: &Claim,
        answer: Option<&[u8]>,
        about: impl Display,
    ) -> Verdict {
        let claimed = self.must_be_used(other, &about).await?;
        must_be(
            &claimed,
            first,
            answer,
            format_args!("{about}: a later claim"),
        )?;
        let found = self.must_find(first, &about).await?;
        must_be(&found, first, answer, format_args!("{about}: find"))
    }

    /// Fails unless the answer is recorded.
    pub(super) async fn must_record(
        &self,
        claim: &Claim,
        answer: &[u8],
        about: impl Display,
    ) -> Verdict {
        ensure(self.record(claim, answer).await?, || {
            format!("{about}: record returned false to the holder of the claim")
        })
    }

    /// Fails if the answer is recorded.
    pub(super) async fn must_not_record(&self, claim: &Claim, about: impl Display) -> Verdict {
        let recorded = self.record(claim, b"not for this claim").await?;
        ensure(!recorded, || {
            format!("{about}: record must return false; it returned true")
        })
    }

    /// Fails unless the claim is released.
    pub(super) async fn must_release(&self, claim: &Claim, about: impl Display) -> Verdict {
        ensure(self.release(claim).await?, || {
            format!("{about}: release returned false to the holder of the claim")
        })
    }

    /// Fails if the claim is released.
    pub(super) async fn must_not_release(&self, claim: &Claim, about: impl Display) -> Verdict {
        ensure(!self.release(claim).await?, || {
            format!("{about}: release must return false; it returned true")
        })
    }
}

/// Fails unless the entry belongs to the claim and has this answer.
pub(super) fn must_be(
    entry: &Entry,
    first: &Claim,
    answer: Option<&[u8]>,
    about: impl Display,
) -> Verdict {
    ensure(entry.presentation == first.presentation, || {
        format!(
            "{about} returned the presentation {}; the first claim has {}",
            show_bytes(&entry.presentation),
            show_bytes(&first.presentation)
        )
    })?;
    let found = entry.answer.as_deref();
    ensure(found == answer, || {
        let show = |answer: Option<&[u8]>| answer.map_or_else(|| "none".into(), show_bytes);
        format!(
            "{about} returned as the answer: {}; expected: {}",
            show(found),
            show(answer)
        )
    })
}

async fn in_time<T>(what: &str, call: impl Future<Output = Answer<T>>) -> Result<Answer<T>, Stop> {
    let ended = timeout(LIMIT, call).await;
    ended.map_err(|_| Stop::Failed(format!("{what} did not end within {LIMIT:?}")))
}

fn succeeded<T>(what: &str, answer: Answer<T>) -> Result<T, Stop> {
    answer.map_err(|error| Stop::Failed(format!("{what} failed: {}", Chain(&error))))
}

/// An error together with its sources, because a test report needs them.
pub(super) struct Chain<'a>(pub(super) &'a StoreError);

impl Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

fn show(entry: &Entry) -> String {
    let answer = entry.answer.as_deref();
    format!(
        "an entry of the presentation {}, {:?} old, {}",
        show_bytes(&entry.presentation),
        entry.age,
        answer.map_or_else(
            || "without an answer".into(),
            |answer| format!("with an answer of {} bytes", answer.len())
        )
    )
}
