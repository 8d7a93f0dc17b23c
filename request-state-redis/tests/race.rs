//! Four processes present each round 16 times at once, over one real server: a thousand rounds, and each has one
//! winner.
//!
//! It has no test harness: it runs itself four times more.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

#[path = "redis/server.rs"]
#[allow(dead_code, reason = "the other test binaries use more of it")]
mod server;

use std::process::{Command, Stdio};
use std::time::Duration;

use request_state_core::{Claim, Claimed, RedemptionStore};
use request_state_redis::RedisStore;
use server::Server;

const PROCESSES: usize = 4;
const AT_ONCE: usize = 16;
const ROUNDS: u64 = 1_000;

fn main() {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next(), args.next()) {
        (Some("child"), Some(url), Some(number)) => child(&url, number.parse().expect("a number")),
        _ => parent(),
    }
}

fn parent() {
    let server = Server::start(&[]);
    // The marks are there before the tokens are issued.
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    drop(runtime.block_on(server.store()));
    std::thread::sleep(Duration::from_millis(2));
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.args(["child", &server.url(), &number.to_string()]);
            command.stdout(Stdio::piped()).spawn().expect("a process")
        })
        .collect();
    let mut winners = vec![0; ROUNDS as usize];
    let mut shares = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", output.status);
        let won: Vec<usize> = String::from_utf8(output.stdout)
            .expect("text")
            .split_whitespace()
            .map(|round| round.parse().expect("a round"))
            .collect();
        shares.push(won.len());
        for round in won {
            winners[round] += 1;
        }
    }
    let wrong: Vec<_> = (0..)
        .zip(&winners)
        .filter(|(_, count)| **count != 1)
        .collect();
    assert!(wrong.is_empty(), "rounds and their winners: {wrong:?}");
    println!("{ROUNDS} rounds with one winner each; won by each process: {shares:?}");
}

/// Prints the rounds that this process won.
fn child(url: &str, number: usize) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let issued_at_ms = server::now_ms();
    runtime.block_on(async {
        let store = RedisStore::builder(url)
            .clock_margin(Duration::ZERO)
            .timeout(Duration::from_secs(60))
            .connect()
            .await
            .expect("a store");
        let client = redis::Client::open(url).expect("a client");
        let mut meeting = client
            .get_multiplexed_async_connection()
            .await
            .expect("a connection");
        for round in 0..ROUNDS {
            // All processes begin a round together.
            let key = format!("meeting:{round}");
            let mut arrived: usize = redis::cmd("INCR")
                .arg(&key)
                .query_async(&mut meeting)
                .await
                .expect("a count");
            while arrived < PROCESSES {
                let count = redis::cmd("GET").arg(&key).query_async(&mut meeting).await;
                arrived = count.expect("a count");
            }
            let claims = (0..AT_ONCE).map(|at| {
                let store = store.clone();
                tokio::spawn(async move {
                    let mut id = [0; 32];
                    id[..8]
                        .copy_from_slice(&round.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
                    id[24..].copy_from_slice(&round.to_be_bytes());
                    let nonce = u128::from(round) * 1_000 + (number * AT_ONCE + at) as u128;
                    let claim = Claim {
                        id,
                        nonce: nonce.to_be_bytes(),
                        presentation: [7; 32],
                        issued_at_ms,
                        keep_for: Duration::from_secs(600),
                    };
                    store.claim(&claim).await.expect("an answer")
                })
            });
            for claimed in claims.collect::<Vec<_>>() {
                if claimed.await.expect("a task") == Claimed::First {
                    println!("{round}");
                }
            }
        }
    });
}
