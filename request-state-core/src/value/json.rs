//! Writes a state as JSON and reads it back.

use std::cmp::Ordering;
use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Serializer, Value};

use super::number;
use super::output::{Closing, Output};
use crate::problem::Problem;

/// Whether this build of serde_json keeps numbers as text, a feature that any crate can switch on.
static ARBITRARY_PRECISION: LazyLock<bool> =
    LazyLock::new(|| serde_json::from_str::<Value>("1e400").is_ok());

/// Reads a state back. Returns `None` if the JSON is not a `T`.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    if *ARBITRARY_PRECISION {
        // From text, serde_json would pass a float to a tagged, untagged or flattened type as a map. From a
        // `Value`, it passes a number.
        serde_json::from_slice(json)
            .and_then(serde_json::from_value)
            .ok()
    } else {
        serde_json::from_slice(json).ok()
    }
}

/// JSON, byte for byte as serde_json writes it. serde_json writes every scalar; this output adds the punctuation.
pub(super) struct Json;

impl Output for Json {
    const ROOT: &'static str = "state";
    const MAX_LEVEL: u32 = 127; // serde_json parses no more
    const REJECTS_RESERVED: bool = true;
    const OMITS_MEMBERS: bool = false;

    const INLINES_FIELDS: bool = true;

    #[inline]
    fn null(out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }

    #[inline]
    fn boolean(out: &mut Vec<u8>, value: bool) {
        let text: &[u8] = if value { b"true" } else { b"false" };
        out.extend_from_slice(text);
    }

    #[inline]
    fn integer<I: Serialize>(out: &mut Vec<u8>, value: I) -> Result<(), Problem> {
        scalar(out, &value)
    }

    #[inline]
    fn float64(out: &mut Vec<u8>, value: f64) -> Result<(), Problem> {
        scalar(out, &value)
    }

    #[inline]
    fn float32(out: &mut Vec<u8>, value: f32) -> Result<(), Problem> {
        scalar(out, &value)
    }

    #[inline]
    fn string(out: &mut Vec<u8>, text: &str) -> Result<(), Problem> {
        if !is_plain(text) {
            return scalar(out, text);
        }
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        Ok(())
    }

    /// Writes the text unchanged if serde_json reads it as the same number. In the other build of serde_json, it
    /// would be an object with a reserved key.
    fn number(out: &mut Vec<u8>, text: &str) -> Result<(), Problem> {
        number::write_text(&mut Vec::new(), text)?;
        if !*ARBITRARY_PRECISION {
            return Err(Problem::ReservedKey);
        }
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[inline(always)] // into derived code, where `text` is a constant
    fn key(out: &mut Vec<u8>, text: &str, _: u64) -> Result<(), Problem> {
        Self::string(out, text)
    }

    #[inline]
    fn separate(out: &mut Vec<u8>) {
        out.push(b',');
    }

    #[inline]
    fn assign(out: &mut Vec<u8>) {
        out.push(b':');
    }

    /// Compares the escaped text. serde_json escapes a key in one way only, so two keys are equal if and only if
    /// their escaped texts are.
    fn order(out: &[u8], a: usize, b: usize) -> Option<Ordering> {
        let (_, a) = out.get(a..)?.split_first()?; // the quote
        let (_, b) = out.get(b..)?.split_first()?;
        let mut is_escaped = false;
        for (a, b) in a.iter().zip(b) {
            let ends = |byte: u8| byte == b'"' && !is_escaped;
            match (ends(*a), ends(*b)) {
                (true, true) => return Some(Ordering::Equal),
                (true, false) => return Some(Ordering::Less),
                (false, true) => return Some(Ordering::Greater),
                (false, false) if a != b => return Some(a.cmp(b)),
                (false, false) => is_escaped = *a == b'\\' && !is_escaped,
            }
        }
        None
    }

    #[inline]
    fn omits_key(_: &[u8], _: usize) -> Option<bool> {
        Some(false)
    }

    #[inline]
    fn omits_value(_: &[u8], _: usize, _: usize) -> Option<bool> {
        Some(false)
    }

    #[inline]
    fn close(out: &mut Vec<u8>, object: Closing<'_>) -> Result<(), Problem> {
        if object.may_repeat && !object.is_sorted {
            object.sort::<Self>(out)?;
        }
        Ok(())
    }
}

/// Returns `true` if no byte of `text` is escaped in JSON (RFC 8259, section 7). It checks eight bytes at a time,
/// serde_json one.
#[inline(always)] // as `key`
fn is_plain(text: &str) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Returns a number in which the upper bit of some byte is set if and only if some byte of `bytes` is below
    /// `limit`, which is at most 128.
    const fn below(bytes: u64, limit: u64) -> u64 {
        bytes.wrapping_sub(ONES.wrapping_mul(limit)) & !bytes
    }
    const fn special(bytes: u64) -> bool {
        let quotes = bytes ^ ONES.wrapping_mul(b'"' as u64);
        let backslashes = bytes ^ ONES.wrapping_mul(b'\\' as u64);
        let found = below(bytes, 0x20) | below(quotes, 1) | below(backslashes, 1);
        found & ONES.wrapping_mul(0x80) != 0
    }
    let (chunks, rest) = text.as_bytes().as_chunks();
    !chunks
        .iter()
        .any(|chunk| special(u64::from_ne_bytes(*chunk)))
        && !rest
            .iter()
            .any(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))
}

