//! Why a value cannot be sealed or digested, and the place in the value.

use std::fmt;

use serde::ser;

/// Why params cannot be digested, or a state cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// NaN or an infinity. JSON has neither, and serde_json would silently write `null`.
    NonFinite,
    /// Arrays and objects nested deeper than the limit: 128 levels of params, counting the params
    /// object itself, and 127 levels of state, which is what serde_json parses back.
    TooDeep,
    /// An object with the same key twice, as `#[serde(flatten)]` can emit it.
    DuplicateKey,
    /// A map key that is not a string, number, boolean, character or unit variant.
    Key,
    /// A map key of a state that is one of the two names under which serde_json passes numbers and
    /// raw values. With some of its features on, serde_json would not read the map back as a map.
    ReservedKey,
    /// A number whose exponent does not fit in 64 bits, or text that is not a number in the place of a
    /// number.
    Number,
    /// A `serde_json::value::RawValue`, whose text was never parsed. Pass a
    /// `serde_json::Value`.
    RawValue,
    /// The `Serialize` implementation of the value returned an error. Its text is not repeated here, because
    /// it may quote the value.
    Serialize,
    /// Params that are neither an object nor absent.
    NotAnObject,
    /// A bug in this library. It returns this error and never writes a different value.
    Invariant,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonFinite => "NaN and infinity are not valid in JSON",
            Self::TooDeep => "arrays and objects are nested too deeply",
            Self::DuplicateKey => "an object has the same key twice",
            Self::Key => "a map key is not a string, number, boolean, character or unit variant",
            Self::ReservedKey => "a map key is a name reserved by serde_json",
            Self::Number => "a number is out of range, or its text is not a number",
            Self::RawValue => "a RawValue cannot be checked: pass a serde_json::Value",
            Self::Serialize => "its Serialize implementation returned an error",
            Self::NotAnObject => "must be a JSON object",
            Self::Invariant => "a bug in request-state: an invariant does not hold",
        })
    }
}

impl std::error::Error for Problem {}

/// A `Problem` is also the error type of the canonical serializer.
impl ser::Error for Problem {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Serialize
    }
}

/// One step into a value. Only names in the program's source are kept: the keys of a map may be secret
/// data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Field(&'static str),
    Item(u64),
    Entry(u64),
}

/// Writes `steps`, innermost first, as a path that starts with `root`.
pub(crate) fn path(root: &str, steps: &[Step]) -> String {
    const SHOWN: usize = 8;
    let mut path = root.to_owned();
    for step in steps.iter().rev().take(SHOWN) {
        path.push_str(&match step {
            Step::Field(name) => format!(".{name}"),
            Step::Item(index) => format!("[{index}]"),
            Step::Entry(index) => format!(".(entry {index})"),
        });
    }
    if steps.len() > SHOWN {
        path.push('…');
    }
    path
}
