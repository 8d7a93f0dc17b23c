//! What a store promises, on a server that works.

use std::sync::Arc;
use std::time::Duration;

use crate::server::{Server, again, claim, is_lost, nonce};
use request_state_core::{Claimed, RedemptionStore};
use request_state_redis::RedisStore;
use tokio::sync::Barrier;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_at_once_one_is_first() {
    let server = Server::start(&[]);
    let mut replicas = Vec::new();
    for _ in 0..8 {
        replicas.push(server.store().await);
    }
    for _ in 0..100 {
        let claim = claim();
        let barrier = Arc::new(Barrier::new(64));
        let mut tasks = Vec::new();
        for number in 0..64 {
            let (store, claim) = (replicas[number % 8].clone(), again(&claim));
            let barrier = Arc::clone(&barrier);
            tasks.push(tokio::spawn(async move {
                barrier.wait().await;
                store.claim(&claim).await.expect("an answer")
            }));
        }
        let mut first = 0;
        for task in tasks {
            first += u32::from(task.await.expect("no panic") == Claimed::First);
        }
        assert_eq!(first, 1);
    }
}

#[tokio::test]
async fn a_nonce_is_first_as_often_as_it_comes() {
    let server = Server::start(&[]);
    let (one, other) = (server.store().await, server.store().await);
    let claim = claim();
    for store in [&one, &other, &one] {
        assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
    }
    let used = other.claim(&again(&claim)).await.unwrap();
    assert!(matches!(used, Claimed::Used(entry) if entry.presentation == claim.presentation));
    assert_eq!(one.claim(&claim).await.unwrap(), Claimed::First);
}

#[tokio::test]
async fn an_entry_is_found_with_its_answer() {
    let server = Server::start(&[]);
    let store = server.store().await;
    let claim = claim();
    let find = || store.find(&claim.id, claim.issued_at_ms);
    assert_eq!(find().await.unwrap(), None);
    store.claim(&claim).await.unwrap();
    let entry = find().await.unwrap().expect("an entry");
    assert_eq!(entry.answer, None);
    // All bytes, and a length that no buffer was made for.
    let long: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    for answer in [&b"once"[..], b"", &long, b"+"] {
        assert!(store.record(&claim.id, &claim.nonce, answer).await.unwrap());
        let entry = find().await.unwrap().expect("an entry");
        assert_eq!(entry.answer.as_deref(), Some(answer));
        assert_eq!(entry.presentation, claim.presentation);
        let used = store.claim(&again(&claim)).await.unwrap();
        assert!(matches!(used, Claimed::Used(entry) if entry.answer.as_deref() == Some(answer)));
        assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
    }
}

#[tokio::test]
async fn the_age_is_by_the_clock_of_the_server() {
    let server = Server::start(&[]);
    let store = server.store().await;
    let claim = claim();
    let seconds = |server: &Server| server.run::<(u64, u64)>("TIME").0;
    let before = seconds(&server);
    store.claim(&claim).await.unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let entry = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
    let age = entry.expect("an entry").age;
    let longest = Duration::from_secs(seconds(&server) - before + 1);
    assert!(
        age >= Duration::from_millis(20) && age <= longest,
        "{age:?}"
    );
}

#[tokio::test]
async fn only_the_holder_of_the_nonce_records_and_releases() {
    let server = Server::start(&[]);
    let store = server.store().await;
    let claim = claim();
    let strangers = [nonce(), [0; 16], [0xff; 16]];
    for stranger in strangers {
        assert!(
            !store
                .record(&claim.id, &stranger, b"no claim")
                .await
                .unwrap()
        );
        assert!(!store.release(&claim.id, &stranger).await.unwrap());
    }
    assert_eq!(
        store.find(&claim.id, claim.issued_at_ms).await.unwrap(),
        None
    );
    store.claim(&claim).await.unwrap();
    assert!(
        store
            .record(&claim.id, &claim.nonce, b"mine")
            .await
            .unwrap()
    );
    for stranger in strangers {
        assert!(!store.record(&claim.id, &stranger, b"forged").await.unwrap());
        assert!(!store.release(&claim.id, &stranger).await.unwrap());
    }
    let entry = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
    assert_eq!(entry.expect("an entry").answer, Some(b"mine".to_vec()));

    // What is answered stays, whoever asks.
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
    let claim = self::claim();
    store.claim(&claim).await.unwrap();
    assert!(store.release(&claim.id, &claim.nonce).await.unwrap());
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
    let next = again(&claim);
    assert_eq!(store.claim(&next).await.unwrap(), Claimed::First);
    // The first holder has nothing to say about the second claim.
    assert!(
        !store
            .record(&claim.id, &claim.nonce, b"late")
            .await
            .unwrap()
    );
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
}

