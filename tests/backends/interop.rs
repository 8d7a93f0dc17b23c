//! The two AES-256-GCM backends are one codec on the wire, and what all seal is counted together.

use request_state::{
    AesGcmCodec, DecodeError, DefaultCodec, EncodeError, HmacCodec, Keyring, RequestStateCodec,
    RingCodec,
};

use crate::fixtures::{codecs, keys};

/// The most that a payload can be under the default limit: 65,536 characters, less `2026-10.`, are
/// 49,146 bytes, less nonce and tag.
const LARGEST: usize = 49_146 - 28;

#[test]
fn each_opens_what_the_other_sealed_at_any_size() {
    let keys = keys();
    let backends: [&dyn RequestStateCodec; 3] = [
        &AesGcmCodec::new(&keys),
        &RingCodec::new(&keys),
        &DefaultCodec::new(&keys),
    ];
    let sizes = (0..300).chain([1023, 1024, 4095, 16_384, 40_000, LARGEST - 1, LARGEST]);
    for size in sizes {
        let payload: Vec<u8> = (0..size).map(|at| at as u8).collect();
        for sealed_by in backends {
            let token = sealed_by.encode(&payload, b"context").unwrap();
            assert!(token.len() <= 65_536);
            for opened_by in backends {
                assert_eq!(opened_by.decode(&token, b"context").unwrap(), payload);
                assert!(opened_by.decode(&token, b"Context").is_err());
            }
        }
    }
}

#[test]
fn two_algorithms_never_open_each_others_tokens() {
    let keys = keys();
    let aead = AesGcmCodec::new(&keys);
    let chacha = RingCodec::chacha20_poly1305(&keys);
    let hmac = HmacCodec::new(&keys);
    let token = chacha.encode(b"payload", b"").unwrap();
    assert!(matches!(
        aead.decode(&token, b""),
        Err(DecodeError::Unauthentic)
    ));
    let token = aead.encode(b"payload", b"").unwrap();
    assert!(matches!(
        chacha.decode(&token, b""),
        Err(DecodeError::Unauthentic)
    ));
    assert!(matches!(
        hmac.decode(&token, b""),
        Err(DecodeError::Malformed)
    ));
    let token = hmac.encode(b"payload", b"").unwrap();
    assert!(matches!(
        aead.decode(&token, b""),
        Err(DecodeError::Malformed)
    ));
}

#[test]
fn seals_are_counted_together_up_to_the_limit() {
    let keys = keys();
    // Those with random nonces of 96 bits.
    let names = ["aes-gcm", "ring", "chacha20", "default"];
    let counted = || {
        let all = codecs(&keys).into_iter();
        all.filter(|(name, _)| names.contains(name))
    };
    assert_eq!(counted().count(), names.len());
    // As if this process had sealed all but four times.
    keys.count_seals((1 << 32) - 4, 1 << 32).unwrap();
    for (name, codec) in counted() {
        assert!(codec.encode(b"", b"").is_ok(), "{name}");
    }
    for (name, codec) in counted() {
        let refused = codec.encode(b"", b"");
        assert!(matches!(refused, Err(EncodeError::KeyExhausted)), "{name}");
    }
    // The other key of the ring is fresh, and the worn one still opens.
    let rotated = keys.sealing_with("2026-07").unwrap();
    let token = AesGcmCodec::new(&rotated).encode(b"x", b"").unwrap();
    assert_eq!(RingCodec::new(&keys).decode(&token, b"").unwrap(), b"x");
    // A MAC does not wear out.
    assert!(HmacCodec::new(&keys).encode(b"", b"").is_ok());
    // Another ring of the same keys counts for itself: it is a backstop in one process.
    assert!(
        AesGcmCodec::new(&crate::fixtures::keys())
            .encode(b"", b"")
            .is_ok()
    );
}

#[test]
fn a_hundred_thousand_nonces_differ() {
    let codec = RingCodec::new(&Keyring::ephemeral().unwrap());
    let tokens: std::collections::HashSet<String> = (0..100_000)
        .map(|_| {
            let token = codec.encode(b"", b"").unwrap();
            token.rsplit('.').next().unwrap()[..16].to_owned()
        })
        .collect();
    assert_eq!(tokens.len(), 100_000);
}
