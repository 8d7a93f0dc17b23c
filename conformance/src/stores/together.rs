//! Futures that run concurrently on one thread, in an order that is the same in each run.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::task::yield_now;

use crate::stop::Stop;

/// Polls all futures in turn, in their order, until each has completed. The results are in the same
/// order.
///
/// A store that awaits anything between two steps is interrupted there each time.
pub(super) async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures
        .into_iter()
        .map(|future| (Some(Box::pin(future)), None))
        .collect();
    poll_fn(|context| {
        let mut is_over = true;
        for (slot, result) in &mut running {
            let Some(future) = slot else { continue };
            match future.as_mut().poll(context) {
                Poll::Ready(output) => {
                    *result = Some(output);
                    *slot = None;
                }
                Poll::Pending => is_over = false,
            }
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running
        .into_iter()
        .filter_map(|(_, result)| result)
        .collect()
}

/// Does the same as [`together`], for futures that may fail.
pub(super) async fn all<T, F: Future<Output = Result<T, Stop>>>(
    futures: impl IntoIterator<Item = F>,
) -> Result<Vec<T>, Stop> {
    together(futures).await.into_iter().collect()
}

/// Polls a future `polls` times and drops it, as happens to the future of a request when the client
/// disconnects. Returns its result if it completed before that.
pub(super) async fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        let poll = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(output) = poll {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

/// A step of a race, which returns whether it succeeded.
pub(super) type Step<'a> = Pin<Box<dyn Future<Output = Result<bool, Stop>> + 'a>>;

/// The schedule of three steps: their order, and the number of turns that each waits before it
/// begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    order: [usize; 3],
    waits: [usize; 3],
}

/// Returns every order of three steps, each with up to two turns of waiting.
pub(super) fn schedules() -> impl Iterator<Item = Schedule> {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    ORDERS.into_iter().flat_map(|order| {
        (0..27).map(move |number| Schedule {
            order,
            waits: [number % 3, number / 3 % 3, number / 9],
        })
    })
}

impl Schedule {
    /// Runs three steps. The results are in the order of `steps`.
    pub(super) async fn run(&self, steps: [Step<'_>; 3]) -> Result<[bool; 3], Stop> {
        let mut steps: Vec<_> = steps.into_iter().zip(self.waits).enumerate().collect();
        steps.sort_by_key(|(number, _)| self.order.get(*number).copied());
        let racing = steps.into_iter().map(|(number, (step, waits))| async move {
            for _ in 0..waits {
                yield_now().await;
            }
            Ok((number, step.await?))
        });
        let mut results = [false; 3];
        for (number, succeeded) in all(racing).await? {
            if let Some(result) = results.get_mut(number) {
                *result = succeeded;
            }
        }
        Ok(results)
    }
}
