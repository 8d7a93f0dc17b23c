//! The keys of a server: the sealing key, and the keys that only open.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::KeyringError;
use super::key::Key;
use crate::codec::EncodeError;
use crate::wire;

/// The keys of a server, each under a key ID (`kid`). The first key seals, and every key opens.
///
/// All replicas of a server share one keyring. A clone is cheap, and shares the keys and their counts of seals.
///
/// # Rotation
///
/// Replace a key in three steps, and roll out each step everywhere before you begin the next. Then no replica
/// rejects an honest retry at any time.
///
/// 1. Add the new key next to the old key on every replica, and keep sealing with the old key.
/// 2. Seal with the new key on every replica.
/// 3. Remove the old key one TTL and a minute after the last replica sealed with it.
///
/// ```
/// use request_state_core::{Key, Keyring};
///
/// # let (old_key, new_key) = (Key::from([1; 32]), Key::from([2; 32]));
/// let before = Keyring::new([("2026-07", old_key.clone())])?;
/// let step_1 = Keyring::new([("2026-07", old_key), ("2026-10", new_key.clone())])?;
/// let step_2 = step_1.sealing_with("2026-10")?;
/// let step_3 = Keyring::new([("2026-10", new_key)])?;
/// assert_eq!(step_1.sealing().0, "2026-07");
/// assert_eq!(step_2.sealing().0, "2026-10");
/// # Ok::<(), request_state_core::KeyringError>(())
/// ```
// The sealing key has a field of its own, so that an empty keyring cannot be represented.
#[derive(Clone)]
pub struct Keyring {
    sealing: Arc<Entry>,
    others: Vec<Arc<Entry>>,
}

struct Entry {
    kid: String,
    key: Key,
    seals: AtomicU64,
}

impl Keyring {
    /// Creates a keyring from `(kid, key)` pairs. The first entry is the sealing key.
    ///
    /// A kid is 1 to 64 characters of `A-Z a-z 0-9 _ -`. It is not secret: every token begins with it.
    ///
    /// Order matters, so pass an array or a vector. A `BTreeMap` would seal with the kid that sorts first,
    /// which is usually the old kid after a rotation. A `HashMap` would seal with any kid, and with a different
    /// one at each start. After either, call [`sealing_with`](Self::sealing_with).
    ///
    /// # Errors
    ///
    /// Returns a [`KeyringError`] if there are no entries, a kid is invalid, a kid is the text of its key, or
    /// an earlier entry has the same kid or key. The error names the entry by its number, counted from 1.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("2026-10", Key::generate()?), ("2026-07", Key::generate()?)])?;
    /// assert_eq!(keys.sealing().0, "2026-10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<K: Into<String>>(
        entries: impl IntoIterator<Item = (K, Key)>,
    ) -> Result<Self, KeyringError> {
        let mut ring: Vec<Arc<Entry>> = Vec::new();
        for (number, (kid, key)) in (1..).zip(entries) {
            let kid = kid.into();
            if !wire::is_kid(&kid) {
                return Err(KeyringError::Kid { entry: number });
            }
            // Otherwise every token would begin with the key itself.
            if Key::decode(&kid).is_ok_and(|spelled| spelled == key) {
                return Err(KeyringError::KidIsKey { entry: number });
            }
            if ring.iter().any(|earlier| earlier.kid == kid) {
                let kid = shown(kid);
                return Err(KeyringError::DuplicateKid { entry: number, kid });
            }
            if ring.iter().any(|earlier| earlier.key == key) {
                let kid = shown(kid);
                return Err(KeyringError::DuplicateKey { entry: number, kid });
            }
            let seals = AtomicU64::new(0);
            ring.push(Arc::new(Entry { kid, key, seals }));
        }
        let mut ring = ring.into_iter();
        Ok(Self {
            sealing: ring.next().ok_or(KeyringError::Empty)?,
            others: ring.collect(),
        })
    }

    /// Creates a keyring of one random key under a random kid. For servers of a single process, such as on
    /// stdio or in a test.
    ///
    /// After a restart, or in another process behind the same address, the kid of an older token is not in the
    /// keyring. The reason in the log is then `unknown_key`, so nobody mistakes the token for an attack.
    ///
    /// # Errors
    ///
    /// Returns [`KeyringError::Random`] if the operating system's random source fails.
    ///
    /// ```
    /// use request_state_core::Keyring;
    ///
    /// assert_ne!(Keyring::ephemeral()?.sealing(), Keyring::ephemeral()?.sealing());
    /// # Ok::<(), request_state_core::KeyringError>(())
    /// ```
    pub fn ephemeral() -> Result<Self, KeyringError> {
        let mut suffix = [0; 8];
        getrandom::fill(&mut suffix).map_err(KeyringError::Random)?;
        let kid = format!("ephemeral-{:016x}", u64::from_be_bytes(suffix));
        Self::new([(kid, Key::fill_random().map_err(KeyringError::Random)?)])
    }

    /// Returns a keyring of the same keys that seals with the key under `kid`.
    ///
    /// The keys and their counts of seals stay shared with this keyring.
    ///
    /// # Errors
    ///
    /// Returns [`KeyringError::UnknownKid`] if `kid` is not in the keyring. The error does not contain `kid`,
    /// which may be a key in the wrong place.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("old", Key::generate()?), ("new", Key::generate()?)])?;
    /// assert_eq!(keys.sealing_with("new")?.sealing().0, "new");
    /// assert!(keys.sealing_with("newer").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sealing_with(&self, kid: &str) -> Result<Self, KeyringError> {
        let (mut chosen, others): (Vec<_>, Vec<_>) = self
            .entries()
            .map(Arc::clone)
            .partition(|entry| entry.kid == kid);
        Ok(Self {
            sealing: chosen.pop().ok_or(KeyringError::UnknownKid)?,
            others,
        })
    }

    /// Returns the kid of the sealing key, and the key. For authors of codecs.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("a", Key::from([1; 32])), ("b", Key::from([2; 32]))])?;
    /// assert_eq!(keys.sealing(), ("a", &Key::from([1; 32])));
    /// # Ok::<(), request_state_core::KeyringError>(())
    /// ```
    #[must_use]
    pub fn sealing(&self) -> (&str, &Key) {
        (&self.sealing.kid, &self.sealing.key)
    }

    /// Returns the key under `kid`, if it is in the keyring. For authors of codecs.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("a", Key::from([1; 32]))])?;
    /// assert_eq!(keys.get("a"), Some(&Key::from([1; 32])));
    /// assert_eq!(keys.get("b"), None);
    /// # Ok::<(), request_state_core::KeyringError>(())
    /// ```
    #[must_use]
    pub fn get(&self, kid: &str) -> Option<&Key> {
        self.iter().find_map(|(k, key)| (k == kid).then_some(key))
    }

    /// Returns an iterator over all kids and their keys, starting with the sealing key. For authors of codecs.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("a", Key::from([1; 32])), ("b", Key::from([2; 32]))])?;
    /// assert_eq!(keys.iter().map(|(kid, _)| kid).collect::<Vec<_>>(), ["a", "b"]);
    /// # Ok::<(), request_state_core::KeyringError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Key)> {
        self.entries().map(|entry| (entry.kid.as_str(), &entry.key))
    }

    /// Counts `n` seals with the sealing key, unless the count would exceed `limit`.
    ///
    /// A codec whose keys wear out counts each seal before it makes it: AES-GCM with random nonces may seal
    /// 2^32 times under one key (NIST SP 800-38D, section 8.3). All codecs made from the same keyring, or from
    /// a clone of it, share one count.
    ///
    /// The count is per process, and starts at zero with the process. It is a backstop: rotation keeps a fleet
    /// below the limit. A server that keeps its own count across restarts can add that count here when it
    /// starts.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::KeyExhausted`] if the count would exceed `limit`. Then nothing is counted.
    ///
    /// ```
    /// use request_state_core::{Key, Keyring};
    ///
    /// let keys = Keyring::new([("a", Key::generate()?)])?;
    /// assert!(keys.count_seals(99, 100).is_ok());
    /// assert!(keys.clone().count_seals(1, 100).is_ok());
    /// assert!(keys.count_seals(1, 100).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count_seals(&self, n: u64, limit: u64) -> Result<(), EncodeError> {
        let add = |seals: u64| seals.checked_add(n).filter(|total| *total <= limit);
        self.sealing
            .seals
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .map(|_| ())
            .map_err(|_| EncodeError::KeyExhausted)
    }

    fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        std::iter::once(&self.sealing).chain(&self.others)
    }
}

