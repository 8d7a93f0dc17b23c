//! Which requests are the same, as the contract's table says.
//!
//! The tests also run in a build of serde_json with `arbitrary_precision`, `preserve_order`,
//! `raw_value` and `unbounded_depth`: see `scripts/test`.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod common;

use std::collections::BTreeMap;

use common::{arbitrary_precision, digest, digest_of_text};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::json;

/// All texts of one group denote the same params, no two groups do.
fn assert_groups(groups: &[&[&str]]) {
    let mut seen = BTreeMap::new();
    for group in groups {
        let expected = digest_of_text(group[0]);
        for text in *group {
            assert_eq!(digest_of_text(text), expected, "{text} is not {}", group[0]);
        }
        if let Some(other) = seen.insert(expected, group[0]) {
            panic!("{} and {other} share a digest", group[0]);
        }
    }
}

#[test]
fn the_table_of_the_contract() {
    assert_groups(&[
        // Key order at any depth.
        &[
            r#"{"a":{"b":1,"c":{"d":2,"e":3}},"f":4}"#,
            r#"{"f":4,"a":{"c":{"e":3,"d":2},"b":1}}"#,
        ],
        &[r#"{"a":[1,2]}"#, r#"{ "a" : [ 1 , 2 ] }"#],
        &[r#"{"a":[2,1]}"#],
        // Spellings of a number.
        &[
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":1e0}"#,
            r#"{"a":10e-1}"#,
            r#"{"a":1.000}"#,
            r#"{"a":0.1E+1}"#,
        ],
        &[r#"{"a":"1"}"#, r#"{"a":"\u0031"}"#],
        &[r#"{"a":true}"#],
        &[r#"{"a":-1}"#, r#"{"a":-1.0}"#],
        &[
            r#"{"a":0}"#,
            r#"{"a":-0}"#,
            r#"{"a":-0.0}"#,
            r#"{"a":0.0}"#,
            r#"{"a":0e7}"#,
        ],
        &[r#"{"a":9007199254740992}"#, r#"{"a":9007199254740992.0}"#],
        &[r#"{"a":9007199254740993}"#],
        &[r#"{"a":-9007199254740992}"#],
        &[r#"{"a":-9007199254740993}"#],
        &[r#"{"a":9223372036854775807}"#],
        &[r#"{"a":9223372036854775808}"#],
        &[r#"{"a":18446744073709551614}"#],
        &[r#"{"a":18446744073709551615}"#],
        &[r#"{"a":0.1}"#, r#"{"a":1e-1}"#, r#"{"a":0.10}"#],
        &[r#"{"a":0.1000000000000001}"#],
        &[r#"{"a":1e300}"#, r#"{"a":10e299}"#],
        &[r#"{"a":1e-300}"#],
        &[r#"{"a":5e-324}"#],
        // Spellings of a string.
        &[r#"{"a":"A"}"#, r#"{"a":"\u0041"}"#, r#"{"\u0061":"A"}"#],
        &[r#"{"a":"é"}"#, r#"{"a":"\u00e9"}"#],
        &[r#"{"a":"e\u0301"}"#],
        &[r#"{"a":"😀"}"#, r#"{"a":"\ud83d\ude00"}"#],
        &[r#"{"a":"/"}"#, r#"{"a":"\/"}"#],
        &[r#"{"a":"a\u0000"}"#],
        &[r#"{"a":"a"}"#],
        &[r#"{"a":" a"}"#],
        &[r#"{"a":""}"#],
        // null, false, empty.
        &[r#"{"a":false}"#],
        &[r#"{"a":[]}"#],
        &[r#"{"a":{}}"#],
        &[r#"{"a":[null]}"#],
        &[r#"{"a":{"b":null}}"#],
        &[r#"{"a":[[]]}"#],
        &[r#"{"a":[[],[]]}"#],
        &[r#"{"a":[{}]}"#],
        // Members that change between rounds, at the top and only there.
        &[
            "{}",
            "null",
            r#"{"_meta":{"a":1}}"#,
            r#"{"inputResponses":{"x":1},"requestState":"s","_meta":null}"#,
            r#"{"a":null}"#,
        ],
        &[r#"{"a":{"_meta":1}}"#],
        &[r#"{"a":{"_meta":2}}"#],
        &[r#"{"a":{"requestState":"s"}}"#],
        &[r#"{"_META":1}"#],
        // What a form could confuse if it did not say where its parts end.
        &[r#"{"a":"b","c":"d"}"#],
        &[r#"{"a":"b1:cS1:d"}"#],
        &[r#"{"a":["b","c"]}"#],
        &[r#"{"a":["bc"]}"#],
        &[r#"{"a":["b,c"]}"#],
        &[r#"{"a":[1,12]}"#],
        &[r#"{"a":[11,2]}"#],
        &[r#"{"a":[112]}"#],
        // A key of 125 bytes, whose length is the byte that ends an object.
        &[&[r#"{"x":[{""#, &"n".repeat(123), r#"S\u0002":null}]}"#].concat()],
        &[&[r#"{"x":[{}"#, &",null".repeat(123), r#","n}"]}"#].concat()],
        &[r#"{"":1}"#],
        &[r#"{"":{"":1}}"#],
        &[r#"{"ab":1}"#],
        &[r#"{"b":1,"a":1}"#],
        &[r#"{"b":[1],"a":1}"#],
    ]);
}

/// `scripts/test` says when it has switched the features of serde_json on, so that a run that only
/// believes so fails.
#[test]
fn the_build_is_the_one_that_was_asked_for() {
    if std::env::var_os("REQUEST_STATE_TEST_ARBITRARY_PRECISION").is_some() {
        assert!(arbitrary_precision());
    }
}

#[test]
fn numbers_that_arrive_as_text_are_exact() {
    if arbitrary_precision() {
        assert_groups(&[
            &[r#"{"a":1e400}"#, r#"{"a":10e399}"#, r#"{"a":1E+400}"#],
            &[r#"{"a":1e401}"#],
            &[r#"{"a":18446744073709551616}"#],
            &[
                r#"{"a":18446744073709551617}"#,
                r#"{"a":18446744073709551617.0}"#,
            ],
            &[r#"{"a":0.1}"#],
            &[r#"{"a":0.1000000000000000055511151231257827}"#],
        ]);
        let overflow = serde_json::from_str::<serde_json::Value>(r#"{"a":1e99999999999999999999}"#);
        assert_eq!(
            digest(&overflow.unwrap()).unwrap_err().to_string(),
            "params.(entry 0): a number is out of range, or its text is not a number"
        );
    } else {
        // serde_json rounded both before this library saw them.
        assert_groups(&[&[
            r#"{"a":18446744073709551616}"#,
            r#"{"a":18446744073709551617}"#,
        ]]);
    }
}

#[test]
fn no_params_are_an_empty_object() {
    let empty = digest(&json!({})).unwrap();
    assert_eq!(digest(&()).unwrap(), empty);
    assert_eq!(digest(&json!(null)).unwrap(), empty);
    assert_eq!(digest(&None::<BTreeMap<String, i32>>).unwrap(), empty);
    assert_eq!(digest(&BTreeMap::<String, i32>::new()).unwrap(), empty);
}

#[test]
fn any_other_root_is_refused() {
    #[derive(Serialize)]
    enum Unit {
        Variant,
    }
    let message = "params: must be a JSON object";
    for value in [
        json!(1),
        json!(1.5),
        json!("a"),
        json!(true),
        json!([]),
        json!([{}]),
    ] {
        assert_eq!(digest(&value).unwrap_err().to_string(), message, "{value}");
    }
    assert_eq!(digest(&Unit::Variant).unwrap_err().to_string(), message);
    assert_eq!(digest(&(1, 2)).unwrap_err().to_string(), message);
    assert_eq!(digest("text").unwrap_err().to_string(), message);
    assert_eq!(digest(&'c').unwrap_err().to_string(), message);
    assert_eq!(digest(&1u128).unwrap_err().to_string(), message);
    assert_eq!(digest(&1f32).unwrap_err().to_string(), message);
}

#[derive(Serialize)]
struct Everything {
    zulu: Vec<Shape>,
    integers: (i8, u64, i64, u128, i128),
    doubles: [f64; 3],
    single: f32,
    nothing: Option<u8>,
    something: Option<Option<Wrapper>>,
    unit: (),
    character: char,
    map: BTreeMap<i16, bool>,
    switches: BTreeMap<bool, char>,
    letters: BTreeMap<char, Colour>,
    #[serde(rename = "_meta")]
    meta: f64,
    alpha: &'static str,
}

#[derive(Serialize)]
struct Wrapper(Vec<u8>);

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    Red,
}

#[derive(Serialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i32, i32),
    Box { width: i32, height: i32 },
}

#[test]
fn a_struct_is_the_value_that_it_serializes_to() {
    let typed = Everything {
        zulu: vec![
            Shape::Point,
            Shape::Circle(2.0),
            Shape::Line(3, -4),
            Shape::Box {
                width: 5,
                height: 6,
            },
        ],
        integers: (-7, u64::MAX, i64::MIN, 9, -10),
        doubles: [0.5, -0.0, 1e15],
        single: 0.25,
        nothing: None,
        something: Some(Some(Wrapper(vec![1, 2]))),
        unit: (),
        character: 'é',
        map: [(-2, true), (10, false)].into(),
        switches: [(false, 'n'), (true, 'y')].into(),
        letters: [('x', Colour::Red)].into(),
        meta: f64::NAN, // not salient, so not looked at
        alpha: "last",
    };
    let value = json!({
        "alpha": "last",
        "character": "é",
        "doubles": [0.5, 0, 1_000_000_000_000_000u64],
        "integers": [-7, u64::MAX, i64::MIN, 9, -10],
        "letters": {"x": "Red"},
        "map": {"-2": true, "10": false},
        "single": 0.25,
        "something": [1, 2],
        "switches": {"false": "n", "true": "y"},
        "zulu": [
            "Point",
            {"Circle": 2},
            {"Line": [3, -4]},
            {"Box": {"height": 6, "width": 5}},
        ],
    });
    assert_eq!(digest(&typed).unwrap(), digest(&value).unwrap());
    let parsed = serde_json::from_str(&serde_json::to_string(&value).unwrap());
    assert_eq!(
        digest::<serde_json::Value>(&parsed.unwrap()).unwrap(),
        digest(&typed).unwrap()
    );
}

#[test]
fn a_variant_at_the_root_is_an_object() {
    #[derive(Serialize)]
    enum Call {
        Transfer {
            amount: i32,
        },
        Read(&'static str),
        Pair(i32, i32),
        #[serde(rename = "_meta")]
        Meta(i32),
        #[serde(rename = "requestState")]
        State(i32, i32),
        #[serde(rename = "inputResponses")]
        Responses {
            a: i32,
        },
        Nothing(Option<i32>),
    }
    for (call, value) in [
        (
            Call::Transfer { amount: 1 },
            json!({"Transfer": {"amount": 1}}),
        ),
        (Call::Read("x"), json!({"Read": "x"})),
        (Call::Pair(1, 2), json!({"Pair": [1, 2]})),
        (Call::Meta(1), json!({})),
        (Call::State(1, 2), json!({})),
        (Call::Responses { a: 1 }, json!({})),
        (Call::Nothing(None), json!({})),
    ] {
        assert_eq!(digest(&call).unwrap(), digest(&value).unwrap(), "{value}");
    }
}

#[test]
fn bytes_are_an_array() {
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.serialize_bytes(&[1, 200])
        }
    }
    let typed: BTreeMap<_, _> = [("a", Bytes)].into();
    assert_eq!(
        digest(&typed).unwrap(),
        digest(&json!({"a": [1, 200]})).unwrap()
    );
}

#[test]
fn floating_point_keys_are_spelled_as_serde_json_spells_them() {
    struct Keyed(f64);
    impl Serialize for Keyed {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map([(self.0, 1)])
        }
    }
    for key in [1.0, 0.5, -0.0, 1e300] {
        let text = serde_json::to_string(&Keyed(key)).unwrap();
        assert_eq!(
            digest(&Keyed(key)).unwrap(),
            digest_of_text(&text),
            "{text}"
        );
    }
    for key in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            digest(&Keyed(key)).unwrap_err().to_string(),
            "params.(entry 0): NaN and infinity are not valid in JSON"
        );
    }
}

#[test]
fn keys_that_are_no_strings_are_refused() {
    let tuple: BTreeMap<_, _> = [((1, 2), 3)].into();
    let unit: BTreeMap<_, _> = [((), 3)].into();
    let none: BTreeMap<_, _> = [(None::<i32>, 3)].into();
    let message =
        "params.(entry 0): a map key is not a string, number, boolean, character or unit variant";
    assert_eq!(digest(&tuple).unwrap_err().to_string(), message);
    assert_eq!(digest(&unit).unwrap_err().to_string(), message);
    assert_eq!(digest(&none).unwrap_err().to_string(), message);
}

#[test]
fn a_number_that_json_does_not_have_is_an_error_with_its_place() {
    #[derive(Serialize)]
    struct Params {
        name: &'static str,
        rates: Vec<BTreeMap<&'static str, f64>>,
        single: f32,
    }
    let mut params = Params {
        name: "convert",
        rates: vec![
            [("eur", 1.0)].into(),
            [("eur", 1.0), ("usd", f64::INFINITY)].into(),
        ],
        single: 0.0,
    };
    assert_eq!(
        digest(&params).unwrap_err().to_string(),
        "params.rates[1].(entry 1): NaN and infinity are not valid in JSON"
    );
    params.rates.clear();
    params.single = f32::NAN;
    assert_eq!(
        digest(&params).unwrap_err().to_string(),
        "params.single: NaN and infinity are not valid in JSON"
    );
    params.single = 1.0;
    assert!(digest(&params).is_ok());
    #[derive(Serialize)]
    enum Shape {
        Circle(f64),
    }
    let shapes = BTreeMap::from([("shapes", [Shape::Circle(f64::NAN)])]);
    assert_eq!(
        digest(&shapes).unwrap_err().to_string(),
        "params.(entry 0)[0].Circle: NaN and infinity are not valid in JSON"
    );
}

/// Params of just that many levels, the last an array or an object.
fn nested(levels: usize, object: bool) -> serde_json::Value {
    let mut value = json!(1);
    for _ in 1..levels {
        value = if object {
            json!({ "a": value })
        } else {
            json!([value])
        };
    }
    json!({ "a": value })
}

#[test]
fn level_128_passes_and_129_does_not() {
    for object in [true, false] {
        assert!(digest(&nested(128, object)).is_ok());
        let error = digest(&nested(129, object)).unwrap_err().to_string();
        assert!(
            error.ends_with("arrays and objects are nested too deeply"),
            "{error}"
        );
        assert!(error.len() < 200, "{error}");
    }
}

#[test]
fn depth_is_found_without_recursing_further() {
    /// Nests without end: a serializer that went on would overflow the stack.
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map([("a", Endless)])
        }
    }
    let error = digest(&Endless).unwrap_err().to_string();
    assert!(error.ends_with("nested too deeply"), "{error}");
}

#[test]
fn variants_and_bytes_count_as_the_levels_that_they_write() {
    /// That many levels around a value.
    struct Around<'a, T>(usize, &'a T);
    impl<T: Serialize> Serialize for Around<'_, T> {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                1 => s.collect_map([("a", self.1)]),
                levels => s.collect_map([("a", Around(levels - 1, self.1))]),
            }
        }
    }
    fn passes<T: Serialize>(levels: usize, value: T) -> bool {
        digest(&Around(levels, &value)).is_ok()
    }
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.serialize_bytes(b"")
        }
    }
    assert!(passes(128, Shape::Point));
    assert!(passes(127, Shape::Circle(1.0)));
    assert!(!passes(128, Shape::Circle(1.0)));
    assert!(passes(126, Shape::Line(1, 2)));
    assert!(!passes(127, Shape::Line(1, 2)));
    assert!(passes(
        126,
        Shape::Box {
            width: 1,
            height: 2
        }
    ));
    assert!(!passes(
        127,
        Shape::Box {
            width: 1,
            height: 2
        }
    ));
    assert!(passes(127, Bytes));
    assert!(!passes(128, Bytes));
    // A number is none, however serde_json passes it; nor are the wrappers that JSON does not show.
    assert!(passes(128, json!(1.5)));
    assert!(passes(128, Some(Some(1))));
}

#[test]
fn a_key_emitted_twice_is_an_error() {
    #[derive(Serialize)]
    struct Flattened {
        amount: i32,
        #[serde(flatten)]
        rest: BTreeMap<&'static str, i32>,
    }
    #[derive(Serialize)]
    struct Outer {
        arguments: Flattened,
    }
    let twice = |key| Flattened {
        amount: 1,
        rest: [(key, 2)].into(),
    };
    assert!(digest(&twice("other")).is_ok());
    assert_eq!(
        digest(&twice("amount")).unwrap_err().to_string(),
        "params: an object has the same key twice"
    );
    let outer = Outer {
        arguments: twice("amount"),
    };
    assert_eq!(
        digest(&outer).unwrap_err().to_string(),
        "params.arguments: an object has the same key twice"
    );
    // Also a key that is left out.
    struct Twice;
    impl Serialize for Twice {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map([("requestState", 1), ("b", 2), ("requestState", 3)])
        }
    }
    assert!(digest(&Twice).is_err());
}

#[test]
fn the_private_name_of_a_number_is_only_a_name_as_a_key() {
    // A client can send this key. Under `arbitrary_precision`, serde_json itself reads the first as
    // a number and refuses the others, so these are maps.
    let key = "$serde_json::private::Number";
    let map =
        |value: &'static str| -> BTreeMap<_, _> { [("a", BTreeMap::from([(key, value)]))].into() };
    let one = digest(&json!({"a": 1})).unwrap();
    assert_ne!(digest(&map("1")).unwrap(), one);
    assert!(digest(&map("no number")).is_ok());
    let raw = BTreeMap::from([("$serde_json::private::RawValue", "1")]);
    assert!(digest(&raw).is_ok());
}

#[test]
fn a_number_that_arrives_as_a_struct_is_a_number_whatever_this_build_is() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct Number<T> {
        #[serde(rename = "$serde_json::private::Number")]
        text: T,
    }
    let of = |text| digest(&BTreeMap::from([("a", Number { text })]));
    assert_eq!(of("1.50").unwrap(), digest(&json!({"a": 1.5})).unwrap());
    assert_eq!(of("10e-1").unwrap(), digest(&json!({"a": 1})).unwrap());
    assert!(of("1e999999999").is_ok());
    for bad in [
        "",
        "no number",
        "1e99999999999999999999",
        "NaN",
        "Infinity",
        "0x1",
    ] {
        assert_eq!(
            of(bad).unwrap_err().to_string(),
            "params.(entry 0): a number is out of range, or its text is not a number",
            "{bad}"
        );
    }
    // Neither as the root, nor with something else inside.
    assert!(digest(&Number { text: "1" }).is_err());
    assert!(digest(&BTreeMap::from([("a", Number { text: 1 })])).is_err());
    assert!(digest(&BTreeMap::from([("a", Number { text: ["1"] })])).is_err());
}

#[test]
fn a_raw_value_is_refused() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::RawValue")]
    struct RawValue {
        #[serde(rename = "$serde_json::private::RawValue")]
        text: &'static str,
    }
    let raw = BTreeMap::from([("a", RawValue { text: "1.0" })]);
    assert_eq!(
        digest(&raw).unwrap_err().to_string(),
        "params.(entry 0): a RawValue cannot be checked: pass a serde_json::Value"
    );
}

#[test]
fn an_error_that_the_value_swallows_is_still_an_error() {
    struct Careless;
    impl Serialize for Careless {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeMap;
            let mut map = s.serialize_map(None)?;
            let _ = map.serialize_entry("a", &f64::NAN);
            let _ = map.serialize_entry("b", &BTreeMap::from([((1, 2), 3)]));
            map.serialize_entry("c", &1)?;
            map.end()
        }
    }
    /// Swallows an error that is found further inside.
    struct Negligent;
    impl Serialize for Negligent {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = s.serialize_seq(None)?;
            let _ = seq.serialize_element(&BTreeMap::from([((), 1)]));
            seq.end()
        }
    }
    let error = digest(&BTreeMap::from([("a", Negligent)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "params: a map key is not a string, number, boolean, character or unit variant"
    );
    assert_eq!(
        digest(&Careless).unwrap_err().to_string(),
        "params: NaN and infinity are not valid in JSON"
    );
}

/// Whatever a field is of, and whoever made the error.
#[test]
fn an_error_of_the_value_itself_is_not_swallowed() {
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("its own"))
        }
    }
    struct Ignores(&'static str, &'static str);
    impl Serialize for Ignores {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeStruct;
            let mut open = s.serialize_struct(self.0, 1)?;
            let _ = open.serialize_field(self.1, &Fails);
            open.end()
        }
    }
    struct IgnoresItem;
    impl Serialize for IgnoresItem {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = s.serialize_seq(None)?;
            let _ = seq.serialize_element(&Fails);
            seq.end()
        }
    }
    const NUMBER: &str = "$serde_json::private::Number";
    for ignores in [
        Ignores("S", "a"),
        Ignores(NUMBER, NUMBER),
        Ignores(NUMBER, "a"),
    ] {
        let [one, two] = [("a", &ignores), ("b", &ignores)];
        let error = digest(&BTreeMap::from([one, two])).unwrap_err().to_string();
        assert!(error.starts_with("params: "), "{error}");
    }
    assert!(digest(&BTreeMap::from([("a", [IgnoresItem])])).is_err());
}

/// The path is not that of a later error.
#[test]
fn the_path_of_a_swallowed_error_is_that_of_the_params() {
    #[derive(Serialize)]
    struct Later {
        first: Swallows,
        second: f64,
    }
    struct Swallows;
    impl Serialize for Swallows {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = s.serialize_seq(None)?;
            let _ = seq.serialize_element(&BTreeMap::from([((), 1)]));
            seq.end()
        }
    }
    let params = Later {
        first: Swallows,
        second: f64::NAN,
    };
    let error = digest(&params).unwrap_err().to_string();
    assert_eq!(
        error,
        "params: a map key is not a string, number, boolean, character or unit variant"
    );
}

/// Keys that begin alike, whose lengths take one, two and three bytes, in every rotation of some order.
#[test]
fn keys_that_begin_alike_are_put_in_order() {
    struct Entries<'a>(&'a [String]);
    impl Serialize for Entries<'_> {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map(self.0.iter().map(|key| (key, 1)))
        }
    }
    for length in [9, 127, 128, 130, 16_383, 16_390] {
        let long = |end: char| format!("{}{end}", "12345678".repeat(length / 8 + 1));
        let mut keys = vec![
            "z".to_owned(),
            "a".to_owned(),
            long('a'),
            long('b'),
            "12345678".to_owned(),
        ];
        let of = |keys: &[String]| digest(&BTreeMap::from([("a", Entries(keys))])).unwrap();
        let first = of(&keys);
        for _ in 0..keys.len() {
            keys.rotate_left(1);
            assert_eq!(of(&keys), first, "{length}");
            let reversed: Vec<_> = keys.iter().rev().cloned().collect();
            assert_eq!(of(&reversed), first, "{length}");
        }
        let twice = [&keys[..], &keys[2..3]].concat();
        assert!(digest(&BTreeMap::from([("a", Entries(&twice))])).is_err());
    }
}

#[test]
fn a_member_whose_key_begins_like_an_omitted_one_counts() {
    let none = digest(&json!({ "name": "x" })).unwrap();
    for member in ["arguments2", "argument", "_meta2", "_met", "requestState2"] {
        let params = json!({ "name": "x", member: {} });
        assert_ne!(digest(&params).unwrap(), none, "{member}");
    }
}

#[test]
fn a_serializer_that_is_misused_is_an_error() {
    struct Left(bool); // a key that is left out, and then another or the end
    impl Serialize for Left {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeMap;
            let mut map = s.serialize_map(None)?;
            map.serialize_key("_meta")?;
            if self.0 {
                map.serialize_entry("a", &1)?;
            }
            map.end()
        }
    }
    assert!(digest(&Left(true)).is_err());
    assert!(digest(&Left(false)).is_err());
    struct Misuse(&'static [bool]); // true: a key, false: a value
    impl Serialize for Misuse {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeMap;
            let mut map = s.serialize_map(None)?;
            for (at, is_key) in self.0.iter().enumerate() {
                if *is_key {
                    map.serialize_key(&format!("key {at}"))?;
                } else {
                    map.serialize_value(&1)?;
                }
            }
            map.end()
        }
    }
    assert!(digest(&Misuse(&[true, false, true, false])).is_ok());
    for order in [
        &[false][..],
        &[true],
        &[true, true, false],
        &[true, false, false],
    ] {
        assert!(digest(&Misuse(order)).is_err(), "{order:?}");
        let inside = BTreeMap::from([("a", Misuse(order))]);
        assert!(digest(&inside).is_err(), "{order:?}");
    }
}

#[test]
fn what_an_implementation_says_is_not_repeated() {
    struct Secret;
    impl Serialize for Secret {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the PIN is 1234"))
        }
    }
    let error = digest(&BTreeMap::from([("my secret key", Secret)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "params.(entry 0): its Serialize implementation returned an error"
    );
    assert!(!format!("{error:?}").contains("1234"));
}

#[derive(Serialize)]
struct Params<A> {
    name: &'static str,
    arguments: A,
    cursor: u8,
}

fn with_arguments<A: Serialize>(arguments: A) -> [u8; 32] {
    let name = "t";
    let cursor = 1;
    digest(&Params {
        name,
        arguments,
        cursor,
    })
    .unwrap()
}

#[test]
fn empty_arguments_are_absent_whatever_type_writes_them() {
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Empty {}
    #[derive(Serialize)]
    struct Wrapper(Empty);
    #[derive(Serialize)]
    struct Skipped {
        #[serde(skip_serializing_if = "Option::is_none")]
        amount: Option<u8>,
    }
    #[derive(Serialize)]
    struct Null {
        amount: Option<u8>,
    }
    let absent = digest(&json!({"name": "t", "cursor": 1})).unwrap();
    assert_eq!(with_arguments(()), absent);
    assert_eq!(with_arguments(None::<u8>), absent);
    assert_eq!(with_arguments(Unit), absent);
    assert_eq!(with_arguments(Empty {}), absent);
    assert_eq!(with_arguments(Some(Wrapper(Empty {}))), absent);
    assert_eq!(with_arguments(BTreeMap::<u8, u8>::new()), absent);
    assert_eq!(with_arguments(Skipped { amount: None }), absent);
    assert_eq!(with_arguments(json!({})), absent);

    assert_ne!(with_arguments(Skipped { amount: Some(0) }), absent);
    assert_ne!(with_arguments(Null { amount: None }), absent);
    assert_ne!(with_arguments([0u8; 0]), absent);
    assert_ne!(with_arguments(Vec::<u8>::new()), absent);
    assert_ne!(with_arguments(""), absent);
    assert_ne!(with_arguments(false), absent);
    assert_ne!(with_arguments([Empty {}]), absent);
    // Not at the top.
    let nested = with_arguments(BTreeMap::from([("arguments", Empty {})]));
    assert_ne!(nested, absent);
    assert_ne!(nested, with_arguments(BTreeMap::from([("arguments", ())])));
}

/// A variant is written as an object with one member: at the root, a member of the params.
#[test]
fn a_variant_named_arguments_is_such_a_member() {
    #[derive(Serialize)]
    enum Root<T> {
        #[serde(rename = "arguments")]
        Struct {},
        #[serde(rename = "arguments")]
        Newtype(T),
        #[serde(rename = "arguments")]
        Tuple(),
        #[serde(rename = "arguments")]
        Field { amount: T },
    }
    let of = |root: Root<Option<BTreeMap<u8, u8>>>| digest(&root).unwrap();
    let as_json = |value| digest(&value).unwrap();
    let absent = as_json(json!({}));
    assert_eq!(of(Root::Struct {}), absent);
    assert_eq!(of(Root::Newtype(Some(BTreeMap::new()))), absent);
    assert_eq!(of(Root::Newtype(None)), absent);
    let one = Root::Newtype(Some([(1, 2)].into()));
    assert_eq!(of(one), as_json(json!({"arguments": {"1": 2}})));
    assert_eq!(of(Root::Tuple()), as_json(json!({"arguments": []})));
    let field = Root::Field { amount: None };
    assert_eq!(of(field), as_json(json!({"arguments": {"amount": null}})));
    // One level down it counts.
    let nested = BTreeMap::from([("a", Root::<u8>::Struct {})]);
    let written = json!({"a": {"arguments": {}}});
    assert_eq!(digest(&nested).unwrap(), as_json(written));
}

/// A JSON value as the contract sees it, and any of its spellings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Json {
    Null,
    Bool(bool),
    /// In tenths.
    Number(i32),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// One spelling of many: `choices` decides which.
    fn spell(&self, choices: &mut impl Iterator<Item = u8>) -> String {
        let choice = choices.next().unwrap();
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(tenths) => match choice % 3 {
                0 if tenths % 10 == 0 => format!("{}", tenths / 10),
                0 => format!("{tenths}0e-2"),
                1 => format!("{tenths}e-1"),
                _ => format!("{}", f64::from(*tenths) / 10.0),
            },
            Self::Text(text) => {
                let spell = |c: char| match choice % 2 {
                    0 => format!("\\u{:04x}", c as u32),
                    _ => c.to_string(),
                };
                format!("\"{}\"", text.chars().map(spell).collect::<String>())
            }
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| item.spell(choices)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{}", value.spell(choices)))
                    .collect();
                if !members.is_empty() {
                    let by = usize::from(choice) % members.len();
                    members.rotate_left(by);
                }
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

fn json_value() -> impl Strategy<Value = Json> {
    // From a small world, so that two values are often equal or nearly so.
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-30i32..30).prop_map(Json::Number),
        "[ab1]{0,2}".prop_map(Json::Text),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            proptest::collection::btree_map("[ab]{0,2}", inner, 0..3).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn equal_exactly_when_the_values_are(
        one in json_value(),
        other in json_value(),
        choices in proptest::collection::vec(any::<u8>(), 1..20),
    ) {
        let params = |value: &Json, choices: &mut dyn Iterator<Item = u8>| {
            let mut choices = choices;
            format!(r#"{{"x":[{}]}}"#, value.spell(&mut choices))
        };
        let plain = digest_of_text(&params(&one, &mut std::iter::repeat(1)));
        let spelled = digest_of_text(&params(&one, &mut choices.iter().copied().cycle()));
        prop_assert_eq!(plain, spelled);
        let second = digest_of_text(&params(&other, &mut choices.iter().rev().copied().cycle()));
        prop_assert_eq!(one == other, plain == second, "{:?} {:?}", one, other);
    }

    /// Wherever the member is, before the others or behind them.
    #[test]
    fn arguments_are_absent_exactly_when_null_or_empty(
        arguments in json_value(),
        keys in proptest::collection::btree_set("[a-z]{0,3}", 0..4),
        at in any::<proptest::sample::Index>(),
    ) {
        let written = arguments.spell(&mut std::iter::repeat(1));
        let mut members: Vec<_> = keys.iter().map(|key| format!(r#""{key}":1"#)).collect();
        let object = |members: &[String]| format!("{{{}}}", members.join(","));
        let without = object(&members);
        members.insert(at.index(members.len() + 1), format!(r#""arguments":{written}"#));
        let with = object(&members);
        let is_absent = match &arguments {
            Json::Null => true,
            Json::Object(members) => members.is_empty(),
            _ => false,
        };
        let same = digest_of_text(&with) == digest_of_text(&without);
        prop_assert_eq!(same, is_absent, "{}", with);
        // Deeper, it is a member like any other.
        let nested = |params: &str| digest_of_text(&format!(r#"{{"a":{params}}}"#));
        prop_assert_ne!(nested(&with), nested(&without), "{}", with);
    }

    #[test]
    fn every_digit_of_an_integer_counts(one in any::<u64>(), other in any::<u64>()) {
        let of = |n: u64| digest_of_text(&format!(r#"{{"a":{n}}}"#));
        prop_assert_ne!(of(one), of(one ^ 1));
        prop_assert_eq!(of(one) == of(other), one == other);
    }

    #[test]
    fn two_doubles_agree_exactly_when_they_are_equal(one in any::<f64>(), step in 1u64..3) {
        prop_assume!(one.is_finite());
        let next = f64::from_bits(one.to_bits() ^ step);
        prop_assume!(next.is_finite() && next != one);
        let of = |x: f64| digest(&json!({"a": x})).unwrap();
        prop_assert_ne!(of(one), of(next));
        let text = serde_json::to_string(&json!({"a": one})).unwrap();
        // Beyond 2^53, a whole double that is printed and read again may be another integer.
        if one.abs() < 9e15 || one.abs() > 1.9e19 {
            prop_assert_eq!(digest_of_text(&text), of(one));
        }
    }
}
