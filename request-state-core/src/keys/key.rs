//! A secret key.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::{
    STANDARD_PAD_INDIFFERENT, URL_SAFE_NO_PAD, URL_SAFE_PAD_INDIFFERENT,
};
use hkdf::Hkdf;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::error::KeyError;

/// A secret of exactly 32 random bytes, from which every backend derives its own key.
///
/// A key is zeroed when it is dropped, compares in constant time, prints none of its bytes, and cannot be
/// serialized.
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

    /// Generates a key with the operating system's random source.
    ///
    /// To store the key, write its [text](Self::to_text).
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::Random`] if the source fails.
    ///
    /// ```
    /// let key = request_state_core::Key::generate()?;
    /// # Ok::<(), request_state_core::KeyError>(())
    /// ```
    pub fn generate() -> Result<Self, KeyError> {
        Self::fill_random().map_err(KeyError::Random)
    }

    pub(super) fn fill_random() -> Result<Self, getrandom::Error> {
        let mut key = Self(Box::new([0; Self::LEN]));
        getrandom::fill(key.0.as_mut_slice())?;
        Ok(key)
    }

    /// Returns the key as text: 43 characters of base64url, which need no quotes in a shell, a URL or
    /// YAML.
    ///
    /// After a kid and a colon, it is an entry of a [`Keyring`](crate::Keyring)'s text.
    ///
    /// # Examples
    ///
    /// Generates a key, stores it, and reads it back:
    ///
    /// ```
    /// use std::io::Write;
    /// use request_state_core::{Key, Keyring};
    ///
    /// let mut secret_store = Vec::new(); // a file that others cannot read, a pipe to a vault
    /// let key = Key::generate()?;
    /// write!(secret_store, "2026-10:{}", key.to_text().as_str())?;
    ///
    /// let keys: Keyring = str::from_utf8(&secret_store)?.parse()?;
    /// assert_eq!(keys.sealing(), ("2026-10", &key));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[allow(clippy::expect_used, reason = "a constant length, within the buffer")]
    pub fn to_text(&self) -> KeyText {
        let mut characters = Zeroizing::new([0; KeyText::LEN]);
        URL_SAFE_NO_PAD
            .encode_slice(self.0.as_slice(), characters.as_mut_slice())
            .expect("32 bytes are 43 characters of base64 without padding (RFC 4648, section 5)");
        // Allocated at its full length: a string that grows leaves its first half behind in memory.
        let mut text = Zeroizing::new(String::with_capacity(KeyText::LEN));
        text.extend(characters.iter().copied().map(char::from));
        KeyText(text)
    }

    /// Derives the key of one algorithm with HKDF-SHA256 (RFC 5869). This key is the input keying material,
    /// there is no salt, and `label` is the info.
    ///
    /// Two different labels give unrelated keys, so one keyring is safe under every backend at once. In a codec
    /// of your own, choose a label that contains its name and version.
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
    /// Creates a key of these bytes. They must be random: a password is not a key.
    fn from(mut bytes: [u8; Key::LEN]) -> Self {
        let key = Self(Box::new(bytes));
        bytes.zeroize();
        key
    }
}

impl TryFrom<&[u8]> for Key {
    type Error = KeyError;

    /// Creates a key of exactly 32 bytes.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::Length`] for any other length.
    fn try_from(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes: &[u8; Self::LEN] = bytes
            .try_into()
            .map_err(|_| KeyError::Length { bytes: bytes.len() })?;
        Ok(Self(Box::new(*bytes)))
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Parses 32 bytes in base64 or base64url (RFC 4648: 43 characters and an optional `=`) or in hexadecimal
    /// (64 characters, in either case).
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::Quoted`] if there are quotes around the text, [`KeyError::Encoding`] if it has none
    /// of the three encodings, [`KeyError::Length`] if it encodes another number of bytes, and
    /// [`KeyError::Zero`] if all bytes are zero. None of these errors contains any of the text.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        if is_quoted(text) {
            return Err(KeyError::Quoted);
        }
        let key = Self::decode(text)?;
        if key == Self::from([0; Self::LEN]) {
            return Err(KeyError::Zero);
        }
        Ok(key)
    }
}

/// Returns `true` if `text` starts or ends with a quote. The quote belongs to the place from which the text was
/// copied.
pub(super) fn is_quoted(text: &str) -> bool {
    const QUOTES: [char; 2] = ['"', '\''];
    text.starts_with(QUOTES) || text.ends_with(QUOTES)
}

impl Key {
    /// Decodes any key, including 32 zero bytes.
    pub(super) fn decode(text: &str) -> Result<Self, KeyError> {
        let mut key = Self(Box::new([0; Self::LEN]));
        if text.len() == 2 * Self::LEN {
            base16ct::mixed::decode(text, key.0.as_mut_slice()).map_err(|_| KeyError::Encoding)?;
            return Ok(key);
        }
        // In a separate buffer, so that the bytes are zeroed even if the text is invalid halfway.
        let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(text.len())]);
        let length = STANDARD_PAD_INDIFFERENT
            .decode_slice(text, &mut bytes)
            .or_else(|_| URL_SAFE_PAD_INDIFFERENT.decode_slice(text, &mut bytes))
            .map_err(|_| KeyError::Encoding)?;
        let bytes = bytes.get(..length).ok_or(KeyError::Encoding)?;
        bytes.try_into()
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

/// A [`Key`] as text, which [`Key::to_text`] returns.
///
/// It is zeroed when it is dropped, and never printed. If you copy the text from [`as_str`](Self::as_str), you
/// must zero the copy yourself.
pub struct KeyText(Zeroizing<String>);

impl KeyText {
    /// The length of the text, in bytes.
    const LEN: usize = 43;

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ZeroizeOnDrop for KeyText {}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText(..)")
    }
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
    fn a_placeholder_of_zeros_is_refused_where_it_is_text() {
        for text in [
            "A".repeat(43),
            format!("{}=", "A".repeat(43)),
            "0".repeat(64),
        ] {
            assert_eq!(text.parse::<Key>().unwrap_err(), KeyError::Zero, "{text}");
        }
        let one = format!("{}1", "0".repeat(63));
        assert!(one.parse::<Key>().is_ok());
        assert_eq!(Key::try_from(&[0; 32][..]).unwrap(), Key::from([0; 32]));
    }

    #[test]
    fn quotes_around_a_key_are_named() {
        let text = "fb".repeat(32);
        for quoted in [
            format!("\"{text}\""),
            format!("'{text}'"),
            format!("\"{text}"),
            format!("{text}'"),
            "\"".into(),
        ] {
            assert_eq!(
                quoted.parse::<Key>().unwrap_err(),
                KeyError::Quoted,
                "{quoted}"
            );
        }
    }

    #[test]
    fn its_text_reads_back_and_is_not_printed() {
        for bytes in [BYTES, std::array::from_fn(|at| at as u8)] {
            let text = Key::from(bytes).to_text();
            assert_eq!(text.as_str(), URL_SAFE_NO_PAD.encode(bytes));
            assert_eq!(text.as_str().parse::<Key>().unwrap(), Key::from(bytes));
            assert_eq!(format!("{text:?}"), "KeyText(..)");
        }
        // There is no second allocation, which would not be zeroed.
        assert_eq!(Key::from(BYTES).to_text().0.capacity(), KeyText::LEN);
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

    /// RFC 5869 has no test vector with 32 bytes of output and no salt. This vector was computed separately,
    /// with Python's `hmac` module, as section 2 specifies.
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
