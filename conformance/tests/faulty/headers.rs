//! The token says how it is to be checked.

use request_state_core::{DecodeError, EncodeError, Keyring, RequestStateCodec, wire};

use super::base::{SIGNED, joined, mac};
use super::fault::{Fault, whole};

pub fn faults() -> Vec<Fault> {
    vec![
        headed(
            "reads the length of its tag from the token, and takes four bytes",
            32,
            |header| {
                (header.len() == 1)
                    .then(|| header[0].into())
                    .filter(|n| (4..=32).contains(n))
            },
        ),
        headed(
            "reads the length of its tag from the token, in bits",
            128,
            |header| {
                let bits = usize::from(*header.first()?);
                (bits % 8 == 0 && (64..=128).contains(&bits)).then_some(bits / 8)
            },
        ),
        headed(
            "reads from the token which algorithm it is, and has one without a tag",
            0x11,
            |header| match header {
                [0x11] => Some(32),
                [0xa6] => Some(0),
                _ => None,
            },
        ),
    ]
}

type TagLength = fn(&[u8]) -> Option<usize>;

/// `kid "." base64url(header[1] ‖ nonce[16] ‖ payload ‖ tag)`. The header is not authenticated; it
/// tells the length of the tag.
struct Headed {
    keys: Keyring,
    header: u8,
    length: TagLength,
}

fn headed(about: &'static str, header: u8, length: TagLength) -> Fault {
    whole(about, "structure::headers_say_nothing", move |keys| {
        Box::new(Headed {
            keys: keys.clone(),
            header,
            length,
        })
    })
}

impl Headed {
    fn tag(&self, kid: &str, body: &[u8], context: &[u8]) -> Option<[u8; 32]> {
        let key = (SIGNED.key)(self.keys.get(kid)?);
        Some(mac(&key, &joined(&[kid.as_bytes(), body, context])))
    }
}

impl RequestStateCodec for Headed {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let (kid, _) = self.keys.sealing();
        let body = [&wire::random::<16>()?[..], payload].concat();
        let tag = self.tag(kid, &body, context).unwrap();
        let length = (self.length)(&[self.header]).unwrap();
        wire::token(
            kid,
            &[&[&[self.header][..], &body, &tag[..length]].concat()],
        )
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (kid, [bytes]) = wire::parts(token)?;
        let (header, rest) = bytes.split_at_checked(1).ok_or(DecodeError::Malformed)?;
        let length = (self.length)(header).ok_or(DecodeError::Malformed)?;
        let at = rest.len().checked_sub(length).filter(|at| *at >= 16);
        let (body, received) = rest.split_at(at.ok_or(DecodeError::Malformed)?);
        let tag = self
            .tag(kid, body, context)
            .ok_or(DecodeError::UnknownKey)?;
        if tag[..length] != *received {
            return Err(DecodeError::Unauthentic);
        }
        Ok(body[16..].to_vec())
    }
}
