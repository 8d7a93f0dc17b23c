//! A server that does not answer, or refuses: every call fails, none is first by mistake, and the store
//! serves on by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::server::{PATIENCE, Server, again, claim, is_failed, is_lost, settled};
use request_state_core::{Claimed, RedemptionStore, StoreError};
use request_state_redis::{RedisStore, RedisStoreError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

#[tokio::test]
async fn a_pause_beyond_the_time_limit() {
    let server = Server::start(&[]);
    let builder = server.builder().timeout(Duration::from_millis(500));
    let mut store = builder.clone().connect().await;
    while let Err(RedisStoreError::TimedOut(_)) = store {
        store = builder.clone().connect().await;
    }
    let store = store.unwrap();
    let claim = claim();
    server.signal("STOP");
    let Err(StoreError::Failed(error)) = store.claim(&claim).await else {
        panic!("a stopped server does not answer");
    };
    assert_eq!(
        error.to_string(),
        "the server did not answer within the timeout of 500 ms"
    );
    // It does not answer to a new connection either.
    assert!(is_failed(&store.claim(&claim).await));
    assert!(is_failed(&store.find(&claim.id, claim.issued_at_ms).await));
    assert!(is_failed(
        &store.record(&claim.id, &claim.nonce, b"answer").await
    ));
    assert!(is_failed(&store.release(&claim.id, &claim.nonce).await));
    server.signal("CONT");
    // It may have got the claim, and the release. In any case the claim is its own, and nobody else's.
    assert_eq!(settled(&store, &claim).await.unwrap(), Claimed::First);
    let used = settled(&store, &again(&claim)).await.unwrap();
    assert!(matches!(used, Claimed::Used(_)));
}

#[tokio::test]
async fn a_connection_that_is_cut_between_commands() {
    let server = Server::start(&[]);
    let store = server.store().await;
    for _ in 0..20 {
        let claim = claim();
        server.run::<u64>("CLIENT KILL TYPE normal SKIPME yes");
        assert_eq!(settled(&store, &claim).await.unwrap(), Claimed::First);
        server.run::<u64>("CLIENT KILL TYPE normal SKIPME yes");
        let used = settled(&store, &again(&claim)).await.unwrap();
        assert!(matches!(used, Claimed::Used(_)));
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_before_the_reply() {
    let server = Server::start(&[]);
    let (port, next_reply) = proxy(&Arc::new(AtomicU16::new(server.port))).await;
    let builder = RedisStore::builder(&format!("redis://127.0.0.1:{port}"))
        .clock_margin(Duration::ZERO)
        .timeout(Duration::from_secs(60));
    let store = builder.connect().await.unwrap();
    // The server has the script by then.
    store.claim(&claim()).await.unwrap();
    for _ in 0..20 {
        let claim = claim();
        let entries: u64 = server.run("DBSIZE");
        next_reply.store(CUT, Ordering::SeqCst);
        assert!(is_failed(&store.claim(&claim).await));
        assert_eq!(next_reply.load(Ordering::SeqCst), PASS);
        // It was made, and nobody knew.
        assert_eq!(server.run::<u64>("DBSIZE"), entries + 1);
        let used = settled(&store, &again(&claim)).await.unwrap();
        assert!(matches!(used, Claimed::Used(_)));
        assert_eq!(settled(&store, &claim).await.unwrap(), Claimed::First);
        // What core does after a failure.
        assert!(store.release(&claim.id, &claim.nonce).await.unwrap());
        assert_eq!(store.claim(&again(&claim)).await.unwrap(), Claimed::First);
    }
}

/// A peer that is gone without a word, as when a firewall forgets the connection.
#[tokio::test]
async fn a_connection_that_is_silent() {
    let server = Server::start(&[]);
    let (port, next_reply) = proxy(&Arc::new(AtomicU16::new(server.port))).await;
    let store = patient(port, Duration::from_millis(500)).await;
    let claim = claim();
    next_reply.store(SWALLOW, Ordering::SeqCst);
    assert!(is_failed(&store.claim(&claim).await));
    assert_eq!(settled(&store, &claim).await.unwrap(), Claimed::First);
}

/// The callers of a store have time limits of their own. Where all of them give up before the store does,
/// the connection is replaced all the same.
#[tokio::test]
async fn callers_who_give_up_first() {
    let server = Server::start(&[]);
    let (port, next_reply) = proxy(&Arc::new(AtomicU16::new(server.port))).await;
    let store = patient(port, Duration::from_secs(1)).await;
    next_reply.store(SWALLOW, Ordering::SeqCst);
    let begin = Instant::now();
    loop {
        let claim = claim();
        if let Ok(claimed) = timeout(Duration::from_millis(500), store.claim(&claim)).await {
            // None waited for as long as the store does.
            assert_eq!(claimed.unwrap(), Claimed::First);
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "nobody was served");
    }
}

/// After a planned failover the address leads to the new primary, and the old one, now a replica, still has the
/// connection.
#[tokio::test]
async fn a_replica_behind_an_open_connection() {
    let (old, new) = (Server::start(&[]), Server::start(&[]));
    let address = Arc::new(AtomicU16::new(old.port));
    let (port, _) = proxy(&address).await;
    let store = patient(port, PATIENCE).await;
    let claim = claim();
    assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
    old.run::<String>(&format!("REPLICAOF 127.0.0.1 {}", new.port));
    address.store(new.port, Ordering::SeqCst);
    let lost = settled(&store, &again(&claim)).await;
    assert!(is_lost(&lost), "{lost:?}");
}

/// A store of the server behind a proxy.
async fn patient(port: u16, limit: Duration) -> RedisStore {
    let builder = RedisStore::builder(&format!("redis://127.0.0.1:{port}"))
        .clock_margin(Duration::ZERO)
        .timeout(limit);
    loop {
        match builder.clone().connect().await {
            Err(RedisStoreError::TimedOut(_)) => {}
            store => return store.unwrap(),
        }
    }
}

const PASS: u8 = 0;
/// Closes the connection instead of passing the reply on.
const CUT: u8 = 1;
/// Keeps the connection, and passes nothing on any more.
const SWALLOW: u8 = 2;

/// A proxy to a port, and what it does with the next reply.
async fn proxy(to: &Arc<AtomicU16>) -> (u16, Arc<AtomicU8>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let next_reply = Arc::new(AtomicU8::new(PASS));
    let (to, shared) = (Arc::clone(to), Arc::clone(&next_reply));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", to.load(Ordering::SeqCst)))
                .await
                .unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let next_reply = Arc::clone(&shared);
            let there = tokio::spawn(async move {
                drop(tokio::io::copy(&mut from_client, &mut to_server).await);
            });
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                let mut silent = false;
                while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
                    match next_reply.swap(PASS, Ordering::SeqCst) {
                        CUT => break,
                        SWALLOW => silent = true,
                        _ => {}
                    }
                    if !silent && to_client.write_all(&buffer[..length]).await.is_err() {
                        break;
                    }
                }
                there.abort();
            });
        }
    });
    (port, next_reply)
}

