//! A faulty codec and the case that finds it.

use std::sync::Arc;

use request_state_core::{Keyring, RequestStateCodec};

use super::base::{Base, Steps};

pub type Codec = Box<dyn RequestStateCodec>;

#[derive(Clone)]
pub struct Fault {
    /// What is wrong with it.
    pub about: &'static str,
    /// The case that was written for faults of its kind. Others may find it too.
    pub found_by: &'static str,
    pub make: Arc<dyn Fn(&Keyring) -> Codec + Send + Sync>,
}

/// The right codec with one step exchanged.
pub fn step(about: &'static str, found_by: &'static str, steps: Steps) -> Fault {
    whole(about, found_by, move |keys| base(keys, steps))
}

/// A codec of its own, most often one around the right one.
pub fn whole(
    about: &'static str,
    found_by: &'static str,
    make: impl Fn(&Keyring) -> Codec + Send + Sync + 'static,
) -> Fault {
    Fault {
        about,
        found_by,
        make: Arc::new(make),
    }
}

pub fn base(keys: &Keyring, steps: Steps) -> Codec {
    Box::new(Base {
        keys: keys.clone(),
        steps,
        nonce: None,
    })
}
