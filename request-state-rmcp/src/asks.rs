//! Who makes a request.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use http::request::Parts;
use request_state_core::{Principal, Unidentified};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// Says who makes a request.
type Who = dyn Fn(&RequestContext<RoleServer>) -> Result<Principal, Unidentified> + Send + Sync;

/// Where the principal of a request comes from.
#[derive(Clone)]
pub(crate) enum Asks {
    /// The server was never told.
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

/// Warns that a server over HTTP does not tell its users apart: once in a process for each server's
/// name, since rmcp makes a service for each session.
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
