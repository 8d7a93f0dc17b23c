//! The boundary: opens what comes in and seals what goes out, so that handlers see plain strings
//! and only answers to what they asked.
//!
//! | file | subject |
//! |---|---|
//! | `settings.rs` | the boundary, and its settings |
//! | `message.rs` | the API for JSON-RPC messages |
//! | `typed.rs` | the API for frameworks that have requests as types |
//! | `json_rpc.rs` | the parts of a message |
//! | `sender.rs` | what the transport knows of a request |
//! | `answers.rs` | which answers reach the handler |
//! | `question.rs` | names and kinds of questions |
//! | `flow.rs` | the flow, and the layout of a token's body |
//! | `round.rs` | what is kept between a request and its response |
//! | `held.rs` | the claim of a round, while its request is served |
//! | `refusal.rs` | the answer to a request that is rejected |
//! | `once/` | single use |

mod answers;
mod flow;
mod held;
mod json_rpc;
mod message;
mod once;
mod question;
mod refusal;
mod round;
mod sender;
mod settings;
mod typed;

pub use self::answers::AnswerFilter;
pub use self::flow::FlowId;
pub use self::once::{AnswerAgain, Kept, OnceBoundary, Reply};
pub use self::question::{Question, QuestionKind};
pub use self::refusal::Refusal;
pub use self::round::{Opened, Round};
pub use self::sender::{Incoming, Sender, Token};
pub use self::settings::{AnswersWithoutState, Boundary};
