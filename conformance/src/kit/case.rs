//! The tools of a case: codecs on keyrings of its choice, and a time limit.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use request_state_core::Keyring;

use super::codec::{Codec, Make};
use super::watched::Watched;
use crate::random::Random;
use crate::rings::ring;
use crate::stop::Stop;

/// The time after which a case stops trying. Only a slow codec needs more. The case then tries a
/// random selection, and the report notes this.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) struct Kit<'a> {
    make: Make<'a>,
    started: Instant,
    note: RefCell<Option<String>>,
}

impl<'a> Kit<'a> {
    pub(crate) fn new(make: Make<'a>) -> Self {
        Self {
            make,
            started: Instant::now(),
            note: RefCell::new(None),
        }
    }

    /// Creates a codec with the suite's default keyring of two keys.
    pub(crate) fn codec(&self) -> Result<Codec<'a>, Stop> {
        Ok(self.codec_of(&ring()?))
    }

    pub(crate) fn codec_of(&self, keys: &Keyring) -> Codec<'a> {
        Box::new(Watched(self.make.codec(keys)))
    }

    /// Returns the words in the name of the codec's type and of its modules.
    pub(crate) fn words_of_its_type(&self) -> Vec<String> {
        let names = self
            .make
            .type_name()
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words: Vec<String> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            words.push(name.to_owned());
            // `AcmeCodec` consists of two words, like `acme_codec`.
            let mut parts: Vec<String> = Vec::new();
            for character in name.chars() {
                match parts.last_mut() {
                    Some(part) if character.is_lowercase() || character.is_numeric() => {
                        part.push(character);
                    }
                    _ => parts.push(character.to_string()),
                }
            }
            words.extend(
                parts
                    .iter()
                    .map(|part| part.trim_start_matches('_').to_lowercase()),
            );
        }
        words.retain(|word| word.len() > 1);
        words.sort();
        words.dedup();
        words
    }

    /// Returns `items` in random order, until the time limit is reached.
    ///
    /// The random order gives a slow codec a sample of every kind of item, and not only the first
    /// kinds.
    pub(crate) fn paced<T>(&self, items: Vec<T>) -> impl Iterator<Item = T> {
        self.paced_for(PATIENCE, items)
    }

    /// Does the same as [`paced`](Self::paced), with a longer time limit.
    ///
    /// A busy machine delays a few items, whereas a slow codec delays most of them. Therefore only
    /// a slow codec tries fewer items, unless the machine takes ten times the limit.
    pub(crate) fn paced_for<T>(
        &self,
        patience: Duration,
        mut items: Vec<T>,
    ) -> impl Iterator<Item = T> {
        const LEAST: usize = 10;
        Random::new(0).shuffle(&mut items);
        let all = items.len();
        // The time for each item if all of them are to be tried.
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

    /// Takes the note that the report adds to the outcome.
    pub(crate) fn take_note(&self) -> Option<String> {
        self.note.take()
    }
}
