//! The cases, one file for each group. [The catalog](crate::STORE_CASES) gives the reason for each.

pub(super) mod claims;
pub(super) mod find;
pub(super) mod history;
pub(super) mod keeping;
pub(super) mod outage;
pub(super) mod record;
pub(super) mod release;
pub(super) mod simultaneous;
pub(super) mod threads;
