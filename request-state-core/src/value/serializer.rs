//! The serializer that turns params and states into bytes.
//!
//! It maps serde's data model to JSON as serde_json does: bytes become an array, a variant with contents becomes an
//! object with one member, and a map key becomes a string.

use std::fmt::{Display, Write as _};

use serde::ser::{Serialize, Serializer};

use super::compound::{Array, Object, Struct};
use super::members::Frame;
use super::output::Output;
use super::walk::{NUMBER, Place, RAW_VALUE, Walk, Walker};
use crate::problem::{Problem, Step};

/// Appends `value`, which is at `place`, to `out`.
///
/// # Errors
///
/// Returns the first problem and its path.
pub(super) fn walk<O, T>(
    out: &mut Vec<u8>,
    value: &T,
    place: Place,
) -> Result<(), (String, Problem)>
where
    O: Output,
    T: Serialize + ?Sized,
{
    let mut walk: Walk<O> = Walk::begin(std::mem::take(out));
    let walked = value.serialize(Walker {
        walk: &mut walk,
        place,
        level: 0,
    });
    let (written, result) = walk.end(walked);
    *out = written;
    result
}

impl<'w, O: Output> Walker<'w, O> {
    #[inline]
    fn null(self) -> Result<(), Problem> {
        match self.place {
            Place::Value => O::null(&mut self.walk.out),
            // Absent params have the same form as an object without members.
            Place::Root => self.walk.out.extend_from_slice(b"{}"),
            Place::Key => return self.walk.reject(Problem::Key),
            Place::NumberText => return self.walk.reject(Problem::Number),
        }
        Ok(())
    }

    #[inline]
    fn integer(self, value: impl itoa::Integer + Serialize) -> Result<(), Problem> {
        match self.place {
            Place::Value => O::integer(&mut self.walk.out, value),
            Place::Key => self.walk.key_text(itoa::Buffer::new().format(value)),
            Place::Root => self.walk.reject(Problem::NotAnObject),
            Place::NumberText => self.walk.reject(Problem::Number),
        }
    }

    #[inline]
    fn float<F: Serialize>(
        self,
        value: F,
        is_finite: bool,
        write: impl FnOnce(&mut Vec<u8>, F) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        if !is_finite {
            return self.walk.reject(Problem::NonFinite);
        }
        match self.place {
            Place::Value => write(&mut self.walk.out, value),
            // As serde_json writes it.
            Place::Key => match serde_json::to_string(&value) {
                Ok(text) => self.walk.key_text(&text),
                Err(_) => self.walk.reject(Problem::Key),
            },
            Place::Root => self.walk.reject(Problem::NotAnObject),
            Place::NumberText => self.walk.reject(Problem::Number),
        }
    }

    /// Returns the level inside `opens` more arrays and objects, for a value that is not an object at the root.
    #[inline]
    fn deeper(&mut self, opens: u32) -> Result<u32, Problem> {
        match self.level.checked_add(opens) {
            Some(level) if level <= O::MAX_LEVEL => Ok(level),
            _ => self.walk.reject(Problem::TooDeep),
        }
    }

    #[inline]
    fn array(mut self) -> Result<Array<'w, O>, Problem> {
        let level = self.deeper(1)?;
        match self.place {
            Place::Value => Ok(Array::begin(self.walk, level, None)),
            Place::Root => self.walk.reject(Problem::NotAnObject),
            Place::Key => self.walk.reject(Problem::Key),
            Place::NumberText => self.walk.reject(Problem::Number),
        }
    }

    /// Returns `true` if the object that begins here is the root and members of it may be omitted.
    #[inline]
    fn is_root(&mut self) -> Result<bool, Problem> {
        match self.place {
            Place::Root => Ok(true),
            Place::Value => Ok(false),
            Place::Key => self.walk.reject(Problem::Key),
            Place::NumberText => self.walk.reject(Problem::Number),
        }
    }

    #[inline]
    fn object(mut self) -> Result<Object<'w, O>, Problem> {
        let level = self.deeper(1)?;
        let is_root = self.is_root()?;
        Ok(Object::begin(self.walk, level, is_root))
    }

    /// Begins the object of a variant with contents: its one member is named after the variant. Returns the frame
    /// of that object, and the level inside it and `opens` more arrays and objects.
    #[inline]
    fn variant(&mut self, name: &'static str, opens: u32) -> Result<(Frame, u32), Problem> {
        let level = self.deeper(opens.saturating_add(1))?;
        let is_root = self.is_root()?;
        Ok((self.walk.begin_variant(name, is_root)?, level))
    }
}

