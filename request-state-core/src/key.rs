//! One secret key.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT};
use hkdf::Hkdf;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A secret of exactly 32 random bytes, from which every backend derives its own key.
///
/// It is wiped when dropped, compares in constant time, prints no byte, and cannot be serialized.
///
/// # Example
///
/// ```
/// use request_state_core::Key;
///
/// let fresh = Key::generate()?;
/// let parsed: Key = "6b3a5c1d9e8f70214365870918273645544f5e6d7c8b9aa0b1c2d3e4f5061728".parse()?;
/// assert_ne!(fresh, parsed);
/// assert_eq!(format!("{fresh:?}"), "Key(..)");
/// # Ok::<(), request_state_core::KeyError>(())
/// ```
// Boxed, so that moving a key leaves no copy of it behind on the stack.
#[derive(Clone)]
pub struct Key(Box<[u8; Key::LEN]>);

impl Key {
    /// The length of a key, in bytes.
    pub const LEN: usize = 32;

    /// Creates a fresh key from the operating system's random source.
    ///
    /// # Errors
    ///
    /// [`KeyError::Random`] when the source fails.
    ///
    /// ```
    /// let key = request_state_core::Key::generate()?;
    /// # Ok::<(), request_state_core::KeyError>(())
    /// ```
    pub fn generate() -> Result<Self, KeyError> {
        Self::fill_random().map_err(KeyError::Random)
    }

    pub(crate) fn fill_random() -> Result<Self, getrandom::Error> {
        let mut key = Self(Box::new([0; Self::LEN]));
        getrandom::fill(key.0.as_mut_slice())?;
        Ok(key)
    }

    /// Derives the key of one algorithm: HKDF-SHA256 (RFC 5869) with this key as input keying material,
    /// no salt, and `label` as info.
    ///
    /// Two labels give unrelated keys, so one keyring is safe under every backend at once. A codec
    /// of your own picks a label that names it and its version.
    ///
    /// ```
    /// use request_state_core::Key;
    ///
    /// let key = Key::from([7; 32]);
    /// assert_ne!(*key.derive("example v1 cipher"), *key.derive("example v1 mac"));
    /// ```
    #[must_use]
    #[allow(clippy::expect_used, reason = "a constant length, within the limit")]
    pub fn derive(&self, label: &str) -> Zeroizing<[u8; Self::LEN]> {
        let mut derived = Zeroizing::new([0; Self::LEN]);
        Hkdf::<Sha256>::new(None, self.0.as_slice())
            .expand(label.as_bytes(), &mut *derived)
            .expect("32 bytes are within HKDF's limit of 255 * 32 (RFC 5869, section 2.3)");
        derived
    }
}

impl From<[u8; Key::LEN]> for Key {
    /// Takes the bytes as they are. They must be random: a password is not a key.
    fn from(mut bytes: [u8; Key::LEN]) -> Self {
        let key = Self(Box::new(bytes));
        bytes.zeroize();
        key
    }
}

impl TryFrom<&[u8]> for Key {
    type Error = KeyError;

    /// Takes exactly 32 bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError::Length`] for any other length.
    fn try_from(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes: &[u8; Self::LEN] = bytes
            .try_into()
            .map_err(|_| KeyError::Length { bytes: bytes.len() })?;
        Ok(Self(Box::new(*bytes)))
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads 32 bytes in base64 or base64url (RFC 4648, 43 characters, and one `=` if you like) or
    /// in hexadecimal (64 characters, either case).
    ///
    /// # Errors
    ///
    /// [`KeyError::Encoding`] when the text has none of these forms, and [`KeyError::Length`] when it
    /// encodes another number of bytes. Neither shows any of the text.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut key = Self(Box::new([0; Self::LEN]));
        if text.len() == 2 * Self::LEN {
            base16ct::mixed::decode(text, key.0.as_mut_slice()).map_err(|_| KeyError::Encoding)?;
            return Ok(key);
        }
        // A buffer of ours, so that it is wiped also when the text turns out to be bad half way.
        let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(text.len())]);
        let length = STANDARD_PAD_INDIFFERENT
            .decode_slice(text, &mut bytes)
            .or_else(|_| URL_SAFE_PAD_INDIFFERENT.decode_slice(text, &mut bytes))
            .map_err(|_| KeyError::Encoding)?;
        bytes.get(..length).unwrap_or_default().try_into()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

impl PartialEq for Key {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        self.0.as_slice().ct_eq(other.0.as_slice()).into()
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why something is not a [`Key`]. It never shows any of the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not 32 bytes long.
    #[error("a key is exactly 32 bytes, and this is {bytes}")]
    Length {
        /// How many bytes there were.
        bytes: usize,
    },
    /// Neither base64, nor base64url, nor 64 hexadecimal digits.
    #[error("a key is 32 bytes in base64, base64url or hexadecimal, and this is none of them")]
    Encoding,
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 32] = [0xfb; 32];

    #[test]
    fn reads_every_spelling_of_the_same_bytes() {
        let key = Key::from(BYTES);
        for text in [
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=",
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s",
            "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s=",
            "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s",
            &"fb".repeat(32),
            &"fB".repeat(32),
        ] {
            assert_eq!(text.parse::<Key>().unwrap(), key, "{text}");
        }
    }

    #[test]
    fn refuses_every_other_text() {
        for (text, why) in [
            ("", KeyError::Length { bytes: 0 }),
            ("c2hvcnQ", KeyError::Length { bytes: 5 }),
            (&"fb".repeat(16), KeyError::Length { bytes: 24 }), // hex of 16 bytes, read as base64
            (&"A".repeat(42), KeyError::Length { bytes: 31 }),
            (&"zz".repeat(32), KeyError::Encoding),
            (&"+b".repeat(32), KeyError::Encoding),
            (
                "+_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s",
                KeyError::Encoding,
            ),
            (
                "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_t",
                KeyError::Encoding,
            ),
            ("correct horse battery staple", KeyError::Encoding),
            (&"é".repeat(32), KeyError::Encoding), // 64 bytes, none of them a digit
        ] {
            assert_eq!(text.parse::<Key>().unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn takes_exactly_32_bytes() {
        assert_eq!(Key::try_from(&BYTES[..]).unwrap(), Key::from(BYTES));
        for length in [0, 16, 31, 33, 64] {
            assert_eq!(
                Key::try_from(&vec![1; length][..]).unwrap_err(),
                KeyError::Length { bytes: length }
            );
        }
    }

    /// RFC 5869 has no vector of 32 bytes of output without salt, so this one was computed apart,
    /// with Python's `hmac` module as section 2 says.
    #[test]
    fn derives_as_rfc_5869_says() {
        let key = Key::from(std::array::from_fn(|at| at as u8));
        assert_eq!(
            *key.derive("request-state v1 aes-256-gcm"),
            [
                0x9c, 0xcc, 0x7b, 0x5b, 0xc9, 0x3b, 0x1f, 0x62, 0xa5, 0x5c, 0x00, 0x09, 0x61, 0xc1,
                0xec, 0xdc, 0xd8, 0xd5, 0xe2, 0x0f, 0x43, 0xd2, 0xa1, 0xa1, 0xac, 0x73, 0x3a, 0x5d,
                0x8e, 0xb1, 0x0f, 0xcb,
            ]
        );
    }

    #[test]
    fn generated_keys_differ() {
        assert_ne!(Key::generate().unwrap(), Key::generate().unwrap());
    }
}
