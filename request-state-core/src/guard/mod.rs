//! A serializer around another: refuses what JSON cannot carry, and remembers where it stood.
//!
//! serde_json writes NaN and infinity as `null`, nests without end when it serializes and stops at
//! 127 levels when it parses. A `Formatter` sees none of this, so every value passes through here
//! on its way to serde_json (the state) or to the canonical form (the params).

mod fields;
mod keys;
mod open;

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};

use serde::ser::{Serialize, Serializer};

use self::fields::Fields;
use self::keys::Keys;
use self::open::{Open, OpenMap, OpenStruct};
use crate::problem::{Problem, Step, path};

/// The name under which serde_json's `arbitrary_precision` passes a number, with its text as the
/// one field, to any serializer. Cargo unifies features, so this library cannot know whether it is
/// on.
pub(crate) const NUMBER: &str = "$serde_json::private::Number";

/// Likewise, serde_json's `RawValue`.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Whether serde_json keeps `name` for itself. With some of its features on, it would read an object
/// with such a member back as something else.
#[inline(always)] // into derived code, where `name` is a constant
fn is_reserved(name: &str) -> bool {
    name == NUMBER || name == RAW_VALUE
}

/// The length to state for an array or object whose value states `length`. serde_json writes both
/// brackets of what is to stay empty at once, and behind them whatever comes after all.
#[inline]
fn stated(length: usize) -> usize {
    length.max(1)
}

/// What `value` displays, unless its `Display` fails.
pub(crate) fn display<T: fmt::Display + ?Sized>(value: &T) -> Result<String, Problem> {
    let mut text = String::new();
    write!(text, "{value}").map_err(|_| Problem::Serialize)?;
    Ok(text)
}

/// Passes `value` through a guard to `serializer`.
///
/// Returns the first problem and its path, also when the value's own `Serialize` implementation
/// swallowed the error.
///
/// `READ_BACK` says whether the value is to be read back, so that keys and values come in turn, and no
/// key may be there twice or be one of serde_json's own names. (The canonical form sees for itself
/// that keys and values come in turn, and a key that is there twice.)
pub(crate) fn serialize<T, S, const READ_BACK: bool>(
    value: &T,
    serializer: S,
    rules: Rules,
    problem_of: impl Fn(S::Error) -> Problem,
) -> Result<(), (String, Problem)>
where
    T: Serialize + ?Sized,
    S: Serializer,
{
    let watch: Watch<READ_BACK> = Watch {
        rules,
        keys: RefCell::default(),
        fields: Fields::default(),
        problem: Cell::new(None),
        failed: Cell::new(false),
        steps: Cell::new(Vec::new()),
    };
    let result = value.serialize(Guard {
        inner: serializer,
        level: 0,
        watch: &watch,
    });
    let problem = match (watch.problem.get(), result) {
        (Some(problem), _) => problem,
        (None, Err(error)) => problem_of(error),
        (None, Ok(_)) if watch.failed.get() => Problem::Serialize,
        (None, Ok(_)) => return Ok(()),
    };
    Err((path(rules.root, &watch.steps.take()), problem))
}

/// What a guard holds a value to.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Names the value in the path of an error.
    pub(crate) root: &'static str,
    /// How deeply arrays and objects may nest.
    pub(crate) max_level: u32,
}

/// What all guards of one value share.
struct Watch<const READ_BACK: bool> {
    rules: Rules,
    /// The keys of the open maps, if the value is to be read back.
    keys: RefCell<Keys>,
    /// Likewise, the fields of the open structs.
    fields: Fields,
    /// What a guard refused.
    problem: Cell<Option<Problem>>,
    /// Whether an error passed through. It stays set when the value's own implementation of
    /// `Serialize` ignores the error and goes on, since what was written then is not the value.
    failed: Cell<bool>,
    /// Collected on the way out, innermost first.
    steps: Cell<Vec<Step>>,
}

