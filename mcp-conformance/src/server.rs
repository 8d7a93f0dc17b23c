//! A server in a separate process.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::Failure;

const START_LIMIT: Duration = Duration::from_secs(120);

/// A running server. It is killed when it is dropped.
pub struct Server {
    /// The address of its endpoint.
    pub url: String,
    _process: Child,
}

impl Server {
    /// Starts `mcp-conformance-server` with `arguments`. Its log goes to the file `log`.
    pub async fn start(arguments: &[&str], log: &Path) -> Result<Self, Failure> {
        // Cargo puts both programs of this package into one directory.
        let program = std::env::current_exe()?.with_file_name("mcp-conformance-server");
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log)?)
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("no output of the server")?;
        let mut url = String::new();
        timeout(START_LIMIT, BufReader::new(output).read_line(&mut url))
            .await
            .map_err(|_| format!("the server {arguments:?} did not say its address"))??;
        if url.is_empty() {
            let log = std::fs::read_to_string(log)?;
            return Err(format!("the server {arguments:?} did not start: {log}").into());
        }
        Ok(Self {
            url: url.trim_end().to_owned(),
            _process: process,
        })
    }
}
