//! The cases as tests.

use request_state_core::{Keyring, RequestStateCodec};

use crate::catalogue::{CASES, Case, RUNS, Run};
use crate::kit::{Kit, Make, make_with};
use crate::report::Outcome;
use crate::stop::Stop;

/// Generates a module of tests, one for each [case](crate::CASES), so that `cargo test` names each
/// failing case.
///
/// The arguments are the module's name and a function that creates a codec from a
/// [`Keyring`](request_state_core::Keyring): see [`check`](crate::check). The module can use the
/// names in the surrounding scope.
///
/// For a codec without a keyring, write `keyless:` before the second argument: see
/// [`check_keyless`](crate::check_keyless). The tests about keyrings are then ignored.
///
/// `accepting:` lists cases whose suspicious findings are accepted: see
/// [`Report::accepting`](crate::Report::accepting). The report of such a case explains when to do
/// this.
///
/// While a case of the group `round_trip` fails, a failing test of any other group only reports
/// that its case was not tried.
///
/// # Example
///
/// ```
/// use request_state_conformance::suite;
/// # use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec};
/// # struct MyCodec;
/// # impl MyCodec { fn new(_: &Keyring) -> Self { Self } }
/// # impl RequestStateCodec for MyCodec {
/// #     fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> { Ok(String::new()) }
/// #     fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
/// #         Err(DecodeError::Malformed)
/// #     }
/// # }
/// # struct KmsCodec;
/// # impl KmsCodec { fn connect() -> MyCodec { MyCodec } }
///
/// suite!(my_codec, |keys| MyCodec::new(keys));
/// suite!(my_kms_codec, keyless: || KmsCodec::connect());
/// suite!(my_counting_codec, MyCodec::new, accepting: ["freshness::no_counter"]);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! suite {
    ($module:ident, keyless: $make:expr $(, accepting: [$($case:literal),+ $(,)?])?) => {
        $crate::__cases!([$crate::__suite] [keyless $module $make, &[$($($case),+)?]]);
    };
    ($module:ident, $make:expr $(, accepting: [$($case:literal),+ $(,)?])?) => {
        $crate::__cases!([$crate::__suite] [keyed $module $make, &[$($($case),+)?]]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ([$kind:ident $module:ident $make:expr, $accepting:expr] $($group:ident { $($name:ident $needs:ident $why:literal)* })*) => {
        #[cfg(test)]
        #[allow(clippy::redundant_closure, reason = "`|keys| Codec::new(keys)` reads best")]
        mod $module {
            $(mod $group {
                #[allow(unused_imports, reason = "a keyless suite uses none in groups about keyrings")]
                use super::super::*;
                $($crate::__test!($kind $needs $group $name $make, $accepting);)*
            })*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __test {
    (keyed $needs:ident $group:ident $name:ident $make:expr, $accepting:expr) => {
        #[test]
        fn $name() -> Result<(), String> {
            let name = concat!(stringify!($group), "::", stringify!($name));
            $crate::run_case(name, $make, $accepting)
        }
    };
    (keyless any $group:ident $name:ident $make:expr, $accepting:expr) => {
        #[test]
        fn $name() -> Result<(), String> {
            let name = concat!(stringify!($group), "::", stringify!($name));
            $crate::run_keyless_case(name, $make, $accepting)
        }
    };
    (keyless keyring $group:ident $name:ident $make:expr, $accepting:expr) => {
        #[test]
        #[ignore = "not applicable: the codec takes no keyring"]
        fn $name() {}
    };
}

/// Runs the case with this name. The tests of [`suite!`](crate::suite) call it.
#[doc(hidden)]
pub fn run_case<'a, C: RequestStateCodec + 'a>(
    name: &str,
    make: impl Fn(&Keyring) -> C + 'a,
    accepting: &[&str],
) -> Result<(), String> {
    run(name, &make_with(make), true, accepting)
}

/// Does the same as [`run_case`], for a codec without a keyring.
#[doc(hidden)]
pub fn run_keyless_case<'a, C: RequestStateCodec + 'a>(
    name: &str,
    make: impl Fn() -> C + 'a,
    accepting: &[&str],
) -> Result<(), String> {
    run(name, &make_with(move |_| make()), false, accepting)
}

/// The group of the basic cases. If one of them fails, the results of other groups mean nothing.
const FIRST: &str = "round_trip";

/// The reason why a case was not tried.
const FOLLOWS: &str = "a case of round_trip failed, and other failures may follow from it";

/// Runs only the case with this name, for the suite's own tests.
#[doc(hidden)]
pub fn try_case<'a, C: RequestStateCodec + 'a>(
    name: &str,
    make: impl Fn(&Keyring) -> C + 'a,
) -> Result<Outcome, String> {
    let (case, run) = find(name)?;
    Ok(outcome(case, run, &make_with(make), true))
}

fn find(name: &str) -> Result<(&'static Case, Run), String> {
    let mut cases = CASES.iter().zip(RUNS);
    let found = cases.find(|(case, _)| case.to_string() == name);
    let (case, run) = found.ok_or_else(|| format!("there is no case {name}"))?;
    Ok((case, *run))
}

fn run(name: &str, make: &Make<'_>, takes_keyring: bool, accepting: &[&str]) -> Result<(), String> {
    let (case, run) = find(name)?;
    let mut outcome = outcome(case, run, make, takes_keyring);
    outcome.accept(accepting);
    // The other tests run at the same time, so this test runs the round-trip cases itself, but only
    // if that matters.
    if outcome.is_failure() && case.group() != FIRST && !makes_round_trips(make) {
        outcome = Outcome::not_tried(case, FOLLOWS);
    }
    outcome.tell()
}

fn makes_round_trips(make: &Make<'_>) -> bool {
    let mut first = CASES
        .iter()
        .zip(RUNS)
        .filter(|(case, _)| case.group() == FIRST);
    first.all(|(case, run)| !outcome(case, *run, make, true).is_failure())
}

/// Runs every case. If a case of the first group fails, no case outside that group is tried.
pub(crate) fn outcomes(make: &Make<'_>, takes_keyring: bool) -> impl Iterator<Item = Outcome> {
    let mut makes_round_trips = true;
    CASES.iter().zip(RUNS).map(move |(case, run)| {
        if !makes_round_trips && case.group() != FIRST {
            return Outcome::not_tried(case, FOLLOWS);
        }
        let outcome = outcome(case, *run, make, takes_keyring);
        makes_round_trips &= case.group() != FIRST || !outcome.is_failure();
        outcome
    })
}

/// Runs one case.
fn outcome(case: &'static Case, run: Run, make: &Make<'_>, takes_keyring: bool) -> Outcome {
    let kit = Kit::new(Make::clone(make));
    let run = || {
        if case.needs_keyring && !takes_keyring {
            return Err(Stop::NotApplicable("the codec takes no keyring"));
        }
        run(&kit)
    };
    Outcome::of(case, run, || kit.take_note())
}
