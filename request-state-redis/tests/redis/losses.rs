//! A server that lost what it knew: no token of before is good again, and the store serves on by itself.

use std::time::Duration;

use crate::server::{Server, again, claim, is_failed, is_lost, settled};
use request_state_core::{Claim, Claimed, RedemptionStore, StoreError};
use request_state_redis::RedisStore;

/// Redeems `count` tokens, and issues as many that nobody redeems.
async fn issue(store: &RedisStore, count: usize) -> (Vec<Claim>, Vec<Claim>) {
    let used: Vec<_> = (0..count).map(|_| claim()).collect();
    for claim in &used {
        assert_eq!(store.claim(claim).await.unwrap(), Claimed::First);
    }
    (used, (0..count).map(|_| claim()).collect())
}

/// Every token of before is unavailable, by whatever replica, and the next one counts once.
async fn all_lost(server: &Server, store: &RedisStore, before: &(Vec<Claim>, Vec<Claim>)) {
    let other = server.store().await;
    for claim in before.0.iter().chain(&before.1) {
        // The very claim that was made, and the same token again.
        for claim in [claim, &again(claim)] {
            assert!(is_lost(&settled(store, claim).await));
            assert!(is_lost(&other.claim(claim).await));
            assert!(is_lost(&other.find(&claim.id, claim.issued_at_ms).await));
        }
    }
    for _ in 0..70 {
        let next = claim();
        assert_eq!(store.claim(&next).await.unwrap(), Claimed::First);
        assert!(matches!(
            other.claim(&again(&next)).await.unwrap(),
            Claimed::Used(_)
        ));
    }
}

#[tokio::test]
async fn restart_without_data() {
    let mut server = Server::start(&[]);
    let store = server.store().await;
    let before = issue(&store, 10).await;
    server.kill();
    assert!(is_failed(&store.claim(&before.1[0]).await));
    server.start_again();
    all_lost(&server, &store, &before).await;
}

#[tokio::test]
async fn restart_with_all_data() {
    let mut server = Server::start(&[]);
    let store = server.store().await;
    let before = issue(&store, 10).await;
    server.shut_down("SAVE");
    server.start_again();
    assert_eq!(server.run::<u64>("DBSIZE"), 64 + 10);
    all_lost(&server, &store, &before).await;
}

#[tokio::test]
async fn restart_from_an_old_snapshot() {
    let mut server = Server::start(&[]);
    let store = server.store().await;
    let (mut used, mut unused) = issue(&store, 10).await;
    server.run::<String>("SAVE");
    let later = issue(&store, 10).await;
    used.extend(later.0);
    unused.extend(later.1);
    server.kill();
    server.start_again();
    assert_eq!(server.run::<u64>("DBSIZE"), 64 + 10);
    all_lost(&server, &store, &(used, unused)).await;
}

#[tokio::test]
async fn crash_with_the_end_of_the_log_missing() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "everysec"]);
    let store = server.store().await;
    let before = issue(&store, 20).await;
    server.kill();
    // A process that is killed leaves what it wrote to the system. A machine without power does not.
    let log = server.dir.join("appendonlydir/appendonly.aof.1.incr.aof");
    let file = std::fs::OpenOptions::new().write(true).open(log).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - length / 10).unwrap();
    server.start_again();
    // A busy system may have lost more, as everysec allows.
    assert!(server.run::<u64>("DBSIZE") < 64 + 20);
    all_lost(&server, &store, &before).await;
}

#[tokio::test]
async fn keys_deleted_while_connected() {
    let server = Server::start(&[]);
    let store = server.store().await;
    let before = issue(&store, 10).await;
    server.run::<String>("FLUSHALL");
    assert!(is_lost(&store.claim(&before.0[0]).await));
    // One loss sets all the marks, so that no bucket begins days later.
    assert_eq!(server.run::<u64>("DBSIZE"), 64);
    all_lost(&server, &store, &before).await;
}

#[tokio::test]
async fn clocks_that_are_apart() {
    let mut server = Server::start(&[]);
    let connect = || {
        RedisStore::builder(&server.url())
            .timeout(Duration::from_secs(60))
            .connect()
    };
    let store = connect().await.unwrap();
    // What replicas say of tokens that are issued now: of two clocks, each up to a minute off.
    let claims: Vec<_> = [-120_000, -60_000, -1, 0, 1, 60_000, 119_000]
        .map(|off| {
            let mut claim = claim();
            claim.issued_at_ms = claim.issued_at_ms.saturating_add_signed(off);
            claim
        })
        .into();
    server.kill();
    server.start_again();
    for claim in &claims {
        assert!(is_lost(&settled(&store, claim).await));
    }
}

