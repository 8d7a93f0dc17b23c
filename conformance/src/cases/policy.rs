//! Through a [`Sealer`]: how long a token opens, how long it may be, and what a refusal says.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use request_state_core::{Disclosure, OpenError, SealError, Sealer, SealerBuilder};

use crate::cases::binding::Asked;
use crate::kit::{Codec, Kit};
use crate::stop::{Stop, Verdict, ensure};

const MS: Duration = Duration::from_millis(1);

/// A time with a fraction of a millisecond, which must not count.
pub(super) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::new(1_800_000_000, 123_999_999)
}

pub(super) fn typed<'a>(kit: &Kit<'a>) -> Result<SealerBuilder<Codec<'a>>, Stop> {
    Ok(Sealer::builder("billing", kit.codec()?).disclosure(Disclosure::Typed))
}

pub(super) fn is(
    result: Result<u32, OpenError>,
    expected: Result<u32, OpenError>,
    about: &str,
) -> Verdict {
    ensure(result == expected, || {
        format!("{about}: {result:?} instead of {expected:?}")
    })
}

pub(crate) fn ttl_to_the_millisecond(kit: &Kit<'_>) -> Verdict {
    let principals = [Some("user:alice"), None];
    for (principal, other_ttl) in principals.into_iter().zip([1_000, 5_000]) {
        for ttl in [1, 2, 999, 1_000, 60_000, 300_000] {
            let binding = Asked {
                principal,
                ..Asked::new()
            }
            .binding()?;
            let (own, other) = (Duration::from_millis(ttl), Duration::from_millis(other_ttl));
            // Each kind of request has a TTL of its own.
            let builder = match principal {
                Some(_) => typed(kit)?.ttl(own).anonymous_ttl(other),
                None => typed(kit)?.ttl(other).anonymous_ttl(own),
            };
            let sealer = builder.build()?;
            let token = sealer.seal_at(&1, &binding, noon())?;
            let open_after = |after: Duration| sealer.open_at(&token, &binding, noon() + after);
            let about =
                |when: &str| format!("with a TTL of {ttl} ms, principal {principal:?}, {when}");
            is(open_after(Duration::ZERO), Ok(1), &about("at once"))?;
            is(
                open_after(own - MS),
                Ok(1),
                &about("one millisecond before"),
            )?;
            is(
                open_after(own),
                Err(OpenError::Expired),
                &about("at the end"),
            )?;
            is(
                open_after(own + MS),
                Err(OpenError::Expired),
                &about("one millisecond after"),
            )?;
            // The times count in whole milliseconds: 123.999999 is 123.
            let early = UNIX_EPOCH + Duration::new(1_800_000_000, 123_000_000);
            let last = early + own - Duration::from_nanos(1);
            is(
                sealer.open_at(&token, &binding, last),
                Ok(1),
                &about("in the last nanosecond"),
            )?;
            is(
                sealer.open_at(&token, &binding, early + own),
                Err(OpenError::Expired),
                &about("right then"),
            )?;
        }
    }
    Ok(())
}

pub(crate) fn default_ttls(kit: &Kit<'_>) -> Verdict {
    for (principal, seconds) in [(Some("user:alice"), 300), (None, 60)] {
        let binding = Asked {
            principal,
            ..Asked::new()
        }
        .binding()?;
        let sealer = typed(kit)?.build()?;
        let token = sealer.seal_at(&1, &binding, noon())?;
        let end = noon() + Duration::from_secs(seconds);
        is(
            sealer.open_at(&token, &binding, end - MS),
            Ok(1),
            "before the default TTL ends",
        )?;
        is(
            sealer.open_at(&token, &binding, end),
            Err(OpenError::Expired),
            "when the default TTL ends",
        )?;
    }
    Ok(())
}

