//! An open array or object: passes each member on under guard.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::{Guarded, Watch};
use crate::problem::Step;

/// An open array or object.
pub(super) struct Open<'w, C> {
    inner: C,
    level: u32,
    members: u64,
    /// The number of its first key, if it is a map. The fields of a struct stand in the program's
    /// text, and are not looked at again and again.
    first_key: usize,
    watch: &'w Watch,
}

impl<'w, C> Open<'w, C> {
    pub(super) fn new(inner: C, level: u32, watch: &'w Watch) -> Self {
        Self {
            inner,
            level,
            members: 0,
            first_key: watch.keys.borrow().len(),
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
        pass: impl FnOnce(&mut C, &Guarded<'_, T>) -> Result<(), E>,
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

impl<C: SerializeSeq> SerializeSeq for Open<'_, C> {
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

impl<C: SerializeTuple> SerializeTuple for Open<'_, C> {
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

impl<C: SerializeTupleStruct> SerializeTupleStruct for Open<'_, C> {
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

impl<C: SerializeTupleVariant> SerializeTupleVariant for Open<'_, C> {
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

impl<C: SerializeMap> SerializeMap for Open<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        let step = Step::Entry(self.members);
        let result = if self.watch.rules.is_read_back {
            match self.watch.keys.borrow_mut().push(key) {
                Ok(text) => self.inner.serialize_key(text),
                Err(problem) => self.watch.refuse(problem),
            }
        } else {
            self.inner.serialize_key(key)
        };
        self.watch.note(result, step)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let step = Step::Entry(self.next());
        self.member(value, step, |inner, value| inner.serialize_value(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.watch.close(self.first_key)?;
        self.inner.end()
    }
}

impl<C: SerializeStruct> SerializeStruct for Open<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.member(value, Step::Field(key), |inner, value| {
            inner.serialize_field(key, value)
        })
    }

    #[inline]
    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.inner.skip_field(key)
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeStructVariant> SerializeStructVariant for Open<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.member(value, Step::Field(key), |inner, value| {
            inner.serialize_field(key, value)
        })
    }

    #[inline]
    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.inner.skip_field(key)
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
