//! The errors of keys and keyrings. They never contain a key.

/// An error that can be returned when creating a [`Key`](crate::Key). It never contains any part of the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key is not 32 bytes long.
    #[error("the key is {bytes} bytes; it must be exactly 32")]
    Length {
        /// The length, in bytes.
        bytes: usize,
    },
    /// The text is neither base64, nor base64url, nor 64 hexadecimal digits.
    #[error("the key is not 32 bytes in base64, base64url or hexadecimal")]
    Encoding,
    /// The text starts or ends with a quote.
    #[error("the key is in quotes: remove them")]
    Quoted,
    /// The text encodes 32 zero bytes, which are a placeholder and not a random key.
    #[error("all bytes of the key are zero: replace this placeholder with 32 random bytes")]
    Zero,
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}

/// An error that can be returned when creating a [`Keyring`](crate::Keyring). It never contains a key, nor text
/// that may be a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There are no entries.
    #[error("a keyring needs at least one key")]
    Empty,
    /// There is nothing before the first comma, between two commas, or after the last comma.
    #[error("keyring entry {entry} is empty")]
    EmptyEntry {
        /// The number of the entry, counted from 1.
        entry: usize,
    },
    /// The entry starts or ends with a quote. For example, `docker --env-file` keeps the quotes around a value.
    #[error("keyring entry {entry} has quotes around it: remove them, the text is kid:key,kid:key")]
    Quoted {
        /// The number of the entry, counted from 1.
        entry: usize,
    },
    /// The entry has no `:` between kid and key.
    #[error("keyring entry {entry} has no `:` between kid and key")]
    Form {
        /// The number of the entry, counted from 1.
        entry: usize,
    },
    /// The kid is not 1 to 64 characters of `A-Z a-z 0-9 _ -`.
    #[error(
        "keyring entry {entry} has an invalid kid: a kid is 1 to 64 characters of A-Z a-z 0-9 _ -"
    )]
    Kid {
        /// The number of the entry, counted from 1.
        entry: usize,
    },
    /// The kid is the text of the key.
    #[error("keyring entry {entry} uses the key as its kid, but kids are public")]
    KidIsKey {
        /// The number of the entry, counted from 1.
        entry: usize,
    },
    /// The key is not valid.
    #[error("keyring entry {entry} has an invalid key: {problem}")]
    Key {
        /// The number of the entry, counted from 1.
        entry: usize,
        /// The problem with the key.
        problem: KeyError,
    },
    /// An earlier entry has the same kid.
    #[error("keyring entry {entry}: duplicate kid `{kid}`")]
    DuplicateKid {
        /// The number of the entry, counted from 1.
        entry: usize,
        /// The kid of both entries; `..` if it has the form of a key.
        kid: String,
    },
    /// An earlier entry has the same key.
    #[error("keyring entry {entry} (`{kid}`): duplicate key, already present under another kid")]
    DuplicateKey {
        /// The number of the entry, counted from 1.
        entry: usize,
        /// The kid of the later entry; `..` if it has the form of a key.
        kid: String,
    },
    /// The requested kid is not in the keyring.
    #[error("the keyring has no key with the requested sealing kid")]
    UnknownKid,
    /// The value of the environment variable is not a valid keyring.
    #[error("environment variable {name}: {problem}")]
    Variable {
        /// The name of the variable.
        name: String,
        /// The problem with the value.
        problem: Box<KeyringError>,
    },
    /// The environment variable is not set.
    #[error("environment variable {name} is not set")]
    VariableNotSet {
        /// The name of the variable.
        name: String,
    },
    /// The value of the environment variable is not valid Unicode.
    #[error("environment variable {name} is not Unicode")]
    VariableNotUnicode {
        /// The name of the variable.
        name: String,
    },
    /// The operating system's random source failed.
    #[error("the operating system's random source failed")]
    Random(#[source] getrandom::Error),
}
