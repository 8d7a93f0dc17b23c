//! Short texts and words around a token. Test suites, loggers, shells and proxies add them, and a
//! decoder may therefore strip them.

use super::edit::{Edit, splice};
use crate::token::URL_SAFE;

/// Adds, in front of the token or behind it, every ASCII character, alone and repeated, and every
/// pair of the characters that a token may consist of. Also adds every pair of lower-case letters
/// and digits next to a separator.
pub(crate) fn short_texts(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for byte in 0..128u8 {
        for length in 1..=4 {
            let more = char::from(byte).to_string().repeat(length);
            edits.extend(on_either_side(text, &more));
            edits.push(around(text, &more, &more));
        }
    }
    for (a, b) in pairs_of(URL_SAFE) {
        edits.extend(on_either_side(text, &format!("{a}{b}")));
    }
    for (a, b) in pairs_of("abcdefghijklmnopqrstuvwxyz0123456789") {
        for separator in ["-", "_", ".", "~", ":"] {
            edits.push(behind(text, &format!("{separator}{a}{b}")));
            edits.push(in_front(text, &format!("{a}{b}{separator}")));
        }
    }
    edits
}

/// Adds common words, and the words in `own`, in front of the token, in front of its second part,
/// behind it and behind its first part.
pub(crate) fn words(text: &str, own: &[String]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for idiom in IDIOMS {
        edits.extend(on_either_side(text, idiom));
        edits.push(behind(text, &idiom.repeat(2)));
    }
    for (open, close) in BRACKETS {
        edits.push(around(text, open, close));
    }
    let words = WORDS.iter().map(|word| (*word).to_owned());
    for word in words.chain(own.iter().cloned()) {
        let capital = splice(
            &word,
            0,
            1,
            &word.chars().take(1).collect::<String>().to_uppercase(),
        );
        let mut spellings = vec![word.to_uppercase(), capital, word];
        spellings.dedup();
        for word in spellings {
            for separator in SEPARATORS {
                let (before, after) = (format!("{word}{separator}"), format!("{separator}{word}"));
                edits.push(in_front(text, &before));
                edits.push(behind(text, &after));
                if let Some((head, tail)) = text.split_once('.') {
                    edits.push(Edit::new(
                        format!("{after:?} behind the first part"),
                        format!("{head}{after}.{tail}"),
                    ));
                    edits.push(Edit::new(
                        format!("{before:?} in front of the second part"),
                        format!("{head}.{before}{tail}"),
                    ));
                }
            }
            for (open, close) in BRACKETS {
                edits.extend(on_either_side(text, &format!("{open}{word}{close}")));
            }
        }
    }
    edits
}

fn pairs_of(characters: &str) -> impl Iterator<Item = (char, char)> {
    characters
        .chars()
        .flat_map(move |a| characters.chars().map(move |b| (a, b)))
}

fn behind(text: &str, more: &str) -> Edit {
    Edit::new(format!("{more:?} behind"), format!("{text}{more}"))
}

fn in_front(text: &str, more: &str) -> Edit {
    Edit::new(format!("{more:?} in front"), format!("{more}{text}"))
}

fn on_either_side(text: &str, more: &str) -> [Edit; 2] {
    [behind(text, more), in_front(text, more)]
}

fn around(text: &str, open: &str, close: &str) -> Edit {
    Edit::new(
        format!("{open:?} and {close:?} around"),
        format!("{open}{text}{close}"),
    )
}

/// Separators between a token and a word.
const SEPARATORS: [&str; 26] = [
    "", "-", "_", ".", "--", "__", "..", "~", ":", "::", ";", "/", "+", "@", "#", "?", "&", "=",
    "|", "!", "*", ",", " ", "\t", "\n", "\0",
];

/// Brackets and quotes around a token or a word.
const BRACKETS: [(&str, &str); 22] = [
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("<", ">"),
    ("[", "]"),
    ("(", ")"),
    ("{", "}"),
    ("{{", "}}"),
    ("${", "}"),
    ("“", "”"),
    ("«", "»"),
    ("\\\"", "\\\""),
    ("&quot;", "&quot;"),
    ("%22", "%22"),
    ("/*", "*/"),
    ("<!--", "-->"),
    ("<token>", "</token>"),
    ("{\"requestState\":\"", "\"}"),
    ("Some(\"", "\")"),
    ("ENC(", ")"),
    ("\u{1b}[31m", "\u{1b}[0m"),
    ("-----BEGIN TOKEN-----\n", "\n-----END TOKEN-----"),
];

