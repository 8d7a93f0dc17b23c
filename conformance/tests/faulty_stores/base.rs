//! A store that is right, made of steps of which a fault exchanges one.
//!
//! It passes the suite, as `faulty_stores.rs` asserts: so where a faulty store fails, it is the fault
//! that fails. Every call first awaits once, as one to a database does.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use request_state_core::{Claim, Claimed, Entry, RedemptionStore, StoreError, StoreFuture};
use tokio::task::yield_now;

#[derive(Clone)]
pub struct Kept {
    pub nonce: [u8; 16],
    pub presentation: [u8; 32],
    pub issued_at_ms: u64,
    pub claimed: Instant,
    /// `None` for an end that no clock reaches.
    pub end: Option<Instant>,
    /// In which order the entries were claimed.
    pub number: u64,
    pub answer: Option<Vec<u8>>,
}

pub type Entries = HashMap<Vec<u8>, Kept>;

/// What all handles share.
pub struct Database {
    pub entries: Mutex<Entries>,
    pub birth_ms: u64,
    /// For faults: ids or nonces of some meaning.
    pub marks: Mutex<HashSet<Vec<u8>>>,
    /// For faults: a lock that is held while others wait.
    pub busy: tokio::sync::Mutex<()>,
}

impl Database {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            entries: Mutex::default(),
            birth_ms: now_ms(),
            marks: Mutex::default(),
            busy: tokio::sync::Mutex::default(),
        })
    }
}

/// Records an answer, for an id and a nonce.
pub type Record =
    for<'a> fn(&'a Base, &'a [u8; 32], &'a [u8; 16], &'a [u8]) -> StoreFuture<'a, bool>;

/// The steps of a store.
#[derive(Clone, Copy)]
pub struct Steps {
    /// What an entry is found by.
    pub key: fn(&[u8; 32]) -> Vec<u8>,
    /// How long a claim is kept.
    pub lifetime: fn(Duration) -> Duration,
    /// When something ends that lasts so long.
    pub end: fn(Duration) -> Option<Instant>,
    /// Whether an entry is the claim's own.
    pub own: fn(&Kept, &Claim) -> bool,
    /// What a claim that is not first changes in the entry.
    pub later: fn(&mut Kept, &Claim),
    /// Makes room for one entry more.
    pub room: fn(&mut Entries) -> Result<(), StoreError>,
    /// Whether the history, from a birth on, covers a token, for a claim and for a look-up.
    pub remembers: fn(u64, u64) -> bool,
    pub remembers_found: fn(u64, u64) -> bool,
    /// What is shown of an entry.
    pub entry: fn(&Kept) -> Entry,
    /// The age that is shown, of the one that is right.
    pub age: fn(Duration) -> Duration,
    /// What a look-up changes in the entry.
    pub found: fn(&mut Kept),
    /// Whether the holder of a nonce may record, and release.
    pub may_record: fn(&Kept, &[u8; 16]) -> bool,
    pub may_release: fn(&Kept, &[u8; 16]) -> bool,
    /// Puts an answer into an entry.
    pub put: fn(&mut Kept, &[u8]),
    /// Removes an entry.
    pub remove: fn(&mut Entries, &[u8]),
    // The whole calls.
    pub claim: for<'a> fn(&'a Base, &'a Claim) -> StoreFuture<'a, Claimed>,
    pub find: for<'a> fn(&'a Base, &'a [u8; 32], u64) -> StoreFuture<'a, Option<Entry>>,
    pub record: Record,
    pub release: for<'a> fn(&'a Base, &'a [u8; 32], &'a [u8; 16]) -> StoreFuture<'a, bool>,
}

pub const RIGHT: Steps = Steps {
    key: |id| id.to_vec(),
    lifetime: |lifetime| lifetime,
    end: |lifetime| Instant::now().checked_add(lifetime),
    own: |kept, claim| kept.nonce == claim.nonce,
    later: |_, _| {},
    room: |_| Ok(()),
    remembers: |birth_ms, issued_at_ms| issued_at_ms >= birth_ms,
    remembers_found: |birth_ms, issued_at_ms| issued_at_ms >= birth_ms,
    entry,
    age: |age| age,
    found: |_| {},
    may_record: |kept, nonce| kept.nonce == *nonce,
    may_release: |kept, nonce| kept.nonce == *nonce && kept.answer.is_none(),
    put: |kept, answer| kept.answer = Some(answer.to_vec()),
    remove: |entries, key| drop(entries.remove(key)),
    claim: |base, claim| {
        Box::pin(async {
            yield_now().await;
            base.claim_now(claim)
        })
    },
    find: |base, id, issued_at_ms| {
        Box::pin(async move {
            yield_now().await;
            base.find_now(id, issued_at_ms)
        })
    },
    record: |base, id, nonce, answer| {
        Box::pin(async {
            yield_now().await;
            Ok(base.record_now(id, nonce, answer))
        })
    },
    release: |base, id, nonce| {
        Box::pin(async {
            yield_now().await;
            Ok(base.release_now(id, nonce))
        })
    },
};

