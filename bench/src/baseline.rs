//! The least that any library of this kind must do, by raw primitives used directly: the JSON of
//! params and state, SHA-256, one call to the random source, the cipher or MAC in place, base64url
//! into an existing buffer.
//!
//! It leaves out all that is ours: a canonical form, labels and lengths, a second MAC, checks, a kid
//! to look up, copies. It does not even encode the nonce and the tag.

use std::hint::black_box;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::params::Params;
use crate::primitive::{Primitive, Proof};

/// Digests `params`, and seals `state` into `token`. Returns what [`open`] needs, and how much of
/// `token` is filled.
pub(crate) fn seal<T: Serialize>(
    primitive: &Primitive,
    state: &T,
    params: &Value,
    token: &mut [u8],
) -> (Proof, usize) {
    black_box(params.baseline());
    let mut text = serde_json::to_vec(state).expect("a state is JSON");
    let proof = primitive.protect(&mut text);
    let length = base64_turbo::URL_SAFE_NO_PAD.encode_slice(&text, token);
    (proof, length.expect("room enough"))
}

/// Digests `params`, and opens `token` by way of `text`.
pub(crate) fn open<T: DeserializeOwned>(
    primitive: &Primitive,
    (token, proof): (&[u8], Proof),
    params: &Value,
    text: &mut [u8],
) -> T {
    black_box(params.baseline());
    let length = base64_turbo::URL_SAFE_NO_PAD.decode_slice(token, text);
    let text = &mut text[..length.expect("base64url")];
    primitive.verify(proof, text);
    serde_json::from_slice(text).expect("a state")
}
