//! The boundary with a store, and its settings.

use std::fmt;
use std::sync::Arc;

use super::again::AnswerAgain;
use crate::boundary::settings::Boundary;
use crate::codec::RequestStateCodec;
use crate::once::RedemptionStore;
use crate::sealer::ConfigError;

/// A [`Boundary`] that accepts each round once: of any number of requests with its token, on any replica, only
/// one reaches the handler.
///
/// [`Boundary::once`] creates it. [`open_request`](Self::open_request), [`seal_response`](Self::seal_response) and
/// [`open`](Self::open) replace the methods of the boundary with the same names. They are async, since they ask
/// the store. The other methods are those of [`boundary`](Self::boundary). The page [Single
/// use](https://docs.rs/request-state/latest/request_state/manual/single_use/) explains which store is for
/// which server. It also explains what happens to a round when a response is lost or a process crashes.
///
/// # What happens to a request
///
/// The request is handled as by the boundary alone, and then:
///
/// | the round of the token | the request |
/// |---|---|
/// | was not redeemed | is the first, and reaches the handler |
/// | was redeemed | is rejected, or [answered again](Self::answer_again) |
/// | has expired, and was redeemed | is rejected or answered again, and does not start over |
/// | cannot be looked up | gets the error -32603, since the store or its history is unavailable |
///
/// A request without a token reaches the handler each time it is sent, since nobody was asked yet. So an effect
/// belongs behind an answer. A token that is rejected is not used up.
///
/// # Example
///
/// ```
/// use request_state_core::{Boundary, MemoryStore, OnceBoundary, RequestStateCodec, Sealer};
/// use serde_json::Value;
///
/// fn protect<C: RequestStateCodec>(sealer: Sealer<C>) -> OnceBoundary<C> {
///     Boundary::new(sealer).once(MemoryStore::new())
/// }
///
/// async fn serve<C: RequestStateCodec>(
///     boundary: &OnceBoundary<C>,
///     mut request: Value,
///     user: &str,
/// ) -> Value {
///     let round = match boundary.open_request(&mut request, Some(user)).await {
///         Ok(round) => round,
///         Err(reply) => return reply.response(),
///     };
///     let mut response = handle(&request);
///     boundary.seal_response(&round, &mut response).await;
///     response
/// }
/// # fn handle(request: &Value) -> Value { request.clone() }
/// ```
#[derive(Clone)]
pub struct OnceBoundary<C> {
    pub(super) boundary: Boundary<C>,
    pub(super) store: Arc<dyn RedemptionStore>,
    only: Option<Arc<Filter>>,
    pub(super) again: Option<AnswerAgain>,
}

/// A function that returns `true` if the rounds of a method and a name are redeemed.
type Filter = dyn Fn(&str, &str) -> bool + Send + Sync;

impl<C: RequestStateCodec> Boundary<C> {
    /// Adds a store, so that each round counts once. `store` keeps which rounds were redeemed.
    ///
    /// All replicas of the server must share the store and have the same [`max_flow`](Self::max_flow), which
    /// determines how long a round is kept.
    ///
    /// # Examples
    ///
    /// See [`OnceBoundary`].
    #[must_use]
    pub fn once(self, store: impl RedemptionStore + 'static) -> OnceBoundary<C> {
        OnceBoundary {
            boundary: self,
            store: Arc::new(store),
            only: None,
            again: None,
        }
    }
}

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Returns the boundary without its store. For methods that need no store, such as
    /// [`covers`](Boundary::covers), [`answers`](Boundary::answers) and [`seal`](Boundary::seal).
    #[must_use]
    pub fn boundary(&self) -> &Boundary<C> {
        &self.boundary
    }

    /// Returns the boundary without its store, so that you can add another store.
    #[must_use]
    pub fn into_boundary(self) -> Boundary<C> {
        self.boundary
    }

    /// Sets which requests are redeemed: `filter` gets the method and the name of a request, and returns `true`
    /// if it is redeemed. Default: all requests are redeemed.
    ///
    /// The name is that of the tool or prompt, or the URI of the resource. `filter` must always return the same
    /// value for one method and name: either all rounds of it are redeemed or none. Redeeming only some rounds
    /// of a flow is not safe: branches of different length reach an effect in different rounds. A request whose
    /// name is not known is always redeemed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state_core::{OnceBoundary, RequestStateCodec};
    /// # fn example<C: RequestStateCodec>(boundary: OnceBoundary<C>) {
    /// let boundary = boundary.only(|method, name| method == "tools/call" && name != "search");
    /// # }
    /// ```
    #[must_use]
    pub fn only(mut self, filter: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.only = Some(Arc::new(filter));
        self
    }

    /// Sets the policy for repetitions: a request with the same token and the same answers gets the response to
    /// the first presentation, and the handler does not run again. Default: a repetition is rejected.
    ///
    /// The store keeps the responses, sealed by the sealer's codec, for as long as the round.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::ReadableAnswers`] if the codec does not encrypt, unless
    /// [`allow_readable`](AnswerAgain::allow_readable) allows the store to read the answers.
    ///
    /// # Examples
    ///
    /// ```
    /// # use request_state_core::{ConfigError, OnceBoundary, RequestStateCodec};
    /// # fn example<C: RequestStateCodec>(boundary: OnceBoundary<C>) -> Result<(), ConfigError> {
    /// use request_state_core::AnswerAgain;
    ///
    /// let boundary = boundary.answer_again(AnswerAgain::new())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_again(mut self, policy: AnswerAgain) -> Result<Self, ConfigError> {
        if !(self.boundary.sealer.encrypts() || policy.readable) {
            return Err(ConfigError::ReadableAnswers);
        }
        self.again = Some(policy);
        Ok(self)
    }

    /// Returns `true` if requests of this method and name are redeemed, or if either is not known.
    pub(super) fn redeems(&self, method: Option<&str>, name: Option<&str>) -> bool {
        match (&self.only, method, name) {
            (Some(filter), Some(method), Some(name)) => filter(method, name),
            _ => true,
        }
    }
}

impl<C> fmt::Debug for OnceBoundary<C> {
    /// Prints the policy, and neither the codec nor the store.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceBoundary")
            .field("boundary", &self.boundary)
            .field("only", &self.only.is_some())
            .field("answer_again", &self.again)
            .finish_non_exhaustive()
    }
}
