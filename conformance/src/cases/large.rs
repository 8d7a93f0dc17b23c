//! What holds for a short payload holds for a large one, which may take another path.

use crate::kit::{
    Genuine, Kit, encode, must_open, must_refuse, must_refuse_context, ring, ring_of,
};
use crate::random::Random;
use crate::stop::{Stop, Verdict};

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
    kit.needs_keyring()?;
    let keys = [120, 121].map(|seed| ring_of([("a", Random::new(seed).key())]));
    let [ours, theirs] = keys;
    let (us, them) = (kit.codec_of(&ours?), kit.codec_of(&theirs?));
    for length in LENGTHS {
        let payload = Random::new(length as u64).bytes(length);
        let token = encode(&them, &payload, CONTEXT)?;
        must_open(&them, &token, CONTEXT, &payload, "its own")?;
        must_refuse(&us, &token, CONTEXT, || {
            format!("{length} bytes sealed by another key under the same kid")
        })?;
    }
    Ok(())
}

pub(crate) fn another_kid(kit: &Kit<'_>) -> Verdict {
    kit.needs_keyring()?;
    let keys = ring()?;
    let codec = kit.codec_of(&keys);
    let (kid, key) = keys.sealing();
    // The same key under another kid: nothing but the kid tells the two apart.
    let renamed = request_state_core::Keyring::new([("b", key.clone())])?;
    let renamed = kit.codec_of(&renamed);
    for length in LENGTHS {
        let token = encode(&codec, &vec![b'p'; length], CONTEXT)?;
        let rest = token
            .strip_prefix(kid)
            .and_then(|rest| rest.strip_prefix('.'));
        let rest = rest.ok_or(Stop::NotApplicable(
            "a token does not start with its kid and a dot",
        ))?;
        must_refuse(&renamed, &format!("b.{rest}"), CONTEXT, || {
            format!("{length} bytes, relabelled from {kid} to b, which has the same key there")
        })?;
    }
    Ok(())
}
