//! A boundary with or without single use.

use std::fmt;

use request_state_core::{
    Boundary, Incoming, OnceBoundary, Opened, Reply, RequestStateCodec, Round, Sealer, Sender,
    Token,
};
use serde::Serialize;
use serde_json::Value;

/// The boundary that [`SealedService::new`](crate::SealedService::new) puts around a handler.
/// [`Sealer`], [`Boundary`] and [`OnceBoundary`] convert to it.
#[derive(Clone)]
pub enum AnyBoundary<C> {
    /// A boundary without single use: a client can answer a round repeatedly until its token
    /// expires.
    Plain(Boundary<C>),
    /// A boundary with single use: each round counts once.
    Once(OnceBoundary<C>),
}

impl<C> fmt::Debug for AnyBoundary<C> {
    /// Prints the policy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(boundary) => boundary.fmt(f),
            Self::Once(once) => once.fmt(f),
        }
    }
}

impl<C: RequestStateCodec> From<Sealer<C>> for AnyBoundary<C> {
    fn from(sealer: Sealer<C>) -> Self {
        Self::Plain(sealer.into())
    }
}

impl<C> From<Boundary<C>> for AnyBoundary<C> {
    fn from(boundary: Boundary<C>) -> Self {
        Self::Plain(boundary)
    }
}

impl<C> From<OnceBoundary<C>> for AnyBoundary<C> {
    fn from(boundary: OnceBoundary<C>) -> Self {
        Self::Once(boundary)
    }
}

impl<C: RequestStateCodec> AnyBoundary<C> {
    /// Returns the boundary without its store.
    pub(crate) fn plain(&self) -> &Boundary<C> {
        match self {
            Self::Plain(boundary) => boundary,
            Self::Once(once) => once.boundary(),
        }
    }

    pub(crate) fn into_plain(self) -> Boundary<C> {
        match self {
            Self::Plain(boundary) => boundary,
            Self::Once(once) => once.into_boundary(),
        }
    }

    pub(crate) async fn open<'v, P: Serialize>(
        &self,
        request: Incoming<'_, P>,
        token: Token<'_>,
        answers: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<Opened, Reply> {
        match self {
            Self::Plain(boundary) => Ok(boundary.open(request, token)?),
            Self::Once(once) => once.open(request, token, answers).await,
        }
    }

    pub(crate) async fn open_request(
        &self,
        message: &mut Value,
        sender: Sender<'_>,
    ) -> Result<Round, Reply> {
        match self {
            Self::Plain(boundary) => Ok(boundary.open_request(message, sender)?),
            Self::Once(once) => once.open_request(message, sender).await,
        }
    }
}
