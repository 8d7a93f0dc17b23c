//! What a store is made with, and what it refuses.

use std::time::Duration;

use crate::server::{Server, again, claim, is_lost};
use request_state_core::{Claimed, RedemptionStore};
use request_state_redis::{RedisStore, RedisStoreError};

#[tokio::test]
async fn a_server_that_evicts_is_an_error() {
    let server = Server::start(&["--maxmemory", "100mb"]);
    for policy in [
        "allkeys-lru",
        "volatile-lru",
        "allkeys-random",
        "volatile-ttl",
        "volatile-lfu",
    ] {
        server.run::<String>(&format!("CONFIG SET maxmemory-policy {policy}"));
        let error = RedisStore::connect(&server.url()).await.unwrap_err();
        assert!(matches!(&error, RedisStoreError::Evicts { policy: named } if named == policy));
        let error = server.builder().provision().await.unwrap_err();
        assert!(matches!(error, RedisStoreError::Evicts { .. }));
        assert_eq!(server.run::<u64>("DBSIZE"), 0);
    }
    // With no limit there is nothing to evict for, and with noeviction nothing is.
    server.run::<String>("CONFIG SET maxmemory 0");
    assert!(RedisStore::connect(&server.url()).await.is_ok());
    server.run::<String>("CONFIG SET maxmemory 100mb");
    server.run::<String>("CONFIG SET maxmemory-policy noeviction");
    assert!(RedisStore::connect(&server.url()).await.is_ok());
}

#[tokio::test]
async fn only_an_empty_database_is_provisioned() {
    let server = Server::start(&[]);
    let mut early = claim();
    early.issued_at_ms -= 3_600_000;
    RedisStore::provision(&server.url()).await.unwrap();
    assert_eq!(server.run::<u64>("DBSIZE"), 64);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert_eq!(store.claim(&early).await.unwrap(), Claimed::First);
    assert!(matches!(
        store.claim(&again(&early)).await.unwrap(),
        Claimed::Used(_)
    ));

    let error = RedisStore::provision(&server.url()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database is not empty: it has 65 keys; provision an empty one"
    );
    // What was lost afterwards is lost.
    server.run::<String>("FLUSHALL");
    assert!(is_lost(&store.claim(&early).await));
    assert!(matches!(
        RedisStore::provision(&server.url()).await,
        Err(RedisStoreError::NotEmpty { keys: 64 })
    ));
}

/// The commands that the docs name are enough, and INFO is needed for what it is said to be needed for.
#[tokio::test]
async fn a_user_with_few_rights() {
    let server = Server::start(&[]);
    let commands = "+eval +evalsha +get +getrange +set +del +time";
    let user = format!("ACL SETUSER few on >pass ~request-state:* {commands}");
    server.run::<String>(&user);
    let builder = RedisStore::builder(&format!("redis://few:pass@127.0.0.1:{}", server.port))
        .clock_margin(Duration::ZERO)
        .timeout(Duration::from_secs(60));
    let error = builder.clone().connect().await.unwrap_err();
    assert!(matches!(error, RedisStoreError::IdentityHidden));
    let unseen = builder.clone().assume_noeviction();
    let error = unseen.connect().await.unwrap_err();
    assert!(matches!(error, RedisStoreError::IdentityHidden));
    let trusting = builder.clone().trust_persistence(true);
    let error = trusting.connect().await.unwrap_err();
    assert!(matches!(error, RedisStoreError::PolicyHidden));
    let blind = builder.clone().trust_persistence(true).assume_noeviction();
    let store = blind.connect().await.unwrap();
    let one = claim();
    assert_eq!(store.claim(&one).await.unwrap(), Claimed::First);

    server.run::<String>("ACL SETUSER few +info");
    let store = builder.connect().await.unwrap();
    let next = claim();
    assert_eq!(store.claim(&next).await.unwrap(), Claimed::First);
    assert!(
        store
            .record(&next.id, &next.nonce, b"answer")
            .await
            .unwrap()
    );
    assert!(
        store
            .find(&next.id, next.issued_at_ms)
            .await
            .unwrap()
            .is_some()
    );
    let next = claim();
    assert_eq!(store.claim(&next).await.unwrap(), Claimed::First);
    assert!(store.release(&next.id, &next.nonce).await.unwrap());
}

#[tokio::test]
async fn errors_name_the_setting() {
    let error = async |builder: request_state_redis::RedisStoreBuilder| {
        builder.connect().await.unwrap_err().to_string()
    };
    let builder = || RedisStore::builder("redis://127.0.0.1:1");
    assert_eq!(
        error(builder().timeout(Duration::ZERO)).await,
        "timeout is 0 ms; it must be above 0 and at most a day"
    );
    assert_eq!(
        error(builder().timeout(Duration::MAX)).await,
        format!(
            "timeout is {} ms; it must be above 0 and at most a day",
            Duration::MAX.as_millis()
        )
    );
    for prefix in ["{", "a}b", "{tag}:"] {
        assert_eq!(
            error(builder().prefix(prefix)).await,
            "prefix contains '{' or '}', which mark the part of a key that chooses its slot"
        );
    }
    for url in [
        "",
        "secret",
        "http://user:secret@host",
        "redis://:secret@host:port",
    ] {
        let error = RedisStore::connect(url).await.unwrap_err();
        assert!(matches!(error, RedisStoreError::Url(_)));
        assert!(
            error.to_string().starts_with("url is not valid: "),
            "{error}"
        );
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
    }
    // Nobody listens there.
    let error = builder()
        .timeout(Duration::from_secs(60))
        .connect()
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("the server failed: "),
        "{error}"
    );
}

#[tokio::test]
async fn no_password_is_printed() {
    let server = Server::start(&["--requirepass", "sesame"]);
    let url = format!("redis://:sesame@127.0.0.1:{}/3", server.port);
    let builder = RedisStore::builder(&url).timeout(Duration::from_secs(60));
    assert!(!format!("{builder:?}").contains("sesame"));
    let store = builder.connect().await.unwrap();
    let printed = format!("{store:?} {store:#?}");
    assert!(!printed.contains("sesame"), "{printed}");
    assert!(
        printed.contains(&format!("127.0.0.1:{}", server.port)),
        "{printed}"
    );
}

#[tokio::test]
async fn both_protocols_and_any_database() {
    let server = Server::start(&[]);
    for path in ["/?protocol=resp3", "/5?protocol=resp3", "/5"] {
        let builder = RedisStore::builder(&format!("{}{path}", server.url()))
            .clock_margin(Duration::ZERO)
            .timeout(Duration::from_secs(60));
        let store = builder.connect().await.unwrap();
        let claim = claim();
        assert_eq!(
            store.find(&claim.id, claim.issued_at_ms).await.unwrap(),
            None
        );
        assert_eq!(store.claim(&claim).await.unwrap(), Claimed::First);
        assert!(
            store
                .record(&claim.id, &claim.nonce, b"answer")
                .await
                .unwrap()
        );
        let used = store.claim(&again(&claim)).await.unwrap();
        assert!(matches!(used, Claimed::Used(entry) if entry.answer.as_deref() == Some(b"answer")));
    }
}
