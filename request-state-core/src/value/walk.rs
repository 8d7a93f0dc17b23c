//! What a walk through a value keeps: the output, the open objects, and the first error and its path.

use std::marker::PhantomData;

use super::members::{Members, head};
use super::output::Output;
use crate::problem::{Problem, Step, path};

/// The name under which serde_json's `arbitrary_precision` passes a number, with its text as the
/// one field, to any serializer. Cargo unifies features, so this library cannot know whether it is
/// on.
pub(super) const NUMBER: &str = "$serde_json::private::Number";

/// Likewise, serde_json's `RawValue`.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Whether serde_json keeps `name` for itself. With some of its features on, it would read an object
/// with such a member back as something else.
#[inline(always)] // into derived code, where `name` is a constant
pub(super) fn is_reserved(name: &str) -> bool {
    name == NUMBER || name == RAW_VALUE
}

/// What the walkers of one value share.
pub(super) struct Walk<O> {
    pub(super) out: Vec<u8>,
    pub(super) members: Members,
    /// The [`head`] of the last key.
    pub(super) head: u64,
    /// The first one. It stays when the value's own implementation of `Serialize` ignores the error and
    /// goes on.
    problem: Option<Problem>,
    /// Whether it did so.
    was_swallowed: bool,
    /// Collected on the way out, innermost first.
    steps: Vec<Step>,
    output: PhantomData<O>,
}

impl<O: Output> Walk<O> {
    /// Begins behind what is in `out`.
    pub(super) fn begin(out: Vec<u8>) -> Self {
        Self {
            out,
            members: Members::default(),
            head: 0,
            problem: None,
            was_swallowed: false,
            steps: Vec::new(),
            output: PhantomData,
        }
    }

    /// Returns the output and, where there was a problem, the first one and its path: also when the value's
    /// own `Serialize` implementation swallowed the error, since what was written then is not the value.
    pub(super) fn end(
        self,
        result: Result<(), Problem>,
    ) -> (Vec<u8>, Result<(), (String, Problem)>) {
        let result = match self.problem.or(result.err()) {
            None => Ok(()),
            // The steps are those of a later one.
            Some(problem) if self.was_swallowed || result.is_ok() => {
                Err((path(O::ROOT, &[]), problem))
            }
            Some(problem) => Err((path(O::ROOT, &self.steps), problem)),
        };
        (self.out, result)
    }

    /// Fails if there was a problem before, which was swallowed then: objects may have been left open.
    #[inline]
    pub(super) fn check(&mut self) -> Result<(), Problem> {
        match self.problem {
            None => Ok(()),
            Some(problem) => self.reject(problem),
        }
    }

    #[cold]
    pub(super) fn reject<T>(&mut self, problem: Problem) -> Result<T, Problem> {
        self.was_swallowed |= self.problem.is_some();
        self.problem = self.problem.or(Some(problem));
        Err(problem)
    }

    /// Records an error, which may come from the value itself and not from here.
    #[inline]
    pub(super) fn record(&mut self, result: Result<(), Problem>) -> Result<(), Problem> {
        if let Err(problem) = result {
            // Another one came before, and was swallowed.
            self.was_swallowed |= self.problem.is_some_and(|first| first != problem);
            self.problem = self.problem.or(Some(problem));
        }
        result
    }

    /// Records an error that passes through `step`.
    #[inline]
    pub(super) fn note(&mut self, result: Result<(), Problem>, step: Step) -> Result<(), Problem> {
        match result {
            Ok(()) => Ok(()),
            Err(problem) => {
                self.steps.push(step);
                self.record(Err(problem))
            }
        }
    }

    /// Writes a key.
    #[inline]
    pub(super) fn key_text(&mut self, text: &str) -> Result<(), Problem> {
        if O::REJECTS_RESERVED && is_reserved(text) {
            return self.reject(Problem::ReservedKey);
        }
        // From `text`, not from the copy: reading what was just written would wait for the write.
        self.head = head(text.as_bytes());
        O::key(&mut self.out, text, self.head)
    }
}

/// What the next value is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Params: an object, or nothing at all.
    Root,
    Key,
    Value,
    /// The text of a number, inside serde_json's struct for one.
    NumberText,
}

/// The serializer of one value.
pub(super) struct Walker<'w, O> {
    pub(super) walk: &'w mut Walk<O>,
    pub(super) place: Place,
    /// How many arrays and objects are open around the value.
    pub(super) level: u32,
}
