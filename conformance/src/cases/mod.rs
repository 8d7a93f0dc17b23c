//! The cases, one file for each group. [The catalog](crate::CASES) explains each case.

pub(crate) mod appearance;
pub(crate) mod binding;
pub(crate) mod confidentiality;
pub(crate) mod context;
pub(crate) mod errors;
pub(crate) mod forgery;
pub(crate) mod freshness;
pub(crate) mod independence;
pub(crate) mod junk;
pub(crate) mod keys;
pub(crate) mod kids;
pub(crate) mod lengths;
pub(crate) mod round_trip;
pub(crate) mod spelling;
pub(crate) mod structure;
pub(crate) mod tampering;
pub(crate) mod threads;
pub(crate) mod time;
