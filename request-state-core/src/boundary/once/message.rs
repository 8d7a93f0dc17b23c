//! The API for JSON-RPC messages, with single use.

use serde_json::Value;

use super::again::{Outcome, Reply};
use super::redeem::Arrived;
use super::settings::OnceBoundary;
use crate::boundary::json_rpc;
use crate::boundary::message::{Examined, forget_all};
use crate::boundary::round::Round;
use crate::boundary::sender::Sender;
use crate::codec::RequestStateCodec;

impl<C: RequestStateCodec> OnceBoundary<C> {
    /// Opens the state of an incoming message, as [`Boundary::open_request`](crate::Boundary::open_request)
    /// does, and redeems its round.
    ///
    /// If the future is dropped before it completes, the round may have been redeemed.
    ///
    /// # Errors
    ///
    /// Returns a [`Reply`] if the handler must not see the request. It contains the response for the client: a
    /// rejection, an outage, or the kept answer. `requestState` and `inputResponses` have been removed from the
    /// request.
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

    /// Seals the questions and the state in the handler's response to the request of `round`, as
    /// [`Boundary::seal_response`](crate::Boundary::seal_response) does. If [answers are
    /// repeated](Self::answer_again), also keeps the response.
    ///
    /// This never fails. If the response cannot be kept, that is logged, and the response can be sent
    /// nevertheless.
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
