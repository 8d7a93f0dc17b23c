//! Transfers whose effect and redemption share a transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use request_state::{AesGcmCodec, Boundary, Keyring, Sealer};
use request_state_example_postgres::{Bank, Database};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::LIMIT;
use crate::server::Server;

/// The resources that the processes of a server share.
struct Site {
    server: Server,
    keyring: Keyring,
    /// The number of seconds that the sealer's clock is ahead.
    ahead: Arc<AtomicU64>,
}

impl Site {
    /// Starts a server. Alice and Bob have 1000 each.
    async fn start() -> Self {
        let site = Self {
            server: Server::start().await,
            keyring: Keyring::ephemeral().unwrap(),
            ahead: Arc::default(),
        };
        site.process().await;
        let accounts = "insert into accounts values ('alice', 1000), ('bob', 1000)";
        site.server
            .client()
            .await
            .batch_execute(accounts)
            .await
            .unwrap();
        site
    }

    /// Returns the bank of one process: a boundary with the shared keys, and its own pool.
    async fn process(&self) -> Bank<AesGcmCodec> {
        self.process_of(self.sealer_at(self.ahead.clone())).await
    }

    async fn process_of(&self, sealer: Sealer<AesGcmCodec>) -> Bank<AesGcmCodec> {
        let database = Database::new(self.server.config(), 16, LIMIT).unwrap();
        Bank::create(Boundary::new(sealer), database).await.unwrap()
    }

    fn sealer_at(&self, ahead: Arc<AtomicU64>) -> Sealer<AesGcmCodec> {
        let now = move || SystemTime::now() + Duration::from_secs(ahead.load(Ordering::SeqCst));
        let codec = AesGcmCodec::new(&self.keyring);
        Sealer::builder("bank", codec).clock(now).build().unwrap()
    }

    async fn balances(&self) -> [i64; 2] {
        let client = self.server.client().await;
        let rows = "select balance from accounts order by name";
        let rows = client.query(rows, &[]).await.unwrap();
        [rows[0].get(0), rows[1].get(0)]
    }
}

fn call(to: &str, amount: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        "name": "transfer", "arguments": {"to": to, "amount": amount},
    }})
}

/// Makes the bank ask, and returns the request with the token and an answer.
async fn answered(bank: &Bank<AesGcmCodec>, user: &str, to: &str, action: &str) -> Value {
    let mut request = call(to, 10);
    let asked = bank.serve(request.clone(), user).await;
    request["params"]["requestState"] = asked["result"]["requestState"].clone();
    assert!(request["params"]["requestState"].is_string(), "{asked}");
    request["params"]["inputResponses"] = json!({"confirm": {"action": action}});
    request
}

