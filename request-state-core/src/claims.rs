//! What a payload says: how long it holds, whom and what it is for, and the state.
//!
//! `version[1] ‖ expires_at_ms[8] ‖ principal[16] ‖ request[32] ‖ state JSON`, where the two digests
//! stand only in a payload that the codec encrypts. In a readable one they would let whoever holds
//! the token test a guess at the principal or at an amount, so there they are part of the context.

use subtle::ConstantTimeEq;

use crate::binding::{Binding, PRINCIPAL_LEN, REQUEST_LEN};
use crate::wire::push_prefixed;

/// The version of the layout. A change of layout, or of the meaning of a part, changes it.
const VERSION: u8 = 1;

/// The most bytes that stand before the state.
pub(crate) const MAX_HEADER_LEN: usize = 1 + 8 + PRINCIPAL_LEN + REQUEST_LEN;

/// Writes everything that stands before the state.
pub(crate) fn write_header(
    payload: &mut Vec<u8>,
    expires_at_ms: u64,
    binding: &Binding,
    encrypted: bool,
) {
    payload.push(VERSION);
    payload.extend_from_slice(&expires_at_ms.to_be_bytes());
    if encrypted {
        payload.extend_from_slice(binding.principal());
        payload.extend_from_slice(binding.request());
    }
}

/// The context of a token: `lp(version) ‖ lp(method) ‖ lp(server)`, and the two digests when the
/// payload can be read.
pub(crate) fn context(binding: &Binding, server: &str, encrypted: bool) -> Vec<u8> {
    let parts = [binding.version(), binding.method(), server];
    let length = parts.iter().fold(PRINCIPAL_LEN + REQUEST_LEN, |sum, part| {
        sum.saturating_add(part.len()).saturating_add(8)
    });
    let mut context = Vec::with_capacity(length);
    for part in parts {
        push_prefixed(&mut context, part.as_bytes());
    }
    if !encrypted {
        context.extend_from_slice(binding.principal());
        context.extend_from_slice(binding.request());
    }
    context
}

/// The parts of an authentic payload.
pub(crate) struct Claims<'a> {
    pub(crate) expires_at_ms: u64,
    digests: Option<(&'a [u8; PRINCIPAL_LEN], &'a [u8; REQUEST_LEN])>,
    /// The state as JSON, not looked into yet.
    pub(crate) state: &'a [u8],
}

impl<'a> Claims<'a> {
    /// Splits a payload; `None` when it is too short or of another version.
    pub(crate) fn read(payload: &'a [u8], encrypted: bool) -> Option<Self> {
        let (&[version], rest) = payload.split_first_chunk()?;
        let (expires_at_ms, rest) = rest.split_first_chunk()?;
        if version != VERSION {
            return None;
        }
        let (digests, state) = if encrypted {
            let (principal, rest) = rest.split_first_chunk()?;
            let (request, rest) = rest.split_first_chunk()?;
            (Some((principal, request)), rest)
        } else {
            (None, rest)
        };
        Some(Self {
            expires_at_ms: u64::from_be_bytes(*expires_at_ms),
            digests,
            state,
        })
    }

    /// Whether it is for the principal of `binding`. True where the context has ensured it.
    pub(crate) fn is_for_principal(&self, binding: &Binding) -> bool {
        self.digests
            .is_none_or(|(principal, _)| principal.ct_eq(binding.principal()).into())
    }

    /// Whether it is for the request of `binding`. True where the context has ensured it.
    pub(crate) fn is_for_request(&self, binding: &Binding) -> bool {
        self.digests
            .is_none_or(|(_, request)| request.ct_eq(binding.request()).into())
    }
}