#[tokio::test]
async fn replica_that_misses_the_end() {
    let primary = Server::start(&[]);
    let replica = Server::start(&["--replicaof", "127.0.0.1", &primary.port.to_string()]);
    wait_for_link(&replica);
    let store = primary.store().await;
    let (mut used, mut unused) = issue(&store, 10).await;
    wait_until(&replica, 64 + 10);
    replica.run::<String>("REPLICAOF NO ONE");
    let later = issue(&store, 10).await;
    used.extend(later.0);
    unused.extend(later.1);
    drop(primary);
    // As through a name that now leads to the replica.
    assert_eq!(replica.run::<u64>("DBSIZE"), 64 + 10);
    let moved = replica.store().await;
    all_lost(&replica, &moved, &(used, unused)).await;
}

/// A node can lose its data, keep its process, and keep its clients.
#[tokio::test]
async fn primary_that_becomes_a_replica_and_a_primary_again() {
    let node = Server::start(&[]);
    let other = Server::start(&["--replicaof", "127.0.0.1", &node.port.to_string()]);
    wait_for_link(&other);
    let (store, witness) = (node.store().await, node.store().await);
    let (mut used, mut unused) = issue(&store, 10).await;
    wait_until(&other, 64 + 10);
    other.run::<String>("REPLICAOF NO ONE");
    let later = issue(&store, 10).await;
    used.extend(later.0);
    unused.extend(later.1);

    node.run::<String>(&format!("REPLICAOF 127.0.0.1 {}", other.port));
    wait_for_link(&node);
    assert!(is_failed(&witness.claim(&again(&used[0])).await));
    // Even one that takes writes, and so would decide for itself.
    node.run::<String>("CONFIG SET replica-read-only no");
    for claim in used.iter().chain(&unused) {
        assert!(is_failed(&witness.claim(&again(claim)).await));
        let found = witness.find(&claim.id, claim.issued_at_ms).await;
        assert!(matches!(found, Err(StoreError::Failed(_))));
    }
    node.run::<String>("CONFIG SET replica-read-only yes");
    let connections = |node: &Server| -> Vec<u64> {
        let clients: String = node.run("CLIENT LIST TYPE normal");
        let ids = clients.lines().filter_map(|line| line.strip_prefix("id="));
        ids.filter_map(|line| line.split(' ').next()?.parse().ok())
            .collect()
    };
    let before = connections(&node);
    node.run::<String>("REPLICAOF NO ONE");
    assert_eq!(node.run::<u64>("DBSIZE"), 64 + 10);
    assert!(is_lost(&store.claim(&again(&later_of(&used))).await));
    // It was the same connection all along.
    let after = connections(&node);
    assert_eq!(before[0], after[0]);
    all_lost(&node, &store, &(used, unused)).await;
}

fn later_of(used: &[Claim]) -> Claim {
    used[used.len() - 1].clone()
}

#[tokio::test]
async fn a_server_that_is_trusted_with_its_data() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let builder = server.builder().trust_persistence(true);
    let store = builder.clone().connect().await.unwrap();
    let (used, unused) = issue(&store, 10).await;
    server.kill();
    server.start_again();
    for claim in &used {
        assert!(matches!(
            settled(&store, &again(claim)).await,
            Ok(Claimed::Used(_))
        ));
    }
    for claim in &unused {
        assert_eq!(store.claim(claim).await.unwrap(), Claimed::First);
    }
    // Its marks serve no store that trusts less.
    let strict = server.store().await;
    assert!(is_lost(&strict.claim(&again(&used[0])).await));
    // Nor do those of a store that trusts less serve it: the data was perhaps not to be trusted then.
    assert!(is_lost(&store.claim(&again(&used[1])).await));
    // And with nothing left it has forgotten too.
    let last = claim();
    server.run::<String>("FLUSHALL");
    assert!(is_lost(&store.claim(&last).await));
}

fn wait_for_link(replica: &Server) {
    loop {
        let info: String = replica.run("INFO replication");
        if info.contains("master_link_status:up") {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn wait_until(replica: &Server, keys: u64) {
    while replica.run::<u64>("DBSIZE") != keys {
        std::thread::sleep(Duration::from_millis(10));
    }
}
