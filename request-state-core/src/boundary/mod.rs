//! The boundary: opens incoming requests and seals outgoing responses. Handlers see plain strings, and answers
//! only to the questions that they asked.
//!
//! | file | subject |
//! |---|---|
//! | `settings.rs` | the boundary, and its settings |
//! | `message.rs` | the API for JSON-RPC messages |
//! | `typed.rs` | the API for frameworks that have requests as types |
//! | `json_rpc.rs` | the parts of a message |
//! | `sender.rs` | the sender of a request, its protocol version and its token |
//! | `answers.rs` | the filter of the client's answers |
//! | `question.rs` | names and kinds of questions |
//! | `flow.rs` | the flow, and the layout of a token's body |
//! | `round.rs` | the record of a request until its response is sealed |
//! | `held.rs` | the claim of a round, while its request is served |
//! | `refusal.rs` | the response to a rejected request |
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
