//! The tools of a case: handles to a store, and claims.

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime};

use request_state_core::{Claim, StoreError, wire};
use tokio::time::sleep;

use super::handle::{Chain, Handle};
use super::subject::{History, StoreSuite};
use crate::random::Random;
use crate::stop::{Stop, Verdict, ensure};

/// The lifetime of claims in cases that are not about lifetimes.
pub(super) const KEEP: Duration = Duration::from_secs(600);

pub(super) struct Kit<'a> {
    suite: &'a StoreSuite<'a>,
    random: RefCell<Option<Random>>,
    note: RefCell<Option<String>>,
}

impl<'a> Kit<'a> {
    pub(super) fn new(suite: &'a StoreSuite<'a>) -> Self {
        Self {
            suite,
            random: RefCell::new(None),
            note: RefCell::new(None),
        }
    }

    /// Connects to the store, and waits until its history covers a token that is issued now.
    ///
    /// The store may have been created within this millisecond, or its clock may be slightly ahead.
    pub(super) async fn handle(&self) -> Result<Handle<'a>, Stop> {
        const PATIENCE: Duration = Duration::from_secs(3);
        let handle = Handle::new(self.suite.make.connect().await);
        let started = Instant::now();
        let probe = self.claim()?.id;
        loop {
            match handle.try_find(&probe, now_ms()?).await? {
                Ok(_) => return Ok(handle),
                Err(StoreError::HistoryLost) if started.elapsed() < PATIENCE => {
                    sleep(Duration::from_millis(20)).await;
                }
                Err(StoreError::HistoryLost) => {
                    return Err(Stop::Failed(format!(
                        "find returned HistoryLost for {PATIENCE:?} for tokens issued at that moment: create the store with its complete history, or without a margin for clocks"
                    )));
                }
                Err(error) => return Err(Stop::Failed(format!("find failed: {}", Chain(&error)))),
            }
        }
    }

    /// Returns two handles to the store, as two replicas have.
    pub(super) async fn pair(&self) -> Result<[Handle<'a>; 2], Stop> {
        Ok([self.handle().await?, self.handle().await?])
    }

    /// Returns a handle to a store whose database does not answer.
    pub(super) async fn unreachable(&self) -> Result<Handle<'a>, Stop> {
        match &self.suite.unreachable {
            Some(make) => Ok(Handle::new(make.connect().await)),
            None => Err(Stop::NotApplicable("no unreachable store was given")),
        }
    }

    pub(super) fn history(&self) -> History {
        self.suite.history
    }

    /// Creates a claim that has nothing in common with any other, for a token that is issued now.
    pub(super) fn claim(&self) -> Result<Claim, Stop> {
        Ok(Claim {
            id: self.draw()?,
            nonce: self.draw()?,
            presentation: self.draw()?,
            issued_at_ms: now_ms()?,
            keep_for: KEEP,
        })
    }

    pub(super) fn claims(&self, count: usize) -> Result<Vec<Claim>, Stop> {
        (0..count).map(|_| self.claim()).collect()
    }

    /// Creates a claim of the same ID by another request, with another token and other answers.
    pub(super) fn other(&self, claim: &Claim) -> Result<Claim, Stop> {
        Ok(Claim {
            id: claim.id,
            ..self.claim()?
        })
    }

    /// Draws bytes that no other run draws, because the store may contain entries of earlier runs.
    pub(super) fn draw<const N: usize>(&self) -> Result<[u8; N], Stop> {
        let mut random = self.random.borrow_mut();
        let random = match &mut *random {
            Some(random) => random,
            none => {
                let seed = wire::random().map_err(|error| {
                    Stop::Failed(format!("the suite could not draw random bytes: {error}"))
                })?;
                none.insert(Random::new(u64::from_le_bytes(seed)))
            }
        };
        Ok(std::array::from_fn(|_| random.byte()))
    }

    /// Returns bytes of the kinds that databases, clients and languages treat specially: any bytes,
    /// letters, only non-ASCII bytes, bytes that end with zeros, and bytes that begin with zeros.
    /// At least half of them are random.
    pub(super) fn shapes<const N: usize>(&self) -> Result<[[u8; N]; 5], Stop> {
        let letters = self.draw::<N>()?.map(|byte| {
            let letter = b'a' + byte % 26;
            if byte < 128 {
                letter
            } else {
                letter.to_ascii_uppercase()
            }
        });
        let high = self.draw::<N>()?.map(|byte| byte | 0x80);
        let (mut zeros_behind, mut zeros_ahead) = (self.draw::<N>()?, self.draw::<N>()?);
        zeros_behind
            .iter_mut()
            .skip(N / 2)
            .for_each(|byte| *byte = 0);
        zeros_ahead
            .iter_mut()
            .take(N / 2)
            .for_each(|byte| *byte = 0);
        Ok([self.draw()?, letters, high, zeros_behind, zeros_ahead])
    }

    /// Sets the note that the report adds to the outcome.
    pub(super) fn note(&self, note: String) {
        *self.note.borrow_mut() = Some(note);
    }

    pub(super) fn take_note(&self) -> Option<String> {
        self.note.take()
    }
}

