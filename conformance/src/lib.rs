//! The conformance suite for codecs and stores of [`request-state`](https://docs.rs/request-state).
//!
//! A codec is thirty lines, and most bugs in it show in no round trip: a tag compared in part, a `kid`
//! that is not authenticated, a base64 decoder that forgives. Run the suite on your own codec before
//! anything relies on it: [`suite!`] as tests, or [`check`] from any code.
//!
//! [`CASES`] lists what is tried, and why. The suite's own tests run it against a catalog of codecs with
//! one deliberate bug each, in `tests/faulty/`. It catches all of them.
//!
//! # Optimize your dependencies
//!
//! The suite encodes and decodes hundreds of thousands of tokens. In the `Cargo.toml` of your workspace:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 1
//!
//! # The crate of your codec: generic ciphers are compiled where they are used.
//! [profile.dev.package.my-codec]
//! opt-level = 1
//! ```
//!
//! CPU time of [`check`], measured in a crate outside this workspace (2026-12-03):
//!
//! | codec | not optimized | dependencies only | the codec's crate, too |
//! |---|---|---|---|
//! | XChaCha20-Poly1305, in the crate itself | 43 s | 19 s | 2.5 s |
//! | `AesGcmCodec`, a dependency | 22 s | 2.1 s | 2.0 s |
//!
//! It also finds more: a slow codec makes fewer tokens in the time that a case has. For instance,
//! `freshness::over_many_thousands` stops after 66,000 tokens instead of 150,000, too early for most
//! nonces of 32 bits to repeat. A case that skips edits for lack of time says so in the report.
//!
//! # What it reports
//!
//! - **Failed**: the codec breaks the contract of [`RequestStateCodec`].
//! - **Suspicious**: most codecs that do this are wrong, but a correct one may. A run with such a finding is
//!   not ok, until you accept it by name: [`Report::accepting`].
//! - **Not tried**: a case of the group `round_trip` failed. What else fails may follow from it, so no
//!   other case is tried. Fix that one first.
//! - **Not applicable**: the case says nothing about this codec.
//!
//! # What it cannot find
//!
//! It sees a codec from outside. None of these shows:
//!
//! - a cipher that is weak in itself, a keystream that depends on no key, a comparison whose time
//!   tells something, a key that its author put in for himself;
//! - a nonce that an attacker could predict but that does not repeat in 150,000 encodings, such as
//!   one expanded from 32 random bits;
//! - a digest of the payload or of the context that is in the token with its salt, or key
//!   material that is there under a mask which changes with each token;
//! - a digest of the context, of 24 bits or more, that is authenticated in its place;
//! - tokens that expire by themselves after a while: the suite opens each within seconds;
//! - what goes wrong at one length of the payload only, beyond what the cases `lengths` try: the
//!   context, the key, the kid and the ends of each part, at every length up to 1,100 bytes and at
//!   those around the powers of two up to 64 KiB;
//! - a word that the decoder strips from a token, and that nobody would think of: the suite tries every
//!   character, every pair of the characters that a token may consist of, some hundred words, and the
//!   names of the codec itself.
//!
//! A fault that shows in one token or context of 65,536 is found by chance. Use known ciphers,
//! compare in constant time, and have the code read.
//!
//! It cannot stop a codec that never returns.
//!
//! # Stores
//!
//! Likewise for a store of redemptions, which single use needs: [`store_suite!`] and [`check_store`] try
//! what [`RedemptionStore`](request_state_core::RedemptionStore) promises on yours. [`STORE_CASES`] lists
//! what is tried, and [the manual](https://docs.rs/request-state/latest/request_state/manual/custom_store/#run-the-suite) what cannot be
//! found. Faulty stores are in
//! `tests/faulty_stores/`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// A codec under test is code of a stranger, and what it returns must not bring the suite down. What
// the suite adds up are lengths of its own.
#![allow(clippy::arithmetic_side_effects)]

mod cases;
mod catalogue;
mod edits;
mod kit;
mod lockstep;
mod random;
mod report;
mod rings;
mod stop;
mod stores;
mod suite;
mod token;

use request_state_core::{Keyring, RequestStateCodec};

pub use catalogue::{CASES, Case};
pub use report::{Outcome, Report, Verdict};
#[doc(hidden)]
pub use stores::run_store_case;
pub use stores::{History, STORE_CASES, StoreSuite, check_store};
#[doc(hidden)]
pub use suite::{run_case, run_keyless_case, try_case};

use kit::make_with;

/// Runs every case on the codecs that `make` makes.
///
/// `make` is called often, each time with the keyring that the case is about: it is a constructor
/// such as `MyCodec::new`, or a closure, which may borrow. If it panics, or the codec does, the
/// case fails and the others run, unless it is one of `round_trip`: then no other case is tried. A case
/// stops at the first thing that it finds.
///
/// # Example
///
/// A "codec" that authenticates nothing:
///
/// ```
/// use request_state_conformance::check;
/// use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec, wire};
///
/// struct Plain(String);
///
/// impl RequestStateCodec for Plain {
///     fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
///         wire::token(&self.0, &[payload])
///     }
///     fn decode(&self, token: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
///         wire::parts(token).map(|(_, [payload])| payload)
///     }
/// }
///
/// let report = check(|keys: &Keyring| Plain(keys.sealing().0.to_owned()));
/// assert!(!report.is_ok());
/// assert!(report.failures().any(|failure| failure.case.to_string() == "context::alike"));
/// println!("{report}");
/// ```
pub fn check<'a, C: RequestStateCodec + 'a>(make: impl Fn(&Keyring) -> C + 'a) -> Report {
    Report::of(suite::outcomes(&make_with(make), true))
}

/// Runs every case on a codec that takes no keyring, such as one whose keys are in a key management
/// service.
///
/// Every call of `make` makes a codec with the same keys, as each replica of a server has one. The
/// cases about keyrings are in the report as not applicable.
///
/// # Example
///
/// ```no_run
/// use request_state_conformance::check_keyless;
/// # use request_state_core::{DecodeError, EncodeError, RequestStateCodec};
/// # #[derive(Clone)]
/// # struct Kms;
/// # impl RequestStateCodec for Kms {
/// #     fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> { Ok(String::new()) }
/// #     fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
/// #         Err(DecodeError::Malformed)
/// #     }
/// # }
/// # fn connect() -> Kms { Kms }
///
/// let kms = connect();
/// let report = check_keyless(|| kms.clone());
/// assert!(report.is_ok(), "{report}");
/// ```
pub fn check_keyless<'a, C: RequestStateCodec + 'a>(make: impl Fn() -> C + 'a) -> Report {
    Report::of(suite::outcomes(&make_with(move |_| make()), false))
}
