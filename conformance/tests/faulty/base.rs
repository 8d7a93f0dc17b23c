//! A codec that is right, made of steps of which a fault exchanges one.
//!
//! `kid "." base64url(nonce[16] ‖ body) "." base64url(tag[32])`, HMAC-SHA256 throughout. [`SIGNED`]
//! carries the payload as it is, [`ENCRYPTED`] xors it with a keystream, and [`TYPED`] has a check of
//! 16 bytes behind the tag, which tells its own tokens from forgeries. All three pass the suite,
//! as `faulty.rs` asserts: so where a faulty codec fails, it is the fault that fails.

use hmac::{Hmac, KeyInit, Mac};
use request_state_core::{
    DecodeError, Disclosure, EncodeError, Key, Keyring, RequestStateCodec, wire,
};
use sha2::Sha256;

/// What is authenticated.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub kid: &'a str,
    pub nonce: &'a [u8],
    pub body: &'a [u8],
    pub context: &'a [u8],
}

/// Encrypts and decrypts, with a key and a nonce.
pub type Stream = fn(&[u8; 32], &[u8], &mut [u8]);

/// The steps of a codec.
#[derive(Clone, Copy)]
pub struct Steps {
    /// The payload as it is sealed.
    pub take: fn(&[u8]) -> Vec<u8>,
    /// The context as it is authenticated.
    pub bind: fn(&[u8]) -> Vec<u8>,
    /// The bytes of a key.
    pub key: fn(&Key) -> [u8; 32],
    /// The key that seals.
    pub sealing: fn(&Keyring) -> (&str, &Key),
    /// The key under a kid.
    pub find: for<'k> fn(&'k Keyring, &str) -> Option<&'k Key>,
    pub nonce: fn() -> [u8; 16],
    /// `None` for a codec whose payloads can be read.
    pub stream: Option<Stream>,
    /// What the tag is a MAC of.
    pub message: fn(Parts<'_>) -> Vec<u8>,
    pub tag: fn(&[u8; 32], &[u8]) -> Vec<u8>,
    /// Whether the tag is the expected one, the first.
    pub same: fn(&[u8], &[u8]) -> bool,
    /// Whether `tag` is one of ours, for whatever context: what a typed codec tells that by.
    pub check: fn(&[u8; 32], Parts<'_>, &[u8]) -> Vec<u8>,
    /// The token as the encoder writes it.
    pub write: fn(String) -> String,
    /// The token as the decoder reads it.
    pub read: fn(&str) -> Result<String, DecodeError>,
    /// Decodes one part of a token.
    pub part: fn(&str) -> Result<Vec<u8>, DecodeError>,
    /// The payload as it is given back.
    pub give: fn(Vec<u8>) -> Result<Vec<u8>, DecodeError>,
    pub encrypts: fn() -> bool,
    pub disclosure: Disclosure,
}

pub const SIGNED: Steps = Steps {
    take: <[u8]>::to_vec,
    bind: <[u8]>::to_vec,
    key: |key| *key.derive("faulty v1"),
    sealing: Keyring::sealing,
    find: |keys, kid| keys.get(kid),
    nonce: || wire::random().unwrap(),
    stream: None,
    message: |parts| {
        joined(&[
            b"faulty",
            parts.kid.as_bytes(),
            parts.nonce,
            parts.body,
            parts.context,
        ])
    },
    tag: |key, message| mac(key, message).to_vec(),
    same: |expected, received| expected == received,
    check,
    write: |token| token,
    read: |token| Ok(token.to_owned()),
    part: wire::decode_base64url,
    give: Ok,
    encrypts: || false,
    disclosure: Disclosure::Opaque,
};

pub const ENCRYPTED: Steps = Steps {
    stream: Some(keystream),
    encrypts: || true,
    ..SIGNED
};

pub const TYPED: Steps = Steps {
    disclosure: Disclosure::Typed,
    ..SIGNED
};

/// Makes a nonce of a payload and a context, or of what it holds.
pub type Nonce = Box<dyn Fn(&[u8], &[u8]) -> [u8; 16] + Send + Sync>;

pub struct Base {
    pub keys: Keyring,
    pub steps: Steps,
    /// In the place of the step, for a nonce that a function alone cannot make.
    pub nonce: Option<Nonce>,
}

impl RequestStateCodec for Base {
    fn encode(&self, payload: &[u8], context: &[u8]) -> Result<String, EncodeError> {
        let steps = &self.steps;
        let (kid, key) = (steps.sealing)(&self.keys);
        let key = (steps.key)(key);
        let nonce = match &self.nonce {
            Some(nonce) => nonce(payload, context),
            None => (steps.nonce)(),
        };
        let mut body = (steps.take)(payload);
        if let Some(stream) = steps.stream {
            stream(&key, &nonce, &mut body);
        }
        let context = (steps.bind)(context);
        let parts = Parts {
            kid,
            nonce: &nonce,
            body: &body,
            context: &context,
        };
        let mut proof = (steps.tag)(&key, &(steps.message)(parts));
        if steps.disclosure == Disclosure::Typed {
            let check = (steps.check)(&key, parts, &proof);
            proof.extend(check);
        }
        wire::token(kid, &[&[&nonce[..], &body].concat(), &proof]).map(steps.write)
    }

    fn decode(&self, token: &str, context: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let steps = &self.steps;
        let token = (steps.read)(token)?;
        let (kid, rest) = token.split_once('.').ok_or(DecodeError::Malformed)?;
        let (sealed, proof) = rest.split_once('.').ok_or(DecodeError::Malformed)?;
        let (sealed, proof) = ((steps.part)(sealed)?, (steps.part)(proof)?);
        let (nonce, body) = sealed.split_at_checked(16).ok_or(DecodeError::Malformed)?;
        if !wire::is_kid(kid) {
            return Err(DecodeError::Malformed);
        }
        let key = (steps.key)((steps.find)(&self.keys, kid).ok_or(DecodeError::UnknownKey)?);
        let context = (steps.bind)(context);
        let parts = Parts {
            kid,
            nonce,
            body,
            context: &context,
        };
        let mut tag = &proof[..];
        if steps.disclosure == Disclosure::Typed {
            let at = proof.len().checked_sub(16).ok_or(DecodeError::Malformed)?;
            let (received, received_check) = proof.split_at(at);
            tag = received;
            if (steps.check)(&key, parts, tag) != received_check {
                return Err(DecodeError::Unauthentic);
            }
        }
        if !(steps.same)(&(steps.tag)(&key, &(steps.message)(parts)), tag) {
            return Err(match steps.disclosure {
                Disclosure::Typed => DecodeError::OtherContext,
                Disclosure::Opaque => DecodeError::Unauthentic,
            });
        }
        let mut body = body.to_vec();
        if let Some(stream) = steps.stream {
            stream(&key, nonce, &mut body);
        }
        (steps.give)(body)
    }

    fn encrypts(&self) -> bool {
        (self.steps.encrypts)()
    }

    fn disclosure(&self) -> Disclosure {
        self.steps.disclosure
    }
}

fn check(key: &[u8; 32], parts: Parts<'_>, tag: &[u8]) -> Vec<u8> {
    let message = joined(&[b"check", parts.kid.as_bytes(), parts.nonce, parts.body, tag]);
    mac(key, &message)[..16].to_vec()
}

/// The parts, each with its length in front.
pub fn joined(parts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        wire::push_prefixed(&mut all, part);
    }
    all
}

pub fn mac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.chain_update(message).finalize().into_bytes().into()
}

/// Xors `data` with HMAC(key, nonce ‖ counter), block by block.
pub fn keystream(key: &[u8; 32], nonce: &[u8], data: &mut [u8]) {
    for (counter, block) in (0u64..).zip(data.chunks_mut(32)) {
        let pad = mac(key, &joined(&[b"stream", nonce, &counter.to_be_bytes()]));
        xor(block, &pad);
    }
}

pub fn xor(data: &mut [u8], pad: &[u8]) {
    for (byte, pad) in data.iter_mut().zip(pad) {
        *byte ^= pad;
    }
}
