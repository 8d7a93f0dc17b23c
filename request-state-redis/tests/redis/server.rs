//! A real Redis server for a test: on a free port of the loopback address, in a directory of its own.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use request_state_core::{Claim, Claimed, RedemptionStore, StoreError};
use request_state_redis::{RedisStore, RedisStoreBuilder};

/// How long anything may take before a test gives up. No verdict depends on it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub struct Server {
    pub port: u16,
    pub dir: PathBuf,
    args: Vec<String>,
    child: Child,
}

impl Server {
    /// Starts a server without persistence, with more arguments of `redis-server`.
    pub fn start(args: &[&str]) -> Self {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        // Another process may take the port in between.
        for _ in 0..20 {
            let port = free_port();
            let dir = directory(port);
            let child = spawn(port, &dir, &args);
            let mut server = Self {
                port,
                dir,
                args: args.clone(),
                child,
            };
            if server.wait() {
                return server;
            }
        }
        panic!("redis-server does not start");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A builder for tests: one clock, and all the time that a busy machine takes.
    pub fn builder(&self) -> RedisStoreBuilder {
        RedisStore::builder(&self.url())
            .clock_margin(Duration::ZERO)
            .timeout(PATIENCE)
    }

    pub async fn store(&self) -> RedisStore {
        self.builder().connect().await.expect("a store")
    }

    /// A connection for what an operator does.
    pub fn admin(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).expect("a client");
        client.get_connection().expect("a connection")
    }

    /// Runs a command given as words.
    pub fn run<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let mut words = command.split(' ');
        let mut command = redis::cmd(words.next().expect("a name"));
        for word in words {
            command.arg(word);
        }
        command.query(&mut self.admin()).expect("a reply")
    }

    /// Ends the server as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Starts it anew, with the files that are there.
    pub fn start_again(&mut self) {
        self.child = spawn(self.port, &self.dir, &self.args);
        assert!(self.wait(), "redis-server does not start again");
    }

    /// Starts it anew with more arguments, and does not wait for it.
    pub fn spawn_with(&mut self, more: &[&str]) {
        let mut args = self.args.clone();
        args.extend(more.iter().map(ToString::to_string));
        self.child = spawn(self.port, &self.dir, &args);
    }

    /// Ends it as an operator does, saving what it is told to save.
    pub fn shut_down(&mut self, how: &str) {
        let mut admin = self.admin();
        let shutdown = redis::cmd("SHUTDOWN").arg(how).exec(&mut admin);
        // The connection ends without a reply.
        assert!(shutdown.is_err());
        self.child.wait().expect("ended");
    }

    /// Sends a signal, such as STOP, on which the server stops without closing anything.
    pub fn signal(&self, signal: &str) {
        let kill = Command::new("kill")
            .arg(format!("-{signal}"))
            .arg(self.child.id().to_string())
            .status();
        assert!(kill.expect("kill").success());
    }

    /// Waits until the server answers. Returns `false` if it ended.
    fn wait(&mut self) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if self.child.try_wait().expect("a child").is_some() {
                return false;
            }
            let client = redis::Client::open(self.url()).expect("a client");
            let info: redis::RedisResult<String> = client
                .get_connection()
                .and_then(|mut connection| redis::cmd("INFO").query(&mut connection));
            match info {
                // Another server may have taken the port, and this one is about to end.
                Ok(info) if !info.contains(&format!("process_id:{}\r", self.child.id())) => {
                    return false;
                }
                Ok(info) if info.contains("\nloading:0") => return true,
                Ok(_) => {}
                Err(error) if error.to_string().contains("NOAUTH") => return true,
                Err(_) => {}
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("redis-server does not answer");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

/// A port that no client gets by chance: one that connects to a server that is down could else be
/// connected to itself, and keep the server from its port.
fn free_port() -> u16 {
    loop {
        let random = RandomState::new().build_hasher().finish() % 10_000;
        // The bus of a cluster is 10,000 ports above.
        let port = u16::try_from(10_000 + random).expect("a port");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn directory(port: u16) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("redis-{}-{port}-{number}", std::process::id());
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn spawn(port: u16, dir: &Path, args: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    command
        .args([
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--repl-diskless-sync-delay",
            "0",
            "--port",
        ])
        .arg(port.to_string())
        .arg("--dir")
        .arg(dir)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap_or_else(|error| {
        panic!("redis-server cannot be run ({error}): install it, on Debian with scripts/redis")
    })
}

pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.expect("after 1970").as_millis()).expect("a time")
}

/// A claim of a token that is issued now, after everything that was done before.
pub fn claim() -> Claim {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // The marks are of this millisecond at the latest.
    std::thread::sleep(Duration::from_millis(2));
    let mut id = [0; 32];
    // Spread over the buckets, as a digest would be.
    id[0] = u8::try_from(number % 251).expect("a byte");
    id[24..].copy_from_slice(&number.to_be_bytes());
    Claim {
        id,
        nonce: nonce(),
        presentation: [7; 32],
        issued_at_ms: now_ms(),
        keep_for: Duration::from_secs(3_600),
    }
}

/// A nonce that no other claim has.
pub fn nonce() -> [u8; 16] {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    u128::from(number).to_be_bytes()
}

/// The same presentation again: with a nonce of its own.
pub fn again(claim: &Claim) -> Claim {
    Claim {
        nonce: nonce(),
        ..claim.clone()
    }
}

/// Claims until the store says something: a connection that broke is replaced after some call failed.
pub async fn settled(store: &RedisStore, claim: &Claim) -> Result<Claimed, StoreError> {
    let begin = Instant::now();
    loop {
        match store.claim(claim).await {
            Err(StoreError::Failed(error)) if begin.elapsed() > PATIENCE => {
                panic!("the store does not come back: {error}")
            }
            Err(StoreError::Failed(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
            result => return result,
        }
    }
}

pub fn is_failed<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Failed(_)))
}

pub fn is_lost<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::HistoryLost))
}
