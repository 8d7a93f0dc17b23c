//! A Redis Cluster of three primaries and their replicas: one dies, and a slot moves.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers may panic, as tests do"
)]

#[path = "redis/server.rs"]
#[allow(dead_code, reason = "the other test binary uses more of it")]
mod server;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use request_state_core::{Claim, Claimed, RedemptionStore, StoreError};
use request_state_redis::{RedisStore, RedisStoreError};
use server::{PATIENCE, Server, again, claim, is_failed, is_lost, settled};

fn cluster() -> Vec<Server> {
    let args = "--cluster-enabled yes --cluster-node-timeout 2000 --cluster-require-full-coverage no \
        --cluster-replica-validity-factor 0";
    let args: Vec<_> = args.split_whitespace().collect();
    let nodes: Vec<_> = (0..6).map(|_| Server::start(&args)).collect();
    let mut create = Command::new("redis-cli");
    create.args(["--cluster", "create"]);
    create.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)));
    create.args(["--cluster-replicas", "1", "--cluster-yes"]);
    let output = create.output().expect("redis-cli");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let settled = |node: &Server| {
        let replication: String = node.run("INFO replication");
        let attached = ["master_link_status:up", "connected_slaves:1"];
        node.run::<String>("CLUSTER INFO")
            .contains("cluster_state:ok")
            && attached.iter().any(|state| replication.contains(state))
    };
    while !nodes.iter().all(settled) || nodes.iter().filter(|node| is_primary(node)).count() != 3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    nodes
}

async fn connect(nodes: &[Server]) -> RedisStore {
    connect_within(Duration::from_secs(60), nodes).await
}

async fn connect_within(timeout: Duration, nodes: &[Server]) -> RedisStore {
    RedisStore::cluster(nodes.iter().map(Server::url))
        .clock_margin(Duration::ZERO)
        .timeout(timeout)
        .connect()
        .await
        .expect("a store")
}

fn is_primary(node: &Server) -> bool {
    node.run::<String>("INFO replication")
        .contains("role:master")
}

fn mark(claim: &Claim) -> String {
    format!("request-state:{{{:02}}}:mark", claim.id[0] % 64)
}

/// The other shards serve, a server that starts while it is gone, too.
#[tokio::test]
async fn a_shard_is_gone() {
    let mut nodes = cluster();
    let running = connect_within(Duration::from_secs(2), &nodes).await;
    let id = |node: &Server| node.run::<String>("CLUSTER MYID");
    let gone = nodes.remove(nodes.iter().position(is_primary).expect("a primary"));
    let held: Vec<String> = gone.run("KEYS *:mark");
    assert!(!held.is_empty());
    let of_gone = id(&gone);
    let replica = nodes.iter().position(|node| {
        let line = |line: &&str| line.contains("myself") && line.contains(&of_gone);
        node.run::<String>("CLUSTER NODES")
            .lines()
            .any(|l| line(&l))
    });
    drop((nodes.remove(replica.expect("a replica")), gone));
    let starting = settled_store(&nodes).await;
    for store in [running, starting] {
        for _ in 0..5 {
            let claim_of = |is_gone: bool| {
                let mut claims = std::iter::repeat_with(claim);
                let claim = claims.find(|claim| held.contains(&mark(claim)) == is_gone);
                claim.expect("a claim")
            };
            assert!(is_failed(&store.claim(&claim_of(true)).await));
            let claimed = settled(&store, &claim_of(false)).await;
            assert!(matches!(claimed, Ok(Claimed::First)), "{claimed:?}");
        }
    }
}

