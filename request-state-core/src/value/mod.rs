//! Turns values into bytes: params into the canonical form that is digested, a state into the JSON that is sealed.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the two entry points |
//! | `serializer.rs` | the `Serializer`: places, levels, values that JSON cannot carry |
//! | `walk.rs` | the data of one walk: the output, the first error and its path; reserved names |
//! | `compound.rs` | open arrays, objects and structs |
//! | `members.rs` | the members of open objects: keys and values alternate, and no key repeats |
//! | `output.rs` | the trait of the two outputs, and the object that they close |
//! | `canonical.rs` | the output for params |
//! | `json.rs` | the output for a state, and its reading |
//! | `number.rs` | the canonical form of a number |
//!
//! To add a check, give it a [`Problem`] and report it with `Walk::reject` or `Walk::record`. Do not only return it:
//! a `Serialize` implementation can ignore the error that it gets. Keys of maps pass through `Walk::key_text`, names
//! of fields and variants through `Walk::name` in `compound.rs`.
//!
//! serde_json alone is not enough for either purpose. It writes NaN and infinity as `null`, keys and values in any
//! order, and the same key twice. It serializes any depth and parses at most 127 levels. So params and states pass
//! through one walker, and only the outputs differ. A value that JSON cannot carry is an error with its path.

mod canonical;
mod compound;
mod json;
mod members;
mod number;
mod output;
mod serializer;
mod walk;

use serde::Serialize;

use self::canonical::Canonical;
use self::json::Json;
pub(crate) use self::json::read;
use self::serializer::walk;
use self::walk::Place;
use crate::problem::Problem;

/// Returns the canonical form of `params`, without the members that the digest omits.
///
/// # Errors
///
/// Returns the path of the value that has no canonical form, and the problem.
pub(crate) fn canonical_form<T>(params: &T) -> Result<Vec<u8>, (String, Problem)>
where
    T: Serialize + ?Sized,
{
    let mut form = Vec::with_capacity(1024);
    walk::<Canonical, _>(&mut form, params, Place::Root)?;
    Ok(form)
}

/// Appends `state` to `payload` as JSON: the bytes that serde_json would write.
///
/// # Errors
///
/// Returns the path of the value that JSON cannot carry, and the problem.
pub(crate) fn write<T>(payload: &mut Vec<u8>, state: &T) -> Result<(), (String, Problem)>
where
    T: Serialize + ?Sized,
{
    walk::<Json, _>(payload, state, Place::Value)
}
