//! Places in tokens that depend on what nothing random hides.

use crate::stop::{Stop, Verdict};
use crate::token::Token;

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
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    by_turns(times, |number, is_one| {
        if is_one {
            ones.push(one(number)?);
        } else {
            others.push(other(number)?);
        }
        Ok(())
    })?;
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
    by_turns(40, |number, is_one| {
        if is_one {
            ones.add(&Token::parse(&one(number)?).body());
        } else {
            others.add(&Token::parse(&other(number)?).body());
        }
        Ok(())
    })?;
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

/// Calls `make` for the one kind and for the other, `times` each, by turns: so a clock in the token does
/// not tell the kinds apart. Which is first changes as in the sequence of Thue and Morse, so no bit of a
/// counter does either.
fn by_turns(times: usize, mut make: impl FnMut(usize, bool) -> Verdict) -> Verdict {
    for number in 0..times {
        let one_first = number.count_ones().is_multiple_of(2);
        make(number, one_first)?;
        make(number, !one_first)?;
    }
    Ok(())
}
