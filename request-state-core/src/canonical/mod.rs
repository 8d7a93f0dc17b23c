//! The canonical form of request params: equal JSON values give equal bytes, others do not.
//!
//! | value | form |
//! |---|---|
//! | null, true, false | `n`, `t`, `f` |
//! | number | `N`, its digits and exponent, `,` (see `number.rs`) |
//! | string | `S`, its length in bytes as LEB128, its UTF-8 bytes |
//! | array | `[`, the values, `]` |
//! | object | `{`, for each member the key as a string and the value, `}` |
//!
//! Members are sorted by the bytes of their keys. Every form tells where it ends, so no two values
//! share one. Lengths stand in front of strings, where JSON would have to look at every byte for
//! one to escape.
//!
//! LEB128 is seven bits a byte, the lowest first, with the high bit set in all bytes but the last.
//!
//! One pass writes into one buffer. An object whose members do not come sorted is put in order when
//! it ends.

mod compound;
mod form;
mod keys;
mod number;
mod writer;

use serde::Serialize;

use self::form::Form;
pub(crate) use self::form::head;
pub(crate) use self::keys::Keys;
use self::writer::{Place, Writer};
use crate::guard::{self, Rules};
use crate::problem::Problem;

const RULES: Rules = Rules {
    root: "params",
    max_level: 128,
};

/// Whether `value` is the text of a JSON number.
#[cold] // most builds have no number that comes as text, and all have the calls
pub(crate) fn check_number<T: Serialize + ?Sized>(value: &T) -> Result<(), Problem> {
    value.serialize(Writer {
        form: &mut Form::empty(),
        place: Place::NumberText,
    })
}

/// The canonical form of the salient part of `params`.
///
/// Or the path of what cannot be canonicalized, and why.
pub(crate) fn form_of<T>(params: &T) -> Result<Vec<u8>, (String, Problem)>
where
    T: Serialize + ?Sized,
{
    let mut form = Form::new();
    let writer = Writer {
        form: &mut form,
        place: Place::Root,
    };
    guard::serialize::<_, _, false>(params, writer, RULES, |problem| problem)?;
    Ok(form.out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    /// Reads a form. That it can be read at all, and gives the value that was written, is the proof
    /// that no two values share one.
    struct Reader<'a>(&'a [u8]);

    impl Reader<'_> {
        fn byte(&mut self) -> u8 {
            let (byte, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            *byte
        }

        fn text(&mut self) -> String {
            let (mut length, mut shift) = (0, 0);
            loop {
                let byte = self.byte();
                length |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let (text, rest) = self.0.split_at(length);
            self.0 = rest;
            String::from_utf8(text.to_vec()).unwrap()
        }

        fn value(&mut self) -> Value {
            let tag = self.byte();
            self.tagged(tag)
        }

        fn tagged(&mut self, tag: u8) -> Value {
            match tag {
                b'n' => Value::Null,
                b't' => true.into(),
                b'f' => false.into(),
                b'S' => self.text().into(),
                b'N' => {
                    let end = self.0.iter().position(|byte| *byte == b',').unwrap();
                    let number = std::str::from_utf8(&self.0[..end]).unwrap();
                    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
                    let power = 10i64.pow(exponent.parse().unwrap());
                    self.0 = &self.0[end + 1..];
                    (digits.parse::<i64>().unwrap() * power).into()
                }
                b'[' => {
                    let mut items = Vec::new();
                    loop {
                        match self.byte() {
                            b']' => return items.into(),
                            tag => items.push(self.tagged(tag)),
                        }
                    }
                }
                b'{' => {
                    let mut members = Map::new();
                    loop {
                        match self.byte() {
                            b'}' => return members.into(),
                            b'S' => {
                                let key = self.text();
                                assert!(members.insert(key, self.value()).is_none());
                            }
                            tag => panic!("{tag:#x} starts a key"),
                        }
                    }
                }
                tag => panic!("{tag:#x} starts a value"),
            }
        }
    }

    /// Text that is made of what forms are made of, of lengths that are such bytes too.
    fn text() -> impl Strategy<Value = String> {
        let lengths = prop_oneof![0..4usize, 76..126usize, 126..130usize, Just(16_384)];
        let piece = "[nt{}SN,\u{0}\u{1}\u{2}\u{7d}é]{1,3}";
        (lengths, piece).prop_map(|(length, piece)| {
            let mut text = piece.repeat(length / piece.len() + 1);
            while text.len() > length {
                text.pop();
            }
            text
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((text(), inner), 0..4)
                    .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_form_reads_back_as_the_value_that_was_written(value in value()) {
            let params = serde_json::json!({ "x": value });
            let form = form_of(&params).unwrap();
            let mut reader = Reader(&form);
            let read = reader.value();
            prop_assert!(reader.0.is_empty());
            prop_assert_eq!(&read, &if value.is_null() { serde_json::json!({}) } else { params });
        }
    }

    #[test]
    fn a_length_is_never_taken_for_the_end_of_an_object() {
        let key = "n".repeat(125);
        let form = form_of(&serde_json::json!({ "a": { key: Value::Null } })).unwrap();
        assert!(form.windows(3).any(|bytes| bytes == *b"{S}"));
    }
}
