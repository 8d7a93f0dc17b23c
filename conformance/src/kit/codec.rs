//! The codec under test, and its constructor.

use std::any::type_name;
use std::rc::Rc;

use request_state_core::{Keyring, RequestStateCodec};

/// The codec under test, of any type.
pub(crate) type Codec<'a> = Box<dyn RequestStateCodec + 'a>;

/// A constructor of codecs. Both a codec and its constructor may borrow.
#[derive(Clone)]
pub(crate) struct Make<'a> {
    make: Rc<dyn Fn(&Keyring) -> Codec<'a> + 'a>,
    type_name: &'static str,
}

impl<'a> Make<'a> {
    pub(crate) fn codec(&self, keys: &Keyring) -> Codec<'a> {
        (self.make)(keys)
    }

    /// Returns the name of the codec's type, including its modules.
    pub(crate) fn type_name(&self) -> &'static str {
        self.type_name
    }
}

/// Creates a [`Make`] from a constructor.
pub(crate) fn make_with<'a, C: RequestStateCodec + 'a>(
    make: impl Fn(&Keyring) -> C + 'a,
) -> Make<'a> {
    Make {
        make: Rc::new(move |keys: &Keyring| -> Codec<'a> { Box::new(make(keys)) }),
        type_name: type_name::<C>(),
    }
}
