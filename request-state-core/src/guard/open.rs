//! An open array or object: passes each member on under guard.

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};

use super::fields::StructFields;
use super::keys::MapKeys;
use super::{Guarded, Watch, is_reserved};
use crate::canonical::check_number;
use crate::problem::{Problem, Step};

/// An open array or object.
pub(super) struct Open<'w, C, const READ_BACK: bool> {
    inner: C,
    level: u32,
    members: u64,
    watch: &'w Watch<READ_BACK>,
}

impl<'w, C, const READ_BACK: bool> Open<'w, C, READ_BACK> {
    pub(super) fn new(inner: C, level: u32, watch: &'w Watch<READ_BACK>) -> Self {
        Self {
            inner,
            level,
            members: 0,
            watch,
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let index = self.members;
        self.members = self.members.saturating_add(1);
        index
    }

    /// Passes one member on, and notes where an error came from.
    #[inline]
    fn member<T: ?Sized, E>(
        &mut self,
        value: &T,
        step: Step,
        pass: impl FnOnce(&mut C, &Guarded<'_, T, READ_BACK>) -> Result<(), E>,
    ) -> Result<(), E> {
        let value = Guarded {
            value,
            level: self.level,
            watch: self.watch,
        };
        let result = pass(&mut self.inner, &value);
        self.watch.note(result, step)
    }
}

impl<C: SerializeSeq, const READ_BACK: bool> SerializeSeq for Open<'_, C, READ_BACK> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Item(self.next());
        self.member(value, step, |inner, value| inner.serialize_element(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeTuple, const READ_BACK: bool> SerializeTuple for Open<'_, C, READ_BACK> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Item(self.next());
        self.member(value, step, |inner, value| inner.serialize_element(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeTupleStruct, const READ_BACK: bool> SerializeTupleStruct
    for Open<'_, C, READ_BACK>
{
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Item(self.next());
        self.member(value, step, |inner, value| inner.serialize_field(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeTupleVariant, const READ_BACK: bool> SerializeTupleVariant
    for Open<'_, C, READ_BACK>
{
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Item(self.next());
        self.member(value, step, |inner, value| inner.serialize_field(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

/// An open map.
pub(super) struct OpenMap<'w, C, const READ_BACK: bool> {
    map: Open<'w, C, READ_BACK>,
    keys: MapKeys,
    /// Whether a key has come, and not yet its value. serde_json would write keys and values in any
    /// order, and that is no JSON.
    has_key: bool,
}

impl<'w, C, const READ_BACK: bool> OpenMap<'w, C, READ_BACK> {
    pub(super) fn new(inner: C, level: u32, watch: &'w Watch<READ_BACK>) -> Self {
        Self {
            map: Open::new(inner, level, watch),
            keys: watch.keys.borrow().open(),
            has_key: false,
        }
    }
}

impl<C: SerializeMap, const READ_BACK: bool> SerializeMap for OpenMap<'_, C, READ_BACK> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        let Open { inner, watch, .. } = &mut self.map;
        let seen = if !READ_BACK {
            Ok(())
        } else if std::mem::replace(&mut self.has_key, true) {
            Err(Problem::Serialize)
        } else {
            watch.keys.borrow_mut().push(&mut self.keys, key)
        };
        let result = match seen {
            Ok(()) => inner.serialize_key(key),
            Err(problem) => watch.refuse(problem),
        };
        watch.note(result, Step::Entry(self.map.members))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Entry(self.map.next());
        if READ_BACK && !std::mem::replace(&mut self.has_key, false) {
            let watch = self.map.watch;
            return watch.note(watch.refuse(Problem::Serialize), step);
        }
        self.map
            .member(value, step, |inner, value| inner.serialize_value(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        let Open { inner, watch, .. } = self.map;
        if READ_BACK && self.has_key {
            return watch.refuse(Problem::Serialize);
        }
        if READ_BACK && !watch.keys.borrow_mut().close(&self.keys) {
            return watch.refuse(Problem::DuplicateKey);
        }
        inner.end()
    }
}

/// An open struct, or variant with fields.
pub(super) struct OpenStruct<'w, C, const READ_BACK: bool> {
    members: Open<'w, C, READ_BACK>,
    fields: StructFields,
    /// Whether it is a number that serde_json passes as a struct.
    is_number: bool,
}

impl<'w, C, const READ_BACK: bool> OpenStruct<'w, C, READ_BACK> {
    pub(super) fn new(inner: C, level: u32, watch: &'w Watch<READ_BACK>, is_number: bool) -> Self {
        Self {
            members: Open::new(inner, level, watch),
            fields: watch.fields.open(),
            is_number,
        }
    }

    /// Passes a field on.
    #[inline(always)] // see `Fields::push`
    fn field<T: Serialize + ?Sized, E: Error>(
        &mut self,
        name: &'static str,
        value: &T,
        pass: impl FnOnce(&mut C, &Guarded<'_, T, READ_BACK>) -> Result<(), E>,
    ) -> Result<(), E> {
        let watch = self.members.watch;
        if READ_BACK && let Err(problem) = self.check(name, value) {
            return watch.refuse(problem);
        }
        self.members.member(value, Step::Field(name), pass)
    }

    /// Whether a field can be read back.
    #[inline(always)] // see `Fields::push`
    fn check<T>(&mut self, name: &'static str, value: &T) -> Result<(), Problem>
    where
        T: Serialize + ?Sized,
    {
        if is_reserved(name) != self.is_number {
            return Err(Problem::ReservedKey);
        }
        if self.is_number {
            // serde_json writes it as it is.
            check_number(value)?;
        }
        if self.members.watch.fields.push(&mut self.fields, name) {
            Ok(())
        } else {
            Err(Problem::DuplicateKey)
        }
    }

    #[inline]
    fn close<E: Error>(self) -> Result<C, E> {
        let Open { inner, watch, .. } = self.members;
        // serde_json would write nothing at all.
        if self.is_number && READ_BACK && self.fields.is_empty() {
            return watch.refuse(Problem::Number);
        }
        watch.fields.close(&self.fields);
        Ok(inner)
    }
}

impl<C: SerializeStruct, const READ_BACK: bool> SerializeStruct for OpenStruct<'_, C, READ_BACK> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.field(key, value, |inner, value| inner.serialize_field(key, value))
    }

    #[inline]
    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.members.inner.skip_field(key)
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.close()?.end()
    }
}

impl<C: SerializeStructVariant, const READ_BACK: bool> SerializeStructVariant
    for OpenStruct<'_, C, READ_BACK>
{
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.field(key, value, |inner, value| inner.serialize_field(key, value))
    }

    #[inline]
    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.members.inner.skip_field(key)
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.close()?.end()
    }
}
