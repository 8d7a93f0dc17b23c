//! What the tokens of all backends share: the kid in front, strict base64url, length-prefixed
//! parts, random nonces. Codecs of your own may use it, as those of this library do.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::GeneralPurposeConfig;

use crate::codec::{DecodeError, EncodeError};

/// The longest kid, in bytes.
pub const MAX_KID_LEN: usize = 64;

/// RFC 4648 section 5 without padding. By default the engine rejects trailing bits that are not
/// zero (section 3.5), so that no other string decodes to the same payload.
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

/// Returns `true` if `text` may name a key: 1 to [`MAX_KID_LEN`] of `A-Z a-z 0-9 _ -`.
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

/// Splits a token at its first `.` into the kid and the rest.
///
/// # Errors
///
/// [`DecodeError::Malformed`] when there is no `.`, or what is before it [is not a valid kid](is_kid).
///
/// ```
/// use request_state_core::wire::split_kid;
///
/// assert_eq!(split_kid("2026-10.mJ3k").unwrap(), ("2026-10", "mJ3k"));
/// assert!(split_kid("mJ3k").is_err());
/// ```
pub fn split_kid(token: &str) -> Result<(&str, &str), DecodeError> {
    // A kid is short: do not walk through megabytes in search of a dot.
    let head = token.as_bytes().iter().take(MAX_KID_LEN.saturating_add(1));
    head.enumerate()
        .find(|(_, byte)| **byte == b'.')
        .and_then(|(at, _)| token.split_at_checked(at))
        .and_then(|(kid, rest)| Some((kid, rest.strip_prefix('.')?)))
        .filter(|(kid, _)| is_kid(kid))
        .ok_or(DecodeError::Malformed)
}

/// Joins `parts` with dots, the first as it is and the others in base64url, into a token of
/// exactly the needed capacity.
///
/// # Errors
///
/// [`EncodeError::Unavailable`] when the length does not fit in memory's address space.
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
        rest = free.get_mut(written..).unwrap_or_default();
    }
    String::from_utf8(token).map_err(|error| EncodeError::Unavailable(error.into()))
}

fn unencodable() -> EncodeError {
    EncodeError::Unavailable("the payload is too large to encode".into())
}

/// Decodes one part of a token: base64url without padding, in its canonical form.
///
/// # Errors
///
/// [`DecodeError::Malformed`] for anything else: padding, white space, the other alphabet, bits
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

/// Appends `part` to `out`, its length in front: a `u64`, big-endian.
///
/// Parts that are joined without their lengths can be cut at another place: `("ab", "c")` and
/// `("a", "bc")` would be one input, and what was authenticated for the one would hold for the
/// other.
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

/// Returns the length of `part` as [`push_prefixed`] writes it, for a MAC or hash that takes its input in
/// pieces.
///
/// ```
/// assert_eq!(request_state_core::wire::length_prefix(b"abc"), [0, 0, 0, 0, 0, 0, 0, 3]);
/// ```
#[must_use]
pub fn length_prefix(part: &[u8]) -> [u8; 8] {
    // Lossless: no platform of Rust's has addresses of more than 64 bits.
    (part.len() as u64).to_be_bytes()
}

/// Returns `N` bytes from the operating system's random source, in one call.
///
/// Nothing is buffered in user space: after a fork, a buffer would hand the same nonce to both
/// processes.
///
/// # Errors
///
/// [`EncodeError::Unavailable`] when the source fails.
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
        // Cutting at a byte that is no character boundary would panic.
        assert!(split_kid(&"é".repeat(40)).is_err());
    }

    /// Every pair of characters at the end of a quantum of two: 64 of 4096 are canonical for one
    /// byte each, 256 in all.
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
        /// The vectorized engine and the scalar one are the same function, both ways.
        #[test]
        fn simd_agrees_with_scalar(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let text = token("k", &[&bytes]).unwrap();
            prop_assert_eq!(&text, &format!("k.{}", URL_SAFE_NO_PAD.encode(&bytes)));
            prop_assert_eq!(text.len(), text.capacity());
            prop_assert_eq!(decode_base64url(split_kid(&text).unwrap().1).unwrap(), bytes);
        }

        #[test]
        fn simd_refuses_what_scalar_refuses(text in "[A-Za-z0-9_=+/ .é-]{0,200}") {
            prop_assert_eq!(decode_base64url(&text).ok(), URL_SAFE_NO_PAD.decode(&text).ok());
        }
    }
}
