//! The canonical form of a number: each value has exactly one, whatever its notation was.
//!
//! It is `N`, `-` if the number is negative, the decimal digits without leading or trailing zeros, `e` and the
//! exponent of ten unless that is zero, and `,`. So `1200`, `1200.0` and `1.2e3` are all `N12e2,`, and
//! zero of either sign is `N0,`.
//!
//! An exponent is never expanded: `1e999999999` takes 13 bytes.

use crate::problem::Problem;

/// Writes an integer, given its decimal digits.
pub(super) fn write_integer(out: &mut Vec<u8>, text: &str) {
    let (negative, digits) = sign(text);
    write(out, negative, digits, "", 0);
}

/// Writes a double. A whole number below 2^64 is written exactly, any other as its shortest decimal that
/// reads back as the same double. The double must be finite.
pub(super) fn write_f64(out: &mut Vec<u8>, value: f64) -> Result<(), Problem> {
    const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;
    let magnitude = value.abs();
    if magnitude < TWO_POW_64 && magnitude.fract() == 0.0 {
        // Exact, both whole and in range.
        let mut buffer = itoa::Buffer::new();
        write(out, value < 0.0, buffer.format(magnitude as u64), "", 0);
        return Ok(());
    }
    write_text(out, zmij::Buffer::new().format_finite(value))
}

/// Writes a single-precision number as its shortest decimal. It must be finite.
pub(super) fn write_f32(out: &mut Vec<u8>, value: f32) -> Result<(), Problem> {
    write_text(out, zmij::Buffer::new().format_finite(value))
}

