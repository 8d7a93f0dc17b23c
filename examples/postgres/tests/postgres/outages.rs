//! Crashes, and servers that do not answer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use request_state::{
    AesGcmCodec, Boundary, Claimed, Keyring, OnceBoundary, RedemptionStore, Sealer, StoreError,
};
use request_state_example_postgres::{Database, PostgresStore};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_postgres::Config;

use crate::server::{Server, signal};
use crate::{by, is_first, new_claim, store};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_redeemed_before_a_crash_is_redeemed_after_it() {
    let mut server = Server::start().await;
    let store = store(&server).await;
    let mut redeemed = Vec::new();
    for _ in 0..5 {
        for _ in 0..20 {
            let claim = new_claim();
            assert!(is_first(&store, &claim).await);
            assert!(
                store
                    .record(&claim.id, &claim.nonce, b"kept")
                    .await
                    .unwrap()
            );
            redeemed.push(claim);
        }
        // Immediately after the last answer.
        server.crash();
        server.restart().await;
        for claim in &redeemed {
            match store.claim(&by(2, claim)).await.unwrap() {
                Claimed::Used(entry) => assert_eq!(entry.answer.unwrap(), b"kept"),
                Claimed::First => panic!("redeemed twice"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crashes_under_load_redeem_nothing_twice() {
    const IDS: usize = 200;
    let mut server = Server::start().await;
    let store = store(&server).await;
    let claims: Arc<Vec<_>> = Arc::new((0..IDS).map(|_| new_claim()).collect());
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for nonce in 0..8 {
        let (store, claims, is_over) = (store.clone(), claims.clone(), is_over.clone());
        tasks.spawn(async move {
            let (mut firsts, mut failures, mut is_last) = (BTreeSet::new(), 0, false);
            while !is_last {
                // The last time, all claims run without a crash.
                is_last = is_over.load(Ordering::SeqCst);
                for (number, claim) in claims.iter().enumerate() {
                    match store.claim(&by(nonce, claim)).await {
                        Ok(Claimed::First) => drop(firsts.insert(number)),
                        // No confirmed claim is lost either.
                        Ok(Claimed::Used(_)) => assert!(!firsts.contains(&number)),
                        Err(StoreError::Failed(_)) => failures += 1,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
            (firsts, failures)
        });
    }
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.crash();
        tokio::time::sleep(Duration::from_millis(20)).await;
        server.restart().await;
    }
    is_over.store(true, Ordering::SeqCst);
    let found = tasks.join_all().await;
    assert!(
        found.iter().any(|(_, failures)| *failures > 0),
        "no crash was noticed"
    );
    let mut firsts: Vec<_> = found.into_iter().flat_map(|(firsts, _)| firsts).collect();
    firsts.sort_unstable();
    assert_eq!(firsts, Vec::from_iter(0..IDS));
}

/// Asks, and returns a request with the token and the answer.
async fn answered(boundary: &OnceBoundary<AesGcmCodec>) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, "name": "delete",
    }});
    let round = boundary
        .open_request(&mut request, Some("user:alice"))
        .await
        .unwrap();
    let mut response = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "resultType": "input_required", "inputRequests": {
            "confirm": {"method": "elicitation/create", "params": {"message": "Really?"}},
        },
    }});
    boundary.seal_response(&round, &mut response).await;
    request["params"]["requestState"] = response["result"]["requestState"].clone();
    request["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_is_unavailable_until_it_is_back() {
    let mut server = Server::start().await;
    let store = store(&server).await;
    let claim = new_claim();
    assert!(is_first(&store, &claim).await);
    let sealer = Sealer::new("files", AesGcmCodec::new(&Keyring::ephemeral().unwrap())).unwrap();
    let boundary = Boundary::new(sealer).once(store.clone());
    let present = async |request: &Value| {
        let opened = boundary
            .open_request(&mut request.clone(), Some("user:alice"))
            .await;
        opened
            .map(drop)
            .map_err(|reply| reply.response()["error"]["code"].clone())
    };
    let (before, during) = (answered(&boundary).await, answered(&boundary).await);
    assert_eq!(present(&before).await, Ok(()));

    server.stop();
    for request in [&before, &during, &during] {
        assert_eq!(present(request).await, Err(json!(-32603)));
    }
    for failed in [
        store.claim(&claim).await.map(drop),
        store.find(&claim.id, claim.issued_at_ms).await.map(drop),
        store.record(&claim.id, &claim.nonce, b"").await.map(drop),
        store.release(&claim.id, &claim.nonce).await.map(drop),
    ] {
        assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
    }

    server.restart().await;
    assert_eq!(present(&before).await, Err(json!(-32602)));
    assert_eq!(present(&during).await, Ok(()));
    assert_eq!(present(&during).await, Err(json!(-32602)));
    assert!(!is_first(&store, &by(2, &claim)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_accepts_and_says_nothing_ends_a_call_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::new();
    config
        .host("127.0.0.1")
        .port(silent.local_addr().unwrap().port());
    config.user("postgres");
    let database = Database::new(config, 1, Duration::from_millis(100)).unwrap();
    let created = PostgresStore::create(database).await;
    assert!(created.is_err());
}

/// Simulates a host that disappears: nothing closes the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_stuck_is_replaced() {
    const OTHERS: &str = "select pid from pg_stat_activity \
                          where backend_type = 'client backend' and pid <> pg_backend_pid()";
    let server = Server::start().await;
    let client = server.client().await;
    let database = Database::new(server.config(), 1, Duration::from_secs(8)).unwrap();
    let store = PostgresStore::create(database).await.unwrap();
    let store = store.clock_margin(Duration::ZERO);
    let claim = new_claim();
    assert!(is_first(&store, &claim).await);

    let row = client.query_one(OTHERS, &[]).await.unwrap();
    let pid = row.get::<_, i32>(0).to_string();
    signal("STOP", &pid);
    // One of the calls may time out. None waits until the process resumes.
    let found = match store.claim(&by(2, &claim)).await {
        Err(StoreError::Failed(_)) => store.claim(&by(2, &claim)).await,
        found => found,
    };
    signal("CONT", &pid);
    assert!(matches!(found, Ok(Claimed::Used(_))), "{found:?}");
}
