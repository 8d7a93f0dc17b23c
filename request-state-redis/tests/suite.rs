//! The suite for stores, on a real server.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers may panic, as tests do"
)]

#[path = "redis/server.rs"]
#[allow(dead_code, reason = "the other test binaries use more of it")]
mod server;

use std::time::Duration;

use request_state_conformance::StoreSuite;
use request_state_redis::RedisStore;
use server::Server;

#[test]
fn the_suite_for_stores_passes() {
    let server = Server::start(&[]);
    // A connection of its own each time, as each replica has one.
    let suite = StoreSuite::new(|| server.store()).unreachable(unreachable);
    let report = suite.check();
    assert!(report.is_ok(), "{report}");
}

/// A store whose server is gone.
async fn unreachable() -> RedisStore {
    let mut server = Server::start(&[]);
    let builder = server.builder().timeout(Duration::from_secs(2));
    let store = builder.connect().await.expect("a store");
    server.kill();
    store
}
