//! Arrays, objects and structs that are open while their members are written.

use serde::ser::{self, Serialize};

use super::members::{Frame, Next, head};
use super::output::Output;
use super::walk::{NUMBER, Place, Walk, Walker, is_reserved};
use crate::problem::{Problem, Step};

/// An open array, and the variant around it, if there is one.
pub(super) struct Array<'w, O> {
    walk: &'w mut Walk<O>,
    level: u32,
    items: u64,
    variant: Option<Frame>,
}

impl<'w, O: Output> Array<'w, O> {
    /// Begins an array. `level` includes it.
    #[inline]
    pub(super) fn begin(walk: &'w mut Walk<O>, level: u32, variant: Option<Frame>) -> Self {
        walk.out.push(b'[');
        Self {
            walk,
            level,
            items: 0,
            variant,
        }
    }

    #[inline]
    pub(super) fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        let step = Step::Item(self.items);
        if self.items > 0 {
            O::separate(&mut self.walk.out);
        }
        self.items = self.items.saturating_add(1);
        let result = value.serialize(Walker {
            walk: self.walk,
            place: Place::Value,
            level: self.level,
        });
        self.walk.note(result, step)
    }

    #[inline]
    pub(super) fn finish(&mut self) -> Result<(), Problem> {
        self.walk.out.push(b']');
        match &mut self.variant {
            None => Ok(()),
            Some(frame) => self.walk.end_variant(frame),
        }
    }
}

/// An open object, and the variant around it, if there is one.
pub(super) struct Object<'w, O> {
    walk: &'w mut Walk<O>,
    level: u32,
    /// The number of values so far.
    entries: u64,
    frame: Frame,
    variant: Option<Frame>,
}

impl<'w, O: Output> Object<'w, O> {
    /// Begins an object. `level` includes it.
    #[inline]
    pub(super) fn begin(walk: &'w mut Walk<O>, level: u32, is_root: bool) -> Self {
        let frame = walk.begin_object(is_root);
        Self {
            walk,
            level,
            entries: 0,
            frame,
            variant: None,
        }
    }

    /// Begins the object of a struct variant, inside the object of the variant.
    #[inline]
    pub(super) fn in_variant(walk: &'w mut Walk<O>, level: u32, variant: Frame) -> Self {
        Self {
            variant: Some(variant),
            ..Self::begin(walk, level, false)
        }
    }

    #[inline(always)] // see `Frame::see`
    fn field<T>(&mut self, name: &'static str, value: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        let named = self.walk.name(&mut self.frame, name);
        self.walk.record(named)?;
        let result = self.walk.value(&mut self.frame, self.level, value);
        self.walk.note(result, Step::Field(name))
    }

    /// Does what [`field`](Self::field) does, compiled once for each type of value instead of once for each field.
    #[inline(never)]
    fn field_by_call<T>(&mut self, name: &'static str, value: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        self.field(name, value)
    }

    #[inline]
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        let result = self.walk.key(&mut self.frame, key);
        self.walk.note(result, Step::Entry(self.entries))
    }

    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        let step = Step::Entry(self.entries);
        self.entries = self.entries.saturating_add(1);
        let result = self.walk.value(&mut self.frame, self.level, value);
        self.walk.note(result, step)
    }

    /// Ends the object. It takes a reference, because moving the object would read back fields that were just
    /// written.
    #[inline]
    fn finish(&mut self) -> Result<(), Problem> {
        self.walk.end_object(&self.frame)?;
        match &mut self.variant {
            None => Ok(()),
            Some(frame) => self.walk.end_variant(frame),
        }
    }
}

/// An open struct: an object, or a number that serde_json passes as a struct with its text as the one
/// field.
pub(super) enum Struct<'w, O> {
    Object(Object<'w, O>),
    Number {
        walk: &'w mut Walk<O>,
        has_text: bool,
    },
}

impl<O: Output> Struct<'_, O> {
    #[inline(always)] // see `Frame::see`
    fn field<T>(&mut self, name: &'static str, value: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        match self {
            Self::Object(object) => object.field(name, value),
            Self::Number { walk, has_text } => {
                if name != NUMBER {
                    return walk.reject(Problem::Number);
                }
                if std::mem::replace(has_text, true) {
                    return walk.reject(Problem::DuplicateKey);
                }
                let written = value.serialize(Walker {
                    walk,
                    place: Place::NumberText,
                    level: 0,
                });
                walk.record(written)
            }
        }
    }

    /// See `Object::field_by_call`.
    #[inline(never)]
    fn field_by_call<T>(&mut self, name: &'static str, value: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        self.field(name, value)
    }

    #[inline]
    fn finish(&mut self) -> Result<(), Problem> {
        match self {
            Self::Object(object) => object.finish(),
            Self::Number { has_text: true, .. } => Ok(()),
            Self::Number { walk, .. } => walk.reject(Problem::Number),
        }
    }
}

