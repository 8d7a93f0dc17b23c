//! The canonical form of request params: equal JSON values give equal bytes, others do not.
//!
//! | value | form |
//! |---|---|
//! | null, true, false | `n`, `t`, `f` |
//! | number | `N` digits `,` ([`number`](crate::number)) |
//! | string | `S`, its length in bytes in decimal, `:`, its UTF-8 bytes |
//! | array | `[`, the values, `]` |
//! | object | `{`, for each member the key (as a string, without the `S`) and the value, `}` |
//!
//! Members are sorted by the bytes of their keys. Every form tells where it ends, so no two values
//! share one. Lengths stand in front of strings, where JSON would have to look at every byte for
//! one to escape.
//!
//! One pass writes into one buffer. An object whose members do not come sorted is put in order when
//! it ends, through a second buffer.

use serde::ser::{self, Serialize, Serializer};

use crate::guard;
use crate::number;
use crate::problem::Problem;

/// How deeply params may nest, the params object included.
const MAX_LEVEL: u32 = 128;

/// The members of params that change between the rounds of one request, so no part of what it is.
const VOLATILE: [&[u8]; 3] = [b"_meta", b"inputResponses", b"requestState"];

/// Appends the canonical form of the salient part of `params` to `out`.
///
/// Returns the path of what cannot be canonicalized, and why.
pub(crate) fn write<T>(out: Vec<u8>, params: &T) -> Result<Vec<u8>, (String, Problem)>
where
    T: Serialize + ?Sized,
{
    let mut form = Form {
        out,
        members: Vec::with_capacity(32),
        spare: Vec::new(),
        text: 0,
    };
    let writer = Writer {
        form: &mut form,
        place: Place::Root,
    };
    guard::serialize(params, writer, "params", MAX_LEVEL, |problem| problem)?;
    Ok(form.out)
}

struct Form {
    out: Vec<u8>,
    /// The members of every open object, the innermost object's last.
    members: Vec<Member>,
    /// Where the members of an unsorted object are put in order.
    spare: Vec<u8>,
    /// Where the text of the last string starts.
    text: usize,
}

/// Where a member stands in `out`: its start, its key's text, its value, its end.
struct Member {
    start: usize,
    text: usize,
    value: usize,
    end: usize,
    /// Whether it is part of the form.
    salient: bool,
}

/// An open object.
#[derive(Clone, Copy)]
struct Frame {
    /// Where its first member starts in `out`.
    start: usize,
    /// Its first member in `members`.
    first: usize,
    is_root: bool,
}

impl Form {
    fn string(&mut self, text: &str) {
        let length = text.len();
        self.out
            .extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
        self.out.push(b':');
        self.text = self.out.len();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn open(&mut self, is_root: bool) -> Frame {
        self.out.push(b'{');
        Frame {
            start: self.out.len(),
            first: self.members.len(),
            is_root,
        }
    }

    fn key<T: Serialize + ?Sized>(&mut self, frame: Frame, key: &T) -> Result<(), Problem> {
        let start = self.out.len();
        key.serialize(Writer {
            form: self,
            place: Place::Key,
        })?;
        let end = self.out.len();
        let salient = !(frame.is_root && VOLATILE.contains(&span(&self.out, self.text, end)));
        self.members.push(Member {
            start,
            text: self.text,
            value: end,
            end,
            salient,
        });
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, frame: Frame, value: &T) -> Result<(), Problem> {
        match self.members.get(frame.first..).and_then(<[_]>::last) {
            Some(member) if !member.salient => return Ok(()),
            Some(member) if member.value == self.out.len() => {}
            // A value without a key, or a second one: no serializer of a JSON value does that.
            _ => return Err(Problem::Serialize),
        }
        value.serialize(Writer {
            form: self,
            place: Place::Value,
        })?;
        self.end_value(frame);
        Ok(())
    }

    fn end_value(&mut self, frame: Frame) {
        let end = self.out.len();
        if let Some(member) = self.members.last_mut() {
            member.end = end;
            // Absent and null are the same request, but only at the top.
            if frame.is_root && span(&self.out, member.value, end) == b"n" {
                member.salient = false;
            }
        }
    }

    fn close(&mut self, frame: Frame) -> Result<(), Problem> {
        let out = &self.out;
        let members = self.members.get_mut(frame.first..).unwrap_or_default();
        let key = |member: &Member| span(out, member.text, member.value);
        let mut in_place = members.iter().all(|member| member.salient);
        if !members.is_sorted_by(|a, b| key(a) < key(b)) {
            in_place = false;
            members.sort_unstable_by(|a, b| key(a).cmp(key(b)));
            if !members.is_sorted_by(|a, b| key(a) < key(b)) {
                return Err(Problem::DuplicateKey);
            }
        }
        if members.iter().any(|m| m.salient && m.value == m.end) {
            return Err(Problem::Serialize);
        }
        if !in_place {
            self.spare.clear();
            for member in members.iter().filter(|member| member.salient) {
                self.spare
                    .extend_from_slice(span(out, member.start, member.end));
            }
            self.out.truncate(frame.start);
            self.out.extend_from_slice(&self.spare);
        }
        self.members.truncate(frame.first);
        self.out.push(b'}');
        Ok(())
    }
}

fn span(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}

/// What the next value is to be.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Key,
    Value,
    /// The text of a number, inside serde_json's struct for one.
    NumberText,
}

struct Writer<'a> {
    form: &'a mut Form,
    place: Place,
}

