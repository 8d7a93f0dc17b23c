//! A state like that of a real server, sealed and opened by the library and by the baseline.

use std::fmt::Debug;

use request_state::Binding;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::primitive::{Primitive, Proof};
use crate::{AnySealer, baseline};

/// A state that the figures seal and open.
///
/// The methods are compiled once, in this crate: see [`Params`](crate::params::Params).
pub trait AnyState: Debug + PartialEq + Sized {
    /// A token.
    fn seal(&self, sealer: &AnySealer, binding: &Binding) -> String;

    /// What was sealed.
    fn open(sealer: &AnySealer, token: &str, binding: &Binding) -> Self;

    /// The baseline of binding and sealing: digests `params`, and seals into `token`. Returns what
    /// [`baseline_open`](Self::baseline_open) needs, and how much of `token` is filled.
    fn baseline_seal(
        &self,
        primitive: &Primitive,
        params: &Value,
        token: &mut [u8],
    ) -> (Proof, usize);

    /// The baseline of binding and opening: digests `params`, and opens a token by way of `text`.
    fn baseline_open(
        primitive: &Primitive,
        sealed: (&[u8], Proof),
        params: &Value,
        text: &mut [u8],
    ) -> Self;
}

impl AnyState for State {
    fn seal(&self, sealer: &AnySealer, binding: &Binding) -> String {
        sealer.seal(self, binding).expect("a token")
    }

    fn open(sealer: &AnySealer, token: &str, binding: &Binding) -> Self {
        sealer.open(token, binding).expect("a good token")
    }

    fn baseline_seal(
        &self,
        primitive: &Primitive,
        params: &Value,
        token: &mut [u8],
    ) -> (Proof, usize) {
        baseline::seal(primitive, self, params, token)
    }

    fn baseline_open(
        primitive: &Primitive,
        sealed: (&[u8], Proof),
        params: &Value,
        text: &mut [u8],
    ) -> Self {
        baseline::open(primitive, sealed, params, text)
    }
}

impl AnyState for Value {
    fn seal(&self, sealer: &AnySealer, binding: &Binding) -> String {
        sealer.seal(self, binding).expect("a token")
    }

    fn open(sealer: &AnySealer, token: &str, binding: &Binding) -> Self {
        sealer.open(token, binding).expect("a good token")
    }

    fn baseline_seal(
        &self,
        primitive: &Primitive,
        params: &Value,
        token: &mut [u8],
    ) -> (Proof, usize) {
        baseline::seal(primitive, self, params, token)
    }

    fn baseline_open(
        primitive: &Primitive,
        sealed: (&[u8], Proof),
        params: &Value,
        text: &mut [u8],
    ) -> Self {
        baseline::open(primitive, sealed, params, text)
    }
}

/// Where a customer has got to in a shop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    step: u32,
    customer: String,
    total: f64,
    items: Vec<Item>,
    note: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    sku: String,
    quantity: u32,
    price: f64,
    gift: bool,
}

/// A state whose JSON is just `bytes` long: as many items as there is room for, and a note.
///
/// # Panics
///
/// When `bytes` are too few for a state without items.
#[must_use]
pub fn state(bytes: usize) -> State {
    const ROOM: usize = 80; // for one more item
    let mut state = State {
        step: 2,
        customer: "cus_9f2c41d8".into(),
        total: 1299.95,
        items: Vec::new(),
        note: String::new(),
    };
    while length(&state) + ROOM < bytes {
        let number = state.items.len() as u32;
        state.items.push(Item {
            sku: format!("SKU-{number:05}"),
            quantity: 1 + number % 9,
            price: 19.99 + f64::from(number),
            gift: number.is_multiple_of(4),
        });
    }
    let note = bytes.checked_sub(length(&state));
    state.note = "n".repeat(note.expect("room for a state without items"));
    assert_eq!(length(&state), bytes);
    state
}

fn length(state: &State) -> usize {
    serde_json::to_vec(state).expect("a state is JSON").len()
}
