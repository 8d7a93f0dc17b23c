//! The suite that every codec of [`request-state`](https://docs.rs/request-state) passes, and none of
//! the 261 faulty ones in `tests/faulty/`, which have one fault each.
//!
//! A codec is thirty lines, and most faults in it show in no round trip: a tag compared in part, a
//! kid that is not authenticated, a base64 decoder that forgives. Run the suite on a codec of your
//! own before anything relies on it: [`suite!`] as tests, or [`check`] from any code.
//!
//! [`CASES`] lists what is tried, and why.
//!
//! # What it cannot find
//!
//! It sees a codec from outside. None of these shows:
//!
//! - a cipher that is weak in itself, a keystream that depends on no key, a comparison whose time
//!   tells something, a key that its author put in for himself;
//! - a nonce that an attacker could predict but that does not repeat in 150,000 encodings, such as
//!   one expanded from 32 random bits;
//! - a digest of the payload or of the context that stands in the token with its salt, or key
//!   material that stands there under a mask which changes with each token;
//! - a digest of the context, of 24 bits or more, that is authenticated in its place;
//! - tokens that expire by themselves after a while: the suite opens each within seconds;
//! - what goes wrong at one length of the payload only, beyond what the cases `lengths` try: the
//!   context, the key, the kid and the ends of each part, at every length up to 1,100 bytes and at
//!   those around the powers of two up to 64 KiB.
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
//! what is tried, and `docs/custom-store.md` what cannot be found. Faulty stores are in
//! `tests/faulty_stores/`.
#![forbid(unsafe_code)]
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
/// case fails and the others run. A case stops at the first thing that it finds.
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
///         wire::decode_base64url(wire::split_kid(token)?.1)
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
