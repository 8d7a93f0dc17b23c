//! The same server with single use: each round counts once.

use std::error::Error;
use std::task::{Context, Poll, Waker};
use std::time::SystemTime;

use request_state::{AnswerAgain, Boundary, MemoryStore, OnceBoundary, RequestStateCodec, Sealer};
use serde_json::Value;

use crate::server::{TTL, respond};

pub struct OnceBank(OnceBoundary<Box<dyn RequestStateCodec>>);

impl OnceBank {
    /// Creates a server whose clock is fixed at `now`. With `again`, the server answers a
    /// repetition again.
    pub fn new(
        name: &str,
        codec: Box<dyn RequestStateCodec>,
        now: SystemTime,
        again: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let sealer = Sealer::builder(name, codec).ttl(TTL).clock(move || now);
        let store = MemoryStore::with_clock(100, move || now);
        let once = Boundary::new(sealer.build()?).once(store);
        if !again {
            return Ok(Self(once));
        }
        // Under HMAC the stored answers are readable. This is acceptable, because the store is in
        // this process.
        let policy = AnswerAgain::new().allow_readable();
        Ok(Self(once.answer_again(policy)?))
    }

    pub fn handle(&self, message: &Value, user: Option<&str>) -> Result<Value, Box<dyn Error>> {
        ready(async {
            let mut message = message.clone();
            let round = match self.0.open_request(&mut message, user).await {
                Ok(round) => round,
                Err(reply) => return reply.response(),
            };
            let mut response = respond(&message);
            self.0.seal_response(&round, &mut response).await;
            response
        })
    }
}

/// Returns the result of a future that never waits, such as those of a memory store.
fn ready<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    let mut context = Context::from_waker(Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        Poll::Ready(result) => Ok(result),
        Poll::Pending => Err("the store waits".into()),
    }
}
