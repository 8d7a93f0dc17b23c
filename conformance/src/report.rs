//! The results of a run.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::catalogue::Case;
use crate::stop::{self, Stop, panic_text};

/// The results of all cases. Its `Display` output resembles that of `cargo test`.
#[derive(Debug)]
#[must_use]
pub struct Report {
    outcomes: Vec<Outcome>,
    time: Duration,
}

/// The result of one case.
#[derive(Debug)]
pub struct Outcome {
    /// The case.
    pub case: &'static Case,
    /// Its verdict.
    pub verdict: Verdict,
    /// A remark on the verdict, such as that the codec was too slow for all tries.
    pub note: Option<String>,
}

/// The verdict of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was found.
    Passed,
    /// The contract is broken. The text describes the failure.
    Failed(String),
    /// Most codecs that do this are wrong, but a correct codec may do it. The text describes the
    /// finding and a remedy.
    Suspicious(String),
    /// A suspicious finding that was [accepted](Report::accepting) by name.
    Accepted(String),
    /// The case does not apply. The text gives the reason.
    NotApplicable(&'static str),
    /// The case was not tried. The text gives the reason.
    NotTried(&'static str),
}

impl Report {
    /// Collects the outcomes of cases. The cases run during this call.
    pub(crate) fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let started = Instant::now();
        Self {
            outcomes: outcomes.collect(),
            time: started.elapsed(),
        }
    }

    /// Returns `true` if no case failed and every suspicious finding was accepted.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Returns the failed cases, and the suspicious cases that were not accepted.
    pub fn failures(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.is_failure())
    }

    /// Accepts the suspicious findings of the cases with these names.
    ///
    /// The report names the case and explains when to accept it. A failed case stays failed.
    ///
    /// # Examples
    ///
    /// A codec that identifies its key by a hash of it, which is public on purpose:
    ///
    /// ```no_run
    /// use request_state_conformance::check;
    /// # use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec};
    /// # struct MyCodec;
    /// # impl MyCodec { fn new(_: &Keyring) -> Self { Self } }
    /// # impl RequestStateCodec for MyCodec {
    /// #     fn encode(&self, _: &[u8], _: &[u8]) -> Result<String, EncodeError> { Ok(String::new()) }
    /// #     fn decode(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
    /// #         Err(DecodeError::Malformed)
    /// #     }
    /// # }
    ///
    /// let report = check(MyCodec::new).accepting(&["appearance::the_key_is_not_visible"]);
    /// assert!(report.is_ok(), "{report}");
    /// ```
    pub fn accepting(mut self, cases: &[&str]) -> Self {
        for outcome in &mut self.outcomes {
            outcome.accept(cases);
        }
        self
    }

    /// Returns the outcomes of all cases, in the order in which they ran.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }
}

impl Outcome {
    /// Runs a case and returns its outcome. A panic in the codec or store under test, or in its
    /// constructor, fails the case.
    ///
    /// `note` is called afterwards.
    pub(crate) fn of(
        case: &'static Case,
        run: impl FnOnce() -> stop::Verdict,
        note: impl FnOnce() -> Option<String>,
    ) -> Self {
        let verdict = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => Verdict::Passed,
            Ok(Err(Stop::Failed(text))) => Verdict::Failed(text),
            Ok(Err(Stop::Suspicious(text))) => Verdict::Suspicious(text),
            Ok(Err(Stop::NotApplicable(why))) => Verdict::NotApplicable(why),
            Err(panic) => Verdict::Failed(panic_text(&*panic)),
        };
        let note = note();
        Self {
            case,
            verdict,
            note,
        }
    }

    /// Creates the outcome of a case that was not tried.
    pub(crate) fn not_tried(case: &'static Case, why: &'static str) -> Self {
        Self {
            case,
            verdict: Verdict::NotTried(why),
            note: None,
        }
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_) | Verdict::Suspicious(_))
    }

    /// Accepts a suspicious finding if the case is in `cases`.
    pub(crate) fn accept(&mut self, cases: &[&str]) {
        if let Verdict::Suspicious(text) = &mut self.verdict
            && cases.contains(&self.case.to_string().as_str())
        {
            self.verdict = Verdict::Accepted(std::mem::take(text));
        }
    }

    /// Prints the outcome, and returns an error if something is wrong. The test of each case calls
    /// this.
    pub(crate) fn tell(self) -> Result<(), String> {
        println!("{self}");
        match &self.verdict {
            Verdict::Passed | Verdict::Accepted(_) | Verdict::NotApplicable(_) => Ok(()),
            Verdict::NotTried(why) => Err(format!("not tried: {why}")),
            Verdict::Failed(_) | Verdict::Suspicious(_) => Err(self.finding()),
        }
    }

    /// Returns the finding, the reason why it matters, and the remedy.
    fn finding(&self) -> String {
        let Self { case, verdict, .. } = self;
        match verdict {
            Verdict::Failed(text) => format!("{text}\nWhy: {}", case.why()),
            Verdict::Suspicious(text) => format!(
                "suspicious: {text}\nWhy: {}\nIf your codec does this on purpose, accept it by name: \
                 `.accepting(&[\"{case}\"])` on the report, or `accepting: [\"{case}\"]` in `suite!`.",
                case.why()
            ),
            Verdict::Passed
            | Verdict::Accepted(_)
            | Verdict::NotApplicable(_)
            | Verdict::NotTried(_) => String::new(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {} ... ", self.case)?;
        match &self.verdict {
            Verdict::Passed => f.write_str("ok")?,
            Verdict::Failed(_) => f.write_str("FAILED")?,
            Verdict::Suspicious(_) => f.write_str("SUSPICIOUS")?,
            Verdict::Accepted(_) => f.write_str("suspicious, accepted")?,
            Verdict::NotApplicable(why) => write!(f, "not applicable: {why}")?,
            Verdict::NotTried(why) => write!(f, "not tried: {why}")?,
        }
        match &self.note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.outcomes {
            writeln!(f, "{outcome}")?;
        }
        for outcome in self.failures() {
            writeln!(f, "\n---- {} ----\n{}", outcome.case, outcome.finding())?;
        }
        let count = |wanted: fn(&Verdict) -> bool| {
            let outcomes = self.outcomes.iter();
            outcomes.filter(|outcome| wanted(&outcome.verdict)).count()
        };
        write!(
            f,
            "\nresult: {}. {} passed; {} failed; ",
            if self.is_ok() { "ok" } else { "FAILED" },
            count(|verdict| matches!(verdict, Verdict::Passed)),
            count(|verdict| matches!(verdict, Verdict::Failed(_))),
        )?;
        // Most runs have none of these.
        for (count, what) in [
            (
                count(|verdict| matches!(verdict, Verdict::Suspicious(_))),
                "suspicious",
            ),
            (
                count(|verdict| matches!(verdict, Verdict::Accepted(_))),
                "accepted",
            ),
            (
                count(|verdict| matches!(verdict, Verdict::NotTried(_))),
                "not tried",
            ),
        ] {
            if count > 0 {
                write!(f, "{count} {what}; ")?;
            }
        }
        write!(
            f,
            "{} not applicable; finished in {:.2}s",
            count(|verdict| matches!(verdict, Verdict::NotApplicable(_))),
            self.time.as_secs_f64()
        )
    }
}
