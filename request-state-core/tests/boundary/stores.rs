//! Stores for tests, and futures that wait for nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use request_state_core::{
    Claim, Claimed, Entry, MemoryStore, RedemptionStore, StoreError, StoreFuture,
};

use crate::kit::Clock;

/// The result of a future that waits for nothing.
#[track_caller]
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the future waits"),
    }
}

/// What is wrong with a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// It does not answer, and has done nothing.
    Down,
    /// It does what it was asked, and the answer is lost.
    AnswerLost,
    /// It has lost its history.
    Forgot,
    /// It keeps claims, and cannot keep answers.
    Full,
    /// It takes so long, by the clock of all.
    Slow(Duration),
}

/// A memory store with a fault that can be switched, which counts its calls.
pub struct Store {
    memory: MemoryStore,
    fault: Mutex<Fault>,
    calls: AtomicUsize,
    clock: Clock,
}

impl Store {
    pub fn new(clock: &Clock) -> Self {
        let now = clock.clone();
        Self {
            memory: MemoryStore::with_clock(1_000, move || now.now()),
            clock: clock.clone(),
            fault: Mutex::new(Fault::None),
            calls: AtomicUsize::new(0),
        }
    }

    pub fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// How often it was called since the last time this was asked.
    pub fn calls(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }

    fn call<'a, T: Send + 'a>(
        &self,
        can_be_full: bool,
        call: impl FnOnce(&MemoryStore) -> Result<T, StoreError>,
    ) -> StoreFuture<'a, T> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let down =
            || StoreError::failed(std::io::Error::new(std::io::ErrorKind::TimedOut, "hunter2"));
        let result = match *self.fault.lock().unwrap() {
            Fault::None => call(&self.memory),
            Fault::Down => Err(down()),
            Fault::AnswerLost => call(&self.memory).and_then(|_| Err(down())),
            Fault::Forgot => Err(StoreError::HistoryLost),
            Fault::Full if can_be_full => Err(StoreError::Full),
            Fault::Full => call(&self.memory),
            Fault::Slow(by) => {
                self.clock.advance(by);
                call(&self.memory)
            }
        };
        Box::pin(std::future::ready(result))
    }
}

impl RedemptionStore for Store {
    fn claim<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, Claimed> {
        self.call(false, |memory| ready(memory.claim(claim)))
    }

    fn find<'a>(&'a self, id: &'a [u8; 32], issued_at_ms: u64) -> StoreFuture<'a, Option<Entry>> {
        self.call(false, |memory| ready(memory.find(id, issued_at_ms)))
    }

    fn record<'a>(
        &'a self,
        id: &'a [u8; 32],
        nonce: &'a [u8; 16],
        answer: &'a [u8],
    ) -> StoreFuture<'a, bool> {
        self.call(true, |memory| ready(memory.record(id, nonce, answer)))
    }

    fn release<'a>(&'a self, id: &'a [u8; 32], nonce: &'a [u8; 16]) -> StoreFuture<'a, bool> {
        self.call(false, |memory| ready(memory.release(id, nonce)))
    }
}
