//! What the benchmarks of `request-state` share. `docs/performance.md` says what they measure.
//!
//! | to | see |
//! |---|---|
//! | time two things next to each other | [`clock`] |
//! | print figures next to their goals | [`table`] |
//! | get requests and states | [`params`], [`state`] |
//! | do the same with raw primitives | `baseline.rs`, [`primitive`] |

use request_state::{AesGcmCodec, HmacCodec, Key, Keyring, RequestStateCodec, RingCodec, Sealer};

mod baseline;
pub mod clock;
pub mod params;
pub mod primitive;
pub mod state;
pub mod table;

/// A sealer with any codec.
pub type AnySealer = Sealer<Box<dyn RequestStateCodec>>;

/// A sealer for every backend, by name, with the keys of `keys`.
///
/// # Panics
///
/// Never: the server has a name.
#[must_use]
pub fn sealers(keys: &Keyring) -> [(&'static str, AnySealer); 4] {
    let sealer = |codec: Box<dyn RequestStateCodec>| Sealer::new("billing", codec).expect("a name");
    [
        ("RingCodec, AES", sealer(Box::new(RingCodec::new(keys)))),
        (
            "RingCodec, ChaCha20",
            sealer(Box::new(RingCodec::chacha20_poly1305(keys))),
        ),
        ("AesGcmCodec", sealer(Box::new(AesGcmCodec::new(keys)))),
        ("HmacCodec", sealer(Box::new(HmacCodec::new(keys)))),
    ]
}

/// Creates a keyring of as many keys as there are `numbers`, the first of which seals.
///
/// # Panics
///
/// When there are none, or one comes twice.
pub fn keys(numbers: impl IntoIterator<Item = u8>) -> Keyring {
    let entry = |n: u8| (format!("2026-{n:02}"), Key::from([n; 32]));
    Keyring::new(numbers.into_iter().map(entry)).expect("good entries")
}