impl<const READ_BACK: bool> Watch<READ_BACK> {
    fn refuse<T, E: serde::ser::Error>(&self, problem: Problem) -> Result<T, E> {
        // The first one, if the value goes on after it.
        self.problem.set(self.problem.get().or(Some(problem)));
        Err(E::custom(problem))
    }

    /// Notes an error that passes through `step`.
    #[inline]
    fn note<T, E>(&self, result: Result<T, E>, step: Step) -> Result<T, E> {
        if result.is_err() {
            self.note_error(step);
        }
        result
    }

    #[cold]
    fn note_error(&self, step: Step) {
        self.failed.set(true);
        // A number's text is not a step of its own into the value.
        if !matches!(step, Step::Field(NUMBER)) {
            let mut steps = self.steps.take();
            steps.push(step);
            self.steps.set(steps);
        }
    }
}

struct Guard<'w, S, const READ_BACK: bool> {
    inner: S,
    /// How many arrays and objects are open around the value.
    level: u32,
    watch: &'w Watch<READ_BACK>,
}

impl<'w, S: Serializer, const READ_BACK: bool> Guard<'w, S, READ_BACK> {
    /// The level inside of `opens` more arrays and objects.
    #[inline]
    fn deeper(&self, opens: u32) -> Result<u32, S::Error> {
        match self.level.checked_add(opens) {
            Some(level) if level <= self.watch.rules.max_level => Ok(level),
            _ => self.watch.refuse(Problem::TooDeep),
        }
    }

    /// The level inside of a variant, which is an object with the variant's name as its key, and of
    /// what it carries.
    #[inline]
    fn variant(&self, name: &'static str, opens: u32) -> Result<u32, S::Error> {
        if READ_BACK && is_reserved(name) {
            return self.watch.refuse(Problem::ReservedKey);
        }
        self.deeper(opens)
    }

    #[inline]
    fn finite(&self, is_finite: bool) -> Result<(), S::Error> {
        if is_finite {
            Ok(())
        } else {
            self.watch.refuse(Problem::NonFinite)
        }
    }
}

/// A value that puts a guard around whatever serializer it is given.
struct Guarded<'a, T: ?Sized, const READ_BACK: bool> {
    value: &'a T,
    level: u32,
    watch: &'a Watch<READ_BACK>,
}

impl<T, const READ_BACK: bool> Serialize for Guarded<'_, T, READ_BACK>
where
    T: Serialize + ?Sized,
{
    #[inline]
    fn serialize<S: Serializer>(&self, inner: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Guard {
            inner,
            level: self.level,
            watch: self.watch,
        })
    }
}

