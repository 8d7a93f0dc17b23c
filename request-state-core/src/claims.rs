//! The claims of a payload: when it expires, and for which principal and request it was sealed.
//!
//! `layout[1] ‖ expires_at_ms[8] ‖ principal[16] ‖ request[32] ‖ body`. The two digests are in the payload only
//! if the codec encrypts it. In a readable payload, whoever holds the token could use them to confirm a guess at
//! the principal or at an amount, so there they are part of the context.

use subtle::ConstantTimeEq;

use crate::binding::{Binding, PRINCIPAL_LEN, REQUEST_LEN};
use crate::reason::Reason;
use crate::wire;

/// The kind of the body. A change of the layout, or of the meaning of a part, needs a new number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A state as JSON: the tokens of a `Sealer`.
    State = 1,
    /// A round of a flow: the tokens of a `Boundary`.
    Round = 2,
}

/// Writes everything before the body.
pub(crate) fn write_header(
    payload: &mut Vec<u8>,
    layout: Layout,
    expires_at_ms: u64,
    binding: &Binding,
    encrypted: bool,
) {
    payload.push(layout as u8);
    payload.extend_from_slice(&expires_at_ms.to_be_bytes());
    if encrypted {
        payload.extend_from_slice(binding.principal());
        payload.extend_from_slice(binding.request());
    }
}

/// Calls `then` with the context of a token: `lp(version) ‖ lp(method) ‖ lp(server)`, and the two digests if the
/// payload is readable.
pub(crate) fn with_context<R>(
    binding: &Binding,
    server: &str,
    encrypted: bool,
    then: impl FnOnce(&[u8]) -> R,
) -> R {
    let parts = [binding.version(), binding.method(), server].map(str::as_bytes);
    let digests: &[&[u8]] = if encrypted {
        &[]
    } else {
        &[binding.principal(), binding.request()]
    };
    wire::with_joined(&parts, digests, then)
}

/// The parts of an authentic payload.
pub(crate) struct Claims<'a> {
    pub(crate) expires_at_ms: u64,
    digests: Option<(&'a [u8; PRINCIPAL_LEN], &'a [u8; REQUEST_LEN])>,
    /// The body, not parsed yet.
    pub(crate) body: &'a [u8],
}

impl<'a> Claims<'a> {
    /// Splits a payload. Returns `None` when it is too short or of another layout.
    pub(crate) fn read(payload: &'a [u8], layout: Layout, encrypted: bool) -> Option<Self> {
        let (&[number], rest) = payload.split_first_chunk()?;
        let (expires_at_ms, rest) = rest.split_first_chunk()?;
        if number != layout as u8 {
            return None;
        }
        let (digests, body) = if encrypted {
            let (principal, rest) = rest.split_first_chunk()?;
            let (request, rest) = rest.split_first_chunk()?;
            (Some((principal, request)), rest)
        } else {
            (None, rest)
        };
        Some(Self {
            expires_at_ms: u64::from_be_bytes(*expires_at_ms),
            digests,
            body,
        })
    }

    /// Checks that the claims are for the principal and the request of `binding`. For a readable
    /// payload the codec has checked it already, as part of the context.
    pub(crate) fn check(&self, binding: &Binding) -> Result<(), Reason> {
        let Some((principal, request)) = self.digests else {
            return Ok(());
        };
        if !bool::from(principal.ct_eq(binding.principal())) {
            return Err(Reason::Principal);
        }
        if !bool::from(request.ct_eq(binding.request())) {
            return Err(Reason::Request);
        }
        Ok(())
    }
}
