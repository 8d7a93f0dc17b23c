//! Arrays, objects and structs that are open while their members are written.

use serde::ser::{self, Serialize};

use super::form::{Form, Frame};
use super::writer::{Place, Writer};
use crate::problem::Problem;

/// An open array, and the variant around it, if there is one.
pub(super) struct Array<'a> {
    pub(super) form: &'a mut Form,
    pub(super) variant: Option<Frame>,
}

impl Array<'_> {
    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        value.serialize(Writer {
            form: self.form,
            place: Place::Value,
        })
    }

    #[inline]
    fn close(self) -> Result<(), Problem> {
        self.form.out.push(b']');
        close_variant(self.form, self.variant)
    }
}

/// An open object, and the variant around it, if there is one.
pub(super) struct Object<'a> {
    pub(super) form: &'a mut Form,
    pub(super) frame: Frame,
    pub(super) variant: Option<Frame>,
}

impl Object<'_> {
    #[inline]
    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        self.form.name(&mut self.frame, name)?;
        self.form.value(&mut self.frame, value)
    }

    #[inline]
    fn close(self) -> Result<(), Problem> {
        self.form.close(self.frame)?;
        close_variant(self.form, self.variant)
    }
}

#[inline]
fn close_variant(form: &mut Form, variant: Option<Frame>) -> Result<(), Problem> {
    match variant {
        None => Ok(()),
        Some(mut frame) => {
            form.end_value(&mut frame);
            form.close(frame)
        }
    }
}

/// An open struct: an object, or a number that serde_json passes as one, until its text has come.
pub(super) enum Struct<'a> {
    Object(Object<'a>),
    Number(Option<&'a mut Form>),
}

impl ser::SerializeSeq for Array<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTuple for Array<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Array<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Array<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeMap for Object<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        self.form.key(&mut self.frame, key)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        self.form.value(&mut self.frame, value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = ();
    type Error = Problem;

    #[inline]
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

    #[inline]
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

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        self.field(key, value)
    }

    #[inline]
    fn end(self) -> Result<(), Problem> {
        self.close()
    }
}
