//! The questions of a handler: the name and the kind of each question.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::sealer::SealError;

/// A question of a round: its name in `inputRequests`, and its kind.
///
/// The token contains both. It does not contain the wording and the schema of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    name: Cow<'a, str>,
    kind: QuestionKind,
}

impl<'a> Question<'a> {
    /// Creates a question. `name` is any string, including the empty string.
    ///
    /// A round has at most 256 questions, and their names together are at most 16 KiB long.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, kind: QuestionKind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }

    /// Returns the name: the key of the question in `inputRequests`, and of its answer in `inputResponses`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of the question.
    #[must_use]
    pub fn kind(&self) -> QuestionKind {
        self.kind
    }

    /// Returns `true` if one of `questions` has this name. They must be sorted by name.
    pub(super) fn is_among(questions: &[Question<'_>], name: &str) -> bool {
        questions
            .binary_search_by(|question| question.name().cmp(name))
            .is_ok()
    }

    pub(super) fn into_owned(self) -> Question<'static> {
        Question {
            name: Cow::Owned(self.name.into_owned()),
            kind: self.kind,
        }
    }
}

/// The kind of a question: the request that the client is asked to fulfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuestionKind {
    /// An `elicitation/create` request in form mode, or without a mode: the user fills in a form.
    ElicitationForm = 1,
    /// An `elicitation/create` request in URL mode: the user consents to visit a URL. The action `accept` does
    /// not mean that the user did anything there.
    ElicitationUrl = 2,
    /// A `sampling/createMessage` request: the client's model writes a message.
    Sampling = 3,
    /// A `roots/list` request: the client lists its roots.
    Roots = 4,
}

impl QuestionKind {
    /// Returns the kind of an entry of `inputRequests`, or `None` if MCP does not allow the entry there.
    ///
    /// ```
    /// use request_state_core::QuestionKind;
    /// use serde_json::json;
    ///
    /// let url = json!({"method": "elicitation/create", "params": {"mode": "url"}});
    /// assert_eq!(QuestionKind::of(&url), Some(QuestionKind::ElicitationUrl));
    /// assert_eq!(QuestionKind::of(&json!({"method": "ping"})), None);
    /// ```
    #[must_use]
    pub fn of(request: &Value) -> Option<Self> {
        match request.get("method")?.as_str()? {
            "elicitation/create" => {
                match request.get("params").and_then(|params| params.get("mode")) {
                    None | Some(Value::Null) => Some(Self::ElicitationForm),
                    Some(mode) => match mode.as_str()? {
                        "form" => Some(Self::ElicitationForm),
                        "url" => Some(Self::ElicitationUrl),
                        _ => None,
                    },
                }
            }
            "sampling/createMessage" => Some(Self::Sampling),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [
            Self::ElicitationForm,
            Self::ElicitationUrl,
            Self::Sampling,
            Self::Roots,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
    }
}

/// Returns the questions of a result's `inputRequests`.
pub(super) fn questions(requests: &Map<String, Value>) -> Result<Vec<Question<'_>>, SealError> {
    let numbered = requests.iter().zip(1usize..);
    numbered
        .map(|((name, request), entry)| {
            let kind = QuestionKind::of(request).ok_or(SealError::UnknownQuestion { entry })?;
            Ok(Question::new(name.as_str(), kind))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_mcp_allows_has_a_kind() {
        let elicitation = |params: Value| json!({"method": "elicitation/create", "params": params});
        for (request, kind) in [
            (elicitation(json!({})), Some(QuestionKind::ElicitationForm)),
            (
                elicitation(json!(null)),
                Some(QuestionKind::ElicitationForm),
            ),
            (
                elicitation(json!({"mode": null})),
                Some(QuestionKind::ElicitationForm),
            ),
            (
                elicitation(json!({"mode": "form"})),
                Some(QuestionKind::ElicitationForm),
            ),
            (
                elicitation(json!({"mode": "url"})),
                Some(QuestionKind::ElicitationUrl),
            ),
            (elicitation(json!({"mode": "voice"})), None),
            (elicitation(json!({"mode": 5})), None),
            (
                json!({"method": "elicitation/create"}),
                Some(QuestionKind::ElicitationForm),
            ),
            (
                json!({"method": "sampling/createMessage"}),
                Some(QuestionKind::Sampling),
            ),
            (json!({"method": "roots/list"}), Some(QuestionKind::Roots)),
            (json!({"method": "ping"}), None),
            (json!({"method": 5}), None),
            (json!({}), None),
            (json!(null), None),
            (json!("roots/list"), None),
        ] {
            assert_eq!(QuestionKind::of(&request), kind, "{request}");
        }
    }

    #[test]
    fn a_kind_is_one_byte() {
        for byte in 0..=u8::MAX {
            let kind = QuestionKind::from_byte(byte);
            assert_eq!(
                kind.map(|kind| kind as u8),
                (1..=4).contains(&byte).then_some(byte)
            );
        }
    }
}