fn text(response: &Value) -> &str {
    let text = &response["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("{response}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_64_presentations_at_once_in_four_processes_one_pays() {
    let site = Site::start().await;
    let (a, b) = tokio::join!(site.process(), site.process());
    let (c, d) = tokio::join!(site.process(), site.process());
    let banks = [a, b, c, d];
    for round in 1..=20 {
        let request = answered(&banks[0], "alice", "bob", "accept").await;
        let barrier = Arc::new(Barrier::new(64));
        let mut tasks = JoinSet::new();
        for task in 0..64 {
            let (bank, request) = (banks[task % 4].clone(), request.clone());
            let barrier = barrier.clone();
            tasks.spawn(async move {
                barrier.wait().await;
                bank.serve(request, "alice").await
            });
        }
        for response in tasks.join_all().await {
            assert_eq!(text(&response), "Sent 10 to bob.");
        }
        assert_eq!(
            site.balances().await,
            [1000 - 10 * round, 1000 + 10 * round]
        );
    }
}

/// The process ends after its commit and before its answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_repetition_after_a_crash_is_answered_with_what_was_done() {
    let mut site = Site::start().await;
    let bank = site.process().await;
    let request = answered(&bank, "alice", "bob", "accept").await;
    let lost = bank.serve(request.clone(), "alice").await;
    assert_eq!(text(&lost), "Sent 10 to bob.");
    drop((bank, lost));
    site.server.crash();
    site.server.restart().await;

    let bank = site.process().await;
    for _ in 0..3 {
        let again = bank.serve(request.clone(), "alice").await;
        assert_eq!(text(&again), "Sent 10 to bob.");
    }
    assert_eq!(site.balances().await, [990, 1010]);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_repeat_through_crashes_pay_once_each() {
    const TRANSFERS: usize = 60;
    let mut site = Site::start().await;
    let bank = site.process().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for _ in 0..TRANSFERS {
        let request = answered(&bank, "alice", "bob", "accept").await;
        let (bank, is_over) = (bank.clone(), is_over.clone());
        tasks.spawn(async move {
            let (mut failures, mut is_last) = (0, false);
            while !is_last {
                // The last time, without a crash.
                is_last = is_over.load(Ordering::SeqCst);
                let response = bank.serve(request.clone(), "alice").await;
                if response["error"]["code"] == -32603 {
                    failures += 1;
                } else {
                    // The same request again, because the answer may have been lost.
                    assert_eq!(text(&response), "Sent 10 to bob.");
                }
            }
            failures
        });
    }
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        site.server.crash();
        site.server.restart().await;
    }
    is_over.store(true, Ordering::SeqCst);
    let failures: usize = tasks.join_all().await.into_iter().sum();
    assert!(failures > 0, "no crash was noticed");
    assert_eq!(site.balances().await, [400, 1600]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_redeemed_and_cannot_become_a_yes() {
    let site = Site::start().await;
    let bank = site.process().await;
    let mut request = answered(&bank, "alice", "bob", "decline").await;
    assert_eq!(
        text(&bank.serve(request.clone(), "alice").await),
        "Nothing was sent."
    );
    request["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
    assert_eq!(
        text(&bank.serve(request, "alice").await),
        "Nothing was sent."
    );
    // A token without an answer does not confirm either.
    let mut request = answered(&bank, "alice", "bob", "accept").await;
    request["params"]["inputResponses"] = Value::Null;
    assert_eq!(
        text(&bank.serve(request, "alice").await),
        "Nothing was sent."
    );
    assert_eq!(site.balances().await, [1000, 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_not_redeemed() {
    let site = Site::start().await;
    let bank = site.process().await;
    let client = site.server.client().await;
    let request = answered(&bank, "alice", "carol", "accept").await;
    for balance in [1000, 9] {
        let set = format!("update accounts set balance = {balance} where name = 'alice'");
        client.batch_execute(&set).await.unwrap();
        let failed = bank.serve(request.clone(), "alice").await;
        assert!(text(&failed).starts_with("Nothing was sent: "), "{failed}");
        let carol = "insert into accounts values ('carol', 0) on conflict do nothing";
        client.batch_execute(carol).await.unwrap();
    }
    assert_eq!(site.balances().await, [9, 1000]);
    let set = "update accounts set balance = 10 where name = 'alice'";
    client.batch_execute(set).await.unwrap();
    for _ in 0..2 {
        assert_eq!(
            text(&bank.serve(request.clone(), "alice").await),
            "Sent 10 to carol."
        );
    }
    assert_eq!(site.balances().await, [0, 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_that_was_acted_on_is_not_asked_for_again_when_it_expires() {
    let site = Site::start().await;
    let bank = site.process().await;
    let paid = answered(&bank, "alice", "bob", "accept").await;
    let unpaid = answered(&bank, "alice", "bob", "accept").await;
    assert_eq!(
        text(&bank.serve(paid.clone(), "alice").await),
        "Sent 10 to bob."
    );
    site.ahead.store(1_800, Ordering::SeqCst);
    assert_eq!(text(&bank.serve(paid, "alice").await), "Sent 10 to bob.");
    for _ in 0..2 {
        let asked = bank.serve(unpaid.clone(), "alice").await;
        assert_eq!(asked["result"]["resultType"], "input_required");
    }
    assert_eq!(site.balances().await, [990, 1010]);
    // The new question was asked. The old answer must not pay in addition to it, even if a clock is
    // behind.
    site.ahead.store(0, Ordering::SeqCst);
    let late = bank.serve(unpaid, "alice").await;
    assert_eq!(text(&late), "Nothing was sent: the time was up.");
    assert_eq!(site.balances().await, [990, 1010]);
}

/// Two replicas whose clocks differ receive it at the same time: one opens it, and for the other it
/// has expired.
#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_pays_or_is_asked_for_again_and_never_both() {
    let site = Site::start().await;
    let ahead = site.sealer_at(Arc::new(AtomicU64::new(1_800)));
    let banks = [site.process().await, site.process_of(ahead).await];
    let mut paid = 0;
    for _ in 0..40 {
        let request = answered(&banks[0], "alice", "bob", "accept").await;
        let barrier = Arc::new(Barrier::new(2));
        let [in_time, late] = [0, 1].map(|number| {
            let (bank, request) = (banks[number].clone(), request.clone());
            let barrier = barrier.clone();
            tokio::spawn(async move {
                barrier.wait().await;
                bank.serve(request, "alice").await
            })
        });
        let (in_time, late) = (in_time.await.unwrap(), late.await.unwrap());
        if text(&in_time) == "Sent 10 to bob." {
            assert_eq!(text(&late), "Sent 10 to bob.");
            paid += 10;
        } else {
            assert_eq!(text(&in_time), "Nothing was sent: the time was up.");
            assert_eq!(late["result"]["resultType"], "input_required");
        }
        assert_eq!(site.balances().await, [1000 - paid, 1000 + paid]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn opposite_transfers_do_not_lock_each_other_out() {
    let site = Site::start().await;
    let bank = site.process().await;
    let mut tasks = JoinSet::new();
    for number in 0..64 {
        let (from, to) = [("alice", "bob"), ("bob", "alice")][number % 2];
        let request = answered(&bank, from, to, "accept").await;
        let bank = bank.clone();
        tasks.spawn(async move {
            let response = bank.serve(request, from).await;
            assert_eq!(text(&response), format!("Sent 10 to {to}."));
        });
    }
    tasks.join_all().await;
    assert_eq!(site.balances().await, [1000, 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_make_no_sense_and_tokens_of_others_are_rejected() {
    let site = Site::start().await;
    let bank = site.process().await;
    for (to, amount) in [("alice", 10), ("bob", 0), ("bob", -10)] {
        let response = bank.serve(call(to, amount), "alice").await;
        assert_eq!(response["error"]["message"], "Invalid params");
    }
    let mut request = answered(&bank, "alice", "bob", "accept").await;
    let response = bank.serve(request.clone(), "bob").await;
    assert_eq!(response["error"]["code"], -32602);
    request["params"]["arguments"]["amount"] = json!(1000);
    let response = bank.serve(request, "alice").await;
    assert_eq!(response["error"]["code"], -32602);
    assert_eq!(site.balances().await, [1000, 1000]);
}