#[tokio::test]
async fn a_server_that_is_full() {
    let server = Server::start(&["--maxmemory", "100mb", "--maxmemory-policy", "noeviction"]);
    let store = server.store().await;
    let (early, late) = (claim(), claim());
    assert_eq!(store.claim(&early).await.unwrap(), Claimed::First);
    server.run::<String>("CONFIG SET maxmemory 1");
    assert!(matches!(store.claim(&late).await, Err(StoreError::Full)));
    assert!(matches!(
        store.record(&early.id, &early.nonce, b"answer").await,
        Err(StoreError::Full)
    ));
    // What is there is still known: whose claim it is, too.
    assert!(matches!(
        store.claim(&again(&early)).await.unwrap(),
        Claimed::Used(_)
    ));
    assert_eq!(store.claim(&early).await.unwrap(), Claimed::First);
    let found = store.find(&early.id, early.issued_at_ms).await.unwrap();
    assert!(found.is_some());
    assert_eq!(store.find(&late.id, late.issued_at_ms).await.unwrap(), None);
    assert!(store.release(&early.id, &early.nonce).await.unwrap());
    server.run::<String>("CONFIG SET maxmemory 0");
    assert_eq!(store.claim(&late).await.unwrap(), Claimed::First);
    // Nothing was there to set a mark with.
    server.run::<String>("FLUSHALL");
    server.run::<String>("CONFIG SET maxmemory 1");
    assert!(matches!(store.claim(&late).await, Err(StoreError::Full)));
}

