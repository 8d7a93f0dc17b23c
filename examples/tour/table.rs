//! The table of attacks, and the log from which its last columns come.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Writes to [`LOG`].
struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has every `tracing` event of the process written to [`LOG`], where an operator has a file.
pub fn capture_log() {
    tracing_subscriber::fmt()
        .with_writer(|| Log)
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_ansi(false)
        .init();
}

/// Empties the log: the field `reason` of its events, each reason once.
pub fn take_reasons() -> String {
    let log = std::mem::take(&mut *LOG.lock().unwrap_or_else(PoisonError::into_inner));
    let log = String::from_utf8_lossy(&log);
    let mut reasons: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split_once("reason=\"")?.1.split('"').next())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons.join(", ")
}

/// Prints a row for each attack, and counts the rows and those that are not as expected.
#[derive(Default)]
pub struct Table {
    pub rows: usize,
    pub wrong: usize,
}

impl Table {
    pub fn header(&self) {
        line("attack", "answer", "expected", "logged reason", "expected");
    }

    /// `answer` is what the client saw. What the operator saw is what was logged since the last
    /// row: `reason` should be all of it, and is empty where there should be nothing.
    pub fn row(&mut self, attack: &str, answer: &str, expected: &str, reason: &str) {
        let logged = take_reasons();
        line(attack, answer, expected, &logged, reason);
        self.rows = self.rows.saturating_add(1);
        if (answer, logged.as_str()) != (expected, reason) {
            self.wrong = self.wrong.saturating_add(1);
            println!("  ^^^ NOT AS EXPECTED");
        }
    }
}

fn line(attack: &str, answer: &str, expected: &str, logged: &str, reason: &str) {
    let log = match (logged, reason) {
        ("", "") => "-".into(),
        _ => format!("{logged} / {reason}"),
    };
    println!("  {attack:<38} {answer:<10} {expected:<10} {log}");
}
