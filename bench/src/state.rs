//! A state like that of a real server.

use serde::{Deserialize, Serialize};

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