impl<O: Output> Walk<O> {
    #[inline]
    fn begin_object(&mut self, is_root: bool) -> Frame {
        self.out.push(b'{');
        self.members.open(&self.out, is_root)
    }

    /// Begins the object around the contents of a variant.
    #[inline]
    pub(super) fn begin_variant(
        &mut self,
        name: &'static str,
        is_root: bool,
    ) -> Result<Frame, Problem> {
        let mut frame = self.begin_object(is_root);
        self.name(&mut frame, name)?;
        Ok(frame)
    }

    #[inline]
    pub(super) fn end_variant(&mut self, frame: &mut Frame) -> Result<(), Problem> {
        self.members.end_value::<O>(frame, &self.out)?;
        self.end_object(frame)
    }

    #[inline]
    fn key<T>(&mut self, frame: &mut Frame, key: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        // A key after a key, which no `Serialize` of a JSON value writes.
        if frame.next() != Next::Key {
            return self.reject(Problem::Serialize);
        }
        frame.see_any();
        let start = self.begin_member(frame);
        key.serialize(Walker {
            walk: self,
            place: Place::Key,
            level: 0,
        })?;
        O::assign(&mut self.out);
        self.members.add::<O>(frame, &self.out, start, self.head)
    }

    /// Writes the name of a field or variant, a string already.
    #[inline(always)] // see `Frame::see`
    fn name(&mut self, frame: &mut Frame, name: &'static str) -> Result<(), Problem> {
        if O::REJECTS_RESERVED && is_reserved(name) {
            return self.reject(Problem::ReservedKey);
        }
        frame.see(name);
        let start = self.begin_member(frame);
        let head = head(name.as_bytes());
        O::key(&mut self.out, name, head)?;
        O::assign(&mut self.out);
        self.members.add::<O>(frame, &self.out, start, head)
    }

    /// Returns where the next member of the innermost object starts.
    #[inline]
    fn begin_member(&mut self, frame: &Frame) -> usize {
        if !frame.is_empty(&self.members) {
            O::separate(&mut self.out);
        }
        self.out.len()
    }

    #[inline]
    pub(super) fn value<T: Serialize + ?Sized>(
        &mut self,
        frame: &mut Frame,
        level: u32,
        value: &T,
    ) -> Result<(), Problem> {
        match frame.next() {
            // A value without a key, or a second value for a key.
            Next::Key => self.reject(Problem::Serialize),
            Next::Skipped => {
                frame.skip();
                Ok(())
            }
            Next::Value => {
                value.serialize(Walker {
                    walk: self,
                    place: Place::Value,
                    level,
                })?;
                self.members.end_value::<O>(frame, &self.out)
            }
        }
    }

    #[inline]
    pub(super) fn end_object(&mut self, frame: &Frame) -> Result<(), Problem> {
        self.check()?;
        if frame.next() != Next::Key {
            return self.reject(Problem::Serialize);
        }
        let closed = self
            .members
            .closing(frame)
            .and_then(|object| O::close(&mut self.out, object));
        if let Err(problem) = closed {
            return self.reject(problem);
        }
        self.members.close(frame);
        self.out.push(b'}');
        Ok(())
    }
}

impl<O: Output> ser::SerializeSeq for Array<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeTuple for Array<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeTupleStruct for Array<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeTupleVariant for Array<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeMap for Object<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        self.key(key)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.value(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeStruct for Struct<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        if O::INLINES_FIELDS {
            self.field(key, value)
        } else {
            self.field_by_call(key, value)
        }
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}

impl<O: Output> ser::SerializeStructVariant for Object<'_, O> {
    type Ok = ();
    type Error = Problem;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        if O::INLINES_FIELDS {
            self.field(key, value)
        } else {
            self.field_by_call(key, value)
        }
    }

    #[inline]
    fn end(mut self) -> Result<(), Problem> {
        self.finish()
    }
}
