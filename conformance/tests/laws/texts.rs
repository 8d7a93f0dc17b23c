//! Params as clients write them, and what becomes of them and of tokens on the way.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Numbers in all their spellings, many of them of one value.
const NUMBERS: [&str; 26] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e7",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "-1",
    "-1.0",
    "100",
    "1e2",
    "0.1",
    "1e-1",
    "9007199254740992",
    "9007199254740992.0",
    "9007199254740993",
    "18446744073709551615",
    "1.8446744073709552e19",
    "1e19",
    "10000000000000000000",
    "5e-324",
    "1.7976931348623157e308",
    "-9223372036854775808",
    "1e15",
];

const KEYS: [&str; 9] = [
    "a",
    "b",
    "A",
    "aa",
    "",
    "é",
    "_meta",
    "inputResponses",
    "requestState",
];

const STRINGS: [&str; 10] = [
    "", "a", "A", "1", "null", "é", "e\u{301}", "\0", "\"", "a b",
];

/// An object, of few keys and values, so that two of them are often the same or almost.
pub fn params() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        4 => proptest::sample::select(&NUMBERS[..]).prop_map(|text| serde_json::from_str(text).unwrap()),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => proptest::num::f64::NORMAL.prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        proptest::sample::select(&STRINGS[..]).prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            object(inner),
        ]
    });
    object(value)
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let member = (proptest::sample::select(&KEYS[..]), value);
    proptest::collection::vec(member, 0..3).prop_map(|members| {
        let members = members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Value::Object(members.collect())
    })
}

/// The same value, written by somebody else: keys in another order, numbers in another form, strings
/// escaped. Parsed again, it is what a server gets.
pub fn respelled(value: &Value, seed: u64) -> Value {
    let mut text = String::new();
    write(&mut text, value, &mut (seed | 1));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

fn write(text: &mut String, value: &Value, seed: &mut u64) {
    match value {
        Value::Number(number) => {
            let plain = number.to_string();
            // An integer may come as a double, where a double holds it.
            match (number.as_i64(), next(seed) % 4) {
                (Some(n), 0) if n.abs_diff(0) < 1 << 53 => *text += &format!("{n}.0"),
                (Some(n), 1) if n.abs_diff(0) < 1 << 53 => *text += &format!("{n}e0"),
                (Some(n), 2) if n != 0 && n.abs_diff(0) < 1 << 53 => *text += &format!("{n}0E-1"),
                _ => *text += &plain,
            }
        }
        Value::String(string) => write_string(text, string, seed),
        Value::Array(items) => {
            *text += "[ ";
            for (at, item) in items.iter().enumerate() {
                *text += if at == 0 { "" } else { " ," };
                write(text, item, seed);
            }
            *text += "\n]";
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if !members.is_empty() {
                let shift = next(seed) as usize % members.len();
                members.rotate_left(shift);
            }
            *text += "{";
            for (at, (key, member)) in members.into_iter().enumerate() {
                *text += if at == 0 { "" } else { ",\t" };
                write_string(text, key, seed);
                *text += ": ";
                write(text, member, seed);
            }
            *text += " }";
        }
        other => *text += &other.to_string(),
    }
}

fn write_string(text: &mut String, string: &str, seed: &mut u64) {
    *text += "\"";
    for unit in string.encode_utf16() {
        match char::from_u32(unit.into()) {
            Some(char) if char.is_alphanumeric() && next(seed).is_multiple_of(2) => text.push(char),
            _ => *text += &format!("\\u{unit:04x}"),
        }
    }
    *text += "\"";
}

/// `value` with one change somewhere: something added, taken away, exchanged.
pub fn changed(value: &Value, seed: u64) -> Value {
    let mut value = value.clone();
    change(&mut value, &mut (seed | 1));
    value
}

fn change(value: &mut Value, seed: &mut u64) {
    let choice = next(seed);
    match value {
        Value::Object(members) => change_object(members, seed),
        Value::Array(items) if items.len() > 1 && choice.is_multiple_of(3) => items.reverse(),
        Value::Array(items) if !items.is_empty() && choice % 3 == 1 => {
            let at = next(seed) as usize % items.len();
            change(&mut items[at], seed);
        }
        Value::Array(items) => items.push(Value::Null),
        Value::Null => *value = Value::from(false),
        Value::Bool(old) => *old = !*old,
        Value::String(text) if choice.is_multiple_of(2) => text.push('\0'),
        Value::String(text) => *value = text.parse::<i64>().map_or(Value::Null, Value::from),
        Value::Number(number) if choice.is_multiple_of(2) => {
            *value = Value::from(number.to_string())
        }
        Value::Number(number) => {
            *value = match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(n), ..) => Value::from(n ^ 1),
                (_, Some(n), _) => Value::from(n ^ 1),
                (.., double) => Value::from(double.map_or(0.0, f64::next_down)),
            };
        }
    }
}

fn change_object(members: &mut Map<String, Value>, seed: &mut u64) {
    let keys: Vec<String> = members.keys().cloned().collect();
    let key = KEYS[next(seed) as usize % KEYS.len()];
    match (next(seed) % 4, keys.is_empty()) {
        (0, _) => drop(members.insert(key.into(), Value::Null)),
        (1, _) => drop(members.insert(key.into(), Value::from(7))),
        (2, false) => drop(members.remove(&keys[0])),
        (_, false) => {
            let at = next(seed) as usize % keys.len();
            members
                .get_mut(&keys[at])
                .into_iter()
                .for_each(|member| change(member, seed));
        }
        _ => {}
    }
}

/// One thing done to a token.
#[derive(Clone, Debug)]
pub enum Edit {
    Replace(prop::sample::Index, char),
    Insert(prop::sample::Index, String),
    Remove(prop::sample::Index, usize),
    Double(prop::sample::Index, usize),
}

pub fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<prop::sample::Index>;
    let character = prop_oneof![
        4 => proptest::char::ranges(vec!['0'..='9', 'A'..='Z', 'a'..='z', '-'..='.', '_'..='_'].into()),
        1 => any::<char>(),
    ];
    prop_oneof![
        (index(), character).prop_map(|(at, new)| Edit::Replace(at, new)),
        (index(), "[-A-Za-z0-9_.= \n]{1,4}").prop_map(|(at, new)| Edit::Insert(at, new)),
        (index(), 1usize..8).prop_map(|(at, length)| Edit::Remove(at, length)),
        (index(), 1usize..8).prop_map(|(at, length)| Edit::Double(at, length)),
    ]
}

impl Edit {
    pub fn apply(&self, token: &str) -> String {
        let mut chars: Vec<char> = token.chars().collect();
        if chars.is_empty() {
            return String::new();
        }
        let end = |at: usize, length: usize| (at + length).min(chars.len());
        match self {
            Self::Replace(at, new) => {
                let at = at.index(chars.len());
                chars[at] = *new;
            }
            Self::Insert(at, new) => {
                let at = at.index(chars.len() + 1);
                chars.splice(at..at, new.chars());
            }
            Self::Remove(at, length) => {
                let at = at.index(chars.len());
                let end = end(at, *length);
                chars.drain(at..end);
            }
            Self::Double(at, length) => {
                let at = at.index(chars.len());
                let again = chars[at..end(at, *length)].to_vec();
                chars.splice(at..at, again);
            }
        }
        chars.into_iter().collect()
    }
}
