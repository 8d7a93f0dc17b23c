//! Keyrings of the suite's choice.

use request_state_core::{Key, Keyring};

use crate::random::Random;
use crate::stop::Stop;

/// The kids of [`ring`], the sealing one first.
pub(crate) const KIDS: [&str; 2] = ["2026-10", "2026-07"];

/// The suite's usual keyring: two keys, so that a codec must choose.
pub(crate) fn ring() -> Result<Keyring, Stop> {
    let mut random = Random::new(1);
    ring_of(KIDS.map(|kid| (kid, random.key())))
}

/// Creates a keyring of these kids and keys, the first sealing.
pub(crate) fn ring_of<K: Into<String>>(
    entries: impl IntoIterator<Item = (K, [u8; 32])>,
) -> Result<Keyring, Stop> {
    let entries = entries.into_iter().map(|(kid, key)| (kid, Key::from(key)));
    Ok(Keyring::new(entries)?)
}

/// A key for each number, unrelated to one another.
pub(crate) fn key(number: u64) -> [u8; 32] {
    Random::new(1_000 + number).key()
}
