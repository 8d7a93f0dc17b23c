//! The tools of the cases.
//!
//! | file | subject |
//! |---|---|
//! | `codec.rs` | the codec under test, and its constructor |
//! | `watched.rs` | a codec with a time limit on each call |
//! | `case.rs` | the tools of a case: codecs on keyrings of its choice, and a time limit |
//! | `promises.rs` | the requirements on a codec for a single token |
//! | `keyed.rs` | the same for one payload and context, in cases about keys |
//! | `genuine.rs` | tokens that the codec made, and the checks on them |
//! | `telling.rs` | positions in tokens that reveal a difference and are not random |
//! | `show.rs` | texts and bytes in messages |

mod case;
mod codec;
mod genuine;
pub(crate) mod keyed;
mod promises;
mod show;
mod telling;
mod watched;

pub(crate) use case::Kit;
pub(crate) use codec::{Codec, Make, make_with};
pub(crate) use genuine::Genuine;
pub(crate) use promises::{encode, must_open, must_refuse, must_refuse_context};
pub(crate) use show::{show, show_bytes};
pub(crate) use telling::{telling_bit, telling_place};
