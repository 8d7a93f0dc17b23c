//! What a case works with: codecs on rings of its choice, and the sentences it says about them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use request_state_core::{DecodeError, Key, Keyring, RequestStateCodec};

use crate::random::Random;
use crate::stop::{Stop, Verdict};
use crate::token::Token;
use crate::watched::Watched;

/// The codec under test, whatever its type.
pub(crate) type Codec<'a> = Box<dyn RequestStateCodec + 'a>;

/// How long a case goes on trying. Only a slow codec needs more, and then the case tries a random
/// choice of what it would have tried, and says so.
const PATIENCE: Duration = Duration::from_secs(3);

/// The kids of [`ring`], the sealing one first.
pub(crate) const KIDS: [&str; 2] = ["2026-10", "2026-07"];

/// What makes codecs. A codec may borrow, and so may what makes it.
pub(crate) type Make<'a> = Rc<dyn Fn(&Keyring) -> Codec<'a> + 'a>;

/// [`Make`] of a constructor.
pub(crate) fn make_with<'a, C: RequestStateCodec + 'a>(
    make: impl Fn(&Keyring) -> C + 'a,
) -> Make<'a> {
    Rc::new(move |keys: &Keyring| -> Codec<'a> { Box::new(make(keys)) })
}

pub(crate) struct Kit<'a> {
    make: Make<'a>,
    takes_keyring: bool,
    started: Instant,
    note: RefCell<Option<String>>,
}

impl<'a> Kit<'a> {
    pub(crate) fn new(make: Make<'a>, takes_keyring: bool) -> Self {
        Self {
            make,
            takes_keyring,
            started: Instant::now(),
            note: RefCell::new(None),
        }
    }

    /// A codec on the suite's usual ring of two keys.
    pub(crate) fn codec(&self) -> Result<Codec<'a>, Stop> {
        Ok(self.codec_of(&ring()?))
    }

    pub(crate) fn codec_of(&self, keys: &Keyring) -> Codec<'a> {
        Box::new(Watched((self.make)(keys)))
    }

    /// Stops a case that is about rings, for a codec that takes none.
    pub(crate) fn needs_keyring(&self) -> Verdict {
        if self.takes_keyring {
            Ok(())
        } else {
            Err(Stop::NotApplicable("the codec takes no keyring"))
        }
    }

    /// `items` in random order, until patience runs out.
    ///
    /// So a slow codec meets a sample of every kind of them, and not the first kinds only.
    pub(crate) fn paced<T>(&self, items: Vec<T>) -> impl Iterator<Item = T> {
        self.paced_for(PATIENCE, items)
    }

    /// Likewise, with more patience.
    ///
    /// A busy machine takes its time from a few items, a slow codec from most of them: only a slow codec
    /// tries fewer, unless the machine takes ten times as long as the codec.
    pub(crate) fn paced_for<T>(
        &self,
        patience: Duration,
        mut items: Vec<T>,
    ) -> impl Iterator<Item = T> {
        const LEAST: usize = 10;
        Random::new(0).shuffle(&mut items);
        let all = items.len();
        // What an item may take, if all of them are to be tried.
        let share = patience / u32::try_from(all).unwrap_or(u32::MAX).max(1);
        let (mut done, mut slow) = (0, 0);
        let mut last = Instant::now();
        let mut items = items.into_iter();
        std::iter::from_fn(move || {
            let item = items.next()?;
            let now = Instant::now();
            if done > 0 && now.duration_since(last) > share {
                slow += 1;
            }
            last = now;
            let elapsed = now.duration_since(self.started);
            let is_slow = elapsed > patience && 2 * slow > done || elapsed > 10 * patience;
            if done >= LEAST && is_slow {
                *self.note.borrow_mut() = Some(format!(
                    "slow: stopped after {elapsed:.0?}, with {done} of {all} tried"
                ));
                return None;
            }
            done += 1;
            Some(item)
        })
    }

    /// What the report should say of a case that passed.
    pub(crate) fn take_note(&self) -> Option<String> {
        self.note.take()
    }
}

/// The suite's usual ring: two keys, so that a codec must choose.
pub(crate) fn ring() -> Result<Keyring, Stop> {
    let mut random = Random::new(1);
    ring_of(KIDS.map(|kid| (kid, random.key())))
}

/// A ring of these kids and keys, the first sealing.
pub(crate) fn ring_of<K: Into<String>>(
    entries: impl IntoIterator<Item = (K, [u8; 32])>,
) -> Result<Keyring, Stop> {
    let entries = entries.into_iter().map(|(kid, key)| (kid, Key::from(key)));
    Ok(Keyring::new(entries)?)
}

/// Encodes; that it works for any payload and context is a promise.
pub(crate) fn encode(
    codec: &dyn RequestStateCodec,
    payload: &[u8],
    context: &[u8],
) -> Result<String, Stop> {
    codec.encode(payload, context).map_err(|error| {
        Stop::Failed(format!(
            "could not encode a payload of {} bytes under a context of {}: {error}",
            payload.len(),
            context.len()
        ))
    })
}

/// Fails unless `token` decodes to `payload`.
pub(crate) fn must_open(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    payload: &[u8],
    about: &str,
) -> Verdict {
    match codec.decode(token, context) {
        Ok(decoded) if decoded == payload => Ok(()),
        Ok(decoded) => Err(Stop::Failed(format!(
            "{about}: decoded to other bytes: {} instead of {}",
            show_bytes(&decoded),
            show_bytes(payload)
        ))),
        Err(error) => Err(Stop::Failed(format!(
            "{about}: refused a token of its own: {error} (payload {}, context {}, token {})",
            show_bytes(payload),
            show_bytes(context),
            show(token)
        ))),
    }
}

