//! A part of the memory store, with its own lock: entries, indexed by id and by end.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use super::store::Entry;

#[derive(Default)]
pub(super) struct Shard {
    by_id: HashMap<[u8; 32], Kept>,
    /// The end and the id of the same entries, the earliest end first.
    by_end: BTreeSet<(u64, [u8; 32])>,
}

/// The entry of a claim.
pub(super) struct Kept {
    pub(super) nonce: [u8; 16],
    pub(super) presentation: [u8; 32],
    pub(super) claimed_at_ms: u64,
    pub(super) end_ms: u64,
    pub(super) answer: Option<Vec<u8>>,
}

impl Shard {
    pub(super) fn get(&self, id: &[u8; 32]) -> Option<&Kept> {
        self.by_id.get(id)
    }

    /// Returns the entry of `id`, if it was claimed with `nonce`.
    pub(super) fn held(&mut self, id: &[u8; 32], nonce: &[u8; 16]) -> Option<&mut Kept> {
        self.by_id.get_mut(id).filter(|kept| kept.nonce == *nonce)
    }

    /// Adds an entry for an `id` that does not have one.
    pub(super) fn insert(&mut self, id: [u8; 32], kept: Kept) {
        self.by_end.insert((kept.end_ms, id));
        self.by_id.insert(id, kept);
    }

    pub(super) fn remove(&mut self, id: &[u8; 32]) -> Option<Kept> {
        let kept = self.by_id.remove(id)?;
        self.by_end.remove(&(kept.end_ms, *id));
        Some(kept)
    }

    /// Removes an entry that has ended by `now_ms`, if there is one.
    pub(super) fn remove_ended(&mut self, now_ms: u64) -> Option<Kept> {
        let (end_ms, id) = self.by_end.first().copied()?;
        if end_ms > now_ms {
            return None;
        }
        self.remove(&id)
    }
}

impl Kept {
    pub(super) fn entry(&self, now_ms: u64) -> Entry {
        Entry {
            presentation: self.presentation,
            age: Duration::from_millis(now_ms.saturating_sub(self.claimed_at_ms)),
            answer: self.answer.clone(),
        }
    }
}