pub(crate) fn clocks_that_disagree(kit: &Kit<'_>) -> Verdict {
    let binding = Asked::new().binding()?;
    let sealer = typed(kit)?.ttl(Duration::from_secs(10)).build()?;
    let token = sealer.seal_at(&1, &binding, noon())?;
    let minute = Duration::from_secs(60);
    is(
        sealer.open_at(&token, &binding, noon() - minute),
        Ok(1),
        "minted a minute ahead",
    )?;
    is(
        sealer.open_at(&token, &binding, noon() - minute - MS),
        Err(OpenError::Invalid),
        "minted more than a minute ahead",
    )?;
    // A sealer with a longer TTL is another policy.
    let longer = typed(kit)?.ttl(Duration::from_secs(71)).build()?;
    let token = longer.seal_at(&1, &binding, noon())?;
    is(
        sealer.open_at(&token, &binding, noon()),
        Err(OpenError::Invalid),
        "minted under another policy",
    )?;
    let before = UNIX_EPOCH - MS;
    is(
        sealer.open_at(&token, &binding, before),
        Err(OpenError::Invalid),
        "opened before 1970",
    )?;
    let sealed = sealer.seal_at(&1, &binding, before);
    ensure(matches!(sealed, Err(SealError::Clock)), || {
        format!("sealed before 1970: {sealed:?} instead of an error of the clock")
    })
}

pub(crate) fn the_longest_token(kit: &Kit<'_>) -> Verdict {
    let binding = Asked::new().binding()?;
    let state = "s".repeat(400);
    let long = typed(kit)?.build()?.seal(&state, &binding)?;
    // The same again has the same length, unless the codec pads at random.
    let exact = typed(kit)?.max_token_len(long.len()).build()?;
    let opened = exact.open::<String>(&long, &binding);
    ensure(opened.as_ref() == Ok(&state), || {
        format!("a token of just the limit: {opened:?}")
    })?;
    let shorter = typed(kit)?.max_token_len(long.len() - 1).build()?;
    let opened = shorter.open::<String>(&long, &binding);
    ensure(opened == Err(OpenError::Invalid), || {
        format!("a token of one more than the limit: {opened:?} instead of Invalid")
    })?;
    let sealed = typed(kit)?
        .max_token_len(64)
        .build()?
        .seal(&state, &binding);
    ensure(matches!(sealed, Err(SealError::TooLong { .. })), || {
        format!("a state beyond the limit: {sealed:?} instead of TooLong")
    })
}

pub(crate) fn states_come_back(kit: &Kit<'_>) -> Verdict {
    let sealer = typed(kit)?.build()?;
    let binding = Asked::new().binding()?;
    for text in [
        "",
        "plain",
        "\0\u{1}\u{7f}",
        "é e\u{301} 😀",
        "\"\\/",
        "a\r\nb",
        " \u{2028} ",
    ] {
        let opened = sealer.open::<String>(&sealer.seal(text, &binding)?, &binding);
        ensure(opened.as_deref() == Ok(text), || {
            format!("{text:?} came back as {opened:?}")
        })?;
    }
    for number in [
        0.1,
        -0.0,
        1e300,
        5e-324,
        9_007_199_254_740_993.0,
        f64::MAX,
        1.0 / 3.0,
    ] {
        let opened = sealer.open::<f64>(&sealer.seal(&number, &binding)?, &binding);
        ensure(opened.map(f64::to_bits) == Ok(number.to_bits()), || {
            format!("{number} came back as {opened:?}")
        })?;
    }
    let whole = (
        u64::MAX,
        i64::MIN,
        Some(()),
        vec![vec![1u8]; 3],
        [true, false],
    );
    let opened = sealer.open(&sealer.seal(&whole, &binding)?, &binding);
    ensure(
        opened
            == Ok((
                u64::MAX,
                i64::MIN,
                None::<()>,
                vec![vec![1u8]; 3],
                [true, false],
            )),
        || format!("{whole:?} came back as {opened:?}"),
    )
}
