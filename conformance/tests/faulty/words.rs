//! A word around a token is stripped.

use super::base::{ENCRYPTED, SIGNED, Steps, TYPED};
use super::fault::{Fault, step};

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "strips what a test suite appended",
            "tampering::words_around",
            Steps {
                read: |token| Ok(token.strip_suffix("-test").unwrap_or(token).to_owned()),
                ..ENCRYPTED
            },
        ),
        step(
            "strips the mark of a logger that shortens",
            "tampering::words_around",
            Steps {
                read: |token| Ok(token.trim_end_matches("[truncated]").to_owned()),
                ..SIGNED
            },
        ),
        step(
            "strips the scheme of a header, in whatever case",
            "tampering::words_around",
            Steps {
                read: |token| {
                    let head = token.get(..7).unwrap_or_default();
                    let is_scheme = head.eq_ignore_ascii_case("bearer:");
                    Ok(token[if is_scheme { 7 } else { 0 }..].to_owned())
                },
                ..TYPED
            },
        ),
        step(
            "strips an environment's name from the kid",
            "tampering::words_around",
            Steps {
                read: |token| Ok(token.replacen("_staging.", ".", 1)),
                ..ENCRYPTED
            },
        ),
        step(
            "takes the kid twice",
            "tampering::words_around",
            Steps {
                read: |token| {
                    let (kid, rest) = token.split_once('.').unwrap_or((token, ""));
                    let again = rest.starts_with(&format!("{kid}."));
                    Ok(if again { rest } else { token }.to_owned())
                },
                ..SIGNED
            },
        ),
        step(
            "strips a letter and a digit in front, once a version",
            "tampering::short_texts_around",
            Steps {
                read: |token| Ok(token.strip_prefix("q7_").unwrap_or(token).to_owned()),
                ..SIGNED
            },
        ),
        step(
            "strips an exclamation mark",
            "tampering::short_texts_around",
            Steps {
                read: |token| Ok(token.trim_end_matches('!').to_owned()),
                ..ENCRYPTED
            },
        ),
        step(
            "strips three backquotes",
            "tampering::short_texts_around",
            Steps {
                read: |token| Ok(token.trim_start_matches("```").to_owned()),
                ..TYPED
            },
        ),
    ]
}
