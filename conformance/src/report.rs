//! What a run found.

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
    /// What to know of a verdict, such as that the codec was too slow for all tries.
    pub note: Option<String>,
}

/// The verdict of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was found.
    Passed,
    /// A promise was broken: what happened.
    Failed(String),
    /// The case does not apply, and why.
    NotApplicable(&'static str),
}

impl Report {
    /// Collects the outcomes of cases, which run meanwhile.
    pub(crate) fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let started = Instant::now();
        Self {
            outcomes: outcomes.collect(),
            time: started.elapsed(),
        }
    }

    /// Whether no case failed.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Outcome> {
        let failed = |outcome: &&Outcome| matches!(outcome.verdict, Verdict::Failed(_));
        self.outcomes.iter().filter(failed)
    }

    /// All cases, in the order in which they ran.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }
}

impl Outcome {
    /// Returns what a case did. A panic, of what is under test or of what makes it, fails the case.
    ///
    /// The note is asked for afterwards.
    pub(crate) fn of(
        case: &'static Case,
        run: impl FnOnce() -> stop::Verdict,
        note: impl FnOnce() -> Option<String>,
    ) -> Self {
        let verdict = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => Verdict::Passed,
            Ok(Err(Stop::Failed(text))) => Verdict::Failed(text),
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

    /// Prints the outcome, and returns what is wrong: what the test of one case does.
    pub(crate) fn tell(self) -> Result<(), String> {
        println!("{self}");
        match self.verdict {
            Verdict::Failed(text) => Err(format!("{text}\nWhy: {}", self.case.why())),
            Verdict::Passed | Verdict::NotApplicable(_) => Ok(()),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {} ... ", self.case)?;
        match &self.verdict {
            Verdict::Passed => f.write_str("ok")?,
            Verdict::Failed(_) => f.write_str("FAILED")?,
            Verdict::NotApplicable(why) => write!(f, "not applicable: {why}")?,
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
            if let Verdict::Failed(text) = &outcome.verdict {
                writeln!(
                    f,
                    "\n---- {} ----\n{text}\nWhy: {}",
                    outcome.case,
                    outcome.case.why()
                )?;
            }
        }
        let count = |wanted: fn(&Verdict) -> bool| {
            self.outcomes
                .iter()
                .filter(|outcome| wanted(&outcome.verdict))
                .count()
        };
        write!(
            f,
            "\nresult: {}. {} passed; {} failed; {} not applicable; finished in {:.2}s",
            if self.is_ok() { "ok" } else { "FAILED" },
            count(|verdict| matches!(verdict, Verdict::Passed)),
            count(|verdict| matches!(verdict, Verdict::Failed(_))),
            count(|verdict| matches!(verdict, Verdict::NotApplicable(_))),
            self.time.as_secs_f64()
        )
    }
}
