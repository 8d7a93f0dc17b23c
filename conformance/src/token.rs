//! A parsed token, for changing its bytes and not only its characters.
//!
//! The suite does not know the format of any codec. It knows that a token is URL-safe text, and
//! that such text usually consists of parts between dots, each in base64url or in hexadecimal. If a
//! part decodes as one of these, the suite edits its bytes and writes them back in the same
//! encoding. The edit then reaches the code behind the decoding of the text.

use crate::rings::KIDS;

/// The characters that a token may consist of.
pub(crate) const URL_SAFE: &str =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

/// Characters that do not occur in any token, of one to four bytes.
pub(crate) const FOREIGN: &str = "=+/ \n\0~%,:\u{7f}éₐ😀";

const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The encoding of the bytes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Base64url,
    Hex,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    form: Form,
    pub(crate) bytes: Vec<u8>,
}

impl Part {
    fn parse(text: &str) -> Self {
        if let Some(bytes) = from_hex(text).filter(|bytes| bytes.len() >= 8) {
            let form = Form::Hex;
            return Self { form, bytes };
        }
        let bytes = from_base64url(text).filter(|bytes| to_base64url(bytes) == text);
        match bytes {
            Some(bytes) => Self {
                form: Form::Base64url,
                bytes,
            },
            None => Self::text(text),
        }
    }

    fn text(text: &str) -> Self {
        Self {
            form: Form::Text,
            bytes: text.as_bytes().to_vec(),
        }
    }

    /// Returns `true` if the part is encoded, so that it can hold any bytes.
    pub(crate) fn is_encoded(&self) -> bool {
        self.form != Form::Text
    }

    /// Returns the maximum number of bytes that the part holds.
    pub(crate) fn capacity(&self) -> usize {
        match self.form {
            // Six bits per character, because the text is URL-safe.
            Form::Text => self.bytes.len() / 4 * 3,
            Form::Base64url | Form::Hex => self.bytes.len(),
        }
    }

    fn spell(&self) -> String {
        match self.form {
            Form::Text => String::from_utf8_lossy(&self.bytes).into_owned(),
            Form::Base64url => to_base64url(&self.bytes),
            Form::Hex => to_hex(&self.bytes),
        }
    }
}

/// The parts of a token, separated by dots.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) parts: Vec<Part>,
}

impl Token {
    pub(crate) fn parse(text: &str) -> Self {
        let parts = text.split('.').enumerate().map(|(at, part)| {
            if at == 0 && KIDS.contains(&part) {
                Part::text(part)
            } else {
                Part::parse(part)
            }
        });
        Self {
            parts: parts.collect(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let parts: Vec<_> = self.parts.iter().map(Part::spell).collect();
        parts.join(".")
    }

    /// Returns the bytes of all encoded parts, concatenated.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.encoded().flat_map(|part| part.bytes.clone()).collect()
    }

    pub(crate) fn encoded(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.is_encoded())
    }

    /// Returns the token with its body changed by `edit`, which must keep the body's length.
    pub(crate) fn with_body(&self, edit: impl FnOnce(&mut [u8])) -> String {
        let mut body = self.body();
        edit(&mut body);
        let mut changed = self.clone();
        let parts = changed.parts.iter_mut().filter(|part| part.is_encoded());
        let bytes = parts.flat_map(|part| part.bytes.iter_mut());
        for (to, from) in bytes.zip(body) {
            *to = from;
        }
        changed.text()
    }

    /// Returns the token with the part at `index` changed by `edit`.
    pub(crate) fn with_part(&self, index: usize, edit: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut changed = self.clone();
        if let Some(part) = changed.parts.get_mut(index) {
            edit(&mut part.bytes);
        }
        changed.text()
    }

    /// Returns the indices of the encoded parts.
    pub(crate) fn encoded_indices(&self) -> Vec<usize> {
        let parts = self.parts.iter().enumerate();
        parts
            .filter(|(_, part)| part.is_encoded())
            .map(|(index, _)| index)
            .collect()
    }

    /// Finds unmodified `bytes` in a part. Returns the index of the part and the offset in it.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let parts = self.parts.iter().enumerate();
        parts
            .filter(|(_, part)| part.is_encoded())
            .find_map(|(index, part)| Some((index, find(&part.bytes, bytes)?)))
    }
}

/// Returns the first position of `needle`, which must not be empty, in `bytes`.
pub(crate) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Encodes as base64url without padding (RFC 4648, section 5). The suite has its own
/// implementation, so that it can test the one in core.
pub(crate) fn to_base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, at| {
            (word << 8) | u32::from(chunk.get(at).copied().unwrap_or(0))
        });
        for at in 0..=chunk.len() {
            let digit = (word >> (18 - 6 * at)) & 63;
            text.extend(BASE64URL.get(digit as usize).map(|byte| char::from(*byte)));
        }
    }
    text
}

/// Decodes base64url, and ignores leftover bits.
fn from_base64url(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut word, mut bits) = (0u32, 0);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        word = (word << 6) | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits).to_le_bytes()[0]);
        }
    }
    Some(bytes)
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().map(|byte| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    });
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| (high << 4) | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the test vectors of RFC 4648, section 10, and bytes that distinguish the two
    /// alphabets.
    #[test]
    fn base64url_is_the_standard_one() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (b"fooba", "Zm9vYmE"),
            (b"foobar", "Zm9vYmFy"),
            (b"\xfb\xff\xbf", "-_-_"),
        ] {
            assert_eq!(to_base64url(bytes), text);
            assert_eq!(from_base64url(text).unwrap(), bytes);
        }
    }

    #[test]
    fn a_token_is_put_together_as_it_was() {
        for text in [
            "2026-10.Zm9v.Zh",
            "a",
            "",
            "..",
            "00ff00ff00ff00ff.Zg",
            "é.x",
        ] {
            assert_eq!(Token::parse(text).text(), text);
        }
        let token = Token::parse("2026-10.Zm9v.00ff00ff00ff00ff");
        assert_eq!(token.encoded_indices(), [1, 2]);
        assert_eq!(token.body(), b"foo\0\xff\0\xff\0\xff\0\xff");
        assert_eq!(
            token.with_body(|body| body[10] = 1),
            "2026-10.Zm9v.00ff00ff00ff0001"
        );
    }
}
