//! The boundary with single use.
//!
//! | file | subject |
//! |---|---|
//! | `settings.rs` | the boundary with a store, and its settings |
//! | `message.rs` | the API for JSON-RPC messages |
//! | `redeem.rs` | the redemption of a round, and the typed API |
//! | `again.rs` | repeated answers: the policy, and the reply |
//! | `keep.rs` | how an answer is kept and found |

mod again;
mod keep;
mod message;
mod redeem;
mod settings;

pub use self::again::{AnswerAgain, Kept, Reply};
pub use self::settings::OnceBoundary;
