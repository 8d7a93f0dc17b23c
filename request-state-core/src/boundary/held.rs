//! The claim of a round, while its request is served.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::once::{Claim, RedemptionStore, StoreError};
use crate::sealer::SealError;

/// The claim of a request that is the first of its round.
pub(super) struct Held {
    pub(super) store: Arc<dyn RedemptionStore>,
    pub(super) id: [u8; 32],
    pub(super) nonce: [u8; 16],
    pub(super) presentation: [u8; 32],
    /// The number of further tokens that were issued for the round, or are about to be. If there are any, the
    /// round must not be released: they would open next to its token.
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
        // Both `release` and `ask` write before they read. So of two calls at the same time, at least one sees
        // the other.
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

    /// Issues a further token with `seal`, unless the round may have been released.
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