impl<'a> Writer<'a> {
    /// A value that is one byte, and a string when it is a key.
    fn literal(self, form: u8, as_key: &str) -> Result<(), Problem> {
        match self.place {
            Place::Value => self.form.out.push(form),
            Place::Key => self.form.string(as_key),
            Place::Root => return Err(Problem::NotAnObject),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(())
    }

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

    fn integer(self, value: impl itoa::Integer) -> Result<(), Problem> {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(value);
        match self.place {
            Place::Value => number::write_integer(&mut self.form.out, text),
            Place::Key => self.form.string(text),
            Place::Root => return Err(Problem::NotAnObject),
            Place::NumberText => return Err(Problem::Number),
        }
        Ok(())
    }

    /// A floating-point number as a key is spelled as serde_json spells it, so serde_json does it.
    fn float_key(self, value: impl Serialize) -> Result<(), Problem> {
        let text = serde_json::to_string(&value).map_err(|_| Problem::Key)?;
        self.form.string(&text);
        Ok(())
    }

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
    fn variant(self, name: &'static str) -> Result<(&'a mut Form, Frame), Problem> {
        let Object { form, frame, .. } = self.object()?;
        form.key(frame, name)?;
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

    fn serialize_str(self, v: &str) -> Result<(), Problem> {
        match self.place {
            Place::Value => {
                self.form.out.push(b'S');
                self.form.string(v);
            }
            Place::Key => self.form.string(v),
            Place::NumberText => number::write_text(&mut self.form.out, v)?,
            Place::Root => return Err(Problem::NotAnObject),
        }
        Ok(())
    }

    fn serialize_f64(self, v: f64) -> Result<(), Problem> {
        match self.place {
            Place::Value => number::write_f64(&mut self.form.out, v),
            Place::Key if v.is_finite() => self.float_key(v),
            Place::Key => Err(Problem::Key),
            Place::Root => Err(Problem::NotAnObject),
            Place::NumberText => Err(Problem::Number),
        }
    }

    fn serialize_f32(self, v: f32) -> Result<(), Problem> {
        match self.place {
            Place::Value => number::write_f32(&mut self.form.out, v),
            Place::Key if v.is_finite() => self.float_key(v),
            Place::Key => Err(Problem::Key),
            Place::Root => Err(Problem::NotAnObject),
            Place::NumberText => Err(Problem::Number),
        }
    }

    fn serialize_bool(self, v: bool) -> Result<(), Problem> {
        if v {
            self.literal(b't', "true")
        } else {
            self.literal(b'f', "false")
        }
    }

    fn serialize_i8(self, v: i8) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_i16(self, v: i16) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_i32(self, v: i32) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_i64(self, v: i64) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_i128(self, v: i128) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_u8(self, v: u8) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_u16(self, v: u16) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_u32(self, v: u32) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_u64(self, v: u64) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_u128(self, v: u128) -> Result<(), Problem> {
        self.integer(v)
    }

    fn serialize_char(self, v: char) -> Result<(), Problem> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    /// JSON has no bytes: serde_json writes an array of numbers.
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Problem> {
        let mut array = self.array()?;
        for byte in v {
            ser::SerializeSeq::serialize_element(&mut array, byte)?;
        }
        ser::SerializeSeq::end(array)
    }

    fn serialize_none(self) -> Result<(), Problem> {
        self.null()
    }

    fn serialize_unit(self) -> Result<(), Problem> {
        self.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Problem> {
        self.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Problem> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Problem> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        let (form, frame) = self.variant(variant)?;
        form.value(frame, value)?;
        form.close(frame)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'a>, Problem> {
        self.array()
    }

    fn serialize_tuple(self, _: usize) -> Result<Array<'a>, Problem> {
        self.array()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Array<'a>, Problem> {
        self.array()
    }

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

    fn serialize_map(self, _: Option<usize>) -> Result<Object<'a>, Problem> {
        self.object()
    }

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

/// An open array, and the variant around it, if there is one.
struct Array<'a> {
    form: &'a mut Form,
    variant: Option<Frame>,
}

impl Array<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        value.serialize(Writer {
            form: self.form,
            place: Place::Value,
        })
    }

    fn close(self) -> Result<(), Problem> {
        self.form.out.push(b']');
        close_variant(self.form, self.variant)
    }
}

/// An open object, and the variant around it, if there is one.
struct Object<'a> {
    form: &'a mut Form,
    frame: Frame,
    variant: Option<Frame>,
}

impl Object<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Problem> {
        self.form.key(self.frame, key)?;
        self.form.value(self.frame, value)
    }

    fn close(self) -> Result<(), Problem> {
        self.form.close(self.frame)?;
        close_variant(self.form, self.variant)
    }
}

fn close_variant(form: &mut Form, variant: Option<Frame>) -> Result<(), Problem> {
    match variant {
        None => Ok(()),
        Some(frame) => {
            form.end_value(frame);
            form.close(frame)
        }
    }
}

/// An open struct: an object, or a number that serde_json passes as one, until its text has come.
enum Struct<'a> {
    Object(Object<'a>),
    Number(Option<&'a mut Form>),
}

impl ser::SerializeSeq for Array<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTuple for Array<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Array<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Array<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeMap for Object<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        self.form.key(self.frame, key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.form.value(self.frame, value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        match self {
            Self::Object(object) => object.field(key, value),
            Self::Number(form) => value.serialize(Writer {
                form: form.take().ok_or(Problem::Number)?,
                place: Place::NumberText,
            }),
        }
    }

    fn end(self) -> Result<(), Problem> {
        match self {
            Self::Object(object) => object.close(),
            Self::Number(None) => Ok(()),
            Self::Number(Some(_)) => Err(Problem::Number),
        }
    }
}

impl ser::SerializeStructVariant for Object<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}
