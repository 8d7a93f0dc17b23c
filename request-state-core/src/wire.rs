//! The common parts of all backends' tokens: the kid at the start, strict base64url, length-prefixed parts, and
//! random nonces. Codecs of your own may use them, as the codecs of this library do.

use std::io::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::GeneralPurposeConfig;

use crate::codec::{DecodeError, EncodeError};

/// The maximum length of a kid, in bytes.
pub const MAX_KID_LEN: usize = 64;

/// The configuration for base64url without padding (RFC 4648, section 5). By default, the engine rejects
/// trailing bits that are not zero (section 3.5), so that no other string decodes to the same payload.
const STRICT: GeneralPurposeConfig = base64::engine::general_purpose::NO_PAD;

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
))]
static BASE64URL: LazyLock<base64::engine::Simd> =
    LazyLock::new(|| base64::engine::Simd::url_safe(STRICT.with_decode_padding_mode(UNPADDED)));

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
)))]
static BASE64URL: LazyLock<base64::engine::GeneralPurpose> = LazyLock::new(|| {
    base64::engine::GeneralPurpose::new(
        &base64::alphabet::URL_SAFE,
        STRICT.with_decode_padding_mode(UNPADDED),
    )
});

const UNPADDED: base64::engine::DecodePaddingMode = base64::engine::DecodePaddingMode::RequireNone;

/// Returns `true` if `text` is a valid kid: 1 to [`MAX_KID_LEN`] characters of `A-Z a-z 0-9 _ -`.
///
/// ```
/// use request_state_core::wire::is_kid;
///
/// assert!(is_kid("2026-10"));
/// assert!(!is_kid("2026.10"));
/// assert!(!is_kid(""));
/// ```
#[must_use]
pub fn is_kid(text: &str) -> bool {
    (1..=MAX_KID_LEN).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// The maximum length of a kid and the dot after it, in bytes.
const HEAD_LEN: usize = MAX_KID_LEN + 1;

/// Splits a token at its first `.` into the kid and the rest.
///
/// [`parts`] also decodes the rest.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`] if there is no `.`, or if the text before it is not a [valid
/// kid](is_kid).
///
/// ```
/// use request_state_core::wire::split_kid;
///
/// assert_eq!(split_kid("2026-10.mJ3k").unwrap(), ("2026-10", "mJ3k"));
/// assert!(split_kid("mJ3k").is_err());
/// ```
pub fn split_kid(token: &str) -> Result<(&str, &str), DecodeError> {
    // A kid is short, so there is no need to search megabytes for a dot.
    let head = token.as_bytes().iter().take(HEAD_LEN);
    head.enumerate()
        .find(|(_, byte)| **byte == b'.')
        .and_then(|(at, _)| token.split_at_checked(at))
        .and_then(|(kid, rest)| Some((kid, rest.strip_prefix('.')?)))
        .filter(|(kid, _)| is_kid(kid))
        .ok_or(DecodeError::Malformed)
}

/// Joins `kid` and `parts` with dots into a token: the kid as it is, and each part in base64url. The string has
/// exactly the capacity that it needs.
///
/// # Errors
///
/// Returns [`EncodeError::Unavailable`] if the length does not fit in memory's address space.
///
/// ```
/// use request_state_core::wire::token;
///
/// assert_eq!(token("2026-10", &[b"any bytes", b""]).unwrap(), "2026-10.YW55IGJ5dGVz.");
/// ```
pub fn token(kid: &str, parts: &[&[u8]]) -> Result<String, EncodeError> {
    let length = parts.iter().try_fold(kid.len(), |length, part| {
        let encoded = base64::encoded_len(part.len(), false)?;
        length.checked_add(encoded)?.checked_add(1)
    });
    let mut token = vec![0; length.ok_or_else(unencodable)?];
    let (head, mut rest) = token
        .split_at_mut_checked(kid.len())
        .ok_or_else(unencodable)?;
    head.copy_from_slice(kid.as_bytes());
    for part in parts {
        let (dot, free) = rest.split_first_mut().ok_or_else(unencodable)?;
        *dot = b'.';
        let written = BASE64URL
            .encode_slice(part, free)
            .map_err(|error| EncodeError::Unavailable(error.into()))?;
        rest = free.get_mut(written..).ok_or_else(unencodable)?;
    }
    if !rest.is_empty() {
        return Err(unencodable());
    }
    String::from_utf8(token).map_err(|error| EncodeError::Unavailable(error.into()))
}

fn unencodable() -> EncodeError {
    EncodeError::Unavailable("the payload is too large to encode".into())
}

/// Splits a token that [`token`] joined, and returns the kid and exactly `N` decoded parts.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`] if there are fewer or more parts, if the text before the first `.` is not
/// a [valid kid](is_kid), or if [`decode_base64url`] rejects a part. So no two tokens have the same kid and
/// parts.
///
/// ```
/// use request_state_core::wire::parts;
///
/// let (kid, [bytes, none]) = parts("2026-10.YW55IGJ5dGVz.")?;
/// assert_eq!((kid, &bytes[..], &none[..]), ("2026-10", &b"any bytes"[..], &b""[..]));
///
/// assert!(parts::<1>("2026-10.YW55IGJ5dGVz.").is_err());
/// # Ok::<(), request_state_core::DecodeError>(())
/// ```
pub fn parts<const N: usize>(token: &str) -> Result<(&str, [Vec<u8>; N]), DecodeError> {
    let (kid, rest) = split_kid(token)?;
    let mut texts = rest.split('.');
    let mut parts = [const { Vec::new() }; N];
    for part in &mut parts {
        let text = texts.next().ok_or(DecodeError::Malformed)?;
        *part = decode_base64url(text)?;
    }
    match texts.next() {
        None => Ok((kid, parts)),
        Some(_) => Err(DecodeError::Malformed),
    }
}

/// Decodes one part of a token: base64url without padding, in its canonical form.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`] for anything else: padding, white space, the other alphabet, or bits
/// after the last byte that are not zero (RFC 4648, section 3.5).
///
/// ```
/// use request_state_core::wire::decode_base64url;
///
/// assert_eq!(decode_base64url("_w").unwrap(), [0xff]);
/// assert!(decode_base64url("_x").is_err()); // the same byte, spelled with stray bits
/// assert!(decode_base64url("_w==").is_err());
/// ```
pub fn decode_base64url(text: &str) -> Result<Vec<u8>, DecodeError> {
    BASE64URL.decode(text).map_err(|_| DecodeError::Malformed)
}

/// Appends the length of `part` to `out` as a big-endian `u64`, and then `part` itself.
///
/// Without lengths, joined parts can be split in another place: `("ab", "c")` and `("a", "bc")` would be the
/// same input, and a proof of authenticity for one pair would be valid for the other.
///
/// ```
/// use request_state_core::wire::push_prefixed;
///
/// let mut out = Vec::new();
/// push_prefixed(&mut out, b"abc");
/// assert_eq!(out, b"\0\0\0\0\0\0\0\x03abc");
/// ```
pub fn push_prefixed(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&length_prefix(part));
    out.extend_from_slice(part);
}

