//! The keyrings that the suite uses.

use request_state_core::{Key, Keyring};

use crate::random::Random;
use crate::stop::Stop;

/// The kids of [`ring`]. The first is the kid of the sealing key.
pub(crate) const KIDS: [&str; 2] = ["2026-10", "2026-07"];

/// Creates the suite's default keyring. It has two keys, so that a codec must choose.
pub(crate) fn ring() -> Result<Keyring, Stop> {
    let mut random = Random::new(1);
    ring_of(KIDS.map(|kid| (kid, random.key())))
}

/// Creates a keyring from kids and keys. The first key seals.
pub(crate) fn ring_of<K: Into<String>>(
    entries: impl IntoIterator<Item = (K, [u8; 32])>,
) -> Result<Keyring, Stop> {
    let entries = entries.into_iter().map(|(kid, key)| (kid, Key::from(key)));
    Ok(Keyring::new(entries)?)
}

/// Returns a key for a number. Keys of different numbers are unrelated.
pub(crate) fn key(number: u64) -> [u8; 32] {
    Random::new(1_000 + number).key()
}
