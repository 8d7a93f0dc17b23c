//! States come back exactly as they went in, or are refused when they are sealed.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use crate::fixtures::{Call, keys};
use request_state::{AesGcmCodec, Binding, BindingError, Problem, Request, SealError, Sealer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn sealer() -> Sealer<AesGcmCodec> {
    Sealer::new("billing", AesGcmCodec::new(&keys())).unwrap()
}

fn round_trip<T: Serialize + DeserializeOwned>(state: &T) -> T {
    let binding = Call::default().binding();
    let token = sealer().seal(state, &binding).unwrap();
    sealer().open(&token, &binding).unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(state: T) {
    assert_eq!(round_trip(&state), state);
}

#[test]
fn every_kind_of_state_comes_back() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    enum Step {
        Start,
        Amount(u64),
        Pair(i8, char),
        Confirm { code: Option<String>, tries: u8 },
    }
    comes_back(vec![
        Step::Start,
        Step::Amount(u64::MAX),
        Step::Pair(-1, '😀'),
        Step::Confirm {
            code: None,
            tries: 3,
        },
        Step::Confirm {
            code: Some("\0\"\\\n\u{2028}".into()),
            tries: 0,
        },
    ]);
    comes_back(());
    comes_back(true);
    comes_back(String::new());
    comes_back((i128::MIN, u128::MAX, i64::MIN, f32::MIN_POSITIVE));
    comes_back(HashMap::from([(1u8, 'a'), (2, 'b')]));
    comes_back(BTreeMap::from([
        ("b".to_owned(), vec![1, 2]),
        ("a".to_owned(), vec![]),
    ]));
    comes_back(json!({"b": [1, -2, 1.5, null, true, "é"], "a": {"": {}}}));
    comes_back(Some(Some(1)));
}

/// serde reads these through a buffer of its own, where `arbitrary_precision` would show a float as
/// a map.
#[test]
fn floats_come_back_in_tagged_untagged_and_flattened_types() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "step")]
    enum Tagged {
        Amount { amount: f64, count: u64 },
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        Rate(f64),
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Untagged {
        Rate(f64),
        Form(BTreeMap<String, String>),
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Flattened {
        step: u8,
        #[serde(flatten)]
        rates: BTreeMap<String, f64>,
    }
    comes_back(Tagged::Amount {
        amount: 0.1,
        count: u64::MAX,
    });
    comes_back(Adjacent::Rate(-0.5));
    comes_back(Untagged::Rate(0.5));
    comes_back(Untagged::Form([("a".to_owned(), "b".to_owned())].into()));
    comes_back(Flattened {
        step: 1,
        rates: [("eur".to_owned(), 1e300)].into(),
    });
}

#[test]
fn every_double_comes_back_bit_for_bit() {
    let mut bits = 0x9e37_79b9_7f4a_7c15u64;
    let mut states = vec![
        0.0,
        -0.0,
        0.1,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1e23,
    ];
    for _ in 0..20_000 {
        // splitmix64: every exponent and sign, without a seed to report.
        bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        states.push(f64::from_bits(z ^ (z >> 31)));
    }
    states.retain(|double| double.is_finite());
    for states in states.chunks(1000) {
        let back: Vec<f64> = round_trip(&states.to_vec());
        for (back, state) in back.iter().zip(states) {
            assert_eq!(back.to_bits(), state.to_bits(), "{state:e}");
        }
        let values: Vec<Value> = round_trip(&states.iter().map(|x| json!(x)).collect());
        for (back, state) in values.iter().zip(states) {
            let back = back.as_f64().unwrap();
            assert_eq!(back.to_bits(), state.to_bits(), "{state:e} in a Value");
        }
    }
    let singles: Vec<f32> = states
        .iter()
        .map(|x| *x as f32)
        .filter(|x| x.is_finite())
        .collect();
    for singles in singles.chunks(1000) {
        assert_eq!(round_trip(&singles.to_vec()), singles);
    }
}

fn refused<T: Serialize>(state: &T) -> (String, Problem) {
    let binding = Call::default().binding();
    match sealer().seal(state, &binding) {
        Err(SealError::State { path, problem }) => (path, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_json_does_not_carry_is_refused_with_its_place() {
    #[derive(Serialize)]
    struct State {
        rates: Vec<Option<f64>>,
        by_name: BTreeMap<&'static str, f32>,
    }
    let mut state = State {
        rates: vec![Some(1.0), None, Some(f64::NAN)],
        by_name: [("secret name", f32::NEG_INFINITY)].into(),
    };
    assert_eq!(
        refused(&state),
        ("state.rates[2]".into(), Problem::NonFinite)
    );
    state.rates.clear();
    assert_eq!(
        refused(&state),
        ("state.by_name.(entry 0)".into(), Problem::NonFinite)
    );
    assert_eq!(refused(&f64::NAN), ("state".into(), Problem::NonFinite));
    let keyed: BTreeMap<_, _> = [((1, 2), 3)].into();
    assert_eq!(refused(&keyed), ("state.(entry 0)".into(), Problem::Key));
    assert_eq!(
        SealError::State {
            path: "state.rate".into(),
            problem: Problem::NonFinite
        }
        .to_string(),
        "state.rate: NaN and infinity are not valid in JSON"
    );
}

#[test]
fn a_key_emitted_twice_is_refused() {
    #[derive(Serialize)]
    struct State {
        inner: Flattened,
    }
    #[derive(Serialize, Clone)]
    struct Flattened {
        step: u8,
        #[serde(flatten)]
        answers: BTreeMap<&'static str, u8>,
    }
    let mut inner = Flattened {
        step: 1,
        answers: [("code", 2), ("amount", 3)].into(),
    };
    assert!(
        sealer()
            .seal(&[&inner, &inner], &Call::default().binding())
            .is_ok()
    );
    inner.answers.insert("step", 4);
    assert_eq!(
        refused(&State { inner }),
        ("state.inner".into(), Problem::DuplicateKey)
    );
}

/// What no map is part of, either: serde writes the tag as a field beside those of what it tags.
#[test]
fn a_field_emitted_twice_is_refused() {
    #[derive(Serialize)]
    #[serde(tag = "step")]
    enum Step {
        Confirm(Confirm),
    }
    #[derive(Serialize)]
    struct Confirm {
        step: u8,
    }
    #[derive(Serialize)]
    struct Renamed {
        #[serde(rename = "amount")]
        net: u8,
        amount: u8,
    }
    #[derive(Serialize)]
    enum Variant {
        Renamed {
            #[serde(rename = "amount")]
            net: u8,
            amount: u8,
        },
    }
    let confirm = [Step::Confirm(Confirm { step: 1 })];
    assert_eq!(
        refused(&confirm),
        ("state[0]".into(), Problem::DuplicateKey)
    );
    let (net, amount) = (1, 2);
    let renamed = Renamed { net, amount };
    assert_eq!(refused(&renamed), ("state".into(), Problem::DuplicateKey));
    let renamed = Variant::Renamed { net, amount };
    assert_eq!(refused(&renamed), ("state".into(), Problem::DuplicateKey));
}

/// Two keys that are not equal, and one in JSON.
#[test]
fn keys_that_are_spelled_alike_are_refused() {
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(untagged)]
    enum Key {
        Number(u8),
        Text(&'static str),
    }
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    enum Question {
        Confirm,
        Code,
    }
    #[derive(Serialize)]
    struct Form {
        confirm: bool,
        #[serde(flatten)]
        more: BTreeMap<Question, bool>,
    }
    let keys = |keys: [Key; 2]| BTreeMap::from(keys.map(|key| (key, 0)));
    let twice = keys([Key::Number(1), Key::Text("1")]);
    assert_eq!(refused(&twice), ("state".into(), Problem::DuplicateKey));
    let once = keys([Key::Number(1), Key::Text("01")]);
    assert!(sealer().seal(&once, &Call::default().binding()).is_ok());
    let more = [(Question::Code, true), (Question::Confirm, true)].into();
    let form = Form {
        confirm: false,
        more,
    };
    assert_eq!(refused(&form), ("state".into(), Problem::DuplicateKey));
}

/// serde and serde_json both panic there.
#[test]
fn a_display_that_fails_is_an_error() {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Broken;
    impl std::fmt::Display for Broken {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_str(self)
        }
    }
    assert_eq!(refused(&Broken).1, Problem::Serialize);
    assert_eq!(
        refused(&BTreeMap::from([(Broken, 1)])).1,
        Problem::Serialize
    );
    for error in [
        bind(&BTreeMap::from([(Broken, 1)])),
        bind(&BTreeMap::from([("a", Broken)])),
    ] {
        let BindingError::Params { problem, .. } = error.unwrap_err() else {
            panic!("another error");
        };
        assert_eq!(problem, Problem::Serialize);
    }
}

fn bind<P: Serialize>(params: &P) -> Result<Binding, BindingError> {
    let (version, method, principal) = ("2026-07-28", "tools/call", None);
    Binding::new(Request {
        version,
        method,
        params,
        principal,
    })
}

/// serde_json writes whatever a `Serialize` implementation asks for, and that need not be JSON.
mod hand_written {
    use super::*;
    use serde::Serializer;
    use serde::ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    };

    /// One that says it is empty, and is not.
    #[derive(Clone, Copy, Debug)]
    enum Empty {
        Seq,
        Tuple,
        TupleStruct,
        TupleVariant,
        Map,
        Struct,
        StructVariant,
    }

    impl Serialize for Empty {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Seq => {
                    let mut open = s.serialize_seq(Some(0))?;
                    open.serialize_element(&1)?;
                    open.end()
                }
                Self::Tuple => {
                    let mut open = s.serialize_tuple(0)?;
                    open.serialize_element(&1)?;
                    open.end()
                }
                Self::TupleStruct => {
                    let mut open = s.serialize_tuple_struct("T", 0)?;
                    open.serialize_field(&1)?;
                    open.end()
                }
                Self::TupleVariant => {
                    let mut open = s.serialize_tuple_variant("E", 0, "v", 0)?;
                    open.serialize_field(&1)?;
                    open.end()
                }
                Self::Map => {
                    let mut open = s.serialize_map(Some(0))?;
                    open.serialize_entry("a", &1)?;
                    open.end()
                }
                Self::Struct => {
                    let mut open = s.serialize_struct("S", 0)?;
                    open.serialize_field("a", &1)?;
                    open.end()
                }
                Self::StructVariant => {
                    let mut open = s.serialize_struct_variant("E", 0, "v", 0)?;
                    open.serialize_field("a", &1)?;
                    open.end()
                }
            }
        }
    }

    #[test]
    fn a_length_that_is_wrong_spoils_nothing() {
        let binding = Call::default().binding();
        for (state, comes_back) in [
            (Empty::Seq, json!([1])),
            (Empty::Tuple, json!([1])),
            (Empty::TupleStruct, json!([1])),
            (Empty::TupleVariant, json!({"v": [1]})),
            (Empty::Map, json!({"a": 1})),
            (Empty::Struct, json!({"a": 1})),
            (Empty::StructVariant, json!({"v": {"a": 1}})),
        ] {
            let token = sealer().seal(&[state], &binding).unwrap();
            let opened = sealer().open::<Value>(&token, &binding);
            assert_eq!(opened, Ok(json!([comes_back])), "{state:?}");
        }
        // What is empty is still written as such.
        comes_back((Vec::<u8>::new(), BTreeMap::<u8, u8>::new()));
    }

    /// Keys (true) and values (false), in an order of its own.
    struct Order(&'static [bool]);

    impl Serialize for Order {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut map = s.serialize_map(None)?;
            for (number, is_key) in self.0.iter().enumerate() {
                if *is_key {
                    map.serialize_key(&number.to_string())?;
                } else {
                    map.serialize_value(&1)?;
                }
            }
            map.end()
        }
    }

    #[test]
    fn keys_and_values_come_in_turn_or_are_refused() {
        let binding = Call::default().binding();
        for good in [&[][..], &[true, false], &[true, false, true, false]] {
            assert!(sealer().seal(&Order(good), &binding).is_ok());
        }
        for bad in [
            &[true][..],
            &[false],
            &[true, true, false],
            &[true, false, false],
            &[true, false, true],
        ] {
            assert_eq!(refused(&[Order(bad)]).1, Problem::Serialize, "{bad:?}");
        }
    }

    /// Goes on after an error.
    struct Careless<T>(T);

    impl<T: Serialize> Serialize for Careless<T> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut seq = s.serialize_seq(None)?;
            let _ = seq.serialize_element(&self.0);
            seq.serialize_element(&1)?;
            seq.end()
        }
    }

    #[test]
    fn an_error_that_the_value_swallows_is_still_an_error() {
        let problem = refused(&Careless(f64::NAN)).1;
        assert_eq!(problem, Problem::NonFinite);
        let twice = BTreeMap::from([((), 1)]);
        assert_eq!(refused(&Careless(twice)).1, Problem::Key);
        assert_eq!(refused(&Careless(Order(&[true]))).1, Problem::Serialize);
    }

    #[test]
    fn a_wrapper_is_looked_into() {
        #[derive(Serialize)]
        struct Rate(f64);
        assert_eq!(refused(&Rate(f64::NAN)).1, Problem::NonFinite);
        assert_eq!(refused(&Some(Rate(f64::NAN))).1, Problem::NonFinite);
    }

    const NUMBER: &str = "$serde_json::private::Number";

    /// What serde_json makes of a number under `arbitrary_precision`, by hand.
    struct Number<'a>(&'a [&'a str]);

    impl Serialize for Number<'_> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut number = s.serialize_struct(NUMBER, 1)?;
            for text in self.0 {
                number.serialize_field(NUMBER, text)?;
            }
            number.end()
        }
    }

    #[test]
    fn the_text_of_a_number_is_one() {
        let binding = Call::default().binding();
        // Where serde_json does not read it as a number, it would be an object with a reserved key.
        let reads_it = serde_json::from_str::<Value>("1e400").is_ok();
        for good in ["1", "-0", "1.50", "1e400", "123456789012345678901234567890"] {
            let number = Number(&[good]);
            if reads_it {
                assert!(sealer().seal(&number, &binding).is_ok(), "{good}");
            } else {
                assert_eq!(refused(&number).1, Problem::ReservedKey, "{good}");
            }
        }
        for bad in ["", "1,2", "1],[2", "01", " 1", "NaN", "1e", "--1"] {
            assert_eq!(refused(&[Number(&[bad])]).1, Problem::Number, "{bad}");
        }
        assert_eq!(refused(&Number(&[])).1, Problem::Number);
        let twice = if reads_it {
            Problem::DuplicateKey
        } else {
            Problem::ReservedKey
        };
        assert_eq!(refused(&Number(&["1", "2"])).1, twice);
    }
}

