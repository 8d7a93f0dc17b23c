//! The sender of a request.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use http::request::Parts;
use request_state_core::{Principal, Unidentified};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// A function that returns the sender of a request.
type Who = dyn Fn(&RequestContext<RoleServer>) -> Result<Principal, Unidentified> + Send + Sync;

/// The source of a request's principal.
#[derive(Clone)]
pub(crate) enum Asks {
    /// No source was set.
    Nobody,
    Known(Arc<Who>),
}

impl Asks {
    pub(crate) fn principal(
        &self,
        server: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Principal, Unidentified> {
        match self {
            Self::Known(who) => who(context),
            Self::Nobody => {
                if context.extensions.get::<Parts>().is_some() {
                    warn_once(server);
                }
                Ok(Principal::Anonymous)
            }
        }
    }
}

/// Warns that a server over HTTP does not distinguish its users. The warning is logged once per
/// process for each server name, because rmcp creates a service for each session.
fn warn_once(server: &str) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if !warned.contains(server) {
        warned.insert(server.to_owned());
        tracing::warn!(
            target: "request_state",
            reason = "anonymous_by_default",
            server,
            "every request is anonymous: call http_identity, or anonymous if it is meant"
        );
    }
}