#[tokio::test]
async fn a_primary_dies() {
    let mut nodes = cluster();
    let store = connect(&nodes).await;
    // One mark in each bucket, and each primary has some.
    let primaries = nodes.iter().filter(|node| is_primary(node));
    let marks: Vec<u64> = primaries.map(|node| node.run("DBSIZE")).collect();
    assert_eq!((marks.len(), marks.iter().sum()), (3, 64));
    assert!(marks.iter().all(|marks| *marks > 0));

    let used: Vec<_> = (0..64).map(|_| claim()).collect();
    for claim in &used {
        assert_eq!(store.claim(claim).await.unwrap(), Claimed::First);
    }
    let unused: Vec<_> = (0..64).map(|_| claim()).collect();
    let dying = nodes.iter().position(is_primary).expect("a primary");
    let dead = nodes.remove(dying);
    let held: BTreeSet<String> = dead.run::<Vec<String>>("KEYS *:mark").into_iter().collect();
    drop(dead);

    let other = settled_store(&nodes).await;
    for claim in &used {
        let claimed = settled(&store, &again(claim)).await;
        let found = other.find(&claim.id, claim.issued_at_ms).await;
        if held.contains(&mark(claim)) {
            assert!(
                is_lost(&claimed) && is_lost(&found),
                "{claimed:?} {found:?}"
            );
        } else {
            assert!(matches!(claimed, Ok(Claimed::Used(_))), "{claimed:?}");
            assert!(matches!(found, Ok(Some(_))), "{found:?}");
        }
    }
    for claim in &unused {
        let claimed = settled(&store, claim).await;
        if held.contains(&mark(claim)) {
            assert!(is_lost(&claimed), "{claimed:?}");
        } else {
            assert!(matches!(claimed, Ok(Claimed::First)), "{claimed:?}");
        }
    }
    for _ in 0..64 {
        let claim = claim();
        assert!(matches!(settled(&store, &claim).await, Ok(Claimed::First)));
        let used = settled(&other, &again(&claim)).await;
        assert!(matches!(used, Ok(Claimed::Used(_))), "{used:?}");
    }
}

/// The connection to a primary that only stops answering never breaks. The store finds out who took over,
/// and meanwhile serves what the others have.
#[tokio::test]
async fn a_primary_hangs() {
    let nodes = cluster();
    let store = connect_within(Duration::from_secs(2), &nodes).await;
    let hanging = nodes.iter().find(|node| is_primary(node));
    let hanging = hanging.expect("a primary");
    let held = hanging.run::<Vec<String>>("KEYS *:mark");
    let mut claims = std::iter::repeat_with(claim);
    let mut claim_of_it = || {
        claims
            .find(|claim| held.contains(&mark(claim)))
            .expect("a claim")
    };
    let used = claim_of_it();
    assert_eq!(settled(&store, &used).await.unwrap(), Claimed::First);

    let begin = Instant::now();
    hanging.signal("STOP");
    assert!(is_failed(&store.claim(&claim_of_it()).await));
    let elsewhere = std::iter::repeat_with(claim).find(|claim| !held.contains(&mark(claim)));
    let claimed = settled(&store, &elsewhere.expect("a claim")).await;
    assert!(matches!(claimed, Ok(Claimed::First)), "{claimed:?}");

    let lost = settled(&store, &again(&used)).await;
    assert!(is_lost(&lost), "{lost:?}");
    let claimed = settled(&store, &claim_of_it()).await;
    assert!(matches!(claimed, Ok(Claimed::First)), "{claimed:?}");
    // A server that starts while the node hangs connects, too.
    while let Err(error) = RedisStore::cluster(nodes.iter().map(Server::url))
        .connect()
        .await
    {
        assert!(begin.elapsed() < PATIENCE, "{error}");
    }
    hanging.signal("CONT");
}

/// A new replica of the server connects once the cluster has a primary for each slot again.
async fn settled_store(nodes: &[Server]) -> RedisStore {
    loop {
        let builder = RedisStore::cluster(nodes.iter().map(Server::url));
        let builder = builder
            .clock_margin(Duration::ZERO)
            .timeout(Duration::from_secs(60));
        match builder.connect().await {
            Err(RedisStoreError::Redis(_) | RedisStoreError::TimedOut(_)) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            result => return result.expect("a store"),
        }
    }
}