#[tokio::test]
async fn a_password_that_changes() {
    let server = Server::start(&[]);
    let store = server.builder().connect().await.unwrap();
    server.run::<String>("CONFIG SET requirepass sesame");
    let url = format!("redis://:wrong-secret@127.0.0.1:{}", server.port);
    let error = RedisStore::connect(&url).await.unwrap_err();
    assert!(
        error.to_string().contains("authentication failed"),
        "{error}"
    );
    assert!(!format!("{error} {error:?}").contains("wrong-secret"));

    let url = format!("redis://:sesame@127.0.0.1:{}", server.port);
    let mut admin = redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut run = |command: &[&str]| {
        redis::cmd(command[0])
            .arg(&command[1..])
            .exec(&mut admin)
            .unwrap();
    };
    run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    let claim = claim();
    for _ in 0..3 {
        assert!(is_failed(&store.claim(&claim).await));
    }
    run(&["CONFIG", "SET", "requirepass", ""]);
    assert_eq!(settled(&store, &claim).await.unwrap(), Claimed::First);
}

#[tokio::test]
async fn a_server_that_is_loading() {
    let mut server = Server::start(&[]);
    let store = server.store().await;
    let claim = claim();
    for number in 0..40 {
        server.run::<String>(&format!("SET other:{number} value"));
    }
    server.run::<String>("SAVE");
    server.kill();
    // It accepts connections, and answers to no command for a second or so.
    server.spawn_with(&[
        "--key-load-delay",
        "10000",
        "--loading-process-events-interval-bytes",
        "1024",
    ]);
    let lost = settled(&store, &claim).await;
    assert!(matches!(lost, Err(StoreError::HistoryLost)));
    assert_eq!(
        store.claim(&crate::server::claim()).await.unwrap(),
        Claimed::First
    );
}

#[tokio::test]
async fn a_server_that_starts_to_evict_while_connected() {
    let server = Server::start(&[]);
    let store = server.store().await;
    let claim = claim();
    // In another bucket.
    let other = crate::server::claim();
    assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
    assert_eq!(store.claim(&other).await.unwrap(), Claimed::First);
    server.run::<String>("CONFIG SET maxmemory 100mb");
    server.run::<String>("CONFIG SET maxmemory-policy allkeys-lru");
    let used = store.claim(&again(&claim)).await.unwrap();
    assert!(matches!(used, Claimed::Used(_)));
    pass(Duration::from_secs(60)).await;
    // Until the policy is changed back.
    for _ in 0..2 {
        assert!(is_failed(&store.claim(&again(&claim)).await));
    }
    server.run::<String>("CONFIG SET maxmemory-policy noeviction");
    assert!(is_lost(&store.claim(&again(&claim)).await));
    assert!(is_lost(&store.claim(&again(&other)).await));
}

/// Lets time pass for timers.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_server_that_starts_to_evict() {
    let server = Server::start(&[]);
    let store = server.store().await;
    server.run::<String>("CONFIG SET maxmemory 100mb");
    server.run::<String>("CONFIG SET maxmemory-policy allkeys-lru");
    server.run::<u64>("CLIENT KILL TYPE normal SKIPME yes");
    let claim = claim();
    // One call may find the broken connection only.
    assert!(is_failed(&store.claim(&claim).await));
    let Err(StoreError::Failed(error)) = store.claim(&claim).await else {
        panic!("an evicting server is used");
    };
    assert_eq!(
        error.to_string(),
        "maxmemory is set and maxmemory-policy is allkeys-lru; \
         set maxmemory-policy to noeviction, or maxmemory to 0"
    );
    server.run::<String>("CONFIG SET maxmemory-policy noeviction");
    // What was evicted meanwhile is not known.
    assert!(is_lost(&store.claim(&claim).await));
    let later = crate::server::claim();
    assert_eq!(store.claim(&later).await.unwrap(), Claimed::First);
}