/// Writes the exact value of a JSON number (RFC 8259, section 6), given its text.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), Problem> {
    let (negative, rest) = sign(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let well_formed = is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|e| is_digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    if !well_formed {
        return Err(Problem::Number);
    }
    let fraction = fraction.unwrap_or_default();
    let exponent = match exponent {
        // Zero is zero, however large its exponent.
        Some(e) if !is_zero(whole, fraction) => e.parse().map_err(|_| Problem::Number)?,
        _ => 0i64,
    };
    write(out, negative, whole, fraction, exponent)
        .then_some(())
        .ok_or(Problem::Number)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_zero(whole: &str, fraction: &str) -> bool {
    whole.bytes().chain(fraction.bytes()).all(|b| b == b'0')
}

/// Writes `whole.fraction` times ten to the power of `exponent`. Returns `false` if the exponent of the
/// canonical form overflows.
fn write(out: &mut Vec<u8>, negative: bool, whole: &str, fraction: &str, exponent: i64) -> bool {
    let fraction = fraction.trim_end_matches('0');
    let (whole, zeros) = if fraction.is_empty() {
        let kept = whole.trim_end_matches('0');
        (kept, whole.len().saturating_sub(kept.len()))
    } else {
        (whole, 0)
    };
    let whole = whole.trim_start_matches('0');
    let fraction_digits = if whole.is_empty() {
        fraction.trim_start_matches('0')
    } else {
        fraction
    };
    if whole.is_empty() && fraction_digits.is_empty() {
        out.extend_from_slice(b"N0,");
        return true;
    }
    let Some(exponent) = i64::try_from(zeros)
        .ok()
        .and_then(|zeros| exponent.checked_add(zeros))
        .and_then(|e| e.checked_sub(i64::try_from(fraction.len()).ok()?))
    else {
        return false;
    };
    out.push(b'N');
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(whole.as_bytes());
    out.extend_from_slice(fraction_digits.as_bytes());
    if exponent != 0 {
        out.push(b'e');
        out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
    }
    out.push(b',');
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Result<String, Problem> {
        let mut out = Vec::new();
        write_text(&mut out, text)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn double(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn single(value: f32) -> String {
        let mut out = Vec::new();
        write_f32(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_value_has_one_spelling() {
        for (canonical, spellings) in [
            (
                "N0,",
                &["0", "-0", "0.0", "-0.000", "0e5", "0E-99999999999999999999"][..],
            ),
            (
                "N1,",
                &["1", "1.0", "1e0", "10e-1", "0.1e1", "0.001E+3", "1e-0"],
            ),
            (
                "N-12e2,",
                &["-1200", "-1200.00", "-1.2e3", "-0.12e4", "-12E+02"],
            ),
            ("N105e-1,", &["10.5", "10.50", "105e-1", "0.105e2"]),
            (
                "N9007199254740993,",
                &["9007199254740993", "9007199254740.993e3"],
            ),
            ("N1e-400,", &["1e-400", "0.1e-399", "10e-401"]),
            ("N1e9223372036854775807,", &["1e9223372036854775807"]),
        ] {
            for spelling in spellings {
                assert_eq!(text(spelling).unwrap(), canonical, "{spelling}");
            }
        }
    }

    #[test]
    fn what_is_no_number_in_range_is_an_error() {
        for bad in [
            "",
            "-",
            "+1",
            "01",
            "00",
            ".5",
            "1.",
            "1.e1",
            "1e",
            "1e+",
            "1e+-1",
            "1e1.0",
            "0x1",
            " 1",
            "1 ",
            "NaN",
            "inf",
            "1_0",
            "٣",
            "--1",
            "1e9223372036854775808",
            "10e9223372036854775807",
            "0.1e-9223372036854775808",
            "1e99999999999999999999",
        ] {
            assert_eq!(text(bad), Err(Problem::Number), "{bad:?}");
        }
    }

    #[test]
    fn doubles_are_exact_below_2_pow_64_and_shortest_above() {
        for (value, canonical) in [
            (0.0, "N0,"),
            (-0.0, "N0,"),
            (1.0, "N1,"),
            (-10.5, "N-105e-1,"),
            (0.1, "N1e-1,"),
            (9_007_199_254_740_993.0, "N9007199254740992,"), // as a double, this is …992
            (9_223_372_036_854_775_808.0, "N9223372036854775808,"),
            (18_446_744_073_709_549_568.0, "N18446744073709549568,"), // the last below 2^64
            (18_446_744_073_709_551_616.0, "N18446744073709552e3,"),
            (1e300, "N1e300,"),
            (5e-324, "N5e-324,"),
            (f64::MAX, "N17976931348623157e292,"),
        ] {
            assert_eq!(double(value), canonical);
        }
        assert_eq!(single(0.1), "N1e-1,");
        assert_eq!(single(16_777_216.0), "N16777216,");
        assert_eq!(single(f32::MAX), "N34028235e31,");
    }

    proptest! {
        /// The canonical form reads back as the same double, so two doubles have the same form only if they
        /// are equal.
        #[test]
        fn the_form_of_a_double_reads_back(value in any::<f64>()) {
            let form = double(value);
            let digits = form.strip_prefix('N').unwrap().strip_suffix(',').unwrap();
            prop_assert_eq!(digits.parse::<f64>().unwrap(), value);
        }

        #[test]
        fn integers_agree_with_their_text(value in any::<i128>(), zeros in 0usize..5) {
            let mut out = Vec::new();
            write_integer(&mut out, &value.to_string());
            let expected = String::from_utf8(out).unwrap();
            prop_assert_eq!(&text(&value.to_string()).unwrap(), &expected);
            let spelled = format!("{value}{}e-{zeros}", "0".repeat(zeros));
            prop_assert_eq!(&text(&spelled).unwrap(), &expected);
        }

        #[test]
        fn doubles_agree_with_integers_where_both_are_exact(value in -(1i64 << 53)..(1i64 << 53)) {
            let mut out = Vec::new();
            write_integer(&mut out, &value.to_string());
            prop_assert_eq!(double(value as f64), String::from_utf8(out).unwrap());
        }

        #[test]
        fn any_text_is_a_number_or_an_error(text in "[-+0-9.eE]{0,12}") {
            let mut out = Vec::new();
            let ours = write_text(&mut out, &text).is_ok();
            // serde_json rejects numbers that overflow a double, so only its acceptance is of interest.
            let theirs = serde_json::from_str::<f64>(&text).is_ok();
            prop_assert!(ours || !theirs, "{text}");
        }
    }
}
