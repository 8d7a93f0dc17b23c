//! The store for a single process.

use std::fmt;
use std::future::ready;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use super::shard::{Kept, Shard};
use super::store::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
use crate::sealer::{Clock, milliseconds};

/// The number of shards, each with its own lock.
const SHARDS: usize = 64;

/// A store of redemptions in the memory of **one process**, which must be the only process that serves the
/// tokens.
///
/// With more than one process, or behind a load balancer, use a store that all processes share.
///
/// The store limits the number of entries and the bytes of kept answers. A full store returns
/// [`Full`](StoreError::Full): it drops no entry before its time. Later claims drop the entries whose time is
/// over.
///
/// After a restart with the same keys, the store does not know which tokens were redeemed before. It therefore
/// returns [`HistoryLost`](StoreError::HistoryLost) for every token that may have been issued before the store
/// was created. Create the store once, before the server accepts requests, and share it in an [`Arc`].
///
/// The store also returns `HistoryLost` while the clock is set back to a time before the end of a dropped
/// entry. It does not notice a clock that is set back while the process is not running: tokens issued before
/// the change then seem younger than the store.
///
/// # Examples
///
/// ```
/// # use std::task::{Context, Poll, Waker};
/// use request_state_core::*;
/// # struct Plain;
/// # impl RequestStateCodec for Plain {
/// #     fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
/// #         wire::token("k", &[payload])
/// #     }
/// #     fn decode(&self, token: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
/// #         wire::parts(token).map(|(_, [payload])| payload)
/// #     }
/// # }
/// # let codec = Plain;
/// # let params = serde_json::json!({"name": "transfer"});
/// # let request = Request { version: "1", method: "tools/call", params: &params, principal: None };
/// # let binding = Binding::new(request)?;
/// # let mut future = std::pin::pin!(async {
///
/// let store = MemoryStore::new();
/// let sealer = Sealer::new("billing", codec)?;
/// let token = sealer.seal("transfer 100", &binding)?;
///
/// let state: String = sealer.open_once(&token, &binding, &store).await?;
/// assert_eq!(state, "transfer 100");
///
/// let again = sealer.open_once::<String>(&token, &binding, &store).await;
/// assert!(matches!(again, Err(RedeemError::AlreadyUsed)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # });
/// # match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #     Poll::Ready(result) => result?,
/// #     Poll::Pending => return Err("a memory store waits for nothing".into()),
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryStore {
    shards: [Mutex<Shard>; SHARDS],
    entries: AtomicUsize,
    max_entries: usize,
    bytes: AtomicUsize,
    max_bytes: usize,
    clock: Option<Arc<Clock>>,
    /// The time at which the store was created, in milliseconds since 1970; `None` if before 1970.
    birth_ms: Option<u64>,
    /// The latest end of all dropped entries, in milliseconds since 1970.
    dropped_ms: AtomicU64,
}