pub fn entry(kept: &Kept) -> Entry {
    Entry {
        presentation: kept.presentation,
        age: kept.claimed.elapsed(),
        answer: kept.answer.clone(),
    }
}

/// A handle to a database.
#[derive(Clone)]
pub struct Base {
    pub database: Arc<Database>,
    pub steps: Steps,
    /// For faults: what this handle alone knows.
    pub local: Arc<Mutex<HashMap<Vec<u8>, Option<Entry>>>>,
}

impl Base {
    pub fn new(database: &Arc<Database>, steps: Steps) -> Self {
        Self {
            database: Arc::clone(database),
            steps,
            local: Arc::default(),
        }
    }

    pub fn claim_now(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let steps = &self.steps;
        if !(steps.remembers)(self.database.birth_ms, claim.issued_at_ms) {
            return Err(StoreError::HistoryLost);
        }
        let mut entries = self.database.entries.lock().unwrap();
        let key = (steps.key)(&claim.id);
        end(&mut entries, &key);
        if let Some(kept) = entries.get_mut(&key) {
            if (steps.own)(kept, claim) {
                return Ok(Claimed::First);
            }
            (steps.later)(kept, claim);
            return Ok(Claimed::Used(self.shown(kept)));
        }
        (steps.room)(&mut entries)?;
        let kept = self.kept(claim, &entries);
        entries.insert(key, kept);
        Ok(Claimed::First)
    }

    /// The entry for a claim.
    pub fn kept(&self, claim: &Claim, entries: &Entries) -> Kept {
        Kept {
            nonce: claim.nonce,
            presentation: claim.presentation,
            issued_at_ms: claim.issued_at_ms,
            claimed: Instant::now(),
            end: (self.steps.end)((self.steps.lifetime)(claim.keep_for)),
            number: entries.len() as u64,
            answer: None,
        }
    }

    fn shown(&self, kept: &Kept) -> Entry {
        let entry = (self.steps.entry)(kept);
        Entry {
            age: (self.steps.age)(entry.age),
            ..entry
        }
    }

    pub fn find_now(&self, id: &[u8; 32], issued_at_ms: u64) -> Result<Option<Entry>, StoreError> {
        let steps = &self.steps;
        if !(steps.remembers_found)(self.database.birth_ms, issued_at_ms) {
            return Err(StoreError::HistoryLost);
        }
        let mut entries = self.database.entries.lock().unwrap();
        let key = (steps.key)(id);
        end(&mut entries, &key);
        Ok(entries.get_mut(&key).map(|kept| {
            let entry = self.shown(kept);
            (steps.found)(kept);
            entry
        }))
    }

    pub fn record_now(&self, id: &[u8; 32], nonce: &[u8; 16], answer: &[u8]) -> bool {
        let mut entries = self.database.entries.lock().unwrap();
        let key = (self.steps.key)(id);
        end(&mut entries, &key);
        match entries.get_mut(&key) {
            Some(kept) if (self.steps.may_record)(kept, nonce) => {
                (self.steps.put)(kept, answer);
                true
            }
            _ => false,
        }
    }

    pub fn release_now(&self, id: &[u8; 32], nonce: &[u8; 16]) -> bool {
        let mut entries = self.database.entries.lock().unwrap();
        let key = (self.steps.key)(id);
        end(&mut entries, &key);
        let held = entries
            .get(&key)
            .is_some_and(|kept| (self.steps.may_release)(kept, nonce));
        if held {
            (self.steps.remove)(&mut entries, &key);
        }
        held
    }
}

/// Removes an entry whose time is over.
fn end(entries: &mut Entries, key: &[u8]) {
    let end = entries.get(key).and_then(|kept| kept.end);
    if end.is_some_and(|end| end <= Instant::now()) {
        entries.remove(key);
    }
}

pub fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since_1970.unwrap().as_millis()).unwrap()
}

impl RedemptionStore for Base {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        (self.steps.claim)(self, claim)
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        (self.steps.find)(self, id, issued_at_ms)
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        (self.steps.record)(self, id, nonce, answer)
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        (self.steps.release)(self, id, nonce)
    }
}
