//! The data of one walk through a value: the output, the open objects, and the first error and its path.

use std::marker::PhantomData;

use super::members::{Members, head};
use super::output::Output;
use crate::problem::{Problem, Step, path};

/// The name of the struct as which serde_json's `arbitrary_precision` passes a number to any serializer. Its one
/// field is the text of the number. Cargo unifies features, so this library cannot know whether it is on.
pub(super) const NUMBER: &str = "$serde_json::private::Number";

/// The name of the struct as which serde_json passes a `RawValue`.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Returns `true` if serde_json reserves `name`. With some of its features on, it would not read an object with
/// such a member back as an object.
#[inline(always)] // into derived code, where `name` is a constant
pub(super) fn is_reserved(name: &str) -> bool {
    name == NUMBER || name == RAW_VALUE
}

/// The data that the walkers of one value share.
pub(super) struct Walk<O> {
    pub(super) out: Vec<u8>,
    pub(super) members: Members,
    /// The [`head`] of the last key.
    pub(super) head: u64,
    /// The first problem. It is kept even if the `Serialize` implementation of the value ignores the error and
    /// goes on.
    problem: Option<Problem>,
    /// Whether the value ignored that error.
    was_swallowed: bool,
    /// The path of the problem, innermost step first.
    steps: Vec<Step>,
    output: PhantomData<O>,
}

impl<O: Output> Walk<O> {
    /// Begins a walk that appends to `out`.
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

    /// Returns the output, and the first problem and its path if there was one. It returns a problem even if the
    /// `Serialize` implementation of the value swallowed the error, because then the output is not the value.
    pub(super) fn end(
        self,
        result: Result<(), Problem>,
    ) -> (Vec<u8>, Result<(), (String, Problem)>) {
        let result = match self.problem.or(result.err()) {
            None => Ok(()),
            // The steps belong to a later problem.
            Some(problem) if self.was_swallowed || result.is_ok() => {
                Err((path(O::ROOT, &[]), problem))
            }
            Some(problem) => Err((path(O::ROOT, &self.steps), problem)),
        };
        (self.out, result)
    }

    /// Fails if there was a problem before, which was then swallowed. Objects may have been left open.
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

    /// Records an error, which may come from the `Serialize` implementation of the value.
    #[inline]
    pub(super) fn record(&mut self, result: Result<(), Problem>) -> Result<(), Problem> {
        if let Err(problem) = result {
            // An earlier problem was swallowed.
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
        // From `text` and not from its copy: reading bytes that were just written would wait for the write.
        self.head = head(text.as_bytes());
        O::key(&mut self.out, text, self.head)
    }
}

/// The kind of value that is allowed next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Params: an object, or absent.
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
    /// The number of open arrays and objects around the value.
    pub(super) level: u32,
}