impl MemoryStore {
    /// Creates a store for up to 1,000,000 entries, which take about 250 MB, and 64 MiB of kept answers.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(1_000_000)
    }

    /// Creates a store for up to `entries` entries.
    ///
    /// Each redeemed round takes one entry for as long as its flow may live, an hour by default, and two minutes
    /// more. So 1,000,000 entries are 268 redemptions a second.
    #[must_use]
    pub fn with_capacity(entries: usize) -> Self {
        Self::of(entries, None)
    }

    /// Creates a store for up to `entries` entries that reads the time from `clock`.
    ///
    /// The sealer must have the same clock; see [`SealerBuilder::clock`](crate::SealerBuilder::clock).
    #[must_use]
    pub fn with_clock(
        entries: usize,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self::of(entries, Some(Arc::new(clock)))
    }

    fn of(entries: usize, clock: Option<Arc<Clock>>) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            entries: AtomicUsize::new(0),
            max_entries: entries,
            bytes: AtomicUsize::new(0),
            max_bytes: 64 * 1024 * 1024,
            birth_ms: milliseconds(time_of(clock.as_deref())),
            clock,
            dropped_ms: AtomicU64::new(0),
        }
    }

    /// Sets the maximum size of all kept answers together, in bytes. Default: 64 MiB. An answer that would
    /// exceed it is not kept.
    #[must_use]
    pub fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Returns the number of entries, including those whose time is over and that later claims will drop.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns `true` if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn now_ms(&self) -> Result<u64, StoreError> {
        let now = time_of(self.clock.as_deref());
        milliseconds(now).ok_or_else(|| StoreError::failed("the clock is before 1970"))
    }

    fn shard(&self, id: &[u8; 32]) -> Result<MutexGuard<'_, Shard>, StoreError> {
        let [first, ..] = *id;
        let shard = self.shards.get(usize::from(first) % SHARDS);
        let shard = shard.ok_or_else(|| StoreError::failed("no such shard"))?;
        // A panic may have left the shard in an inconsistent state.
        let lock = shard.lock();
        lock.map_err(|_| StoreError::failed("a thread panicked within the store"))
    }

    /// Drops the entries that have ended.
    fn drop_ended(&self, shard: &mut Shard, now_ms: u64) {
        while let Some(kept) = shard.remove_ended(now_ms) {
            self.dropped_ms.fetch_max(kept.end_ms, Ordering::AcqRel);
            self.give_room_back(kept);
        }
    }

    fn give_room_back(&self, kept: Kept) {
        self.entries.fetch_sub(1, Ordering::AcqRel);
        let length = kept.answer.map_or(0, |answer| answer.len());
        self.bytes.fetch_sub(length, Ordering::AcqRel);
    }

    /// Returns the time, or [`HistoryLost`](StoreError::HistoryLost) if an entry that concerns a token issued
    /// at `issued_at_ms` may have been dropped.
    fn remembers(&self, issued_at_ms: u64) -> Result<u64, StoreError> {
        if self.birth_ms.is_none_or(|birth_ms| issued_at_ms < birth_ms) {
            return Err(StoreError::HistoryLost);
        }
        let now_ms = self.now_ms()?;
        if now_ms >= self.dropped_ms.load(Ordering::Acquire) {
            return Ok(now_ms);
        }
        // Another thread has dropped an entry with a later end since, or the clock was set back.
        let now_ms = self.now_ms()?;
        if now_ms >= self.dropped_ms.load(Ordering::Acquire) {
            return Ok(now_ms);
        }
        Err(StoreError::HistoryLost)
    }

    /// Counts one more entry. Returns `false` if there is no room for it.
    fn take_room(&self) -> bool {
        let taken = self.entries.fetch_add(1, Ordering::AcqRel);
        if taken < self.max_entries {
            return true;
        }
        self.entries.fetch_sub(1, Ordering::AcqRel);
        false
    }

    fn claim_now(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        if let Some(claimed) = self.try_claim(claim)? {
            return Ok(claimed);
        }
        // The store is full. Ended entries in other shards make room.
        for shard in &self.shards {
            if let Ok(mut shard) = shard.lock() {
                self.drop_ended(&mut shard, self.now_ms()?);
            }
        }
        self.try_claim(claim)?.ok_or(StoreError::Full)
    }

    /// Makes the claim, or returns `None` if there is no room for it.
    fn try_claim(&self, claim: &Claim) -> Result<Option<Claimed>, StoreError> {
        let mut shard = self.shard(&claim.id)?;
        let now_ms = self.remembers(claim.issued_at_ms)?;
        self.drop_ended(&mut shard, now_ms);
        if let Some(kept) = shard.get(&claim.id) {
            return Ok(Some(if kept.nonce == claim.nonce {
                Claimed::First
            } else {
                Claimed::Used(kept.entry(now_ms))
            }));
        }
        if !self.take_room() {
            return Ok(None);
        }
        let kept = Kept {
            nonce: claim.nonce,
            presentation: claim.presentation,
            claimed_at_ms: now_ms,
            end_ms: now_ms.saturating_add(whole_ms(claim.keep_for)),
            answer: None,
        };
        shard.insert(claim.id, kept);
        Ok(Some(Claimed::First))
    }

    fn find_now(&self, id: &[u8; 32], issued_at_ms: u64) -> Result<Option<Entry>, StoreError> {
        let shard = self.shard(id)?;
        let now_ms = self.remembers(issued_at_ms)?;
        Ok(shard.get(id).map(|kept| kept.entry(now_ms)))
    }

    fn record_now(
        &self,
        id: &[u8; 32],
        nonce: &[u8; 16],
        answer: &[u8],
    ) -> Result<bool, StoreError> {
        let mut shard = self.shard(id)?;
        let Some(kept) = shard.held(id, nonce) else {
            return Ok(false);
        };
        let taken = self.bytes.fetch_add(answer.len(), Ordering::AcqRel);
        if taken.saturating_add(answer.len()) > self.max_bytes {
            self.bytes.fetch_sub(answer.len(), Ordering::AcqRel);
            return Err(StoreError::Full);
        }
        let earlier = kept.answer.replace(answer.to_vec());
        let length = earlier.map_or(0, |earlier| earlier.len());
        self.bytes.fetch_sub(length, Ordering::AcqRel);
        Ok(true)
    }

    fn release_now(&self, id: &[u8; 32], nonce: &[u8; 16]) -> Result<bool, StoreError> {
        let mut shard = self.shard(id)?;
        let held = shard.held(id, nonce);
        if held.is_none_or(|kept| kept.answer.is_some()) {
            return Ok(false);
        }
        let Some(kept) = shard.remove(id) else {
            return Ok(false);
        };
        self.give_room_back(kept);
        Ok(true)
    }
}

