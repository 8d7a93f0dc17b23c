//! The cases, one file a group. The reason for each is in [the catalog](crate::STORE_CASES).

pub(super) mod claims;
pub(super) mod find;
pub(super) mod history;
pub(super) mod keeping;
pub(super) mod outage;
pub(super) mod record;
pub(super) mod release;
pub(super) mod simultaneous;
pub(super) mod threads;
