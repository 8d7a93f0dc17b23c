//! Rejecting a token takes time in proportion to the token's length.

use std::time::{Duration, Instant};

use request_state_core::RequestStateCodec;

use crate::edits::splice;
use crate::kit::{Kit, must_refuse, show};
use crate::rings::KIDS;
use crate::stop::{Stop, Verdict, ensure};

const CONTEXT: &[u8] = b"context";

/// A kind of long junk: its description, and a function that returns the text for a length in
/// bytes.
type Shape<'a> = (&'static str, Box<dyn Fn(usize) -> String + 'a>);

fn repeated<'a>(about: &'static str, head: &'a str, unit: &'static str) -> Shape<'a> {
    let text = move |length: usize| format!("{head}{}", unit.repeat(length / unit.len()));
    (about, Box::new(text))
}

/// Returns shapes in which a decoder may scan a token repeatedly.
fn shapes<'a>(codec: &'a dyn RequestStateCodec, kid_and_dot: &'a str) -> Vec<Shape<'a>> {
    vec![
        repeated("letters", "", "A"),
        repeated("dots", "", "."),
        repeated("parts of one letter", "", "A."),
        repeated("padding", "", "="),
        repeated("spaces", "", " "),
        repeated("letters of two bytes", "", "é"),
        repeated("a kid and letters", kid_and_dot, "A"),
        repeated("a kid and dots", kid_and_dot, "."),
        repeated("a kid and parts", kid_and_dot, "AAAA."),
        repeated("a kid and spaces", kid_and_dot, "A "),
        repeated("a kid and padding", kid_and_dot, "="),
        repeated("an unknown kid and letters", "unknown.", "AAAA"),
        (
            "a long token with its last part changed",
            Box::new(|length| {
                let token = codec
                    .encode(&vec![b'p'; length / 4 * 3], CONTEXT)
                    .unwrap_or_default();
                let last = token.rfind('.').map_or(0, |dot| dot + 1);
                let changed = if token.get(last..).is_some_and(|rest| rest.starts_with('A')) {
                    "B"
                } else {
                    "A"
                };
                splice(&token, last, last + 1, changed)
            }),
        ),
    ]
}

pub(crate) fn megabytes(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let head = format!("{}.", KIDS[0]);
    for (about, text) in shapes(&codec, &head) {
        for exponent in [16, 18, 20, 22] {
            let started = Instant::now();
            must_refuse(&codec, &text(1 << exponent), CONTEXT, || {
                format!("{} bytes of {about}", 1 << exponent)
            })?;
            // The next case tests how the time grows. This case only spares a slow codec the
            // remaining lengths.
            if started.elapsed() > Duration::from_millis(500) {
                break;
            }
        }
    }
    Ok(())
}

pub(crate) fn refusal_takes_linear_time(kit: &Kit<'_>) -> Verdict {
    let codec = kit.codec()?;
    let head = format!("{}.", KIDS[0]);
    for (about, text) in shapes(&codec, &head) {
        grows_with_length(&codec, about, text)?;
    }
    Ok(())
}

/// Fails if rejecting a token of 16 times the length takes much more than 16 times as long.
fn grows_with_length(
    codec: &dyn RequestStateCodec,
    about: &str,
    text: impl Fn(usize) -> String,
) -> Verdict {
    /// The factor from which the time is measured more closely.
    const SUSPICIOUS: u32 = 30;
    /// With linear time the factor is 1, compared with 16 short tokens. With quadratic time it is
    /// 16.
    const TOO_MUCH: f64 = 5.0;
    /// A shorter time does no harm and cannot be measured reliably.
    const SHORT: Duration = Duration::from_millis(40);
    let mut earlier: Vec<(String, Duration)> = Vec::new();
    for exponent in [10, 12, 14, 16, 18, 20] {
        let token = text(1 << exponent);
        let mut time = refusal_time(codec, &token, 1)?;
        if time < SHORT {
            time = time.min(refusal_time(codec, &token, 3)?);
        }
        let a_16th = earlier.len().checked_sub(2).and_then(|at| earlier.get(at));
        if let Some((shorter, before)) = a_16th
            && time > SHORT.max(*before * SUSPICIOUS)
        {
            let ratio = one_for_sixteen(codec, &token, shorter)?;
            ensure(ratio < TOO_MUCH, || {
                format!(
                    "{about}: rejecting {} bytes took {time:?}, which is {ratio:.1} times as long as rejecting a sixteenth of them 16 times",
                    1 << exponent
                )
            })?;
        }
        earlier.push((token, time));
        if time > Duration::from_millis(400) {
            break; // slow but linear: longer tokens would show nothing new
        }
    }
    Ok(())
}

/// Returns the time of rejecting `token` divided by the time of rejecting `shorter` 16 times.
///
/// On a busy machine, long measurements are interrupted and short ones are not. Therefore the two
/// measurements, one after the other, take the same time if the codec is correct. The result is the
/// median of five tries.
fn one_for_sixteen(codec: &dyn RequestStateCodec, token: &str, shorter: &str) -> Result<f64, Stop> {
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        for _ in 0..16 {
            drop(codec.decode(shorter, CONTEXT));
        }
        let sixteen = started.elapsed().as_secs_f64();
        ratios.push(refusal_time(codec, token, 1)?.as_secs_f64() / sixteen);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios.get(2).copied().unwrap_or(0.0))
}

/// Returns the shortest time of `tries` tries.
fn refusal_time(
    codec: &dyn RequestStateCodec,
    token: &str,
    tries: usize,
) -> Result<Duration, Stop> {
    let mut shortest = Duration::MAX;
    for _ in 0..tries {
        let started = Instant::now();
        let result = codec.decode(token, CONTEXT);
        shortest = shortest.min(started.elapsed());
        ensure(result.is_err(), || format!("decoded {}", show(token)))?;
    }
    Ok(shortest)
}