#[inline]
fn scalar<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), Problem> {
    let written = value.serialize(&mut Serializer::new(out));
    written.map_err(|_| Problem::Serialize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
    use serde_json::Map;

    use crate::value::write;

    use super::*;

    /// Checks that the output is byte for byte the one of serde_json.
    #[track_caller]
    fn is_as_serde_json_writes<T: Serialize + ?Sized>(value: &T) {
        let mut ours = b"before ".to_vec();
        write(&mut ours, value).unwrap();
        let theirs = [b"before ", &*serde_json::to_vec(value).unwrap()].concat();
        assert_eq!(
            String::from_utf8_lossy(&ours),
            String::from_utf8_lossy(&theirs)
        );
    }

    #[derive(Clone, Debug, Serialize)]
    struct Unit;

    #[derive(Clone, Debug, Serialize)]
    struct Newtype(Option<Box<Zoo>>);

    #[derive(Clone, Debug, Serialize)]
    struct Pair(i8, char);

    #[derive(Clone, Debug, Serialize)]
    #[serde(tag = "kind", content = "of")]
    enum Adjacent {
        Nothing,
        Text(String),
        Fields { z: u8, a: f32 },
    }

    #[derive(Clone, Debug, Serialize)]
    #[serde(tag = "kind")]
    enum Internal {
        Nothing,
        Fields { z: i64, a: Vec<bool> },
    }

    #[derive(Clone, Debug, Serialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u128),
        Text(String),
    }

    /// Every type of serde's data model.
    #[derive(Clone, Debug, Serialize)]
    enum Zoo {
        Nothing,
        Float(f64),
        Single(f32),
        Signed(i128),
        Text(String),
        Value(Value),
        Items(Vec<Zoo>),
        Tuple(u64, Option<bool>, (), Unit),
        Struct {
            z: Newtype,
            #[serde(rename = "a \"quoted\" name\n")]
            renamed: Pair,
            #[serde(skip_serializing_if = "Option::is_none")]
            skipped: Option<u8>,
        },
        Flattened(Flattened),
        Adjacent(Adjacent),
        Internal(Internal),
        Untagged(Untagged),
        ByNumber(BTreeMap<i16, u8>),
        ByBool(BTreeMap<bool, u8>),
        ByChar(BTreeMap<char, Zoo>),
    }

    #[derive(Clone, Debug, Serialize)]
    struct Flattened {
        first: u16,
        #[serde(flatten)]
        rest: BTreeMap<String, i32>,
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let members = proptest::collection::vec((".{0,10}", inner.clone()), 0..5);
            prop_oneof![
                proptest::collection::vec(inner, 0..5).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            ]
        })
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("finite", |number| number.is_finite())
    }

    fn single() -> impl Strategy<Value = f32> {
        any::<f32>().prop_filter("finite", |number| number.is_finite())
    }

    fn zoo() -> impl Strategy<Value = Zoo> {
        let leaf = prop_oneof![
            Just(Zoo::Nothing),
            finite().prop_map(Zoo::Float),
            single().prop_map(Zoo::Single),
            any::<i128>().prop_map(Zoo::Signed),
            any::<String>().prop_map(Zoo::Text),
            value().prop_map(Zoo::Value),
            any::<(u64, Option<bool>)>().prop_map(|(a, b)| Zoo::Tuple(a, b, (), Unit)),
            Just(Zoo::Adjacent(Adjacent::Nothing)),
            any::<String>().prop_map(|text| Zoo::Adjacent(Adjacent::Text(text))),
            (any::<u8>(), single()).prop_map(|(z, a)| Zoo::Adjacent(Adjacent::Fields { z, a })),
            Just(Zoo::Internal(Internal::Nothing)),
            any::<(i64, Vec<bool>)>().prop_map(|(z, a)| Zoo::Internal(Internal::Fields { z, a })),
            any::<u128>().prop_map(|number| Zoo::Untagged(Untagged::Number(number))),
            any::<String>().prop_map(|text| Zoo::Untagged(Untagged::Text(text))),
            any::<(u16, BTreeMap<String, i32>)>().prop_map(|(first, mut rest)| {
                rest.remove("first");
                Zoo::Flattened(Flattened { first, rest })
            }),
            any::<BTreeMap<i16, u8>>().prop_map(Zoo::ByNumber),
            any::<BTreeMap<bool, u8>>().prop_map(Zoo::ByBool),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let inner = inner.boxed();
            let newtype = proptest::option::of(inner.clone().prop_map(Box::new));
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Zoo::Items),
                (newtype, any::<(i8, char, Option<u8>)>()).prop_map(|(z, (a, b, skipped))| {
                    Zoo::Struct {
                        z: Newtype(z),
                        renamed: Pair(a, b),
                        skipped,
                    }
                }),
                proptest::collection::btree_map(any::<char>(), inner, 0..4).prop_map(Zoo::ByChar),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_written_as_serde_json_writes_it(value in value()) {
            is_as_serde_json_writes(&value);
        }

        #[test]
        fn so_is_every_derived_type(zoo in zoo()) {
            is_as_serde_json_writes(&zoo);
        }

        #[test]
        fn so_are_bytes_and_keys_of_every_kind(
            bytes in proptest::collection::vec(any::<u8>(), 0..9),
            float in finite(),
            single in single(),
            integers in any::<(i128, u128, i8)>(),
        ) {
            is_as_serde_json_writes(&Odd { bytes: &bytes, float, single, integers });
        }
    }

    /// Calls that no derived type makes.
    struct Odd<'a> {
        bytes: &'a [u8],
        float: f64,
        single: f32,
        integers: (i128, u128, i8),
    }

    impl Serialize for Odd<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            struct Bytes<'a>(&'a [u8]);
            impl Serialize for Bytes<'_> {
                fn serialize<S: serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    serializer.serialize_bytes(self.0)
                }
            }
            struct Displayed<'a>(&'a [u8]);
            impl Serialize for Displayed<'_> {
                fn serialize<S: serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(&format_args!("{:?}", self.0))
                }
            }
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry(&Displayed(self.bytes), &Bytes(self.bytes))?;
            map.serialize_entry(&format!("float {}", self.float), &self.float)?;
            map.serialize_entry(
                &Some(self.integers.0),
                &BTreeMap::from([((), ())].map(|_| (1u128, self.integers.1))),
            )?;
            map.serialize_entry("single", &FloatKeys(self.float, self.single))?;
            map.end()
        }
    }

    struct FloatKeys(f64, f32);

    impl Serialize for FloatKeys {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(None)?;
            struct Key<K>(K);
            impl<K: Serialize> Serialize for Key<K> {
                fn serialize<S: serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    let mut map = serializer.serialize_map(None)?;
                    map.serialize_entry(&self.0, &0)?;
                    map.end()
                }
            }
            seq.serialize_element(&Key(self.0))?;
            seq.serialize_element(&Key(self.1))?;
            seq.serialize_element(&Key('\u{1f600}'))?;
            seq.end()
        }
    }

    /// A struct with the name under which serde_json passes a number.
    struct Number(&'static str);

    impl Serialize for Number {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            const NAME: &str = "$serde_json::private::Number";
            let mut open = serializer.serialize_struct(NAME, 1)?;
            open.serialize_field(NAME, self.0)?;
            open.end()
        }
    }

    #[test]
    fn every_character_is_escaped_wherever_it_is() {
        for character in ('\0'..='\u{a0}').chain(['é', '\u{2028}', '\u{1f600}']) {
            for before in 0..17 {
                for behind in [0, 1, 7, 8] {
                    let text = format!("{}{character}{}", "a".repeat(before), "b".repeat(behind));
                    is_as_serde_json_writes(&text);
                    is_as_serde_json_writes(&BTreeMap::from([(&text, 1)]));
                }
            }
        }
    }

    /// One long key may be compared with each of many others, and searching for its end each time would take
    /// quadratic time. The key of this test has no end.
    #[test]
    fn keys_are_compared_no_further_than_where_they_differ() {
        let out = br#""ab":1,"ac"#;
        assert_eq!(Json::order(out, 0, 7), Some(Ordering::Less));
        assert_eq!(Json::order(out, 7, 0), Some(Ordering::Greater));
        // An escaped quote does not end a key.
        let out = br#""a\"b":1,"a\"c":2,"a\\":3,"a\"b":4"#;
        let [first, second, third, fourth] = [0, 9, 18, 26];
        assert_eq!(Json::order(out, first, second), Some(Ordering::Less));
        assert_eq!(Json::order(out, first, fourth), Some(Ordering::Equal));
        assert_eq!(Json::order(out, third, second), Some(Ordering::Greater));
        assert_eq!(Json::order(b"\"a\":\"ab\"", 0, 4), Some(Ordering::Less));
        assert_eq!(Json::order(b"\"ab", 0, 0), None);
    }

    #[test]
    fn a_number_that_comes_as_text_is_written_as_it_is_where_it_is_read_so() {
        for (text, is_number) in [("1e400", true), ("-0", true), ("1}", false), ("", false)] {
            let mut json = Vec::new();
            let result = write(&mut json, &Number(text)).map_err(|(_, problem)| problem);
            match (*ARBITRARY_PRECISION, is_number) {
                (true, true) => {
                    assert_eq!((result, json), (Ok(()), text.as_bytes().to_vec()));
                }
                (_, false) => assert_eq!(result, Err(Problem::Number)),
                (false, true) => assert_eq!(result, Err(Problem::ReservedKey)),
            }
        }
    }
}
