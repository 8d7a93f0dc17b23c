//! What `check` answers, and what it bears.
#![allow(missing_docs, reason = "a test has no users")]
#![allow(clippy::unwrap_used)] // Helpers may panic, as tests do.

#[allow(dead_code, reason = "faulty.rs uses the rest")]
mod faulty {
    pub mod base;
}

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use faulty::base::{Base, SIGNED, Steps};
use request_state_aesgcm::AesGcmCodec;
use request_state_conformance::{CASES, Report, Verdict, check, check_keyless, run_case, try_case};
use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec, wire};

fn names(report: &Report) -> Vec<String> {
    report
        .failures()
        .map(|failure| failure.case.to_string())
        .collect()
}

fn faulty(keys: &Keyring) -> Base {
    let steps = Steps {
        bind: <[u8]>::to_ascii_lowercase,
        ..SIGNED
    };
    Base {
        keys: keys.clone(),
        steps,
        nonce: None,
    }
}

#[test]
fn a_constructor_is_all_it_needs() {
    let report = check(AesGcmCodec::new);
    assert!(report.is_ok(), "{report}");
    assert_eq!(report.outcomes().len(), CASES.len());
}

#[test]
fn a_report_reads_like_one_of_tests() {
    let report = check(faulty);
    assert!(!report.is_ok());
    let text = report.to_string();
    for says in [
        "case round_trip::empty ... ok\n",
        "case context::alike ... FAILED\n",
        "case confidentiality::equal_blocks ... not applicable: encrypts() is false",
        "\n---- context::alike ----\n",
        "Why: Contexts that differ in case",
        "result: FAILED. ",
    ] {
        assert!(text.contains(says), "{says:?} is not in {text}");
    }
    assert!(names(&report).contains(&"context::alike".to_owned()));
    assert!(!names(&report).contains(&"round_trip::empty".to_owned()));
}

#[test]
fn what_makes_codecs_may_borrow_and_is_called_often() {
    let made = Cell::new(0);
    let rings = RefCell::new(HashSet::new());
    let report = check(|keys| {
        made.set(made.get() + 1);
        rings.borrow_mut().insert(format!("{keys:?}"));
        Base {
            keys: keys.clone(),
            steps: SIGNED,
            nonce: None,
        }
    });
    assert!(report.is_ok(), "{report}");
    assert!(made.get() > CASES.len());
    assert!(rings.borrow().len() > 20);
}

#[test]
fn a_panic_fails_its_case_and_no_other() {
    // What makes the codec panics, on some rings only.
    let report = check(|keys| {
        assert!(keys.iter().count() < 50, "too many keys");
        Base {
            keys: keys.clone(),
            steps: SIGNED,
            nonce: None,
        }
    });
    assert_eq!(names(&report), ["keys::every_key_opens"]);
    assert!(report.to_string().contains("it panicked: too many keys"));
    // The codec itself panics.
    let give = |payload: Vec<u8>| {
        assert_ne!(payload.len(), 520, "an unlucky length");
        Ok::<_, DecodeError>(payload)
    };
    let steps = Steps { give, ..SIGNED };
    let result = try_case("round_trip::every_length", |keys| {
        let keys = keys.clone();
        Base {
            keys,
            steps,
            nonce: None,
        }
    });
    let Verdict::Failed(text) = result.unwrap().verdict else {
        panic!("it passed");
    };
    assert!(text.contains("it panicked: "));
}

#[test]
fn a_codec_without_a_keyring_is_told_what_does_not_apply() {
    // And it may borrow.
    let codec = AesGcmCodec::new(&Keyring::ephemeral().unwrap());
    let report = check_keyless(|| &codec);
    assert!(report.is_ok(), "{report}");
    let mut about_rings = 0;
    for outcome in report.outcomes() {
        let is_skipped = outcome.verdict == Verdict::NotApplicable("the codec takes no keyring");
        assert!(is_skipped || outcome.case.group() != "keys", "{outcome}");
        about_rings += usize::from(is_skipped);
    }
    assert_eq!(about_rings, 22);
    assert!(
        report
            .to_string()
            .contains("case keys::rotation ... not applicable: the codec takes no keyring\n")
    );
}

#[test]
fn a_case_stops_at_its_first_failure() {
    /// Opens whatever it is given, and counts what it should have refused.
    struct Open<'a>(Base, &'a AtomicUsize);

    impl RequestStateCodec for Open<'_> {
        fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
            self.0.encode(payload, context)
        }

        fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
            self.0.decode(token, context).or_else(|_| {
                self.1.fetch_add(1, Ordering::Relaxed);
                Ok(Vec::new())
            })
        }
    }

    let opened = AtomicUsize::new(0);
    let steps = SIGNED;
    let result = try_case("tampering::every_character", |keys| {
        let keys = keys.clone();
        Open(
            Base {
                keys,
                steps,
                nonce: None,
            },
            &opened,
        )
    });
    assert!(matches!(result.unwrap().verdict, Verdict::Failed(_)));
    assert_eq!(opened.into_inner(), 1);
}

