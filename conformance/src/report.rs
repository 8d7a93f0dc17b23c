//! What a run found.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::catalogue::{CASES, Case};
use crate::kit::{Kit, Make};
use crate::stop::{Stop, panic_text};

/// What all cases said of a codec. It prints as a test report does.
#[derive(Debug)]
#[must_use]
pub struct Report {
    outcomes: Vec<Outcome>,
    time: Duration,
}

/// What one case said.
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
    /// The codec broke a promise: what it did.
    Failed(String),
    /// The case says nothing about a codec of this kind: why.
    NotApplicable(&'static str),
}

impl Report {
    pub(crate) fn new(make: &Make<'_>, takes_keyring: bool) -> Self {
        let started = Instant::now();
        let outcomes = CASES.iter().map(|case| run(case, make, takes_keyring));
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

/// Runs one case. A panic, of the codec or of what makes it, fails the case.
pub(crate) fn run(case: &'static Case, make: &Make<'_>, takes_keyring: bool) -> Outcome {
    let kit = Kit::new(Make::clone(make), takes_keyring);
    let result = catch_unwind(AssertUnwindSafe(|| (case.run)(&kit)));
    let verdict = match result {
        Ok(Ok(())) => Verdict::Passed,
        Ok(Err(Stop::Failed(text))) => Verdict::Failed(text),
        Ok(Err(Stop::NotApplicable(why))) => Verdict::NotApplicable(why),
        Err(panic) => Verdict::Failed(panic_text(&*panic)),
    };
    Outcome {
        case,
        verdict,
        note: kit.take_note(),
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
