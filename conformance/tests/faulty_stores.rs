//! Stores with one fault each, and the proof that the suite finds every one of them.
//!
//! A fault is a few lines that differ from a store that is right. Each is named with the case that was
//! written for faults of its kind, and that case must fail. (Others fail too, for most.)
#![allow(missing_docs, reason = "a test has no users")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod faulty_stores {
    pub mod answers;
    pub mod base;
    pub mod deciding;
    pub mod fault;
    pub mod histories;
    pub mod ids;
    pub mod keeping;
    pub mod parallel;
    pub mod racing;
    pub mod releases;
}

use std::io::Write as _;
use std::panic;
use std::sync::Mutex;

use faulty_stores::*;
use request_state_conformance::{STORE_CASES, run_store_case};

/// Without a fault, what the faulty stores are made of passes: so it is the fault that fails.
#[test]
fn without_a_fault_the_suite_passes() {
    let failures = parallel::failures(|| fault::suite(base::RIGHT));
    assert_eq!(failures, Vec::<String>::new());
}

fn faults() -> Vec<fault::Fault> {
    [
        // The one that waits without end goes first.
        histories::faults(),
        deciding::faults(),
        ids::faults(),
        racing::faults(),
        keeping::faults(),
        answers::faults(),
        releases::faults(),
    ]
    .concat()
}

/// A case that finds no fault may be of no use.
#[test]
fn every_case_finds_a_fault() {
    let faults = faults();
    for case in STORE_CASES {
        let name = case.to_string();
        assert!(faults.iter().any(|fault| fault.found_by == name), "{name}");
    }
}

#[test]
fn every_fault_is_found() {
    be_quiet_about_faults();
    let faults = faults();
    let missed = Mutex::new(Vec::new());
    parallel::each(&faults, |fault| {
        match run_store_case(fault.found_by, &(fault.suite)()) {
            Err(text) => println!("{}: {}\n    {text}", fault.found_by, fault.about),
            Ok(()) => missed.lock().unwrap().push((fault.found_by, fault.about)),
        }
    });
    let missed = missed.into_inner().unwrap();
    let (all, found) = (faults.len(), faults.len() - missed.len());
    // To standard error itself: the test harness keeps what a test prints.
    writeln!(std::io::stderr(), "faulty stores: {found} found of {all}").unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Some faults are panics. The suite reports them; said on standard error as well, they would look
/// like failures of this test.
fn be_quiet_about_faults() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", |location| location.file());
        if !file.contains("faulty_stores/") {
            loud(info);
        }
    }));
}