impl<'w, O: Output> Serializer for Walker<'w, O> {
    type Ok = ();
    type Error = Problem;
    type SerializeSeq = Array<'w, O>;
    type SerializeTuple = Array<'w, O>;
    type SerializeTupleStruct = Array<'w, O>;
    type SerializeTupleVariant = Array<'w, O>;
    type SerializeMap = Object<'w, O>;
    type SerializeStruct = Struct<'w, O>;
    type SerializeStructVariant = Object<'w, O>;

    #[inline]
    fn serialize_str(self, v: &str) -> Result<(), Problem> {
        match self.place {
            Place::Value => O::string(&mut self.walk.out, v),
            Place::Key => self.walk.key_text(v),
            Place::NumberText => {
                O::number(&mut self.walk.out, v).or_else(|problem| self.walk.reject(problem))
            }
            Place::Root => self.walk.reject(Problem::NotAnObject),
        }
    }

    /// Unlike serde and serde_json, it does not panic if `Display` fails.
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Problem> {
        let mut text = String::new();
        if write!(text, "{value}").is_err() {
            return self.walk.reject(Problem::Serialize);
        }
        self.serialize_str(&text)
    }

    #[inline]
    fn serialize_f32(self, v: f32) -> Result<(), Problem> {
        self.float(v, v.is_finite(), O::float32)
    }

    #[inline]
    fn serialize_f64(self, v: f64) -> Result<(), Problem> {
        self.float(v, v.is_finite(), O::float64)
    }

    #[inline]
    fn serialize_bool(self, v: bool) -> Result<(), Problem> {
        match self.place {
            Place::Value => O::boolean(&mut self.walk.out, v),
            Place::Key => return self.walk.key_text(if v { "true" } else { "false" }),
            Place::Root => return self.walk.reject(Problem::NotAnObject),
            Place::NumberText => return self.walk.reject(Problem::Number),
        }
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, v: i8) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_i16(self, v: i16) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_i32(self, v: i32) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_i64(self, v: i64) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_i128(self, v: i128) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_u8(self, v: u8) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_u16(self, v: u16) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_u32(self, v: u32) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_u64(self, v: u64) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_u128(self, v: u128) -> Result<(), Problem> {
        self.integer(v)
    }

    #[inline]
    fn serialize_char(self, v: char) -> Result<(), Problem> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    /// JSON has no type for bytes. As serde_json does, this writes an array of numbers.
    #[inline]
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Problem> {
        let mut array = self.array()?;
        for byte in v {
            array.item(byte)?;
        }
        array.finish()
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Problem> {
        self.null()
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Problem> {
        self.null()
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Problem> {
        self.null()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Problem> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Problem> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        let (mut frame, level) = self.variant(variant, 0)?;
        let result = self.walk.value(&mut frame, level, value);
        self.walk.note(result, Step::Field(variant))?;
        self.walk.end_object(&frame)
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'w, O>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Array<'w, O>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Array<'w, O>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'w, O>, Problem> {
        let (frame, level) = self.variant(variant, 1)?;
        Ok(Array::begin(self.walk, level, Some(frame)))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Object<'w, O>, Problem> {
        self.object()
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Struct<'w, O>, Problem> {
        // Decides by the name of the struct, which the program chose, and never by a key, which a client can send.
        match (name, self.place) {
            (RAW_VALUE, _) => self.walk.reject(Problem::RawValue),
            (NUMBER, Place::Value) => Ok(Struct::Number {
                walk: self.walk,
                has_text: false,
            }),
            (NUMBER, Place::Root) => self.walk.reject(Problem::NotAnObject),
            (NUMBER, Place::Key) => self.walk.reject(Problem::Key),
            (NUMBER, Place::NumberText) => self.walk.reject(Problem::Number),
            _ => self.object().map(Struct::Object),
        }
    }

    #[inline]
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object<'w, O>, Problem> {
        let (frame, level) = self.variant(variant, 1)?;
        Ok(Object::in_variant(self.walk, level, frame))
    }
}