impl<'w, S: Serializer, const READ_BACK: bool> Serializer for Guard<'w, S, READ_BACK> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Open<'w, S::SerializeSeq, READ_BACK>;
    type SerializeTuple = Open<'w, S::SerializeTuple, READ_BACK>;
    type SerializeTupleStruct = Open<'w, S::SerializeTupleStruct, READ_BACK>;
    type SerializeTupleVariant = Open<'w, S::SerializeTupleVariant, READ_BACK>;
    type SerializeMap = OpenMap<'w, S::SerializeMap, READ_BACK>;
    type SerializeStruct = OpenStruct<'w, S::SerializeStruct, READ_BACK>;
    type SerializeStructVariant = OpenStruct<'w, S::SerializeStructVariant, READ_BACK>;

    #[inline]
    fn serialize_f32(self, v: f32) -> Result<S::Ok, S::Error> {
        self.finite(v.is_finite())?;
        self.inner.serialize_f32(v)
    }

    #[inline]
    fn serialize_f64(self, v: f64) -> Result<S::Ok, S::Error> {
        self.finite(v.is_finite())?;
        self.inner.serialize_f64(v)
    }

    /// JSON writes bytes as an array of numbers.
    #[inline]
    fn serialize_bytes(self, v: &[u8]) -> Result<S::Ok, S::Error> {
        self.deeper(1)?;
        self.inner.serialize_bytes(v)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let level = self.deeper(1)?;
        Ok(Open::new(
            self.inner.serialize_seq(len.map(stated))?,
            level,
            self.watch,
        ))
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let level = self.deeper(1)?;
        Ok(Open::new(
            self.inner.serialize_tuple(stated(len))?,
            level,
            self.watch,
        ))
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let level = self.deeper(1)?;
        let inner = self.inner.serialize_tuple_struct(name, stated(len))?;
        Ok(Open::new(inner, level, self.watch))
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let level = self.deeper(1)?;
        let inner = self.inner.serialize_map(len.map(stated))?;
        Ok(OpenMap::new(inner, level, self.watch))
    }

    #[inline]
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let is_number = name == NUMBER;
        let level = match name {
            NUMBER => self.level,
            RAW_VALUE => return self.watch.refuse(Problem::RawValue),
            _ => self.deeper(1)?,
        };
        let inner = self.inner.serialize_struct(name, stated(len))?;
        Ok(OpenStruct::new(inner, level, self.watch, is_number))
    }

    // JSON writes a variant that carries something as an object of one member, named after it.

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let watch = self.watch;
        let value = Guarded {
            value,
            level: self.variant(variant, 1)?,
            watch,
        };
        let result = self
            .inner
            .serialize_newtype_variant(name, index, variant, &value);
        watch.note(result, Step::Field(variant))
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let level = self.variant(variant, 2)?;
        let inner = self
            .inner
            .serialize_tuple_variant(name, index, variant, stated(len))?;
        Ok(Open::new(inner, level, self.watch))
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let level = self.variant(variant, 2)?;
        let inner = self
            .inner
            .serialize_struct_variant(name, index, variant, stated(len))?;
        Ok(OpenStruct::new(inner, level, self.watch, false))
    }

    // Transparent: the value stands in the place of its wrapper.

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Guarded {
            value,
            level: self.level,
            watch: self.watch,
        })
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(
            name,
            &Guarded {
                value,
                level: self.level,
                watch: self.watch,
            },
        )
    }

    /// As serde_json would write it, but for a `Display` that fails: neither serde nor serde_json
    /// expects that, and both panic.
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        match display(value) {
            Ok(text) => self.inner.serialize_str(&text),
            Err(problem) => self.watch.refuse(problem),
        }
    }

    // The rest passes as it is.

    #[inline]
    fn serialize_bool(self, v: bool) -> Result<S::Ok, S::Error> {
        self.inner.serialize_bool(v)
    }

    #[inline]
    fn serialize_i8(self, v: i8) -> Result<S::Ok, S::Error> {
        self.inner.serialize_i8(v)
    }

    #[inline]
    fn serialize_i16(self, v: i16) -> Result<S::Ok, S::Error> {
        self.inner.serialize_i16(v)
    }

    #[inline]
    fn serialize_i32(self, v: i32) -> Result<S::Ok, S::Error> {
        self.inner.serialize_i32(v)
    }

    #[inline]
    fn serialize_i64(self, v: i64) -> Result<S::Ok, S::Error> {
        self.inner.serialize_i64(v)
    }

    #[inline]
    fn serialize_i128(self, v: i128) -> Result<S::Ok, S::Error> {
        self.inner.serialize_i128(v)
    }

    #[inline]
    fn serialize_u8(self, v: u8) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u8(v)
    }

    #[inline]
    fn serialize_u16(self, v: u16) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u16(v)
    }

    #[inline]
    fn serialize_u32(self, v: u32) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u32(v)
    }

    #[inline]
    fn serialize_u64(self, v: u64) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u64(v)
    }

    #[inline]
    fn serialize_u128(self, v: u128) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u128(v)
    }

    #[inline]
    fn serialize_char(self, v: char) -> Result<S::Ok, S::Error> {
        self.inner.serialize_char(v)
    }

    #[inline]
    fn serialize_str(self, v: &str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_str(v)
    }

    #[inline]
    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    #[inline]
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    #[inline]
    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_struct(name)
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}
