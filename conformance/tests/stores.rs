//! Our own stores pass, and what the suite for stores reports.
#![allow(missing_docs, reason = "a test has no users")]

use std::sync::LazyLock;

use request_state_conformance::store_suite;
use request_state_core::MemoryStore;

fn memory_store() -> &'static MemoryStore {
    static STORE: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
    &STORE
}

store_suite!(memory, || async { memory_store() });