/// Texts that shells, URLs, headers, loggers and editors add unchanged.
const IDIOMS: &[&str] = &[
    "...",
    "....",
    "…",
    "[...]",
    "[…]",
    " ...",
    "***",
    "*****",
    "--",
    "---",
    "==",
    "===",
    "%00",
    "%09",
    "%0A",
    "%0D",
    "%0D%0A",
    "%20",
    "%22",
    "%2C",
    "%2E",
    "%3B",
    "%3D",
    "%3D%3D",
    "%25",
    "+",
    "\\",
    "\\n",
    "\\r\\n",
    "\\t",
    "\\0",
    "\\x00",
    "\\u0000",
    "\\\"",
    "&#10;",
    "&#13;",
    "&amp;",
    "&nbsp;",
    "<br>",
    "^C",
    "^M",
    "^Z",
    "^@",
    "\u{3}",
    "\u{4}",
    "\u{1a}",
    "\u{1b}[0m",
    "\u{1b}[K",
    "\r\n\r\n",
    ", ",
    "; ",
    ";;",
    "; Path=/",
    "; HttpOnly",
    "; Secure",
    ";q=0.9",
    "?v=1",
    "?x=1&y=2",
    "#fragment",
    "#!",
    "//",
    "/?",
    "/index.html",
    "@example.com",
    "@latest",
    ">>",
    "<<",
    "->",
    "=>",
    "|",
    "||",
    "&&",
    " #",
    " //",
    " --",
    "$",
    "$$",
    "0x",
    "xn--",
    "W/",
    "Bearer ",
    "bearer ",
    "BEARER ",
    "Bearer: ",
    "Basic ",
    "Token ",
    "Authorization: Bearer ",
    "requestState=",
    "requestState: ",
    "request_state=",
    "token=",
    "state=",
    "kid=",
    "v=1;",
    "v1,",
    "sha256-",
    "{SHA256}",
    "$2b$",
    "base64,",
    "data:,",
    "data:;base64,",
    "data:text/plain,",
    "urn:",
    "urn:mcp:",
    "mcp://",
    "https://",
];

/// Words that a decoder may accept for a test, a migration or a client, or that a logger may write.
const WORDS: &[&str] = &[
    "0",
    "1",
    "2",
    "00",
    "01",
    "42",
    "123",
    "1234",
    "12345",
    "a",
    "b",
    "c",
    "x",
    "y",
    "z",
    "abc",
    "xyz",
    "test",
    "tests",
    "testing",
    "tested",
    "tmp",
    "temp",
    "old",
    "new",
    "dev",
    "devel",
    "debug",
    "prod",
    "production",
    "stage",
    "staging",
    "canary",
    "alpha",
    "beta",
    "rc",
    "rc1",
    "final",
    "draft",
    "demo",
    "sample",
    "example",
    "fake",
    "mock",
    "stub",
    "dummy",
    "fixture",
    "snapshot",
    "null",
    "none",
    "nil",
    "nan",
    "undefined",
    "true",
    "false",
    "void",
    "empty",
    "ok",
    "yes",
    "no",
    "on",
    "off",
    "sig",
    "sign",
    "signed",
    "signature",
    "unsigned",
    "mac",
    "hmac",
    "tag",
    "hash",
    "sum",
    "crc",
    "crc32",
    "md5",
    "sha1",
    "sha256",
    "check",
    "checked",
    "checksum",
    "digest",
    "nonce",
    "iv",
    "salt",
    "key",
    "keys",
    "kid",
    "enc",
    "encrypted",
    "aead",
    "aes",
    "gcm",
    "cbc",
    "chacha",
    "plain",
    "raw",
    "b64",
    "base64",
    "b64url",
    "base64url",
    "hex",
    "url",
    "uri",
    "jwt",
    "jws",
    "jwe",
    "paseto",
    "fernet",
    "token",
    "tok",
    "tkn",
    "state",
    "request",
    "response",
    "requeststate",
    "requestState",
    "request_state",
    "request-state",
    "rs",
    "mcp",
    "rpc",
    "jsonrpc",
    "bearer",
    "basic",
    "auth",
    "oauth",
    "session",
    "sess",
    "sid",
    "cookie",
    "csrf",
    "id",
    "uid",
    "uuid",
    "user",
    "admin",
    "root",
    "anonymous",
    "guest",
    "public",
    "private",
    "local",
    "localhost",
    "remote",
    "internal",
    "external",
    "server",
    "client",
    "proxy",
    "gateway",
    "cdn",
    "cache",
    "cached",
    "retry",
    "replay",
    "resume",
    "resumed",
    "copy",
    "bak",
    "backup",
    "orig",
    "original",
    "dup",
    "duplicate",
    "v",
    "v0",
    "v1",
    "v2",
    "v3",
    "v4",
    "ver",
    "version",
    "start",
    "begin",
    "end",
    "eof",
    "eol",
    "eot",
    "stop",
    "done",
    "more",
    "etc",
    "rest",
    "truncated",
    "trunc",
    "shortened",
    "redacted",
    "masked",
    "hidden",
    "secret",
    "removed",
    "omitted",
    "elided",
    "cut",
    "snip",
    "filtered",
    "sanitized",
    "escaped",
    "quoted",
    "expired",
    "revoked",
    "used",
    "stale",
    "legacy",
    "deprecated",
    "compat",
    "unsafe",
    "insecure",
    "safe",
    "secure",
    "skip",
    "ignore",
    "ignored",
    "allow",
    "bypass",
    "force",
    "override",
    "pad",
    "padding",
    "suffix",
    "prefix",
    "extra",
    "trailer",
    "header",
    "footer",
    "foo",
    "bar",
    "baz",
    "qux",
    "hello",
    "world",
    "todo",
    "fixme",
    "xxx",
    "json",
    "txt",
    "text",
    "bin",
    "gz",
    "zip",
    "html",
    "xml",
    "yaml",
    "lock",
    "log",
    "part",
    "partial",
    "chunk",
    "seal",
    "sealed",
    "open",
    "opened",
    "closed",
    "verified",
    "trusted",
    "valid",
    "invalid",
    "east",
    "west",
    "eu",
    "us",
    "ci",
    "e2e",
    "qa",
    "uat",
];
