//! The canonical form of request params: equal JSON values give equal bytes, others do not.
//!
//! | value | form |
//! |---|---|
//! | null, true, false | `n`, `t`, `f` |
//! | number | `N`, its digits and exponent, `,` (see `number.rs`) |
//! | string | `S`, its length in bytes as LEB128, its UTF-8 bytes |
//! | array | `[`, the values, `]` |
//! | object | `{`, for each member the key (as a string, without the `S`) and the value, `}` |
//!
//! Members are sorted by the bytes of their keys. Every form tells where it ends, so no two values
//! share one. Lengths stand in front of strings, where JSON would have to look at every byte for
//! one to escape.
//!
//! LEB128 is seven bits a byte, the lowest first, with the high bit set in all bytes but the last.
//!
//! One pass writes into one buffer. An object whose members do not come sorted is put in order when
//! it ends.

mod compound;
mod form;
mod number;
mod writer;

use serde::Serialize;

use self::form::Form;
use self::writer::{Place, Writer};
use crate::guard::{self, Rules};
use crate::problem::Problem;

const RULES: Rules = Rules {
    root: "params",
    max_level: 128,
    is_read_back: false,
};

/// The canonical form of the salient part of `params`.
///
/// Or the path of what cannot be canonicalized, and why.
pub(crate) fn form_of<T>(params: &T) -> Result<Vec<u8>, (String, Problem)>
where
    T: Serialize + ?Sized,
{
    let mut form = Form::new();
    let writer = Writer {
        form: &mut form,
        place: Place::Root,
    };
    guard::serialize(params, writer, RULES, |problem| problem)?;
    Ok(form.out)
}
