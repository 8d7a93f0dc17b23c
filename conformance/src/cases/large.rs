//! What holds for a short payload holds for a large one, which may take another path.

use super::lengths::{refuses_another_key, refuses_another_kid};
use crate::kit::{Genuine, Kit, must_refuse_context};
use crate::random::Random;
use crate::stop::Verdict;

/// Up to what the sealer's default limit holds, and somewhat beyond.
const LENGTHS: [usize; 7] = [600, 1_500, 5_000, 10_000, 20_000, 48_000, 70_000];

const CONTEXT: &[u8] = b"context";

pub(crate) fn another_context(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    for length in LENGTHS {
        let payload = Random::new(length as u64).bytes(length);
        for context in [CONTEXT, b""] {
            let genuine = Genuine::new(&codec, &payload, context)?;
            for other in [&b""[..], b"\0", b"contexT", b"other", &[7; 3_000]] {
                if other != context {
                    must_refuse_context(&codec, &genuine.text, other, || {
                        format!("{length} bytes under another context")
                    })?;
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn another_key(kit: &Kit<'_>) -> Verdict {
    refuses_another_key(kit, LENGTHS)
}

pub(crate) fn another_kid(kit: &Kit<'_>) -> Verdict {
    refuses_another_kid(kit, LENGTHS)
}
