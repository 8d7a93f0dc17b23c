//! The serializer that writes the canonical form.
//!
//! It shapes values as serde_json does: bytes are an array, a variant that carries something is an
//! object of one member, a map key is a string.

use serde::ser::{self, Serialize, Serializer};

use super::compound::{Array, Object, Struct};
use super::form::{Form, Frame};
use super::number;
use crate::guard;
use crate::problem::Problem;

/// What the next value is to be.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Root,
    Key,
    Value,
    /// The text of a number, inside serde_json's struct for one.
    NumberText,
}

pub(super) struct Writer<'a> {
    pub(super) form: &'a mut Form,
    pub(super) place: Place,
}

impl<'a> Writer<'a> {
    /// A value that is one byte, and a string when it is a key.
    #[inline]
    fn literal(self, form: u8, as_key: &str) -> Result<(), Problem> {
        match self.place {
            Place::Value => self.form.out.push(form),
            Place::Key => self.form.key_text(as_key),
            Place::Root => return Err(Problem::NotAnObject),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(())
    }

    #[inline]
    fn null(self) -> Result<(), Problem> {
        match self.place {
            Place::Value => self.form.out.push(b'n'),
            // No params at all: the same as an object without members.
            Place::Root => self.form.out.extend_from_slice(b"{}"),
            Place::Key => return Err(Problem::Key),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(())
    }

    #[inline]
    fn integer(self, value: impl itoa::Integer) -> Result<(), Problem> {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(value);
        match self.place {
            Place::Value => number::write_integer(&mut self.form.out, text),
            Place::Key => self.form.key_text(text),
            Place::Root => return Err(Problem::NotAnObject),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(())
    }

    /// A floating-point number as a key is spelled as serde_json spells it, so serde_json does it.
    #[inline]
    fn float_key(self, value: impl Serialize) -> Result<(), Problem> {
        let text = serde_json::to_string(&value).map_err(|_| Problem::Key)?;
        self.form.key_text(&text);
        Ok(())
    }

    #[inline]
    fn array(self) -> Result<Array<'a>, Problem> {
        match self.place {
            Place::Value => self.form.out.push(b'['),
            Place::Root => return Err(Problem::NotAnObject),
            Place::Key => return Err(Problem::Key),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(Array {
            form: self.form,
            variant: None,
        })
    }

    #[inline]
    fn object(self) -> Result<Object<'a>, Problem> {
        let is_root = match self.place {
            Place::Root => true,
            Place::Value => false,
            Place::Key => return Err(Problem::Key),
            Place::NumberText => return Err(Problem::Number),
        };
        let frame = self.form.open(is_root);
        Ok(Object {
            form: self.form,
            frame,
            variant: None,
        })
    }

    /// A variant that carries something: an object of one member.
    #[inline]
    fn variant(self, name: &'static str) -> Result<(&'a mut Form, Frame), Problem> {
        let Object {
            form, mut frame, ..
        } = self.object()?;
        form.name(&mut frame, name)?;
        Ok((form, frame))
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Problem;
    type SerializeSeq = Array<'a>;
    type SerializeTuple = Array<'a>;
    type SerializeTupleStruct = Array<'a>;
    type SerializeTupleVariant = Array<'a>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Struct<'a>;
    type SerializeStructVariant = Object<'a>;

    #[inline]
    fn serialize_str(self, v: &str) -> Result<(), Problem> {
        match self.place {
            Place::Value => self.form.string(v),
            Place::Key => self.form.key_text(v),
            Place::NumberText => number::write_text(&mut self.form.out, v)?,
            Place::Root => return Err(Problem::NotAnObject),
        }
        Ok(())
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<(), Problem> {
        self.serialize_str(&guard::display(value)?)
    }

    #[inline]
    fn serialize_f64(self, v: f64) -> Result<(), Problem> {
        match self.place {
            Place::Value => number::write_f64(&mut self.form.out, v),
            Place::Key if v.is_finite() => self.float_key(v),
            Place::Key => Err(Problem::NonFinite),
            Place::Root => Err(Problem::NotAnObject),
            Place::NumberText => Err(Problem::Number),
        }
    }

    #[inline]
    fn serialize_f32(self, v: f32) -> Result<(), Problem> {
        match self.place {
            Place::Value => number::write_f32(&mut self.form.out, v),
            Place::Key if v.is_finite() => self.float_key(v),
            Place::Key => Err(Problem::NonFinite),
            Place::Root => Err(Problem::NotAnObject),
            Place::NumberText => Err(Problem::Number),
        }
    }

    #[inline]
    fn serialize_bool(self, v: bool) -> Result<(), Problem> {
        if v {
            self.literal(b't', "true")
        } else {
            self.literal(b'f', "false")
        }
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

    /// JSON has no bytes: serde_json writes an array of numbers.
    #[inline]
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Problem> {
        let mut array = self.array()?;
        for byte in v {
            ser::SerializeSeq::serialize_element(&mut array, byte)?;
        }
        ser::SerializeSeq::end(array)
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
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        let (form, mut frame) = self.variant(variant)?;
        form.value(&mut frame, value)?;
        form.close(frame)
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'a>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Array<'a>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Array<'a>, Problem> {
        self.array()
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'a>, Problem> {
        let (form, frame) = self.variant(variant)?;
        form.out.push(b'[');
        Ok(Array {
            form,
            variant: Some(frame),
        })
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Object<'a>, Problem> {
        self.object()
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Struct<'a>, Problem> {
        // By the struct's name, which the program chose; never by a key, which a client can send.
        if name != guard::NUMBER {
            return self.object().map(Struct::Object);
        }
        match self.place {
            Place::Value => Ok(Struct::Number(Some(self.form))),
            Place::Root => Err(Problem::NotAnObject),
            Place::Key => Err(Problem::Key),
            Place::NumberText => Err(Problem::Number),
        }
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object<'a>, Problem> {
        let (form, outer) = self.variant(variant)?;
        let frame = form.open(false);
        Ok(Object {
            form,
            frame,
            variant: Some(outer),
        })
    }
}
