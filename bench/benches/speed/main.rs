//! Every figure of speed next to its goal. `docs/performance.md` explains them.

use std::process::ExitCode;

use request_state_bench::table::Table;

mod boundary;
mod digest;
mod growth;
mod refusal;
mod seal_open;

fn main() -> ExitCode {
    let mut table = Table::default();
    digest::run(&mut table);
    seal_open::run(&mut table);
    growth::run(&mut table);
    refusal::run(&mut table);
    boundary::run(&mut table);
    table.finish()
}
