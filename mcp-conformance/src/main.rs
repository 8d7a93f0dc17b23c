//! Runs the official suite against servers that request-state seals, under each backend, alone and
//! behind a proxy that sends each request to the other of two processes. Unsolicited answers are
//! removed in some runs and allowed in others. It also runs the suite against a server that is not
//! sealed, which must fail it.
//!
//! `mcp-conformance (some|all) NODE SUITE OUTPUT`: the settings, a Node.js of version 22 or later,
//! the suite's `index.js`, and a directory for the suite's output, which is emptied first.
//! `scripts/mcp-conformance` supplies the last three.
#![forbid(unsafe_code)]

mod proxy;
mod report;
mod server;
mod suite;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use proxy::Proxy;
use report::{Column, Traffic};
use server::Server;
use suite::{PREFIX, SCENARIOS, Suite, TAMPERED, UNASKED};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

type Failure = Box<dyn Error + Send + Sync>;

const USAGE: &str =
    "usage: mcp-conformance (some|all) NODE SUITE OUTPUT; see scripts/mcp-conformance";

/// The number of concurrent scenarios. Each is a process of Node.js.
const AT_ONCE: usize = 2;

/// The configuration of the servers for one run of all scenarios.
#[derive(Clone, Copy)]
struct Setting {
    /// An argument of `mcp-conformance-server`.
    server: &'static str,
    /// Whether unsolicited answers reach the handlers.
    allows: bool,
    /// Whether there are two processes behind a proxy, instead of one.
    proxied: bool,
    /// Whether the setting is run under `some`.
    in_some: bool,
}

const UNSEALED: &str = "--unsealed";
const ALLOW: &str = "--allow-answers-without-state";

const SETTINGS: [Setting; 11] = [
    Setting::of("aes-gcm").in_some(),
    Setting::of("aes-gcm").proxied().in_some(),
    Setting::of("aes-gcm").allowing().in_some(),
    Setting::of("aes-gcm").allowing().proxied(),
    Setting::of("ring"),
    Setting::of("ring").proxied(),
    Setting::of("chacha20-poly1305"),
    Setting::of("chacha20-poly1305").proxied(),
    Setting::of("hmac").in_some(),
    Setting::of("hmac").proxied(),
    // The control: it shows that the seal rejects a changed state, and not the handler.
    Setting::of(UNSEALED).in_some(),
];

#[tokio::main]
async fn main() -> ExitCode {
    match run_or_signal().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp-conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs until done or until a signal arrives. In any case the servers end too, because dropping
/// them kills them.
async fn run_or_signal() -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        result = run() => result,
        _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
        _ = terminate.recv() => Err("terminated".into()),
    }
}

async fn run() -> Result<(), Failure> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(which), Some(node), Some(index), Some(output), None) = (
        args.next(),
        args.next(),
        args.next(),
        args.next(),
        args.next(),
    ) else {
        return Err(USAGE.into());
    };
    let settings = SETTINGS.iter().copied();
    let settings: Vec<Setting> = match which.to_str() {
        Some("all") => settings.collect(),
        Some("some") => settings.filter(|setting| setting.in_some).collect(),
        _ => return Err(USAGE.into()),
    };
    let suite = Arc::new(Suite { node, index });
    suite.expect_scenarios().await?;
    // Removes the output of an earlier run, so that it is not mistaken for the output of this run.
    if output.exists() {
        std::fs::remove_dir_all(&output)?;
    }

    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let run = |setting: Setting| {
        let (suite, slots, output) = (Arc::clone(&suite), Arc::clone(&slots), output.clone());
        tokio::spawn(async move {
            let _slot = slots.acquire().await?;
            setting.run(&suite, &output).await
        })
    };
    let running: Vec<_> = settings.into_iter().map(run).collect();
    let mut columns = Vec::new();
    for column in running {
        columns.push(column.await??);
    }

    print!("{}", report::table(&columns));
    let wrong: Vec<String> = columns.iter().flat_map(Column::wrong).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(wrong.join("\n").into())
}

impl Setting {
    const fn of(server: &'static str) -> Self {
        Self {
            server,
            allows: false,
            proxied: false,
            in_some: false,
        }
    }

    const fn proxied(mut self) -> Self {
        self.proxied = true;
        self
    }

    const fn allowing(mut self) -> Self {
        self.allows = true;
        self
    }

    const fn in_some(mut self) -> Self {
        self.in_some = true;
        self
    }

    /// Returns the arguments of `mcp-conformance-server`.
    fn args(self) -> Vec<&'static str> {
        let allow = self.allows.then_some(ALLOW);
        [self.server].into_iter().chain(allow).collect()
    }

    fn backend(self) -> &'static str {
        self.server.trim_start_matches('-')
    }

    fn how(self) -> &'static str {
        match (self.allows, self.proxied) {
            (false, false) => "single",
            (false, true) => "proxied",
            (true, false) => "allow",
            (true, true) => "allow-proxied",
        }
    }

    fn name(self) -> String {
        format!("{}-{}", self.backend(), self.how())
    }

    /// Returns `true` if unsolicited answers do not reach the handlers.
    fn removes_answers(self) -> bool {
        self.server != UNSEALED && !self.allows
    }

    /// Runs every scenario, one after the other, and returns the results.
    async fn run(self, suite: &Suite, output: &Path) -> Result<Column, Failure> {
        let directory = output.join(self.name());
        std::fs::create_dir_all(&directory)?;
        let first = Server::start(&self.args(), &directory.join("server-1.log")).await?;
        if !self.proxied {
            let cells = self.scenarios(suite, &first.url, &directory).await?;
            return Ok(Column::new(self, cells, None));
        }
        let second = Server::start(&self.args(), &directory.join("server-2.log")).await?;
        let proxy = Proxy::start(vec![first.url.parse()?, second.url.parse()?]).await?;
        let cells = self.scenarios(suite, &proxy.url, &directory).await?;
        Ok(Column::new(self, cells, Some(Traffic::of(&proxy.counts()))))
    }

    /// Returns, for each scenario, the number of checks or a description of the failure.
    async fn scenarios(
        self,
        suite: &Suite,
        url: &str,
        directory: &Path,
    ) -> Result<Vec<Result<usize, String>>, Failure> {
        let mut cells = Vec::new();
        for scenario in SCENARIOS {
            let run = suite.run(scenario, url, &directory.join(scenario)).await?;
            let cell = match scenario {
                TAMPERED if self.server == UNSEALED => run.fell(),
                UNASKED if self.removes_answers() => run.was_asked_again(),
                _ => run.passed(scenario),
            };
            if cell.is_err() {
                println!("== {}, {PREFIX}{scenario}\n{}", self.name(), run.output);
            }
            cells.push(cell);
        }
        Ok(cells)
    }
}
