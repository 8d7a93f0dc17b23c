//! The table of attacks, and the log that its last columns are taken from.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A writer to [`LOG`].
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

/// Writes every `tracing` event of the process to [`LOG`]. An operator would use a file.
pub fn capture_log() {
    tracing_subscriber::fmt()
        .with_writer(|| Log)
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_ansi(false)
        .init();
}

/// Empties the log and returns the field `reason` of its events, each reason once.
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

/// A printer of a row for each attack. It counts the rows and the unexpected ones.
#[derive(Default)]
pub struct Table {
    pub rows: usize,
    pub wrong: usize,
}

impl Table {
    pub fn header(&self) {
        line("attack", "answer", "expected", "logged reason", "expected");
    }

    /// Prints a row. `answer` is the response that the client saw. The operator saw the log since
    /// the last row: it must contain exactly `reason`, or nothing if `reason` is empty.
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
