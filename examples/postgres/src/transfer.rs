//! A handler that redeems a round in the transaction of its effect.

use std::fmt;

use request_state::{Boundary, Redemption, RequestStateCodec, Round};
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Transaction};

use crate::database::{Database, DatabaseError};

/// The tables. `redeemed` has a row for each round that was answered, with its outcome. It also has
/// a row for each round that was not answered in time, with a null outcome.
///
/// Delete rows of `redeemed` once their `keep_until` has passed, and not before.
const CREATE: &str = "
select pg_advisory_xact_lock(hashtext('request-state bank'));
create table if not exists accounts (name text primary key, balance bigint not null);
create table if not exists redeemed (
    id bytea primary key,
    keep_until timestamptz not null,
    outcome text
);
";

const REDEEM: &str = "
insert into redeemed (id, keep_until, outcome) values ($1, $2, $3)
on conflict (id) do nothing
";

const OUTCOME: &str = "select outcome from redeemed where id = $1";

/// Locks both accounts, always in the same order, so that opposite transfers do not deadlock.
const LOCK: &str = "select 1 from accounts where name in ($1, $2) order by name for update";

const DEBIT: &str = "update accounts set balance = balance - $2 where name = $1 and balance >= $2";

const CREDIT: &str = "update accounts set balance = balance + $2 where name = $1";

/// A server with one tool, `transfer`, which sends money after the user has confirmed it.
///
/// It uses a plain [`Boundary`], without [`once`](Boundary::once). It stores [`Round::redemption`]
/// itself, in the transaction that changes the balances. Either both are committed or neither is.
/// The outcome is therefore always known, whenever a crash occurs. A repetition finds the row and
/// returns the stored outcome, or finds none and performs the transfer.
///
/// Every answered round is redeemed, even if the answer is no. A handler with more than one
/// question must do the same, because branches of different length reach the effect in different
/// rounds. If the state of a round has expired, the round is closed before the user is asked again.
/// A late confirmation then cannot pay in addition to the new one.
#[derive(Clone)]
pub struct Bank<C> {
    boundary: Boundary<C>,
    database: Database,
}

impl<C: RequestStateCodec> Bank<C> {
    /// Creates the tables if they do not exist, and connects to them.
    ///
    /// # Errors
    ///
    /// Returns a [`DatabaseError`] if Postgres cannot be reached or a statement fails.
    pub async fn create(boundary: Boundary<C>, database: Database) -> Result<Self, DatabaseError> {
        let created = async { Ok(database.connect().await?.batch_execute(CREATE).await?) };
        database.in_time(created).await?;
        Ok(Self { boundary, database })
    }

    /// Returns the response to a `tools/call` of `transfer` by `user`, whose money is sent.
    ///
    /// If the database does not answer, the response is the error -32603, and the client may send
    /// the same request again.
    pub async fn serve(&self, mut request: Value, user: &str) -> Value {
        let round = match self.boundary.open_request(&mut request, Some(user)) {
            Ok(round) => round,
            Err(refusal) => return refusal.response(),
        };
        let result = match Order::of(&request, user) {
            Some(order) => {
                let done = self.transfer(&order, &round, Decision::of(&round, &request));
                let done = self.database.in_time(done).await;
                done.map_err(|_| json!({"code": -32603, "message": "Internal error"}))
            }
            None => Err(json!({"code": -32602, "message": "Invalid params"})),
        };
        let mut response = match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": request.get("id"), "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": request.get("id"), "error": error}),
        };
        self.boundary.seal_response(&round, &mut response);
        response
    }

    async fn transfer(
        &self,
        order: &Order<'_>,
        round: &Round,
        decision: Decision,
    ) -> Result<Value, DatabaseError> {
        let redemption = round.redemption().or(round.expired_redemption());
        let Some(redemption) = redemption else {
            return Ok(order.question());
        };
        let mut client = self.database.connect().await?;
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::ReadCommitted)
            .start()
            .await?;
        let outcome = order.settle(transaction, redemption, decision).await?;
        Ok(outcome.map_or_else(|| order.question(), |outcome| complete(&outcome)))
    }
}

impl<C> fmt::Debug for Bank<C> {
    /// Does not print the codec.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bank")
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// A transfer that a user requests.
struct Order<'a> {
    from: &'a str,
    to: &'a str,
    amount: i64,
}

impl<'a> Order<'a> {
    fn of(request: &'a Value, user: &'a str) -> Option<Self> {
        let order = Self {
            from: user,
            to: request.pointer("/params/arguments/to")?.as_str()?,
            amount: request.pointer("/params/arguments/amount")?.as_i64()?,
        };
        (order.amount > 0 && order.to != order.from).then_some(order)
    }

    fn question(&self) -> Value {
        let Self { to, amount, .. } = self;
        let schema = json!({"type": "object", "properties": {}});
        json!({"resultType": "input_required", "inputRequests": {"confirm": {
            "method": "elicitation/create",
            "params": {"message": format!("Send {amount} to {to}?"), "requestedSchema": schema},
        }}})
    }

    /// Redeems the round and performs the confirmed transfer, both or neither. Returns the outcome,
    /// from now or from the time when the round was redeemed. Returns `None` if the user must be
    /// asked again.
    async fn settle(
        &self,
        transaction: deadpool_postgres::Transaction<'_>,
        redemption: Redemption,
        decision: Decision,
    ) -> Result<Option<String>, DatabaseError> {
        let Self { to, amount, .. } = self;
        let outcome = match decision {
            Decision::Yes => Some(format!("Sent {amount} to {to}.")),
            Decision::No => Some("Nothing was sent.".to_owned()),
            Decision::TooLate => None,
        };
        let id = &redemption.id[..];
        // If another presentation of the round is in progress, this waits until it ends.
        let insert = transaction.prepare_cached(REDEEM).await?;
        let row: [&(dyn ToSql + Sync); 3] = [&id, &redemption.keep_until, &outcome];
        if transaction.execute(&insert, &row).await? == 0 {
            let select = transaction.prepare_cached(OUTCOME).await?;
            let row = transaction.query_one(&select, &[&id]).await?;
            let kept: Option<String> = row.try_get("outcome")?;
            return Ok(match decision {
                Decision::TooLate => kept,
                _ => kept.or_else(|| Some("Nothing was sent: the time was up.".to_owned())),
            });
        }
        if decision == Decision::Yes && !self.book(&transaction).await? {
            // Nothing has happened. The round is not redeemed either, and the user may try again.
            transaction.rollback().await?;
            let failed = "Nothing was sent: there is no such account, or not enough money.";
            return Ok(Some(failed.to_owned()));
        }
        transaction.commit().await?;
        Ok(outcome)
    }

    /// Changes both balances. Returns `false` if one of them cannot be changed.
    async fn book(&self, transaction: &Transaction<'_>) -> Result<bool, DatabaseError> {
        let Self { from, to, amount } = self;
        transaction.query(LOCK, &[from, to]).await?;
        Ok(transaction.execute(DEBIT, &[from, amount]).await? == 1
            && transaction.execute(CREDIT, &[to, amount]).await? == 1)
    }
}

/// The user's decision.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Yes,
    /// Any answer other than yes.
    No,
    /// The state had expired, so the answer is not available.
    TooLate,
}

impl Decision {
    fn of(round: &Round, request: &Value) -> Self {
        let action = request.pointer("/params/inputResponses/confirm/action");
        match action {
            _ if round.restarted_from().is_some() => Self::TooLate,
            Some(action) if action == "accept" => Self::Yes,
            _ => Self::No,
        }
    }
}

fn complete(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}
