//! The boundary with a store, and its settings.

use std::fmt;
use std::sync::Arc;

use super::again::AnswerAgain;
use crate::boundary::settings::Boundary;
use crate::codec::RequestStateCodec;
use crate::once::RedemptionStore;
use crate::sealer::ConfigError;

/// A [`Boundary`] behind which each round counts once: of any number of requests with its token, on any
/// replica, one reaches the handler.
///
/// Made by [`Boundary::once`]. It has the methods of the boundary under the same names, and they are
/// async: they ask the store. [Single use](https://docs.rs/request-state/latest/request_state/manual/single_use/) says which store
/// is for whom, and what becomes of a round when a response is lost or a process crashes.
///
/// # What happens to a request
///
/// As with the boundary alone, and then:
///
/// | the round of the token | the request |
/// |---|---|
/// | was not redeemed | is the first, and reaches the handler |
/// | was redeemed | is rejected, or [answered again](Self::answer_again) |
/// | has expired, and was redeemed | likewise: it does not start over |
/// | cannot be looked up | is answered with -32603: the store or its history is unavailable |
///
/// A request without a token reaches the handler each time it is sent: nobody was asked yet. So an
/// effect belongs behind an answer. A token that is rejected is not used up.
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

/// Says whether the rounds of a method and a name are redeemed.
type Filter = dyn Fn(&str, &str) -> bool + Send + Sync;

impl<C: RequestStateCodec> Boundary<C> {
    /// Lets each round count once, and keeps in `store` which were redeemed.
    ///
    /// All replicas of the server must share the store, and have the same
    /// [`max_flow`](Self::max_flow): it says for how long a round is kept.
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
    /// Returns the boundary without its store: for what needs none, such as
    /// [`covers`](Boundary::covers), [`answers`](Boundary::answers) and [`seal`](Boundary::seal).
    #[must_use]
    pub fn boundary(&self) -> &Boundary<C> {
        &self.boundary
    }

    /// Returns the boundary without its store, to give it another one.
    #[must_use]
    pub fn into_boundary(self) -> Boundary<C> {
        self.boundary
    }

    /// Sets which requests are redeemed: those for whose method and name `filter` returns `true`.
    /// Default: all.
    ///
    /// The name is that of the tool or prompt, or the URI of the resource. `filter` must return the same
    /// for one method and name each time: either all rounds of it are redeemed or none. (Redeeming some
    /// rounds of a flow would be a hole: branches of different length reach an effect in different
    /// rounds.) A request whose name is not known is always redeemed.
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

    /// Gives an honest repetition the same response: the same token with the same answers gets the one that
    /// the first presentation got, and the handler does not run again. Default: it is rejected.
    ///
    /// Responses are kept in the store, sealed by the sealer's codec, for as long as the round is.
    ///
    /// # Errors
    ///
    /// [`ConfigError::ReadableAnswers`] when the codec does not encrypt, unless
    /// [`allow_readable`](AnswerAgain::allow_readable) says that the store may read them.
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

    /// Returns `true` if a request of this method and name is redeemed: always where one of them is not
    /// known.
    pub(super) fn redeems(&self, method: Option<&str>, name: Option<&str>) -> bool {
        match (&self.only, method, name) {
            (Some(filter), Some(method), Some(name)) => filter(method, name),
            _ => true,
        }
    }
}

impl<C> fmt::Debug for OnceBoundary<C> {
    /// Prints the policy, and nothing of the codec and the store.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceBoundary")
            .field("boundary", &self.boundary)
            .field("only", &self.only.is_some())
            .field("answer_again", &self.again)
            .finish_non_exhaustive()
    }
}
