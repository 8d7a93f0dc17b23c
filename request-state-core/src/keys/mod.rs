//! The keys of a server.
//!
//! | file | subject |
//! |---|---|
//! | `key.rs` | one key, as bytes and as text |
//! | `keyring.rs` | the keys of a server, the sealing key, and the counts of seals |
//! | `text.rs` | a keyring as text, and from the environment |
//! | `prepared.rs` | a value for every key, for codecs |
//! | `error.rs` | the errors of keys and keyrings |

mod error;
mod key;
mod keyring;
mod prepared;
mod text;

pub use self::error::{KeyError, KeyringError};
pub use self::key::{Key, KeyText};
pub use self::keyring::Keyring;
pub use self::prepared::Prepared;