/// A replica that starts from its file, and takes over before it knows its primary, keeps the replication ID
/// that the file has. (So it does in Redis 7.0.) Its file lacks the last redemption.
#[tokio::test]
async fn a_replica_takes_over_with_the_replication_id_of_its_file() {
    let args = "--cluster-enabled yes --cluster-node-timeout 1500";
    let args: Vec<_> = args.split_whitespace().collect();
    let (mut primary, mut replica) = (Server::start(&args), Server::start(&args));
    let wait_for = |node: &Server, command: &str, text: &str| {
        while !node.run::<String>(command).contains(text) {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let id: String = primary.run("CLUSTER MYID");
    primary.run::<String>("CLUSTER ADDSLOTSRANGE 0 16383");
    replica.run::<String>(&format!("CLUSTER MEET 127.0.0.1 {}", primary.port));
    wait_for(&replica, "CLUSTER NODES", &id);
    wait_for(&replica, "CLUSTER INFO", "cluster_state:ok");
    replica.run::<String>(&format!("CLUSTER REPLICATE {id}"));
    wait_for(&replica, "INFO replication", "master_link_status:up");
    wait_for(&primary, "CLUSTER INFO", "cluster_state:ok");
    let store = primary.store().await;
    while replica.run::<u64>("DBSIZE") != 64 {
        std::thread::sleep(Duration::from_millis(20));
    }
    replica.run::<String>("SAVE");
    let used = claim();
    assert_eq!(store.claim(&used).await.unwrap(), Claimed::First);

    // Another machine comes under the address of the primary, empty, and lets nobody in.
    replica.kill();
    primary.kill();
    std::fs::remove_file(primary.dir.join("nodes.conf")).expect("a file");
    primary.spawn_with(&["--requirepass", "another"]);
    replica.start_again();
    wait_for(&replica, "CLUSTER NODES", "noaddr");
    replica.kill();
    replica.start_again();
    replica.run::<String>("CLUSTER FAILOVER TAKEOVER");
    wait_for(&replica, "CLUSTER INFO", "cluster_state:ok");
    let store = replica.store().await;
    let claimed = store.claim(&again(&used)).await;
    assert!(is_lost(&claimed), "{claimed:?}");
}

#[tokio::test]
async fn a_slot_moves() {
    let nodes = cluster();
    let store = connect(&nodes).await;
    let used = claim();
    assert_eq!(store.claim(&used).await.unwrap(), Claimed::First);
    let unused = again(&claim());
    let key = mark(&used);
    let slot: u64 = nodes[0].run(&format!("CLUSTER KEYSLOT {key}"));
    let holds = |node: &&Server| {
        let keys: Vec<String> = node.run(&format!("CLUSTER GETKEYSINSLOT {slot} 10"));
        is_primary(node) && !keys.is_empty()
    };
    let from = nodes.iter().find(holds).expect("a primary");
    let to = nodes
        .iter()
        .find(|node| is_primary(node) && !holds(node))
        .expect("a primary");
    let id = |node: &Server| node.run::<String>("CLUSTER MYID");
    to.run::<String>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(from)));
    from.run::<String>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(to)));
    let migrate = |key: &str| {
        from.run::<String>(&format!("MIGRATE 127.0.0.1 {} {key} 0 60000", to.port));
    };
    // Half moved: nobody has both keys.
    migrate(&key);
    let claimed = store.claim(&again(&used)).await;
    assert!(matches!(claimed, Err(StoreError::Failed(_))), "{claimed:?}");
    let rest: Vec<String> = from.run(&format!("CLUSTER GETKEYSINSLOT {slot} 10"));
    rest.iter().for_each(|key| migrate(key));
    for node in [to, from] {
        node.run::<String>(&format!("CLUSTER SETSLOT {slot} NODE {}", id(to)));
    }
    // The other node has all keys, and does not know that it has.
    assert!(is_lost(&settled(&store, &again(&used)).await));
    let mut same_bucket = unused;
    same_bucket.id[0] = used.id[0];
    assert!(is_lost(&settled(&store, &same_bucket).await));
    let mut next = claim();
    next.id[0] = used.id[0];
    assert!(matches!(settled(&store, &next).await, Ok(Claimed::First)));
    assert!(matches!(
        settled(&store, &again(&next)).await,
        Ok(Claimed::Used(_))
    ));
}

#[tokio::test]
async fn a_node_of_a_cluster_is_not_enough() {
    let node = Server::start(&["--cluster-enabled", "yes"]);
    // A node without slots.
    let error = node.builder().connect().await.unwrap_err();
    assert!(matches!(&error, RedisStoreError::Redis(_)), "{error}");
    let none = RedisStore::cluster(Vec::<String>::new())
        .connect()
        .await
        .unwrap_err();
    assert!(none.to_string().starts_with("url is not valid: "), "{none}");
}