/// Returns every value that differs from `bytes` in one bit.
pub(super) fn bit_flips<const N: usize>(bytes: [u8; N]) -> impl Iterator<Item = [u8; N]> {
    (0..N * 8).map(move |bit| {
        let mut flipped = bytes;
        if let Some(byte) = flipped.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        flipped
    })
}

pub(super) fn now_ms() -> Result<u64, Stop> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now_ms = since_1970
        .ok()
        .and_then(|time| u64::try_from(time.as_millis()).ok());
    now_ms.ok_or_else(|| Stop::Failed("the clock of the suite is before 1970".into()))
}

/// Fails unless the entry of `first` exists, with this answer, for as long as it must be kept.
///
/// The claim was made at `claimed` or later. `other` tries to claim the ID, and must not shorten
/// the lifetime. Replies that arrive after the end are ignored. Returns the latest time since the
/// claim at which the store was seen to keep the entry.
pub(super) async fn must_last(
    handle: &Handle<'_>,
    first: &Claim,
    other: &Claim,
    answer: Option<&[u8]>,
    claimed: Instant,
) -> Result<Duration, Stop> {
    /// Clocks count in whole milliseconds.
    const SLACK: Duration = Duration::from_millis(5);
    let end = first.keep_for.saturating_sub(SLACK);
    sleep((first.keep_for * 4 / 5).saturating_sub(claimed.elapsed())).await;
    let mut seen = Duration::ZERO;
    loop {
        let asked = claimed.elapsed();
        let about = format!(
            "{asked:?} after a claim that is to be kept for {:?}",
            first.keep_for
        );
        let verdict = handle.must_show(first, other, answer, about).await;
        if claimed.elapsed() >= end {
            return Ok(seen);
        }
        verdict?;
        seen = asked;
        sleep(Duration::from_millis(1)).await;
    }
}

/// Calls `start` to make and prepare a claim, and fails unless the entry and its answer last: see
/// [`must_last`].
///
/// If a busy machine or a slow store prevents the observation, tries again with a longer lifetime.
pub(super) async fn must_last_for(
    kit: &Kit<'_>,
    handle: &Handle<'_>,
    lifetime: Duration,
    answer: Option<&[u8]>,
    start: impl AsyncFn(&Claim) -> Verdict,
) -> Verdict {
    /// The end of the lifetime. The store must have been seen to keep the entry within it.
    const LAST: Duration = Duration::from_millis(40);
    let mut lifetime = lifetime;
    for _ in 0..5 {
        let first = Claim {
            keep_for: lifetime,
            ..kit.claim()?
        };
        let other = Claim {
            keep_for: Duration::from_millis(1),
            ..kit.other(&first)?
        };
        let claimed = Instant::now();
        start(&first).await?;
        let seen = must_last(handle, &first, &other, answer, claimed).await?;
        if seen + LAST.max(lifetime / 20) >= lifetime {
            return Ok(());
        }
        lifetime *= 2;
    }
    kit.note("slow: the end of a lifetime could not be observed".into());
    Ok(())
}

/// Fails unless the entry's age equals the time since its claim, to within a second.
pub(super) fn must_be_aged(
    age: Duration,
    at_least: Duration,
    at_most: Duration,
    about: &str,
) -> Verdict {
    /// A store may count in whole seconds.
    const SLACK: Duration = Duration::from_secs(1);
    ensure(age + SLACK >= at_least && age <= at_most + SLACK, || {
        format!("{about}: the age is {age:?}; the claim was made {at_least:?} to {at_most:?} ago")
    })
}