#[tokio::test]
async fn an_entry_is_kept_for_as_long_as_it_must_be() {
    let server = Server::start(&[]);
    let store = server.store().await;
    for keep_for in [
        Duration::from_secs(60),
        Duration::from_secs(3_720),
        Duration::from_secs(86_400 * 365),
        Duration::MAX,
    ] {
        let mut claim = claim();
        claim.keep_for = keep_for;
        // When it ends at the earliest, by the server's clock in milliseconds.
        let (seconds, micros) = server.run::<(u64, u64)>("TIME");
        let expected = u64::try_from(keep_for.as_millis()).unwrap_or(253_402_300_799_999);
        let end = seconds * 1_000 + micros / 1_000 + expected.min(253_402_300_799_999);
        store.claim(&claim).await.unwrap();
        let bucket = claim.id[0] % 64;
        let keys: Vec<String> =
            server.run(&format!("KEYS request-state:{{{bucket:02}}}:[0-9a-f]*"));
        let [key] = &keys[..] else {
            panic!("{keys:?}");
        };
        let kept: u64 = server.run(&format!("PEXPIRETIME {key}"));
        assert!(kept >= end, "{kept} {end}");
        // Neither an answer nor another presentation changes it.
        store
            .record(&claim.id, &claim.nonce, b"answer")
            .await
            .unwrap();
        store.claim(&again(&claim)).await.unwrap();
        store.claim(&claim).await.unwrap();
        assert_eq!(server.run::<u64>(&format!("PEXPIRETIME {key}")), kept);
        server.run::<u64>(&format!("DEL {key}"));
    }
    // A part of a millisecond is one, not none.
    let mut claim = claim();
    claim.keep_for = Duration::from_nanos(1);
    assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
}

#[tokio::test]
async fn prefixes_are_apart() {
    let server = Server::start(&[]);
    let one = server.builder().prefix("one:").connect().await.unwrap();
    let other = server.builder().prefix("other:").connect().await.unwrap();
    let claim = claim();
    assert_eq!(one.claim(&claim).await.unwrap(), Claimed::First);
    assert_eq!(other.claim(&again(&claim)).await.unwrap(), Claimed::First);
    let keys: Vec<String> = server.run("KEYS *");
    assert_eq!(keys.len(), 2 * 64 + 2);
    assert!(
        keys.iter()
            .all(|key| key.starts_with("one:{") || key.starts_with("other:{"))
    );
}

#[tokio::test]
async fn a_token_that_may_be_older_than_the_history_is_unavailable() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let mut claim = claim();
    let bucket = claim.id[0] % 64;
    let mark: String = server.run(&format!("GET request-state:{{{bucket:02}}}:mark"));
    let birth: u64 = mark.split_at(80).1.parse().expect("a time");
    // Issued before the birth, and accepted by a replica whose clock is a minute behind that of the one
    // that sealed it, which is a minute ahead of Redis. And so on, down to clocks that agree.
    for late in [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000] {
        claim.issued_at_ms = birth + late;
        assert!(is_lost(&store.claim(&claim).await), "{late}");
        assert!(
            is_lost(&store.find(&claim.id, claim.issued_at_ms).await),
            "{late}"
        );
    }
    for early in [0, 1, birth] {
        claim.issued_at_ms = birth - early;
        assert!(is_lost(&store.claim(&claim).await), "{early}");
    }
    claim.issued_at_ms = birth + 120_001;
    assert_eq!(
        store.find(&claim.id, claim.issued_at_ms).await.unwrap(),
        None
    );
    assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
    let found = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
    assert!(found.is_some());
    // And what was refused has not been written.
    assert_eq!(server.run::<u64>("DBSIZE"), 65);
}
