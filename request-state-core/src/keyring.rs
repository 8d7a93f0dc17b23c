//! The keys of a server: one that seals, and all that open.

use std::env::VarError;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zeroize::Zeroizing;

use crate::codec::EncodeError;
use crate::key::{Key, KeyError};
use crate::wire;

/// The keys of a server, each under a kid: the first seals, every one opens.
///
/// All replicas of a server share one keyring. A clone is cheap, and shares the keys and their
/// counts of seals.
///
/// # Rotation
///
/// No honest retry is rejected on any replica when a key is replaced in three steps, each rolled
/// out everywhere before the next begins:
///
/// 1. every replica gets the new key next to the old one and seals with the old;
/// 2. every replica seals with the new key;
/// 3. one TTL and a minute after the last replica sealed with the old key, it is removed.
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
// One field for the key that seals, so that "empty" cannot be written.
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
    /// A kid is 1 to 64 of `A-Z a-z 0-9 _ -`, and is not secret: every token begins with it.
    ///
    /// Order matters, so pass an array or a vector. A `BTreeMap` would seal with the kid that sorts
    /// first, which after a rotation is most often the old one, and a `HashMap` with any, another
    /// at each start. After either, call [`sealing_with`](Self::sealing_with).
    ///
    /// # Errors
    ///
    /// A [`KeyringError`] names the entry by its number, from 1: no entries, a bad kid, a kid that
    /// spells its key, or a kid or a key that an earlier entry has too.
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
            // In front of every token, the key itself.
            if kid.parse::<Key>().is_ok_and(|spelled| spelled == key) {
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

    /// Parses a keyring from the environment variable `var`, as [`FromStr`] does.
    ///
    /// # Errors
    ///
    /// [`KeyringError::VariableNotSet`], [`KeyringError::VariableNotUnicode`], and
    /// [`KeyringError::Variable`] when its value is not a valid keyring. Each names the variable.
    ///
    /// ```
    /// use request_state_core::Keyring;
    ///
    /// let error = Keyring::from_env("THIS_IS_NOT_SET").unwrap_err();
    /// assert!(error.to_string().contains("THIS_IS_NOT_SET"));
    /// ```
    pub fn from_env(var: &str) -> Result<Self, KeyringError> {
        let name = var.to_owned();
        match std::env::var(var) {
            Ok(text) => Zeroizing::new(text)
                .parse()
                .map_err(|problem| KeyringError::Variable {
                    name,
                    problem: Box::new(problem),
                }),
            Err(VarError::NotPresent) => Err(KeyringError::VariableNotSet { name }),
            // The standard library's error holds the text, so it goes no further.
            Err(VarError::NotUnicode(_)) => Err(KeyringError::VariableNotUnicode { name }),
        }
    }

    /// Creates a keyring of one fresh key under a random kid, for a server of a single process: on stdio, in
    /// a test.
    ///
    /// After a restart, or in another process behind the same address, the kid is not in the
    /// keyring, so the log says `unknown_key` and nobody mistakes it for an attack.
    ///
    /// # Errors
    ///
    /// [`KeyringError::Random`] when the operating system's random source fails.
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

    /// Returns a keyring of the same keys, of which the one under `kid` seals.
    ///
    /// The keys and their counts of seals stay shared with this keyring.
    ///
    /// # Errors
    ///
    /// [`KeyringError::UnknownKid`] when `kid` is not in the keyring. It does not show `kid`, which may
    /// be a key in the wrong place.
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

    /// Returns the kid and the key that seal. For authors of codecs.
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

    /// Returns every kid and key, the one that seals first. For authors of codecs.
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

    /// Counts `n` seals against the key that seals, unless that would make more than `limit`.
    ///
    /// A codec whose keys wear out counts each seal before it makes it: AES-GCM with random nonces
    /// may seal 2^32 times under one key (NIST SP 800-38D, section 8.3). Every codec made from the
    /// same keyring, or from a clone of it, counts together.
    ///
    /// The count is per process and starts at zero with it. It is a backstop; rotation is what
    /// keeps a fleet below the limit. A server that keeps its own count across restarts can add it
    /// here when it starts.
    ///
    /// # Errors
    ///
    /// [`EncodeError::KeyExhausted`]; nothing is counted then.
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

/// A kid as an error shows it: not at all if it reads like a key, which somebody may have put there
/// by mistake.
fn shown(kid: String) -> String {
    match kid.parse::<Key>() {
        Ok(_) => "..".into(),
        Err(_) => kid,
    }
}

impl FromStr for Keyring {
    type Err = KeyringError;

    /// Reads `kid:key,kid:key`, the sealing key first, each key as [`Key`] reads it.
    ///
    /// White space around an entry is ignored.
    ///
    /// # Errors
    ///
    /// As for [`Keyring::new`], and: an empty entry, an entry without `:`, a bad key. An error
    /// shows a kid only when its entry is otherwise good, since somebody will write `key:kid`.
    fn from_str(text: &str) -> Result<Self, KeyringError> {
        if text.trim().is_empty() {
            return Err(KeyringError::Empty);
        }
        let mut entries = Vec::new();
        for (number, entry) in (1..).zip(text.split(',').map(str::trim)) {
            if entry.is_empty() {
                return Err(KeyringError::EmptyEntry { entry: number });
            }
            let (kid, key) = entry
                .split_once(':')
                .ok_or(KeyringError::Form { entry: number })?;
            let key = key.parse().map_err(|problem| KeyringError::Key {
                entry: number,
                problem,
            })?;
            entries.push((kid, key));
        }
        Self::new(entries)
    }
}

impl fmt::Debug for Keyring {
    /// Prints the kids and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring ")?;
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Why something is not a [`Keyring`]. It never shows a key, nor text that may be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is no entry at all.
    #[error("a keyring needs at least one key")]
    Empty,
    /// Nothing stands between two commas, or after the last.
    #[error("keyring entry {entry} is empty")]
    EmptyEntry {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// Not `kid:key`.
    #[error("keyring entry {entry} has no `:` between kid and key")]
    Form {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The kid is not 1 to 64 of `A-Z a-z 0-9 _ -`.
    #[error("keyring entry {entry} has a bad kid: a kid is 1 to 64 of A-Z a-z 0-9 _ -")]
    Kid {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The kid spells the key.
    #[error("keyring entry {entry} has its key for a kid: a kid is public")]
    KidIsKey {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The key is not one.
    #[error("keyring entry {entry} has a bad key: {problem}")]
    Key {
        /// The entry's number, from 1.
        entry: usize,
        /// What is wrong with it.
        problem: KeyError,
    },
    /// An earlier entry has the same kid.
    #[error("keyring entry {entry}: the kid `{kid}` is there already")]
    DuplicateKid {
        /// The entry's number, from 1.
        entry: usize,
        /// The kid of both; `..` if it reads like a key.
        kid: String,
    },
    /// An earlier entry has the same key.
    #[error("keyring entry {entry} (`{kid}`): its key is there already under another kid")]
    DuplicateKey {
        /// The entry's number, from 1.
        entry: usize,
        /// The kid of the later one; `..` if it reads like a key.
        kid: String,
    },
    /// The kid asked for is not in the keyring.
    #[error("the keyring has no key under the kid that should seal")]
    UnknownKid,
    /// The value of the environment variable is not a valid keyring.
    #[error("environment variable {name}: {problem}")]
    Variable {
        /// The variable's name.
        name: String,
        /// What is wrong with what it holds.
        problem: Box<KeyringError>,
    },
    /// The environment variable is not set.
    #[error("environment variable {name} is not set")]
    VariableNotSet {
        /// The variable's name.
        name: String,
    },
    /// The environment variable is not Unicode.
    #[error("environment variable {name} is not Unicode")]
    VariableNotUnicode {
        /// The variable's name.
        name: String,
    },
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_1: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
    const KEY_2: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";

    fn key(byte: u8) -> Key {
        Key::from([byte; 32])
    }

    fn kids(keys: &Keyring) -> Vec<&str> {
        keys.iter().map(|(kid, _)| kid).collect()
    }

    #[test]
    fn reads_entries_with_white_space_around_them() {
        let keys: Keyring = format!("\n a:{KEY_1} ,\tb:{KEY_2}\n").parse().unwrap();
        assert_eq!(kids(&keys), ["a", "b"]);
        assert_eq!(keys.sealing(), ("a", &key(1)));
        assert_eq!(keys.get("b"), Some(&key(2)));
        assert_eq!(keys.get("c"), None);
    }

    #[test]
    fn every_error_names_the_entry_and_no_key() {
        let message = |text: &str| text.parse::<Keyring>().unwrap_err().to_string();
        for (text, says) in [
            (String::new(), "at least one key"),
            (" \n".into(), "at least one key"),
            (",".into(), "entry 1 is empty"),
            (format!("a:{KEY_1},"), "entry 2 is empty"),
            (format!("a:{KEY_1},,b:{KEY_2}"), "entry 2 is empty"),
            (format!("a:{KEY_1},{KEY_2}"), "entry 2 has no `:`"),
            (format!("a.b:{KEY_1}"), "entry 1 has a bad kid"),
            (format!(":{KEY_1}"), "entry 1 has a bad kid"),
            (format!("a:{KEY_1},a:{KEY_2}"), "entry 2: the kid `a`"),
            (format!("a:{KEY_1},b:{KEY_1}"), "entry 2 (`b`): its key"),
            ("a:c2hvcnQ".into(), "entry 1 has a bad key"),
            (format!("a: {KEY_1}"), "entry 1 has a bad key"),
            (format!("a:{KEY_1},{KEY_2}:b"), "entry 2 has a bad key"),
        ] {
            let message = message(&text);
            assert!(message.contains(says), "{text:?}: {message}");
            assert!(!message.contains("AQEB") && !message.contains("AgIC"));
        }
    }

    #[test]
    fn a_swapped_entry_is_never_shown() {
        let swapped = format!("{KEY_1}:2026-10").parse::<Keyring>().unwrap_err();
        assert!(!format!("{swapped} {swapped:?}").contains("AQEB"));
        let keys = Keyring::new([("a", key(1))]).unwrap();
        let wrong = keys.sealing_with(KEY_1).unwrap_err();
        assert!(!format!("{wrong} {wrong:?}").contains("AQEB"));
    }

    #[test]
    fn a_kid_that_reads_like_a_key_is_never_shown() {
        let error = |text: String| text.parse::<Keyring>().unwrap_err();
        for (text, says) in [
            (format!("{KEY_1}:{KEY_1}"), "entry 1 has its key for a kid"),
            (format!("a:{KEY_1},{KEY_1}:{KEY_1}"), "entry 2 has its key"),
            (
                format!("{KEY_2}:{KEY_1},{KEY_2}:{KEY_2}"),
                "entry 2 has its",
            ),
            (format!("a:{KEY_1},{KEY_2}:{KEY_1}"), "entry 2 (`..`)"),
            (
                format!("{KEY_2}:{KEY_1},{KEY_2}:{}", "03".repeat(32)),
                "entry 2: the kid `..`",
            ),
        ] {
            let error = error(text);
            let text = format!("{error} {error:?}");
            assert!(text.contains(says), "{text}");
            assert!(!text.contains("AQEB") && !text.contains("AgIC"), "{text}");
        }
        // A digest of something makes a good kid, and is as long as a key.
        assert!(Keyring::new([(KEY_2, key(1))]).is_ok());
        assert!(Keyring::new([("ab".repeat(32), key(1))]).is_ok());
    }

    #[test]
    fn an_environment_variable_is_named() {
        // Setting one is unsafe in the 2024 edition, so these two are what Cargo and the shell set.
        let absent = Keyring::from_env("REQUEST_STATE_ABSENT").unwrap_err();
        assert_eq!(
            absent.to_string(),
            "environment variable REQUEST_STATE_ABSENT is not set"
        );
        let wrong = Keyring::from_env("CARGO_PKG_NAME").unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "environment variable CARGO_PKG_NAME: keyring entry 1 has no `:` between kid and key"
        );
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
        // A refusal counts nothing, and a sum that wraps is refused.
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
