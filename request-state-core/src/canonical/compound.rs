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
pub(super) struct Object<'a> {
    pub(super) form: &'a mut Form,
    pub(super) frame: Frame,
    pub(super) variant: Option<Frame>,
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
pub(super) enum Struct<'a> {
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