/// Fails unless `token` is refused, for whatever reason that fits a token that the codec did not
/// make.
pub(crate) fn must_refuse(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    about: impl FnOnce() -> String,
) -> Verdict {
    let problem = match codec.decode(token, context) {
        Err(DecodeError::Malformed | DecodeError::UnknownKey | DecodeError::Unauthentic) => {
            return Ok(());
        }
        Err(DecodeError::OtherContext) => "said OtherContext to a token it did not make".into(),
        Err(error) => format!("answered `{error}`, which says nothing about the token"),
        Ok(payload) => format!("decoded to {}", show_bytes(&payload)),
    };
    Err(Stop::Failed(format!(
        "{}: {problem} (token {})",
        about(),
        show(token)
    )))
}

/// Fails unless a token of the codec's own is refused under another context.
pub(crate) fn must_refuse_context(
    codec: &dyn RequestStateCodec,
    token: &str,
    context: &[u8],
    about: impl FnOnce() -> String,
) -> Verdict {
    let problem = match codec.decode(token, context) {
        Err(
            DecodeError::Malformed
            | DecodeError::UnknownKey
            | DecodeError::Unauthentic
            | DecodeError::OtherContext,
        ) => return Ok(()),
        Err(error) => format!("answered `{error}`, which says nothing about the token"),
        Ok(_) => "it decoded".into(),
    };
    Err(Stop::Failed(format!(
        "{}: {problem} (context {})",
        about(),
        show_bytes(context)
    )))
}

/// A token with its payload and context.
pub(crate) struct Genuine {
    pub(crate) text: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) context: Vec<u8>,
}

impl Genuine {
    /// A token that the codec made and opened. It opened it so that a codec that remembers what it
    /// opened has something to remember.
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

    /// Fails if an edit of the token decodes, or if the token itself no longer does afterwards.
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
}

/// A token that somebody changed, and how.
pub(crate) struct Edit {
    pub(crate) about: String,
    pub(crate) token: String,
}

impl Edit {
    pub(crate) fn new(about: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            token: token.into(),
        }
    }
}

/// Makes `times` tokens of either kind, and answers the first place where all of the one kind have the
/// same character, all of the other have the same, and the two are not the same: the place tells the
/// kinds apart, and nothing random has a part in it.
pub(crate) fn telling_place(
    times: usize,
    one: impl Fn(usize) -> Result<String, Stop>,
    other: impl Fn(usize) -> Result<String, Stop>,
) -> Result<Option<usize>, Stop> {
    /// The byte at `at` that all of them have there.
    fn common(texts: &[String], at: usize) -> Option<u8> {
        let mut bytes = texts.iter().map(|text| text.as_bytes().get(at).copied());
        let first = bytes.next()??;
        bytes.all(|byte| byte == Some(first)).then_some(first)
    }
    // By turns, so that a clock in the token does not tell the kinds apart.
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for number in 0..times {
        ones.push(one(number)?);
        others.push(other(number)?);
    }
    let length = ones.first().map_or(0, String::len);
    Ok((0..length).find(|at| {
        let pair = common(&ones, *at).zip(common(&others, *at));
        pair.is_some_and(|(a, b)| a != b)
    }))
}

/// Likewise for each single bit of the bytes that tokens encode. Of so many tokens, all are alike in a
/// random bit with a chance of 2^-39.
pub(crate) fn telling_bit(
    one: impl Fn(usize) -> Result<String, Stop>,
    other: impl Fn(usize) -> Result<String, Stop>,
) -> Result<Option<usize>, Stop> {
    /// What each of their bits is, where it is the same in all: the zeros that stay, and the ones.
    #[derive(Default)]
    struct Common(Option<(Vec<u8>, Vec<u8>)>);

    impl Common {
        fn add(&mut self, body: &[u8]) {
            match &mut self.0 {
                None => self.0 = Some((body.iter().map(|byte| !byte).collect(), body.to_vec())),
                Some((zeros, ones)) => {
                    zeros.truncate(body.len());
                    ones.truncate(body.len());
                    zeros
                        .iter_mut()
                        .zip(body)
                        .for_each(|(all, byte)| *all &= !byte);
                    ones.iter_mut()
                        .zip(body)
                        .for_each(|(all, byte)| *all &= byte);
                }
            }
        }
    }

    let (mut ones, mut others) = (Common::default(), Common::default());
    for number in 0..40 {
        ones.add(&Token::parse(&one(number)?).body());
        others.add(&Token::parse(&other(number)?).body());
    }
    let Some(((zeros, ones), (other_zeros, other_ones))) = ones.0.zip(others.0) else {
        return Ok(None);
    };
    let telling = zeros
        .iter()
        .zip(&other_ones)
        .zip(ones.iter().zip(&other_zeros));
    let mut telling = telling.map(|((a, b), (c, d))| (a & b) | (c & d));
    Ok(telling.position(|bits| bits != 0).map(|at| at * 8))
}

/// A text in a message: quoted, and not without end.
pub(crate) fn show(text: &str) -> String {
    const SHOWN: usize = 160;
    if text.len() <= SHOWN {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head:?}… of {} bytes", text.len())
}

/// Bytes in a message.
pub(crate) fn show_bytes(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let head: String = bytes
        .iter()
        .take(SHOWN)
        .flat_map(|b| b.escape_ascii())
        .map(char::from)
        .collect();
    if bytes.len() <= SHOWN {
        format!("b\"{head}\"")
    } else {
        format!("b\"{head}\"… of {} bytes", bytes.len())
    }
}
