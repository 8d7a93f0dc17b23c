//! The keys of a server.
//!
//! | file | subject |
//! |---|---|
//! | `key.rs` | one key, as bytes and as text |
//! | `keyring.rs` | the keys of a server: which seals, and how often it has |
//! | `text.rs` | a keyring as text, and from the environment |
//! | `prepared.rs` | what a codec computes for every key |
//! | `error.rs` | why something is not a key or a keyring |

mod error;
mod key;
mod keyring;
mod prepared;
mod text;

pub use self::error::{KeyError, KeyringError};
pub use self::key::{Key, KeyText};
pub use self::keyring::Keyring;
pub use self::prepared::Prepared;
