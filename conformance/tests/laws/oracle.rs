//! Which params are the same request, written from the contract's table and not from the code.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

/// A JSON value as a tree in which equal is equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    Null,
    Bool(bool),
    /// Negative, the digits without zeros at either end, the exponent of ten.
    Number(bool, String, i64),
    String(String),
    Array(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

/// The salient part of params, which are an object.
pub fn salient(params: &Value) -> Tree {
    let Tree::Object(mut members) = tree(params) else {
        panic!("params are an object")
    };
    for volatile in ["_meta", "inputResponses", "requestState"] {
        members.remove(volatile);
    }
    members.retain(|_, member| *member != Tree::Null);
    Tree::Object(members)
}

fn tree(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(value) => Tree::Bool(*value),
        Value::Number(value) => number(value),
        Value::String(value) => Tree::String(value.clone()),
        Value::Array(items) => Tree::Array(items.iter().map(tree).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, member)| (key.clone(), tree(member)));
            Tree::Object(members.collect())
        }
    }
}

fn number(value: &Number) -> Tree {
    let text = value.to_string();
    // With its feature `arbitrary_precision`, serde_json keeps a number's text; else it keeps an
    // integer or a double.
    let parsed: Value = serde_json::from_str("1.00").unwrap();
    let keeps_text = format!("{parsed}") == "1.00";
    match value.as_f64() {
        Some(double) if value.is_f64() && !keeps_text => {
            if double.fract() == 0.0 && double.abs() < 2f64.powi(64) {
                decimal(&format!("{double:.0}")) // all digits, exactly
            } else {
                decimal(&format!("{double:e}")) // the fewest digits that read back
            }
        }
        _ => decimal(&text),
    }
}

/// The value of a number's text.
fn decimal(text: &str) -> Tree {
    let (negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.parse().unwrap();
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Tree::Number(false, "0".into(), 0);
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent - fraction.len() as i64 + zeros as i64;
    Tree::Number(negative, significant.into(), exponent)
}

#[test]
fn the_table_of_the_contract() {
    let salient = |text: &str| salient(&serde_json::from_str(text).unwrap());
    for (one, other, same) in [
        (r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2,"b":1}}"#, true),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
        (r#"{"a":[1,1.0,1e0,10e-1]}"#, r#"{"a":[1,1,1,1]}"#, true),
        (
            r#"{"a":9007199254740992}"#,
            r#"{"a":9007199254740993}"#,
            false,
        ),
        (r#"{"a":-0.0}"#, r#"{"a":0}"#, true),
        (r#"{"a":1}"#, r#"{"a":"1"}"#, false),
        (r#"{"a":[null]}"#, r#"{"a":[false]}"#, false),
        (r#"{"a":"\u0041"}"#, r#"{"a":"A"}"#, true),
        (r#"{"a":"é"}"#, r#"{"a":"e\u0301"}"#, false),
        (r#"{"a":{"_meta":1}}"#, r#"{"a":{}}"#, false),
        (r#"{"a":{"b":null}}"#, r#"{"a":{}}"#, false),
        (r#"{"a":null,"_meta":1,"requestState":"x"}"#, "{}", true),
    ] {
        assert_eq!(salient(one) == salient(other), same, "{one} and {other}");
    }
}