fn time_of(clock: Option<&Clock>) -> SystemTime {
    clock.map_or_else(SystemTime::now, |clock| clock())
}

/// Returns the duration in milliseconds, rounded up, so that no entry is kept for a shorter time.
fn whole_ms(time: Duration) -> u64 {
    let up = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(up).unwrap_or(u64::MAX)
}

impl RedemptionStore for MemoryStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        Box::pin(ready(self.claim_now(claim)))
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        Box::pin(ready(self.find_now(id, issued_at_ms)))
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        Box::pin(ready(self.record_now(id, nonce, answer)))
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        Box::pin(ready(self.release_now(id, nonce)))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    /// Prints the number of entries and bytes, and no entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("entries", &self.entries)
            .field("max_entries", &self.max_entries)
            .field("bytes", &self.bytes)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::task::{Context, Poll, Waker};
    use std::thread;
    use std::time::UNIX_EPOCH;

    use super::*;

    fn ready<T>(future: StoreFuture<'_, T>) -> Result<T, StoreError> {
        let mut future = future;
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("a memory store waits for nothing"),
        }
    }

    /// Returns a store, and the number that its clock reads as the time in milliseconds.
    fn store(entries: usize) -> (MemoryStore, Arc<AtomicU64>) {
        let time = Arc::new(AtomicU64::new(1_000));
        let clock = Arc::clone(&time);
        let now = move || UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::Relaxed));
        (MemoryStore::with_clock(entries, now), time)
    }

    fn claim(id: u16, nonce: u8, keep_for_ms: u64) -> Claim {
        let mut bytes = [0; 32];
        bytes[..2].copy_from_slice(&id.to_be_bytes());
        Claim {
            id: bytes,
            nonce: [nonce; 16],
            presentation: [nonce; 32],
            issued_at_ms: u64::MAX,
            keep_for: Duration::from_millis(keep_for_ms),
        }
    }

    fn is_first(store: &MemoryStore, claim: &Claim) -> bool {
        matches!(ready(store.claim(claim)), Ok(Claimed::First))
    }

    #[test]
    fn of_64_at_once_one_is_first_a_thousand_times() {
        const THREADS: u8 = 64;
        const ROUNDS: u16 = 1_000;
        let (store, _) = store(usize::from(ROUNDS));
        let barrier = Barrier::new(usize::from(THREADS));
        let winners: Vec<AtomicUsize> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
        thread::scope(|scope| {
            for nonce in 0..THREADS {
                let (store, barrier, winners) = (&store, &barrier, &winners);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        barrier.wait();
                        if is_first(store, &claim(round, nonce, 1)) {
                            winners[usize::from(round)].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let winners: Vec<_> = winners.into_iter().map(AtomicUsize::into_inner).collect();
        assert_eq!(winners, vec![1; usize::from(ROUNDS)]);
    }

    #[test]
    fn a_full_store_forgets_nothing_and_has_room_again_when_entries_end() {
        let (store, time) = store(3);
        for id in 0..3 {
            assert!(is_first(&store, &claim(id << 8, 1, 100)));
        }
        let fourth = claim(9 << 8, 1, 100);
        assert!(matches!(ready(store.claim(&fourth)), Err(StoreError::Full)));
        for id in 0..3 {
            let again = ready(store.claim(&claim(id << 8, 2, 100)));
            assert!(matches!(again, Ok(Claimed::Used(_))));
        }
        time.fetch_add(99, Ordering::Relaxed);
        assert!(matches!(ready(store.claim(&fourth)), Err(StoreError::Full)));
        time.fetch_add(1, Ordering::Relaxed);
        assert!(is_first(&store, &fourth));
        assert_eq!(store.len(), 1);
        assert!(ready(store.release(&fourth.id, &[1; 16])).unwrap());
        assert!(store.is_empty());
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_make_used_rounds_good() {
        let (store, time) = store(10);
        let one = claim(1, 1, 50);
        assert!(is_first(&store, &one));
        time.store(2_000, Ordering::Relaxed);
        // This drops the first entry, which is in the same shard.
        assert!(is_first(&store, &claim(1, 2, 50)));
        time.store(1_049, Ordering::Relaxed);
        let lost = |result| matches!(result, Err(StoreError::HistoryLost));
        assert!(lost(ready(store.claim(&one)).map(drop)));
        assert!(lost(ready(store.find(&one.id, u64::MAX)).map(drop)));
        time.store(1_050, Ordering::Relaxed);
        assert!(!lost(ready(store.claim(&one)).map(drop)));
    }

    #[test]
    fn answers_are_bounded_and_their_room_comes_back() {
        let (store, time) = store(10);
        let store = store.max_answer_bytes(10);
        let (one, two) = (claim(1, 1, 100), claim(2, 1, 200));
        assert!(is_first(&store, &one) && is_first(&store, &two));
        let record =
            |claim: &Claim, length| ready(store.record(&claim.id, &claim.nonce, &vec![7; length]));
        assert!(record(&one, 10).unwrap());
        assert!(matches!(record(&two, 1), Err(StoreError::Full)));
        assert!(matches!(record(&one, 5), Err(StoreError::Full)));
        time.fetch_add(100, Ordering::Relaxed);
        assert!(is_first(&store, &claim(1, 9, 300)));
        assert!(record(&two, 10).unwrap());
        time.fetch_add(100, Ordering::Relaxed);
        assert!(is_first(&store, &claim(2, 9, 100)));
        assert!(!record(&two, 1).unwrap());
        assert!(ready(store.record(&one.id, &[9; 16], &[7; 10])).unwrap());
    }

    #[test]
    fn only_the_nonce_of_the_claim_records_and_releases() {
        let (store, _) = store(10);
        let one = claim(1, 1, 100);
        assert!(is_first(&store, &one));
        assert!(!ready(store.record(&one.id, &[2; 16], b"theirs")).unwrap());
        assert!(!ready(store.release(&one.id, &[2; 16])).unwrap());
        let entry = ready(store.find(&one.id, u64::MAX)).unwrap();
        assert_eq!(entry.map(|entry| entry.answer), Some(None));
        // A claim with an answer stays.
        assert!(ready(store.record(&one.id, &one.nonce, b"")).unwrap());
        assert!(!ready(store.release(&one.id, &one.nonce)).unwrap());
        let entry = ready(store.find(&one.id, u64::MAX)).unwrap();
        assert_eq!(entry.map(|entry| entry.answer), Some(Some(Vec::new())));
    }

    #[test]
    fn before_1970_nothing_is_known() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        let store = MemoryStore::with_clock(10, move || before);
        assert!(ready(store.claim(&claim(1, 1, 1))).is_err());
    }

    #[test]
    fn a_lifetime_is_rounded_up_and_has_no_end_at_most() {
        assert_eq!(whole_ms(Duration::from_nanos(1)), 1);
        assert_eq!(whole_ms(Duration::from_millis(5)), 5);
        assert_eq!(whole_ms(Duration::MAX), u64::MAX);
        let (store, _) = store(10);
        assert!(is_first(
            &store,
            &Claim {
                keep_for: Duration::MAX,
                ..claim(1, 1, 1)
            }
        ));
        assert!(!is_first(&store, &claim(1, 2, 1)));
    }

    #[test]
    fn debug_shows_no_entry() {
        let (store, _) = store(10);
        let entry = claim(1, 1, 1);
        assert!(is_first(&store, &entry));
        let shown = format!("{store:?}");
        assert!(
            shown.contains("entries: 1") && !shown.contains("nonce"),
            "{shown}"
        );
    }
}
