//! Tokens that the codec made, and the checks on them.

use request_state_core::RequestStateCodec;

use super::case::Kit;
use super::promises::{encode, must_open, must_refuse, must_refuse_context};
use crate::edits::{self, Edit};
use crate::stop::{Stop, Verdict};
use crate::token::Token;

/// A token with its payload and context.
pub(crate) struct Genuine {
    pub(crate) text: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) context: Vec<u8>,
}

impl Genuine {
    /// Seals a token and opens it. A codec that remembers the tokens that it opened then has
    /// something to remember.
    pub(crate) fn new(
        codec: &dyn RequestStateCodec,
        payload: &[u8],
        context: &[u8],
    ) -> Result<Self, Stop> {
        let text = encode(codec, payload, context)?;
        must_open(codec, &text, context, payload, "untouched")?;
        Ok(Self {
            text,
            payload: payload.to_vec(),
            context: context.to_vec(),
        })
    }

    pub(crate) fn pieces(&self) -> Token {
        Token::parse(&self.text)
    }

    /// Fails if an edit of the token decodes, or if the token itself no longer decodes afterwards.
    pub(crate) fn must_be_the_only_spelling(
        &self,
        kit: &Kit<'_>,
        codec: &dyn RequestStateCodec,
        edits: Vec<Edit>,
    ) -> Verdict {
        for edit in kit.paced(edits) {
            if edit.token != self.text {
                must_refuse(codec, &edit.token, &self.context, || edit.about)?;
            }
        }
        must_open(
            codec,
            &self.text,
            &self.context,
            &self.payload,
            "after all edits",
        )
    }

    /// Fails unless `codec` is strict about the token, for a sample of all edits and contexts.
    /// `codec` may differ from the codec that made the token.
    pub(crate) fn must_be_strict(&self, kit: &Kit<'_>, codec: &dyn RequestStateCodec) -> Verdict {
        self.must_be_the_only_spelling(kit, codec, edits::sample(&self.text, 1_000))?;
        let context = &self.context;
        let half = context.len() / 2;
        for other in [
            Vec::new(),
            b"other".to_vec(),
            context.to_ascii_uppercase(),
            context.repeat(2),
            [&context[..], b"\0"].concat(),
            [b" ", &context[..]].concat(),
            context.iter().copied().take(half).collect(),
            context.iter().copied().skip(1).collect(),
            context.iter().rev().copied().collect(),
            context.iter().map(|byte| byte ^ 1).collect(),
            vec![0; 1_000],
        ] {
            if other != *context {
                must_refuse_context(codec, &self.text, &other, || "another context".into())?;
            }
        }
        Ok(())
    }
}
