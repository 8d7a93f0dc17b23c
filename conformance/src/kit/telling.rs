//! Positions in tokens that reveal a difference and are not random.

use crate::stop::{Stop, Verdict};
use crate::token::Token;

/// Makes `times` tokens of either kind, and returns the first position that distinguishes the
/// kinds. At such a position all tokens of one kind have the same character, and all tokens of the
/// other kind have the same other character. Therefore nothing random affects this position.
pub(crate) fn telling_place(
    times: usize,
    one: impl Fn(usize) -> Result<String, Stop>,
    other: impl Fn(usize) -> Result<String, Stop>,
) -> Result<Option<usize>, Stop> {
    /// Returns the byte at `at`, if all texts have the same byte there.
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

/// Does the same for each single bit of the bytes that tokens encode. With this number of tokens, a
/// random bit is the same in all of them with a probability of 2^-39.
pub(crate) fn telling_bit(
    one: impl Fn(usize) -> Result<String, Stop>,
    other: impl Fn(usize) -> Result<String, Stop>,
) -> Result<Option<usize>, Stop> {
    /// The bits that are the same in all tokens: those that are always zero, and those that are
    /// always one.
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

/// Calls `make` for the one kind and for the other in turn, `times` each, so that a clock in the
/// token does not distinguish the kinds. The order within each pair follows the Thue–Morse
/// sequence, so that no bit of a counter does either.
fn by_turns(times: usize, mut make: impl FnMut(usize, bool) -> Verdict) -> Verdict {
    for number in 0..times {
        let one_first = number.count_ones().is_multiple_of(2);
        make(number, one_first)?;
        make(number, !one_first)?;
    }
    Ok(())
}
