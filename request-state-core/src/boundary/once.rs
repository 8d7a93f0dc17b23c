//! The boundary with single use: its settings, and the API for JSON-RPC messages.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::again::{AnswerAgain, Outcome, Reply};
use super::message::{Examined, forget_all};
use super::redeem::Arrived;
use super::round::Round;
use super::sender::Sender;
use super::{Boundary, json_rpc};
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

    /// Returns `true` if a request of this method and name is redeemed.
    pub(super) fn redeems(&self, method: &str, name: Option<&str>) -> bool {
        match (&self.only, name) {
            (Some(filter), Some(name)) => filter(method, name),
            _ => true,
        }
    }

    /// Opens the state of a message that arrived, as [`Boundary::open_request`] does, and redeems its
    /// round.
    ///
    /// If the future is dropped before it is done, the round may have been redeemed.
    ///
    /// # Errors
    ///
    /// A [`Reply`], which has the answer for the client: a rejection, an outage, or the answer that was
    /// kept. The handler must not see the request; its `requestState` and `inputResponses` have been
    /// removed.
    pub async fn open_request<'a>(
        &self,
        request: &mut Value,
        sender: impl Into<Sender<'a>>,
    ) -> Result<Round, Reply> {
        let opened = self.open_message(request, sender.into()).await;
        opened.map_err(|reply| {
            forget_all(request);
            reply.with_id(json_rpc::id_or_null(request))
        })
    }

    async fn open_message(&self, message: &mut Value, sender: Sender<'_>) -> Result<Round, Reply> {
        let checked = match self.boundary.check_message(message, sender)? {
            Examined::Done(round) => return Ok(round),
            Examined::Request(checked) => checked,
        };
        let answers = json_rpc::answers(message).into_iter().flatten();
        let arrived = Arrived {
            checked,
            token: json_rpc::token(message),
            name: json_rpc::name(message),
        };
        let opened = self
            .redeem(
                arrived,
                answers.map(|(name, answer)| (name.as_str(), answer)),
            )
            .await?;
        Ok(self.boundary.deliver(opened, message))
    }

    /// Seals what the handler asks in its response to the request of `round`, as
    /// [`Boundary::seal_response`] does, and keeps the response where [answers are given
    /// again](Self::answer_again).
    ///
    /// It never fails. A response that cannot be kept is given all the same; that is logged.
    pub async fn seal_response(&self, round: &Round, response: &mut Value) {
        self.boundary.seal_response(round, response);
        match Outcome::of(response) {
            Some(outcome) => self.keep(round, outcome).await,
            None if self.again.is_some() && round.claim.is_some() => {
                self.not_kept(round, &"the response has neither a result nor an error");
            }
            None => {}
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
