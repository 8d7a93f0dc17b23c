//! The claim of a round, while its request is served.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::once::{Claim, RedemptionStore, StoreError};
use crate::sealer::SealError;

/// The claim by which a request is the first of its round.
pub(super) struct Held {
    pub(super) store: Arc<dyn RedemptionStore>,
    pub(super) id: [u8; 32],
    pub(super) nonce: [u8; 16],
    pub(super) presentation: [u8; 32],
    /// How many further tokens were issued for the round, or are about to be. It may not be given back then:
    /// they would open next to it.
    asks: AtomicUsize,
    release_asked: AtomicBool,
    released: AtomicBool,
}

impl Held {
    pub(super) fn new(store: Arc<dyn RedemptionStore>, claim: &Claim) -> Self {
        Self {
            store,
            id: claim.id,
            nonce: claim.nonce,
            presentation: claim.presentation,
            asks: AtomicUsize::new(0),
            release_asked: AtomicBool::new(false),
            released: AtomicBool::new(false),
        }
    }

    pub(super) async fn release(&self) -> Result<bool, StoreError> {
        // Of an asking and a release at the same time, one at least sees the other: both write first.
        self.release_asked.store(true, Ordering::SeqCst);
        if self.asks.load(Ordering::SeqCst) > 0 {
            return Ok(false);
        }
        let released = self.store.release(&self.id, &self.nonce).await;
        if matches!(released, Ok(true)) {
            self.released.store(true, Ordering::Release);
        }
        released
    }

    /// Issues a further token by `seal`, unless the round may have been given back.
    pub(super) fn ask(
        &self,
        seal: impl FnOnce() -> Result<String, SealError>,
    ) -> Result<String, SealError> {
        self.asks.fetch_add(1, Ordering::SeqCst);
        let sealed = if self.release_asked.load(Ordering::SeqCst) {
            Err(SealError::Released)
        } else {
            seal()
        };
        if sealed.is_err() {
            self.asks.fetch_sub(1, Ordering::SeqCst);
        }
        sealed
    }

    pub(super) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Held {
    /// Prints neither the id nor the nonce.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("released", &self.is_released())
            .finish_non_exhaustive()
    }
}
