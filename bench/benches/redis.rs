//! A redemption over Redis next to a bare `SET` of the same client and next to the smallest script that could do it, and
//! how many there are in a second. Starts a `redis-server` of its own.

use std::net::TcpListener;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use request_state::{Claim, Claimed, RedemptionStore};
use request_state_bench::clock::compare;
use request_state_bench::table::Table;
use request_state_redis::RedisStore;
use tokio::runtime::{Builder, Runtime};

/// Above the smallest script: the identity is found in the text, compared with the mark and with the limit.
const SCRIPT_GOAL: f64 = 1.25;

/// How long each count of redemptions takes.
const COUNTED: Duration = Duration::from_secs(2);

/// Reads the identity of the server and the mark, and claims the key: what any script must do.
const SMALLEST: &str = "redis.call('INFO', 'server', 'replication') redis.call('GET', KEYS[1]) \
    return redis.call('SET', KEYS[2], ARGV[1], 'NX', 'GET', 'PX', ARGV[2])";

static NUMBER: AtomicU64 = AtomicU64::new(1);

fn main() -> ExitCode {
    let server = Server::start();
    let mut table = Table::default();
    let one_thread = Builder::new_current_thread().enable_all().build();
    let threads = Builder::new_multi_thread().enable_all().build();
    for (name, runtime) in [
        ("runtime of one thread", one_thread),
        ("runtime of a thread for each core", threads),
    ] {
        let runtime = runtime.expect("a runtime");
        let (store, mut connection) = runtime.block_on(server.connect());
        let script = runtime.block_on(load(&mut connection));
        let redemption = || runtime.block_on(redeem(&store));
        table.heading("A redemption over loopback", "smallest script", "ratio");
        let times = compare(redemption, || {
            runtime.block_on(smallest(&mut connection, &script));
        });
        table.times(name, times, times.ratio(), SCRIPT_GOAL);
        table.heading("A redemption over loopback", "SET NX PX", "ratio");
        let times = compare(redemption, || runtime.block_on(set(&mut connection)));
        table.shown(name, times);
    }
    server.print_times();
    println!("\nRedemptions a second, on one connection, and bare commands next to them");
    for at_once in [1, 8, 64] {
        let runtime = Runtime::new().expect("a runtime");
        let (store, connection) = runtime.block_on(server.connect());
        let redeemed = count(&runtime, at_once, move || {
            let store = store.clone();
            async move { redeem(&store).await }
        });
        let set = count(&runtime, at_once, move || {
            let mut connection = connection.clone();
            async move { set(&mut connection).await }
        });
        println!("  {at_once:>2} at once{redeemed:>42.0}{set:>18.0}");
    }
    table.finish()
}

/// How often a second `call` is done, by so many tasks that each wait for their own.
fn count<F>(runtime: &Runtime, tasks: usize, call: impl Fn() -> F + Send + Sync + 'static) -> f64
where
    F: Future<Output = ()> + Send,
{
    let call = Arc::new(call);
    let done = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let (call, done) = (Arc::clone(&call), Arc::clone(&done));
            runtime.spawn(async move {
                while start.elapsed() < COUNTED {
                    call().await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("no panic");
    }
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

async fn redeem(store: &RedisStore) {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut claim = Claim {
        id: [0; 32],
        nonce: [1; 16],
        presentation: [2; 32],
        // Of the year 2100: no mark is younger.
        issued_at_ms: 4_102_444_800_000,
        keep_for: Duration::from_secs(3_720),
    };
    claim.id[..8].copy_from_slice(&number.to_le_bytes());
    let claimed = store.claim(&claim).await.expect("an answer");
    assert_eq!(claimed, Claimed::First);
}

/// Returns a fresh key, as long as that of a redemption.
fn key() -> String {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("request-state:{{00}}:{number:064x}")
}

async fn load(connection: &mut MultiplexedConnection) -> String {
    let mut command = redis::cmd("SCRIPT");
    command.arg("LOAD").arg(SMALLEST);
    command.query_async(connection).await.expect("its digest")
}

async fn smallest(connection: &mut MultiplexedConnection, script: &str) {
    let mut command = redis::cmd("EVALSHA");
    command.arg(script).arg(2).arg("request-state:{00}:mark");
    command.arg(key()).arg(&[1_u8; 64][..]).arg(3_720_000);
    let was: Option<Vec<u8>> = command.query_async(connection).await.expect("an answer");
    assert!(was.is_none());
}

/// A key and a value as long as those of a redemption.
async fn set(connection: &mut MultiplexedConnection) {
    let mut command = redis::cmd("SET");
    command.arg(key());
    command
        .arg(&[1_u8; 64][..])
        .arg("NX")
        .arg("PX")
        .arg(3_720_000);
    let set: Option<String> = command.query_async(connection).await.expect("an answer");
    assert!(set.is_some());
}

/// A server without persistence on a free port, which ends with this.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = socket.local_addr().expect("an address").port().to_string();
        drop(socket);
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port]);
        let child = command.stdout(Stdio::null()).spawn();
        Self {
            child: child.expect("redis-server, which scripts/redis installs"),
            url: format!("redis://127.0.0.1:{port}"),
        }
    }

    /// How long the server itself takes for each command: a script with what it calls.
    fn print_times(&self) {
        println!("\nOf which in the server");
        let client = redis::Client::open(self.url.as_str()).expect("a client");
        let mut connection = client.get_connection().expect("a connection");
        let mut info = redis::cmd("INFO");
        let times: String = info
            .arg("commandstats")
            .query(&mut connection)
            .expect("text");
        for name in ["evalsha", "info", "set"] {
            let line = times
                .lines()
                .find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:")));
            let time = line.and_then(|line| line.split("usec_per_call=").nth(1)?.split(',').next());
            println!("  {name:<42}{:>9} µs", time.expect("a time"));
        }
    }

    /// Two connections, as one client makes them.
    async fn connect(&self) -> (RedisStore, MultiplexedConnection) {
        let store = loop {
            match RedisStore::builder(&self.url)
                .timeout(Duration::from_secs(30))
                .connect()
                .await
            {
                Ok(store) => break store,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        let settings = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let address = redis::IntoConnectionInfo::into_connection_info(self.url.as_str());
        let address = address.expect("a url").set_tcp_settings(settings);
        let client = redis::Client::open(address).expect("a client");
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&config);
        (store, connection.await.expect("a connection"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