/// So is the name of a field or variant, which is a key too.
#[test]
fn a_name_that_serde_json_keeps_for_itself_is_refused() {
    #[derive(Serialize)]
    struct Field {
        #[serde(rename = "$serde_json::private::Number")]
        number: &'static str,
    }
    #[derive(Serialize)]
    enum Variant {
        #[serde(rename = "$serde_json::private::RawValue")]
        Newtype(u8),
        #[serde(rename = "$serde_json::private::Number")]
        Tuple(u8, u8),
        #[serde(rename = "$serde_json::private::Number")]
        Struct { a: u8 },
    }
    assert_eq!(refused(&Field { number: "5" }).1, Problem::ReservedKey);
    for variant in [
        Variant::Newtype(1),
        Variant::Tuple(1, 2),
        Variant::Struct { a: 1 },
    ] {
        assert_eq!(refused(&variant).1, Problem::ReservedKey);
    }
}

/// With `arbitrary_precision` or `raw_value`, serde_json reads such a map back as what is in it.
#[test]
fn a_key_that_serde_json_keeps_for_itself_is_refused() {
    for key in [
        "$serde_json::private::Number",
        "$serde_json::private::RawValue",
    ] {
        let state = [("a", BTreeMap::from([(key, "5")]))];
        assert_eq!(
            refused(&state),
            ("state[0][1].(entry 0)".into(), Problem::ReservedKey)
        );
    }
    comes_back(BTreeMap::from([("$serde_json".to_owned(), 5)]));
    comes_back("$serde_json::private::Number".to_owned());
}

#[test]
fn a_state_is_as_deep_as_serde_json_reads() {
    let nested = |levels, object| {
        (0..levels).fold(json!(1), |inner, _| {
            if object {
                json!({ "a": inner })
            } else {
                json!([inner])
            }
        })
    };
    for object in [true, false] {
        comes_back(nested(127, object));
        let (path, problem) = refused(&nested(128, object));
        assert_eq!(problem, Problem::TooDeep);
        assert!(path.starts_with("state") && path.ends_with('…'), "{path}");
    }
}

#[test]
fn the_wrong_type_is_refused_when_opened() {
    let binding = Call::default().binding();
    let token = sealer().seal("text", &binding).unwrap();
    assert!(sealer().open::<u32>(&token, &binding).is_err());
    assert_eq!(sealer().open(&token, &binding), Ok("text".to_owned()));
}
