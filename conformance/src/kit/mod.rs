//! What a case works with.
//!
//! | file | subject |
//! |---|---|
//! | `codec.rs` | the codec under test, and what makes it |
//! | `watched.rs` | a codec with a limit on the time of each call |
//! | `case.rs` | what a case is given: codecs on keyrings of its choice, and time |
//! | `promises.rs` | what a codec must do with one token |
//! | `keyed.rs` | the same for one payload and context, in cases about keys |
//! | `genuine.rs` | tokens that the codec made, and what must be true of them |
//! | `telling.rs` | places in tokens that depend on what nothing random hides |
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
