//! Lifetimes and the table's history.

use std::time::Duration;

use request_state::{Claim, Claimed, RedemptionStore, StoreError};
use request_state_example_postgres::{Database, PostgresStore};
use tokio_postgres::Config;

use crate::server::Server;
use crate::{LIMIT, by, is_first, new_claim, now_ms, store};

async fn is_lost(store: &PostgresStore, claim: &Claim) -> bool {
    let claimed = store.claim(claim).await;
    let found = store.find(&claim.id, claim.issued_at_ms).await;
    match (claimed, found) {
        (Err(StoreError::HistoryLost), Err(StoreError::HistoryLost)) => true,
        (Ok(_), Ok(_)) => false,
        other => panic!("{other:?}"),
    }
}

fn issued_at(issued_at_ms: u64) -> Claim {
    Claim {
        issued_at_ms,
        ..new_claim()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_goes_with_a_clean_up_after_its_time_and_not_before() {
    let server = Server::start().await;
    let store = store(&server).await;
    let client = server.client().await;
    let short = Claim {
        keep_for: Duration::from_nanos(1),
        ..new_claim()
    };
    let hour = new_claim();
    let longest = Claim {
        keep_for: Duration::MAX,
        ..new_claim()
    };
    for claim in [&short, &hour, &longest] {
        assert!(is_first(&store, claim).await);
    }
    let kept = "select (extract(epoch from keep_until - claimed_at) * 1000)::int8 \
                from redemptions where id = $1";
    for (claim, least_ms) in [
        (&short, 1),
        (&hour, 3_600_000),
        (&longest, 315_576_000_000_000),
    ] {
        let row = client.query_one(kept, &[&&claim.id[..]]).await.unwrap();
        let kept_ms: i64 = row.get(0);
        assert!(
            (least_ms..=least_ms + 60_000).contains(&kept_ms),
            "{kept_ms}"
        );
    }

    // The claim has expired, and nobody has cleaned up.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!is_first(&store, &by(2, &short)).await);
    assert_eq!(store.clean_up().await.unwrap(), 1);
    assert_eq!(store.clean_up().await.unwrap(), 0);
    assert!(is_first(&store, &by(2, &short)).await);
    for claim in [&hour, &longest] {
        assert!(!is_first(&store, &by(2, claim)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_up_deletes_ten_thousand_rows_at_a_time() {
    let server = Server::start().await;
    let store = store(&server).await;
    let ended = "insert into redemptions select int4send(n), '', '', now(), now() - '1 s'::interval \
                 from generate_series(1, 10001) as n";
    server.client().await.batch_execute(ended).await.unwrap();
    assert_eq!(store.clean_up().await.unwrap(), 10_000);
    assert_eq!(store.clean_up().await.unwrap(), 1);
    assert_eq!(store.clean_up().await.unwrap(), 0);
    assert!(is_first(&store, &new_claim()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn ages_are_by_the_clock_of_postgres() {
    let server = Server::start().await;
    let store = store(&server).await;
    let client = server.client().await;
    let claim = new_claim();
    assert!(is_first(&store, &claim).await);
    // An hour ago, and in an hour, as if the clock had been set back.
    for (interval, ages) in [("-1 h", 3_600..3_700), ("1 h", 0..1)] {
        let moved = format!(
            "update redemptions set claimed_at = now() + '{interval}'::interval where id <> ''"
        );
        client.batch_execute(&moved).await.unwrap();
        let found = store.find(&claim.id, claim.issued_at_ms).await.unwrap();
        let age = found.unwrap().age;
        assert!(ages.contains(&age.as_secs()), "{age:?}");
        match store.claim(&by(2, &claim)).await.unwrap() {
            Claimed::Used(entry) => assert!(ages.contains(&entry.age.as_secs())),
            Claimed::First => panic!("it was claimed before"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_may_be_older_than_the_table_is_unavailable() {
    let server = Server::start().await;
    let before_ms = now_ms() - 1;
    let first_store = store(&server).await;
    assert!(is_lost(&first_store, &issued_at(0)).await);
    assert!(is_lost(&first_store, &issued_at(before_ms)).await);
    assert!(!is_lost(&first_store, &new_claim()).await);
    assert!(!is_lost(&first_store, &issued_at(u64::MAX)).await);

    // Two minutes are the default.
    let cautious = first_store.clone().clock_margin(Duration::from_secs(120));
    assert!(is_lost(&cautious, &new_claim()).await);
    assert!(is_lost(&cautious, &issued_at(before_ms + 120_000)).await);
    assert!(!is_lost(&cautious, &issued_at(now_ms() + 121_000)).await);

    // Another process that starts later, or the same one again, changes nothing.
    let between = new_claim();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let second = store(&server).await;
    assert!(!is_lost(&second, &between).await);
    assert!(is_lost(&second, &issued_at(before_ms)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_restored_is_told_to_forget() {
    let server = Server::start().await;
    let store = store(&server).await;
    let claim = new_claim();
    assert!(is_first(&store, &claim).await);
    tokio::time::sleep(Duration::from_millis(20)).await;
    store.forget().await.unwrap();
    assert!(is_lost(&store, &claim).await);
    assert!(is_lost(&store, &issued_at(claim.issued_at_ms)).await);
    assert!(is_first(&store, &new_claim()).await);

    // The same with the statement in the docs.
    let claim = new_claim();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let statement = "update redemptions set claimed_at = clock_timestamp() where id = ''";
    server
        .client()
        .await
        .batch_execute(statement)
        .await
        .unwrap();
    assert!(is_lost(&store, &claim).await);
    assert!(is_first(&store, &new_claim()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_emptied_or_dropped_has_lost_its_history() {
    let server = Server::start().await;
    let first_store = store(&server).await;
    let client = server.client().await;
    for statement in ["truncate redemptions", "drop table redemptions"] {
        let claim = new_claim();
        assert!(is_first(&first_store, &claim).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
        client.batch_execute(statement).await.unwrap();
        let claimed = first_store.claim(&by(2, &claim)).await;
        assert!(claimed.is_err(), "{claimed:?}");
        let new = store(&server).await;
        assert!(is_lost(&new, &by(2, &claim)).await);
        assert!(is_first(&new, &new_claim()).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_lose_commits_is_an_error() {
    let server = Server::start().await;
    let create = async |config: Config| {
        let database = Database::new(config, 1, LIMIT).unwrap();
        let created = PostgresStore::create(database).await;
        created.map_err(|error| error.to_string())
    };
    for (level, is_good) in [
        ("on", true),
        ("local", true),
        ("remote_apply", true),
        ("off", false),
    ] {
        let mut config = server.config();
        config.options(format!("-c synchronous_commit={level}"));
        let created = create(config).await;
        assert_eq!(created.is_ok(), is_good, "{level}: {created:?}");
    }
    // A setting that an operator makes for a database is detected, too.
    let client = server.client().await;
    let off = "alter database postgres set synchronous_commit = off";
    client.batch_execute(off).await.unwrap();
    let error = create(server.config()).await.unwrap_err();
    assert!(error.contains("synchronous_commit is off"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_printed_has_the_password_or_the_address() {
    let server = Server::start().await;
    let mut config = server.config();
    config.password("hunter2");
    let database = Database::new(config, 1, LIMIT).unwrap();
    let store = PostgresStore::create(database).await.unwrap();
    assert_eq!(
        format!("{store:?}"),
        "PostgresStore { database: Database { limit: 60s, .. }, clock_margin: 120s }"
    );
}