#[test]
fn every_case_has_a_name_of_its_own_and_a_reason() {
    let names: HashSet<String> = CASES.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), CASES.len());
    for case in CASES {
        assert!(case.why().len() > 20 && case.why().ends_with('.'), "{case}");
    }
}

/// Signs, with a bit in the token that changes with every encoding.
fn counting(keys: &Keyring) -> Base {
    let count = AtomicUsize::new(0);
    let nonce = move |_: &[u8], _: &[u8]| {
        let mut nonce = wire::random::<16>().unwrap();
        nonce[0] =
            (nonce[0] & !1) | u8::from(count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2));
        nonce
    };
    Base {
        keys: keys.clone(),
        steps: SIGNED,
        nonce: Some(Box::new(nonce)),
    }
}

#[test]
fn what_is_suspicious_fails_unless_it_is_accepted_by_name() {
    let name = "freshness::no_counter";
    let report = check(counting);
    assert!(!report.is_ok());
    assert_eq!(names(&report), [name]);
    let text = report.to_string();
    for says in [
        "case freshness::no_counter ... SUSPICIOUS\n",
        "\n---- freshness::no_counter ----\nsuspicious: a bit of byte 0 changes with every encoding",
        "accept it by name: `.accepting(&[\"freshness::no_counter\"])` on the report",
        "result: FAILED. ",
        " 0 failed; 1 suspicious; ",
    ] {
        assert!(text.contains(says), "{says:?} is not in {text}");
    }
    // Another name accepts nothing.
    let report = report.accepting(&["freshness::no_counters", "round_trip::empty"]);
    assert_eq!(names(&report), [name]);
    let report = report.accepting(&[name]);
    assert!(report.is_ok(), "{report}");
    let text = report.to_string();
    assert!(
        text.contains("case freshness::no_counter ... suspicious, accepted\n"),
        "{text}"
    );
    assert!(text.contains("result: ok. "), "{text}");
    assert!(text.contains(" 0 failed; 1 accepted; "), "{text}");
    // Likewise, as a test of `suite!`.
    let error = run_case(name, counting, &[]).unwrap_err();
    assert!(
        error.contains("`accepting: [\"freshness::no_counter\"]` in `suite!`"),
        "{error}"
    );
    run_case(name, counting, &[name]).unwrap();
}

#[test]
fn what_failed_cannot_be_accepted() {
    let report = check(faulty).accepting(&["context::alike"]);
    assert!(names(&report).contains(&"context::alike".to_owned()));
    assert!(run_case("context::alike", faulty, &["context::alike"]).is_err());
}

#[test]
fn without_round_trips_no_other_case_is_tried() {
    let give = |payload: Vec<u8>| Ok::<_, DecodeError>(payload.to_ascii_lowercase());
    let make = |keys: &Keyring| Base {
        keys: keys.clone(),
        steps: Steps { give, ..SIGNED },
        nonce: None,
    };
    let report = check(make);
    assert!(!report.is_ok());
    let mut tried = 0;
    for outcome in report.outcomes() {
        let is_tried = !matches!(outcome.verdict, Verdict::NotTried(_));
        assert_eq!(is_tried, outcome.case.group() == "round_trip", "{outcome}");
        tried += usize::from(is_tried);
    }
    assert!(names(&report).contains(&"round_trip::every_byte".to_owned()));
    let text = report.to_string();
    for says in [
        "case round_trip::empty ... ok\n",
        "case round_trip::every_byte ... FAILED\n",
        "case tampering::every_bit ... not tried: a case of round_trip failed",
        &format!(" {} not tried; ", CASES.len() - tried),
    ] {
        assert!(text.contains(says), "{says:?} is not in {text}");
    }
    assert!(!text.contains("\n---- tampering"), "{text}");
    // A test of `suite!` that fails says the same; one that passes, passes.
    let error = run_case("tampering::every_bit", make, &[]).unwrap_err();
    assert!(
        error.starts_with("not tried: a case of round_trip failed"),
        "{error}"
    );
    run_case("junk::alone", make, &[]).unwrap();
}

#[test]
fn the_names_in_a_codecs_type_are_words_too() {
    /// Strips its owner's name, which is in no list.
    struct AcmeTokens(Base);

    impl RequestStateCodec for AcmeTokens {
        fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
            self.0.encode(payload, context)
        }

        fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
            let token = token.strip_prefix("acme~").unwrap_or(token);
            self.0.decode(token, context)
        }
    }

    let make = |keys: &Keyring| Base {
        keys: keys.clone(),
        steps: SIGNED,
        nonce: None,
    };
    let outcome = try_case("tampering::words_around", |keys| AcmeTokens(make(keys)));
    let Verdict::Failed(text) = outcome.unwrap().verdict else {
        panic!("it passed");
    };
    assert!(text.contains("\"acme~\" in front"), "{text}");
}
