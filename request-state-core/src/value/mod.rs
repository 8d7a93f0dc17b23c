//! How values become bytes: params a canonical form to digest, a state JSON to seal.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the two ways in |
//! | `serializer.rs` | the one `Serializer`: places, levels, what is not JSON |
//! | `walk.rs` | what a walk keeps: the output, reserved names, the first error and its path |
//! | `compound.rs` | arrays, objects and structs that are open |
//! | `members.rs` | the members of open objects: keys and values in turn, and no key twice |
//! | `output.rs` | what the two outputs differ in, and an object that they close |
//! | `canonical.rs` | the output for params |
//! | `json.rs` | the output for a state, and how it is read back |
//! | `number.rs` | the canonical form of a number |
//!
//! A check that is added has a [`Problem`], and rejects by `Walk::reject` or passes through `Walk::record`: what an
//! output returns is lost where the value's own `Serialize` ignores it. Keys of maps pass through `Walk::key_text`,
//! names of fields and variants through `Walk::name` in `compound.rs`.
//!
//! serde_json alone would not do for either. It writes NaN and infinity as `null`, keys and values in any
//! order, and one key twice; it nests without end when it serializes, and stops at 127 levels when it parses.
//! So both pass through one walker, and only what is written differs. What JSON cannot carry is an error that
//! names the path to it.

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

/// Returns the canonical form of the salient part of `params`.
///
/// # Errors
///
/// The path of what cannot be canonicalized, and why.
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
/// The path of what cannot be written and read back, and why.
pub(crate) fn write<T>(payload: &mut Vec<u8>, state: &T) -> Result<(), (String, Problem)>
where
    T: Serialize + ?Sized,
{
    walk::<Json, _>(payload, state, Place::Value)
}
