//! The cases as tests.

use request_state_core::{Keyring, RequestStateCodec};

use crate::catalogue::{CASES, Case, RUNS, Run};
use crate::kit::{Kit, Make, make_with};
use crate::report::Outcome;

/// A module of tests, one for each [case](crate::CASES), so that `cargo test` names what fails.
///
/// The arguments are the module's name and what makes a codec of a
/// [`Keyring`](request_state_core::Keyring): see [`check`](crate::check). The module sees the names
/// around it.
///
/// A codec that takes no keyring says `keyless:`, as for [`check_keyless`](crate::check_keyless); its
/// tests about keyrings are there, and ignored.
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
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! suite {
    ($module:ident, keyless: $make:expr) => {
        $crate::__cases!([$crate::__suite] [keyless $module $make]);
    };
    ($module:ident, $make:expr) => {
        $crate::__cases!([$crate::__suite] [keyed $module $make]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ([$kind:ident $module:ident $make:expr] $($group:ident { $($name:ident $needs:ident $why:literal)* })*) => {
        #[cfg(test)]
        #[allow(clippy::redundant_closure, reason = "`|keys| Codec::new(keys)` reads best")]
        mod $module {
            $(mod $group {
                #[allow(unused_imports, reason = "a keyless suite uses none in groups about rings")]
                use super::super::*;
                $($crate::__test!($kind $needs $group $name $make);)*
            })*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __test {
    (keyed $needs:ident $group:ident $name:ident $make:expr) => {
        #[test]
        fn $name() -> Result<(), String> {
            $crate::run_case(concat!(stringify!($group), "::", stringify!($name)), $make)
        }
    };
    (keyless any $group:ident $name:ident $make:expr) => {
        #[test]
        fn $name() -> Result<(), String> {
            $crate::run_keyless_case(concat!(stringify!($group), "::", stringify!($name)), $make)
        }
    };
    (keyless ring $group:ident $name:ident $make:expr) => {
        #[test]
        #[ignore = "not applicable: the codec takes no keyring"]
        fn $name() {}
    };
}

/// Runs the case of this name: what a test of [`suite!`](crate::suite) does.
#[doc(hidden)]
pub fn run_case<'a, C: RequestStateCodec + 'a>(
    name: &str,
    make: impl Fn(&Keyring) -> C + 'a,
) -> Result<(), String> {
    run(name, &make_with(make), true)
}

/// Likewise, for a codec that takes no keyring.
#[doc(hidden)]
pub fn run_keyless_case<'a, C: RequestStateCodec + 'a>(
    name: &str,
    make: impl Fn() -> C + 'a,
) -> Result<(), String> {
    run(name, &make_with(move |_| make()), false)
}

fn run(name: &str, make: &Make<'_>, takes_keyring: bool) -> Result<(), String> {
    let mut cases = CASES.iter().zip(RUNS);
    let found = cases.find(|(case, _)| case.to_string() == name);
    let (case, run) = found.ok_or_else(|| format!("there is no case {name}"))?;
    outcome(case, *run, make, takes_keyring).tell()
}

/// Runs one case.
pub(crate) fn outcome(
    case: &'static Case,
    run: Run,
    make: &Make<'_>,
    takes_keyring: bool,
) -> Outcome {
    let kit = Kit::new(Make::clone(make), takes_keyring);
    Outcome::of(case, || run(&kit), || kit.take_note())
}
