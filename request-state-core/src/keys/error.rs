//! Why something is not a key, or not a keyring. No error shows a key.

/// Why something is not a [`Key`](crate::Key). It never shows any of the key.
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
    /// The text starts or ends with a quote.
    #[error("there are quotes around the key: remove them")]
    Quoted,
    /// The text encodes 32 zero bytes, which nobody drew at random.
    #[error(
        "all bytes of the key are zero: it is a placeholder, to be replaced with 32 random bytes"
    )]
    Zero,
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}

/// Why something is not a [`Keyring`](crate::Keyring). It never shows a key, nor text that may be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is no entry at all.
    #[error("a keyring needs at least one key")]
    Empty,
    /// Nothing stands between two commas, or after the last.
    #[error("keyring entry {entry} is empty")]
    EmptyEntry {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The entry starts or ends with a quote, as where `docker --env-file` leaves those around a value.
    #[error("keyring entry {entry} has quotes around it: remove them, the text is kid:key,kid:key")]
    Quoted {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// Not `kid:key`.
    #[error("keyring entry {entry} has no `:` between kid and key")]
    Form {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The kid is not 1 to 64 of `A-Z a-z 0-9 _ -`.
    #[error("keyring entry {entry} has a bad kid: a kid is 1 to 64 of A-Z a-z 0-9 _ -")]
    Kid {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The kid spells the key.
    #[error("keyring entry {entry} has its key for a kid: a kid is public")]
    KidIsKey {
        /// The entry's number, from 1.
        entry: usize,
    },
    /// The key is not one.
    #[error("keyring entry {entry} has a bad key: {problem}")]
    Key {
        /// The entry's number, from 1.
        entry: usize,
        /// What is wrong with it.
        problem: KeyError,
    },
    /// An earlier entry has the same kid.
    #[error("keyring entry {entry}: the kid `{kid}` is there already")]
    DuplicateKid {
        /// The entry's number, from 1.
        entry: usize,
        /// The kid of both; `..` if it reads like a key.
        kid: String,
    },
    /// An earlier entry has the same key.
    #[error("keyring entry {entry} (`{kid}`): its key is there already under another kid")]
    DuplicateKey {
        /// The entry's number, from 1.
        entry: usize,
        /// The kid of the later one; `..` if it reads like a key.
        kid: String,
    },
    /// The kid asked for is not in the keyring.
    #[error("the keyring has no key under the kid that should seal")]
    UnknownKid,
    /// The value of the environment variable is not a valid keyring.
    #[error("environment variable {name}: {problem}")]
    Variable {
        /// The variable's name.
        name: String,
        /// What is wrong with what it holds.
        problem: Box<KeyringError>,
    },
    /// The environment variable is not set.
    #[error("environment variable {name} is not set")]
    VariableNotSet {
        /// The variable's name.
        name: String,
    },
    /// The environment variable is not Unicode.
    #[error("environment variable {name} is not Unicode")]
    VariableNotUnicode {
        /// The variable's name.
        name: String,
    },
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}
