//! The conformance suite for codecs and stores of [`request-state`](https://docs.rs/request-state).
//!
//! A codec takes thirty lines of code, and most bugs in it do not show in a round trip: a tag
//! that is compared only in part, a `kid` that is not authenticated, a base64 decoder that is too
//! lenient. Run the suite on your own codec before you rely on it: [`suite!`] generates tests, and
//! [`check`] runs from any code.
//!
//! [`CASES`] lists all cases and the reason for each. The suite's own tests run it against a
//! catalog of codecs with one deliberate bug each, in `tests/faulty/`. It catches all of them.
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
//! | codec | not optimized | only dependencies optimized | the codec's crate optimized, too |
//! |---|---|---|---|
//! | XChaCha20-Poly1305, in the crate itself | 43 s | 19 s | 2.5 s |
//! | `AesGcmCodec`, a dependency | 22 s | 2.1 s | 2.0 s |
//!
//! Optimization also makes the suite find more bugs, because a slow codec makes fewer tokens in the
//! time of a case. For instance, `freshness::over_many_thousands` stops after 66,000 tokens instead
//! of 150,000. That is too early for most nonces of 32 bits to repeat. The report names each case
//! that skipped edits for lack of time.
//!
//! # The results
//!
//! - **Failed**: the codec breaks the contract of [`RequestStateCodec`].
//! - **Suspicious**: most codecs that do this are wrong, but a correct codec may do it. A run with
//!   such a finding is not ok until you accept the finding by name: see [`Report::accepting`].
//! - **Not tried**: a case of the group `round_trip` failed. Other failures may follow from it, so
//!   no case of another group is tried. Fix that case first.
//! - **Not applicable**: the case does not apply to this codec.
//!
//! # What it cannot find
//!
//! The suite tests a codec as a black box. It cannot find any of these:
//!
//! - a cipher that is weak in itself, a keystream that does not depend on a key, a comparison whose
//!   time leaks information, or a backdoor key of the author;
//! - a nonce that an attacker could predict but that does not repeat in 150,000 encodings, such as
//!   a nonce expanded from 32 random bits;
//! - a token that contains a digest of the payload or the context together with its salt, or key
//!   material under a mask that changes with each token;
//! - a codec that authenticates a digest of the context, of 24 bits or more, instead of the
//!   context;
//! - tokens that expire by themselves after a while, because the suite opens each token within
//!   seconds;
//! - a fault at one length of the payload only, except at the lengths that the group `lengths`
//!   tries. That group covers the context, the key, the kid and the ends of each part, at every
//!   length up to 1,100 bytes and at the lengths around the powers of two up to 64 KiB;
//! - an unusual word that the decoder strips from a token. The suite tries every character, every
//!   pair of the characters that a token may consist of, some hundred words, and the names of the
//!   codec itself.
//!
//! A fault that affects one token or context in 65,536 is found only by chance. Use known ciphers,
//! compare in constant time, and have the code reviewed.
//!
//! The suite cannot stop a codec that never returns.
//!
//! # Stores
//!
//! Single use needs a store of redemptions. [`store_suite!`] and [`check_store`] check that your
//! store keeps the contract of [`RedemptionStore`](request_state_core::RedemptionStore).
//! [`STORE_CASES`] lists all cases. [The
//! manual](https://docs.rs/request-state/latest/request_state/manual/custom_store/#run-the-suite)
//! lists the faults that cannot be found. Faulty stores are in `tests/faulty_stores/`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// A codec under test is third-party code, and its return values must not crash the suite. The suite
// only adds up its own lengths.
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

/// Runs every case on the codecs that `make` creates.
///
/// `make` is a constructor such as `MyCodec::new`, or a closure, which may borrow. It is called
/// often, each time with the keyring of the current case. A case stops at its first finding.
///
/// If `make` or the codec panics, the case fails and the others still run. If a case of the group
/// `round_trip` fails, no case of another group is tried.
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

/// Runs every case on a codec without a keyring, such as a codec whose keys are in a key management
/// service.
///
/// Every call of `make` must create a codec with the same keys, like the replicas of a server. The
/// report lists the cases about keyrings as not applicable.
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