/// Returns a kid for an error: `..` if it has the form of a key, since somebody may have put a key there by
/// mistake.
fn shown(kid: String) -> String {
    match Key::decode(&kid) {
        Ok(_) => "..".into(),
        Err(_) => kid,
    }
}

impl fmt::Debug for Keyring {
    /// Prints the kids and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring ")?;
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::from([byte; 32])
    }

    fn kids(keys: &Keyring) -> Vec<&str> {
        keys.iter().map(|(kid, _)| kid).collect()
    }

    #[test]
    fn debug_prints_kids_only() {
        let keys = Keyring::new([("a", key(1)), ("b", key(2))]).unwrap();
        assert_eq!(
            format!("{keys:?}"),
            r#"Keyring {"a": Key(..), "b": Key(..)}"#
        );
    }

    #[test]
    fn the_chosen_key_moves_to_the_front() {
        let keys = Keyring::new([("a", key(1)), ("b", key(2)), ("c", key(3))]).unwrap();
        assert_eq!(kids(&keys.sealing_with("b").unwrap()), ["b", "a", "c"]);
        assert_eq!(kids(&keys.sealing_with("a").unwrap()), ["a", "b", "c"]);
    }

    #[test]
    fn seals_are_counted_by_key_across_clones_and_orders() {
        let keys = Keyring::new([("a", key(1)), ("b", key(2))]).unwrap();
        let by_b = keys.sealing_with("b").unwrap();
        keys.clone().count_seals(10, 10).unwrap();
        assert!(keys.count_seals(1, 10).is_err());
        by_b.count_seals(10, 10).unwrap();
        assert!(by_b.sealing_with("a").unwrap().count_seals(1, 10).is_err());
        // A rejected call counts nothing, and a sum that overflows is rejected.
        assert!(keys.count_seals(u64::MAX, u64::MAX).is_err());
        keys.count_seals(1, 11).unwrap();
    }

    #[test]
    fn ephemeral_rings_have_well_formed_kids_of_their_own() {
        let (one, two) = (Keyring::ephemeral().unwrap(), Keyring::ephemeral().unwrap());
        assert!(wire::is_kid(one.sealing().0));
        assert_ne!(one.sealing().0, two.sealing().0);
    }
}
