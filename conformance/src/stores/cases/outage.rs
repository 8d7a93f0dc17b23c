//! A store whose database does not answer.

use std::fmt::Debug;

use request_state_core::StoreError;

use crate::stop::{Stop, Verdict};
use crate::stores::kit::Kit;

pub(crate) async fn every_call_is_an_error(kit: &Kit<'_>) -> Verdict {
    let handle = kit.unreachable().await?;
    for _ in 0..2 {
        let claim = kit.claim()?;
        must_fail("claim", handle.try_claim(&claim).await?)?;
        must_fail(
            "find",
            handle.try_find(&claim.id, claim.issued_at_ms).await?,
        )?;
        let recorded = handle
            .try_record(&claim.id, &claim.nonce, b"answer")
            .await?;
        must_fail("record", recorded)?;
        must_fail(
            "release",
            handle.try_release(&claim.id, &claim.nonce).await?,
        )?;
    }
    Ok(())
}

fn must_fail<T: Debug>(what: &str, result: Result<T, StoreError>) -> Verdict {
    match result {
        Err(_) => Ok(()),
        Ok(result) => Err(Stop::Failed(format!(
            "the database does not answer, and {what} returned {result:?}"
        ))),
    }
}
