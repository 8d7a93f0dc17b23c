//! A Postgres for a single test, in a temporary directory, on a Unix socket.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::{Client, Config, NoTls};

/// The time limit of a start on a busy machine.
const START: Duration = Duration::from_secs(120);

pub struct Server {
    process: Option<Child>,
    dir: TempDir,
}

impl Server {
    pub async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        if let Some((uid, gid)) = unprivileged() {
            chown(dir.path(), Some(uid), Some(gid)).unwrap();
        }
        let initdb = command("initdb", dir.path())
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--no-locale", "--no-sync", "--pgdata=data"])
            .output()
            .unwrap();
        assert!(initdb.status.success(), "{initdb:?}");
        let mut server = Self { process: None, dir };
        server.restart().await;
        server
    }

    /// Starts the server again on the same data.
    pub async fn restart(&mut self) {
        let started = Instant::now();
        loop {
            let exited = match &mut self.process {
                Some(process) => process.try_wait().unwrap().is_some(),
                None => true,
            };
            // After a crash, the server does not start before the last process of the crashed one
            // has ended.
            if exited {
                self.process = Some(self.spawn());
            }
            if self.config().connect(NoTls).await.is_ok() {
                return;
            }
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap();
            assert!(started.elapsed() < START, "Postgres does not start: {log}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn spawn(&self) -> Child {
        let mut log = File::options();
        let log = log
            .create(true)
            .append(true)
            .open(self.dir.path().join("log"));
        command("postgres", self.dir.path())
            .args(["-D", "data", "-c", "listen_addresses=", "-k"])
            .arg(self.dir.path())
            .args(["-c", "max_connections=200", "-c", "shared_buffers=16MB"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn()
            .unwrap()
    }

    /// Kills every process of the server at once.
    pub fn crash(&mut self) {
        let mut process = self.process.take().unwrap();
        let pid = process.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        signal("KILL", &format!("{pid} {children}"));
        process.wait().unwrap();
    }

    /// Stops the server in an orderly way.
    pub fn stop(&mut self) {
        self.end("INT");
    }

    fn end(&mut self, name: &str) {
        if let Some(mut process) = self.process.take() {
            signal(name, &process.id().to_string());
            process.wait().unwrap();
        }
    }

    /// Returns the configuration for connecting to the server.
    pub fn config(&self) -> Config {
        let mut config = Config::new();
        config.host_path(self.dir.path());
        config.user("postgres").dbname("postgres");
        config
    }

    /// Returns a connection for the test itself.
    pub async fn client(&self) -> Client {
        let (client, connection) = self.config().connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("QUIT");
    }
}

pub fn signal(name: &str, pids: &str) {
    // A process that has ended by itself is not an error.
    let kill = format!("kill -{name} {pids}");
    Command::new("sh")
        .args(["-c", &kill])
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

/// Returns the user to run Postgres as. Postgres does not run as root. If the test does, Postgres
/// runs as its own user.
fn unprivileged() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let user = users.lines().find(|line| line.starts_with("postgres:"));
    let user = user.expect("there is no user `postgres`; install Debian's package `postgresql`");
    let fields: Vec<_> = user.split(':').collect();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(binaries().join(program));
    command.current_dir(dir);
    if let Some((uid, gid)) = unprivileged() {
        command.uid(uid).gid(gid);
    }
    command
}

/// Returns the directory of Postgres' programs, because on Debian the server is not in `PATH`.
fn binaries() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.map(|version| version.unwrap().path().join("bin"));
    let mut all = env::split_paths(&path).chain(debian);
    let found = all.find(|dir| dir.join("initdb").is_file() && dir.join("postgres").is_file());
    found.expect(
        "Postgres is not installed: neither PATH nor /usr/lib/postgresql/*/bin has `initdb` and \
         `postgres`; install Debian's package `postgresql`",
    )
}
