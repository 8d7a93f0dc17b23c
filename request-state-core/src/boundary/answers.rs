//! The filter of the client's answers.

use serde_json::{Map, Value};

use super::json_rpc::RESPONSES;
use super::round::Round;
use super::settings::{AnswersWithoutState, Boundary};
use crate::codec::RequestStateCodec;
use crate::reason::Reason;

/// A filter that decides for each answer of a request whether the handler may see it.
///
/// [`Boundary::answers`] returns it. When it is dropped, it logs how many answers it removed.
pub struct AnswerFilter<'a, C: RequestStateCodec> {
    boundary: &'a Boundary<C>,
    round: &'a Round,
    not_asked: usize,
    not_an_object: usize,
}

impl<C: RequestStateCodec> AnswerFilter<'_, C> {
    /// Returns `true` if the handler may see `answer`, which is the value under `name` in `inputResponses`: it
    /// was asked for, and is an object.
    ///
    /// With [`AnswersWithoutState::Allow`], an answer in a request without a state need not have been asked
    /// for.
    pub fn keeps(&mut self, name: &str, answer: &Value) -> bool {
        if !(self.round.is_asked(name) || self.boundary.allows_unasked(self.round)) {
            self.not_asked = self.not_asked.saturating_add(1);
            false
        } else if !answer.is_object() {
            self.not_an_object = self.not_an_object.saturating_add(1);
            false
        } else {
            true
        }
    }
}

impl<C: RequestStateCodec> Drop for AnswerFilter<'_, C> {
    fn drop(&mut self) {
        // A request that starts over is late, and has been logged as such.
        if self.round.restarted_from().is_some() {
            return;
        }
        let event = self.boundary.event(self.round);
        match (self.not_asked, self.round.flow()) {
            (0, _) => {}
            (count, Some(_)) => event.served(Reason::AnswersNotAsked(count)),
            (count, None) => event.served(Reason::AnswersWithoutState(count)),
        }
        if self.not_an_object > 0 {
            event.served(Reason::AnswersNotAnObject(self.not_an_object));
        }
    }
}

impl<C> std::fmt::Debug for AnswerFilter<'_, C>
where
    C: RequestStateCodec,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerFilter")
            .field("not_asked", &self.not_asked)
            .field("not_an_object", &self.not_an_object)
            .finish_non_exhaustive()
    }
}

impl<C: RequestStateCodec> Boundary<C> {
    /// Returns a filter for the answers of the request of `round`.
    ///
    /// For frameworks that have a type for `inputResponses`: keep the answers that the filter keeps, and treat
    /// an empty map as absent.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use request_state_core::{Boundary, RequestStateCodec, Round};
    /// use serde_json::Value;
    ///
    /// fn filter<C: RequestStateCodec>(
    ///     boundary: &Boundary<C>,
    ///     round: &Round,
    ///     answers: &mut BTreeMap<String, Value>,
    /// ) {
    ///     let mut filter = boundary.answers(round);
    ///     answers.retain(|name, answer| filter.keeps(name, answer));
    /// }
    /// ```
    pub fn answers<'a>(&'a self, round: &'a Round) -> AnswerFilter<'a, C> {
        AnswerFilter {
            boundary: self,
            round,
            not_asked: 0,
            not_an_object: 0,
        }
    }

    /// Returns `true` if answers that were not asked for reach the handler. This is never the case with a
    /// state, even an expired state.
    fn allows_unasked(&self, round: &Round) -> bool {
        self.answers_without_state == AnswersWithoutState::Allow
            && round.flow().is_none()
            && round.restarted_from().is_none()
    }

    /// Removes the answers that the handler must not see from `params`, and also `inputResponses` itself if no
    /// answer is left.
    pub(super) fn filter_answers(&self, round: &Round, params: &mut Map<String, Value>) {
        match params.get_mut(RESPONSES) {
            None => return,
            Some(Value::Null) => {}
            Some(Value::Object(answers)) => {
                let mut filter = self.answers(round);
                answers.retain(|name, answer| filter.keeps(name, answer));
                if !answers.is_empty() {
                    return;
                }
            }
            Some(_) if round.restarted_from().is_some() => {}
            Some(_) => self.event(round).served(Reason::AnswersNotAnObject(1)),
        }
        params.remove(RESPONSES);
    }
}
