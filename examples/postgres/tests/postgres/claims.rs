//! Claims and nonces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use request_state::{Claim, Claimed, RedemptionStore, StoreError};
use request_state_example_postgres::{Database, PostgresStore};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::server::Server;
use crate::{LIMIT, by, is_first, new_claim, store};

/// Returns four stores, each with a pool of its own, which were created at the same time.
async fn four_stores(server: &Server) -> Vec<PostgresStore> {
    let (a, b, c, d) = tokio::join!(store(server), store(server), store(server), store(server));
    vec![a, b, c, d]
}

#[tokio::test(flavor = "multi_thread")]
async fn of_64_at_once_through_four_pools_one_is_first_200_times() {
    const AT_ONCE: u8 = 64;
    const ROUNDS: usize = 200;
    let server = Server::start().await;
    let stores = four_stores(&server).await;
    let claims: Arc<Vec<_>> = Arc::new((0..ROUNDS).map(|_| new_claim()).collect());
    let barrier = Arc::new(Barrier::new(usize::from(AT_ONCE)));
    let mut tasks = JoinSet::new();
    for nonce in 0..AT_ONCE {
        let store = stores[usize::from(nonce) % 4].clone();
        let (claims, barrier) = (claims.clone(), barrier.clone());
        tasks.spawn(async move {
            let mut found = Vec::new();
            for claim in claims.iter() {
                barrier.wait().await;
                found.push(match store.claim(&by(nonce, claim)).await.unwrap() {
                    Claimed::First => None,
                    Claimed::Used(entry) => Some(entry.presentation),
                });
            }
            (nonce, found)
        });
    }
    let found = tasks.join_all().await;
    for round in 0..ROUNDS {
        let mut winners = found.iter().filter(|(_, found)| found[round].is_none());
        let (winner, _) = winners.next().unwrap();
        assert_eq!(winners.count(), 0);
        // All other claims have found the winning one.
        let mut losers = found.iter().filter_map(|(_, found)| found[round]);
        assert!(losers.all(|presentation| presentation == [*winner; 32]));
    }
}

/// A row that disappears between a claim's two statements must not make a wrong claim first.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_claim_and_release_one_holds_the_id() {
    let server = Server::start().await;
    let stores = four_stores(&server).await;
    let claim = new_claim();
    let holders = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for nonce in 0..16 {
        let store = stores[usize::from(nonce) % 4].clone();
        let (claim, holders) = (by(nonce, &claim), holders.clone());
        tasks.spawn(async move {
            let mut held = 0;
            for _ in 0..200 {
                if is_first(&store, &claim).await {
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    tokio::task::yield_now().await;
                    assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                    assert!(store.release(&claim.id, &claim.nonce).await.unwrap());
                    held += 1;
                }
            }
            held
        });
    }
    let held: usize = tasks.join_all().await.into_iter().sum();
    assert!(held > 1, "{held}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_nonce_of_the_claim_repeats_records_and_releases() {
    let server = Server::start().await;
    let store = store(&server).await;
    let claim = new_claim();
    let other = by(2, &claim);
    let answer_of = async |claim: &Claim| {
        let found = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
        found.map(|entry| entry.answer)
    };
    let answer_found = async || answer_of(&claim).await;

    assert_eq!(answer_found().await, None);
    assert!(
        !store
            .record(&claim.id, &claim.nonce, b"early")
            .await
            .unwrap()
    );
    assert!(is_first(&store, &claim).await);
    // A repetition of the same command.
    assert!(is_first(&store, &claim).await);
    assert_eq!(answer_found().await, Some(None));

    assert!(
        !store
            .record(&claim.id, &other.nonce, b"false")
            .await
            .unwrap()
    );
    assert!(!store.release(&claim.id, &other.nonce).await.unwrap());
    assert_eq!(answer_found().await, Some(None));
    for answer in [&b"sealed"[..], b"", &[0; 65_536]] {
        assert!(store.record(&claim.id, &claim.nonce, answer).await.unwrap());
        assert_eq!(answer_found().await, Some(Some(answer.to_vec())));
    }
    match store.claim(&other).await.unwrap() {
        Claimed::Used(entry) => {
            assert_eq!(entry.presentation, claim.presentation);
            assert_eq!(entry.answer, Some(vec![0; 65_536]));
            assert!(entry.age < LIMIT);
        }
        Claimed::First => panic!("it was claimed before"),
    }

    // An answered claim stays.
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
    assert_eq!(answer_found().await, Some(Some(vec![0; 65_536])));

    let claim = new_claim();
    let other = by(2, &claim);
    assert!(is_first(&store, &claim).await);
    assert!(store.release(&claim.id, &claim.nonce).await.unwrap());
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
    assert_eq!(answer_of(&claim).await, None);
    assert!(is_first(&store, &other).await);
    assert!(!store.release(&claim.id, &claim.nonce).await.unwrap());
    assert!(!is_first(&store, &claim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_waits_for_one_that_is_not_committed() {
    const INSERT: &str = "insert into redemptions values ($1, '', $1, now(), now(), null)";
    let server = Server::start().await;
    let store = store(&server).await;
    let mut client = server.client().await;
    for commits in [true, false] {
        let claim = new_claim();
        let transaction = client.transaction().await.unwrap();
        let rows = transaction.execute(INSERT, &[&&claim.id[..]]).await;
        assert_eq!(rows.unwrap(), 1);
        let claimed = async { is_first(&store, &claim).await };
        let ended = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if commits {
                transaction.commit().await.unwrap();
            } else {
                transaction.rollback().await.unwrap();
            }
        };
        let (is_first, ()) = tokio::join!(claimed, ended);
        assert_eq!(is_first, !commits);
    }
}

/// Postgres cancels the statement before the call ends, so it is not executed later.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_waits_too_long_fails_and_is_not_made() {
    let server = Server::start().await;
    let store = store(&server).await;
    let database = Database::new(server.config(), 1, Duration::from_secs(3)).unwrap();
    let mut client = server.client().await;
    let claim = new_claim();
    // Connected and prepared before the lock exists.
    let hasty = PostgresStore::create(database).await.unwrap();
    let hasty = hasty.clock_margin(Duration::ZERO);
    assert!(is_first(&hasty, &new_claim()).await);

    let transaction = client.transaction().await.unwrap();
    let lock = "lock table redemptions in access exclusive mode";
    transaction.batch_execute(lock).await.unwrap();
    let claimed = hasty.claim(&claim).await;
    assert!(matches!(claimed, Err(StoreError::Failed(_))), "{claimed:?}");
    transaction.commit().await.unwrap();

    let found = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
    assert_eq!(found, None);
}
