//! Codecs with one fault each, and the proof that the suite refuses every one of them.
//!
//! A fault is a few lines that differ from a codec that is right. Each is named with the case that
//! was written for faults of its kind, and that case must fail. (Others fail too, for most.)
#![allow(missing_docs, reason = "a test has no users")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)] // Helpers may panic, as tests do.

mod faulty {
    pub mod base;
    pub mod claims;
    pub mod comparing;
    pub mod fault;
    pub mod headers;
    pub mod joining;
    pub mod junk;
    pub mod keys;
    pub mod large;
    pub mod leaks;
    pub mod lengths;
    pub mod memory;
    pub mod nonces;
    pub mod payloads;
    pub mod spelling;
    pub mod words;
    pub mod wrapped;
}

use std::io::Write as _;
use std::panic;
use std::sync::Mutex;
use std::thread;

use faulty::*;
use request_state_conformance::{Verdict, check, try_case};

/// The cases that a correct codec may fail, so that what they find is suspicious and no more.
const SUSPICIONS: [&str; 3] = [
    "freshness::no_counter",
    "appearance::enough_of_it_is_random",
    "appearance::the_key_is_not_visible",
];

/// Without a fault, what the faulty codecs are made of passes: so it is the fault that fails.
#[test]
fn without_a_fault_the_suite_passes() {
    for steps in [base::SIGNED, base::TYPED, base::ENCRYPTED] {
        let report = check(|keys| fault::base(keys, steps));
        assert!(report.is_ok(), "{report}");
    }
}

#[test]
fn every_fault_is_found() {
    be_quiet_about_faults();
    let faults = [
        comparing::faults(),
        joining::faults(),
        keys::faults(),
        nonces::faults(),
        payloads::faults(),
        spelling::faults(),
        junk::faults(),
        memory::faults(),
        claims::faults(),
        headers::faults(),
        large::faults(),
        lengths::faults(),
        words::faults(),
        leaks::faults(),
    ]
    .concat();
    let queue = Mutex::new(faults.iter());
    let missed = Mutex::new(Vec::new());
    let work = || {
        while let Some(fault) = { queue.lock().unwrap().next() } {
            let outcome = try_case(fault.found_by, |keys| (fault.make)(keys)).unwrap();
            let is_found = match &outcome.verdict {
                Verdict::Failed(_) => !SUSPICIONS.contains(&fault.found_by),
                Verdict::Suspicious(_) => SUSPICIONS.contains(&fault.found_by),
                _ => false,
            };
            println!("{outcome}: {}", fault.about);
            if !is_found {
                missed.lock().unwrap().push((fault.found_by, fault.about));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let missed = missed.into_inner().unwrap();
    let (all, found) = (faults.len(), faults.len() - missed.len());
    // To standard error itself: the test harness keeps what a test prints.
    writeln!(std::io::stderr(), "faulty codecs: {found} found of {all}").unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Some faults are panics. The suite reports them; said on standard error as well, they would look
/// like failures of this test.
fn be_quiet_about_faults() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", |location| location.file());
        if !file.contains("faulty/") {
            loud(info);
        }
    }));
}
