//! Cases that run at the same time: most of their time passes while lifetimes do, so on more threads than
//! there are processors.

use std::sync::Mutex;
use std::thread;

use request_state_conformance::{STORE_CASES, StoreSuite, run_store_case};

/// Does `work` for each item, on eight threads.
pub fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let queue = Mutex::new(items.iter());
    let run = || {
        while let Some(item) = { queue.lock().unwrap().next() } {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(run);
        }
    });
}

/// What is wrong with a store, by all cases.
pub fn failures(make: impl Fn() -> StoreSuite<'static> + Sync) -> Vec<String> {
    let failures = Mutex::new(Vec::new());
    each(STORE_CASES, |case| {
        if let Err(text) = run_store_case(&case.to_string(), &make()) {
            failures.lock().unwrap().push(format!("{case}: {text}"));
        }
    });
    failures.into_inner().unwrap()
}
