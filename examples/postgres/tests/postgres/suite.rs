//! The suite for stores, run on a real server.

use std::time::Duration;

use request_state_conformance::StoreSuite;
use request_state_example_postgres::{Database, PostgresStore};

use crate::server::Server;

/// The suite has its own runtime.
#[test]
fn the_suite_for_stores_passes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Server::start());
    let suite = StoreSuite::new(|| crate::store(&server)).unreachable(unreachable);
    let report = suite.check();
    assert!(report.is_ok(), "{report}");
}

/// Returns a store whose server has stopped.
async fn unreachable() -> PostgresStore {
    let mut server = Server::start().await;
    let database = Database::new(server.config(), 16, Duration::from_secs(2)).unwrap();
    let store = PostgresStore::create(database).await.unwrap();
    server.crash();
    store
}
