//! The cipher or MAC of each backend, used directly.

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::AeadInOut;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use sha2::Sha256;

const KEY: [u8; 32] = [7; 32];

/// What any token must authenticate next to its state, without labels and lengths: kid (7 bytes),
/// nonce (16), expiry (8), protocol version (10), method (10), server (7), the digests of principal
/// (16) and request (32).
const BESIDE: [u8; 106] = [1; 106];

/// A keyed cipher or MAC.
#[expect(missing_debug_implementations, reason = "it holds a key")]
pub enum Primitive {
    /// `ring`, either cipher.
    Ring(Box<LessSafeKey>),
    /// `aes-gcm`.
    AesGcm(Box<Aes256Gcm>),
    /// `hmac`, the key processed once.
    Hmac(Hmac<Sha256>),
}

/// What a primitive made, and needs again.
#[derive(Clone, Copy, Debug)]
pub enum Proof {
    /// Of a cipher.
    Aead([u8; 12], [u8; 16]),
    /// Of a MAC; the nonce has no part in it.
    Mac([u8; 32]),
}

impl Primitive {
    /// One for each of [`sealers`](crate::sealers), in its order.
    ///
    /// # Panics
    ///
    /// Never: the key has the right length for each.
    #[must_use]
    pub fn all() -> [Self; 4] {
        let ring = |algorithm| UnboundKey::new(algorithm, &KEY).expect("32 bytes");
        [
            Self::Ring(Box::new(LessSafeKey::new(ring(&AES_256_GCM)))),
            Self::Ring(Box::new(LessSafeKey::new(ring(&CHACHA20_POLY1305)))),
            Self::AesGcm(Box::new(Aes256Gcm::new(&KEY.into()))),
            Self::Hmac(Hmac::new_from_slice(&KEY).expect("a key of any length")),
        ]
    }

    /// Draws a nonce, and encrypts or authenticates `text` in place.
    pub(crate) fn protect(&self, text: &mut [u8]) -> Proof {
        match self {
            Self::Ring(key) => {
                let nonce = random();
                let unique = Nonce::assume_unique_for_key(nonce);
                let tag = key.seal_in_place_separate_tag(unique, Aad::from(BESIDE), text);
                let tag = tag.expect("a short text");
                Proof::Aead(nonce, tag.as_ref().try_into().expect("16 bytes"))
            }
            Self::AesGcm(cipher) => {
                let nonce = random();
                let tag = cipher.encrypt_inout_detached(&nonce.into(), &BESIDE, text.into());
                Proof::Aead(nonce, tag.expect("a short text").into())
            }
            Self::Hmac(mac) => {
                std::hint::black_box(random::<16>());
                Proof::Mac(mac_of(mac, text).finalize().into_bytes().into())
            }
        }
    }

    /// Decrypts `text` in place, if there is anything to decrypt, once it is found authentic.
    pub(crate) fn verify(&self, proof: Proof, text: &mut [u8]) {
        match (self, proof) {
            (Self::Ring(key), Proof::Aead(nonce, tag)) => {
                let nonce = Nonce::assume_unique_for_key(nonce);
                let aad = Aad::from(BESIDE);
                key.open_in_place_separate_tag(nonce, aad, tag.into(), text, 0..)
                    .expect("authentic");
            }
            (Self::AesGcm(cipher), Proof::Aead(nonce, tag)) => cipher
                .decrypt_inout_detached(&nonce.into(), &BESIDE, text.into(), &tag.into())
                .expect("authentic"),
            (Self::Hmac(mac), Proof::Mac(tag)) => {
                mac_of(mac, text).verify(&tag.into()).expect("authentic")
            }
            _ => panic!("a proof of another primitive"),
        }
    }
}

fn mac_of(mac: &Hmac<Sha256>, text: &[u8]) -> Hmac<Sha256> {
    mac.clone().chain_update(BESIDE).chain_update(text)
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("a random source");
    bytes
}