/// Returns the length of `part` as [`push_prefixed`] writes it. For a MAC or a hash that takes its input in
/// pieces.
///
/// ```
/// assert_eq!(request_state_core::wire::length_prefix(b"abc"), [0, 0, 0, 0, 0, 0, 0, 3]);
/// ```
#[must_use]
pub fn length_prefix(part: &[u8]) -> [u8; 8] {
    // Lossless: no platform of Rust has addresses of more than 64 bits.
    (part.len() as u64).to_be_bytes()
}

/// Returns `N` bytes from the operating system's random source, in one call.
///
/// Nothing is buffered in user space: after a fork, a buffer would give the same nonce to both processes.
///
/// # Errors
///
/// Returns [`EncodeError::Unavailable`] if the source fails.
///
/// ```
/// use request_state_core::wire::random;
///
/// let nonce: [u8; 12] = random()?;
/// assert_ne!(nonce, random()?);
/// # Ok::<(), request_state_core::EncodeError>(())
/// ```
pub fn random<const N: usize>() -> Result<[u8; N], EncodeError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| EncodeError::Unavailable(error.into()))?;
    Ok(bytes)
}

/// Calls `then` with `parts`, each preceded by its length, followed by `tail` as it is.
///
/// Up to 256 bytes are joined without an allocation, since a small state has few allocations.
pub(crate) fn with_joined<R>(parts: &[&[u8]], tail: &[&[u8]], then: impl FnOnce(&[u8]) -> R) -> R {
    let mut few = [0; 256];
    let mut room = &mut few[..];
    let written = parts
        .iter()
        .try_for_each(|part| {
            room.write_all(&length_prefix(part))?;
            room.write_all(part)
        })
        .and_then(|()| tail.iter().try_for_each(|part| room.write_all(part)));
    let rest = room.len();
    let length = few.len().saturating_sub(rest);
    match few.get(..length).filter(|_| written.is_ok()) {
        Some(joined) => then(joined),
        None => {
            let mut many = Vec::new();
            for part in parts {
                push_prefixed(&mut many, part);
            }
            for part in tail {
                many.extend_from_slice(part);
            }
            then(&many)
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_kid_is_short_and_plain() {
        for good in ["a", "Z", "0", "_", "-", "2026-10", &"k".repeat(64)] {
            assert!(is_kid(good), "{good}");
        }
        for bad in ["", "a.b", "a:b", "a b", " a", "ä", "a\0", &"k".repeat(65)] {
            assert!(!is_kid(bad), "{bad}");
        }
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
        for character in '\0'..='\u{ff}' {
            let good = alphabet.contains(character);
            assert_eq!(is_kid(&character.to_string()), good, "{character:?}");
        }
    }

    #[test]
    fn a_token_splits_after_a_kid_and_nowhere_else() {
        assert_eq!(split_kid("k.").unwrap(), ("k", ""));
        assert_eq!(split_kid("k.a.b").unwrap(), ("k", "a.b"));
        let longest = "k".repeat(64);
        assert_eq!(
            split_kid(&format!("{longest}.x")).unwrap(),
            (longest.as_str(), "x")
        );
        for bad in ["", ".", ".x", "k", "ä.x", " k.x", &format!("{longest}k.x")] {
            assert!(split_kid(bad).is_err(), "{bad}");
        }
        // Splitting at a byte that is not a character boundary would panic.
        assert!(split_kid(&"é".repeat(40)).is_err());
    }

    #[test]
    fn a_token_has_so_many_parts_and_no_other_number() {
        assert_eq!(parts::<1>("k.").unwrap(), ("k", [vec![]]));
        assert_eq!(parts::<1>("k._w").unwrap(), ("k", [vec![0xff]]));
        assert_eq!(parts::<2>("k._w.").unwrap(), ("k", [vec![0xff], vec![]]));
        for bad in [
            "", ".", "k", "k._w._w", "k._w.", "k.._w", "._w", "a b._w", "k._x", "k._w=", "k. _w",
        ] {
            assert!(parts::<1>(bad).is_err(), "{bad}");
        }
        for bad in ["k._w", "k.", "k._w._w._w", "k._w._x", "k._x._w", "k..."] {
            assert!(parts::<2>(bad).is_err(), "{bad}");
        }
        // A token without parts has no dot, and so no kid.
        assert!(parts::<0>("k").is_err());
        assert!(parts::<0>("k.").is_err());
    }

    /// Tries every pair of ASCII characters. Two characters encode one byte: of the 4,096 pairs in the
    /// alphabet, 256 are canonical, one for each byte.
    #[test]
    fn one_byte_has_one_spelling() {
        let spellings = (0..=127u8)
            .flat_map(|a| (0..=127u8).map(move |b| [a, b]))
            .filter(|pair| decode_base64url(std::str::from_utf8(pair).unwrap()).is_ok())
            .count();
        assert_eq!(spellings, 256);
    }

    #[test]
    fn aliases_are_malformed() {
        let text = token("k", &[&[0xfb; 200]]).unwrap();
        let (_, text) = split_kid(&text).unwrap();
        assert!(decode_base64url(text).is_ok());
        for alias in [
            format!("{text}="),
            format!("{text}=="),
            format!(" {text}"),
            format!("{text}\n"),
            text.replace('-', "+"),
            text.replacen('-', "\u{2d}\u{200b}", 1),
            text.replacen('-', "\0", 1),
            format!("{}t", text.strip_suffix('s').unwrap()), // two stray bits, of which one set
        ] {
            assert!(decode_base64url(&alias).is_err(), "{alias:?}");
        }
    }

    proptest! {
        /// The vectorized engine and the scalar engine agree in both directions.
        #[test]
        fn simd_agrees_with_scalar(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let text = token("k", &[&bytes]).unwrap();
            prop_assert_eq!(&text, &format!("k.{}", URL_SAFE_NO_PAD.encode(&bytes)));
            prop_assert_eq!(text.len(), text.capacity());
            prop_assert_eq!(parts(&text).unwrap(), ("k", [bytes]));
        }

        /// `parts` accepts nothing that `token` does not write.
        #[test]
        fn parts_are_the_inverse_of_token(text in "[a-z]{1,3}[.]{0,2}[A-Za-d_=-]{0,4}[.]?[A-Da-d_-]{0,4}") {
            if let Ok((kid, [one, two])) = parts(&text) {
                prop_assert_eq!(token(kid, &[&one, &two]).unwrap(), text);
            }
        }

        #[test]
        fn simd_refuses_what_scalar_refuses(text in "[A-Za-z0-9_=+/ .é-]{0,200}") {
            prop_assert_eq!(decode_base64url(&text).ok(), URL_SAFE_NO_PAD.decode(&text).ok());
        }
    }
}
