//! The state as JSON, there and back.

use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::guard::{self, Rules};
use crate::problem::Problem;

const RULES: Rules = Rules {
    root: "state",
    max_level: 127, // serde_json parses no more
};

/// Whether this build of serde_json keeps numbers as text, a feature that any crate can switch on.
static ARBITRARY_PRECISION: LazyLock<bool> =
    LazyLock::new(|| serde_json::from_str::<Value>("1e400").is_ok());

/// Appends `state` to `payload`.
///
/// Returns the path of what cannot be written and read back, and why.
pub(crate) fn write<T>(payload: &mut Vec<u8>, state: &T) -> Result<(), (String, Problem)>
where
    T: Serialize + ?Sized,
{
    let mut json = serde_json::Serializer::new(payload);
    guard::serialize::<_, _, true>(state, &mut json, RULES, |_| Problem::Serialize)
}

/// Reads what [`write`] wrote; `None` when it is of another type.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    if *ARBITRARY_PRECISION {
        // From text, serde_json would hand a float to a tagged, untagged or flattened type as a map.
        // From a `Value`, it hands it a number.
        serde_json::from_slice(json)
            .and_then(serde_json::from_value)
            .ok()
    } else {
        serde_json::from_slice(json).ok()
    }
}
