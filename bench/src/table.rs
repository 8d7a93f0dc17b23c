//! Prints every figure next to its goal, and remembers whether one missed.

use std::fmt::Display;
use std::process::ExitCode;

use crate::clock::Medians;

/// The figures of one program.
#[derive(Debug, Default)]
pub struct Table {
    missed: u32,
}

impl Table {
    /// Starts a group of figures: what is measured, and what it is compared with.
    pub fn heading(&mut self, work: &str, baseline: &str, ratio: &str) {
        println!("\n{work:<56}{baseline:>18}{ratio:>10}{:>8}", "goal");
    }

    /// One figure: `ratio`, which may be no more than `goal`, made of `times`.
    pub fn times(&mut self, name: &str, times: Medians, ratio: f64, goal: f64) {
        let (work, baseline) = (duration(times.work), duration(times.baseline));
        self.row(
            name,
            &work,
            &baseline,
            &format!("{ratio:.2}"),
            ratio <= goal,
            &format!("{goal:.2}"),
        );
    }

    /// Prints a figure that has no goal.
    pub fn shown(&mut self, name: &str, times: Medians) {
        let (work, baseline) = (duration(times.work), duration(times.baseline));
        self.row(
            name,
            &work,
            &baseline,
            &format!("{:.2}", times.ratio()),
            true,
            &"",
        );
    }

    /// One figure: two counts, and the most that each of them may be.
    pub fn counts(&mut self, name: &str, counts: (u64, u64), goals: (u64, u64)) {
        let met = counts.0 <= goals.0 && counts.1 <= goals.1;
        let goal = format!("{}, {}", goals.0, goals.1);
        self.row(name, &counts.0, &counts.1, &"", met, &goal);
    }

    fn row(
        &mut self,
        name: &str,
        work: &dyn Display,
        baseline: &dyn Display,
        ratio: &dyn Display,
        met: bool,
        goal: &dyn Display,
    ) {
        self.missed += u32::from(!met);
        let verdict = if met { "" } else { "  MISSED" };
        println!("  {name:<42}{work:>12}{baseline:>18}{ratio:>10}{goal:>8}{verdict}");
    }

    /// Fails when a figure missed its goal.
    #[must_use]
    pub fn finish(self) -> ExitCode {
        println!("\n{} missed", self.missed);
        if self.missed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Three or four digits of a time in nanoseconds.
fn duration(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e4 => format!("{:.2} µs", ns / 1e3),
        ..1e6 => format!("{:.1} µs", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}
