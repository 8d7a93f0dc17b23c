//! What each feature brings, alone or with others. `scripts/test` runs this under every choice.
#![allow(clippy::unwrap_used)] // Helpers may panic, as tests do.

use request_state::{Binding, DecodeError, EncodeError, Request, RequestStateCodec, Sealer};

fn binding() -> Binding {
    Binding::new(Request {
        version: "2026-07-28",
        method: "tools/call",
        params: &(),
        principal: Some("user:alice"),
    })
    .unwrap()
}

fn round_trip(codec: impl RequestStateCodec) -> String {
    let sealer = Sealer::new("billing", codec).unwrap();
    let token = sealer.seal("state", &binding()).unwrap();
    assert_eq!(sealer.open(&token, &binding()), Ok("state".to_owned()));
    token
}

#[cfg(any(feature = "aes-gcm", feature = "hmac", feature = "ring"))]
fn keys() -> request_state::Keyring {
    use request_state::{Key, Keyring};

    Keyring::new([("k", Key::from([7; 32]))]).unwrap()
}

#[test]
fn a_codec_of_ones_own_needs_no_feature() {
    /// Protects nothing.
    struct Plain;

    impl RequestStateCodec for Plain {
        fn encode(&self, payload: &[u8], _: &[u8]) -> Result<String, EncodeError> {
            request_state::wire::token("plain", &[payload])
        }

        fn decode(&self, token: &str, _: &[u8]) -> Result<Vec<u8>, DecodeError> {
            let (_, [payload]) = request_state::wire::parts(token)?;
            Ok(payload)
        }
    }

    assert!(round_trip(Plain).starts_with("plain."));
}

#[test]
#[cfg(feature = "hmac")]
fn hmac_brings_the_hmac_codec() {
    let token = round_trip(request_state::HmacCodec::new(&keys()));
    assert_eq!(token.split('.').count(), 3);
}

/// Sealed by the aes-gcm backend, so that a build with ring alone opens what it did not make.
#[cfg(any(feature = "aes-gcm", feature = "ring"))]
const SEALED_EARLIER: &str = "k.joO9TDUuC8KyMy8xch67EnuToPtMshtWSOgjOnPFm5BWcHE";

#[test]
#[cfg(any(feature = "aes-gcm", feature = "ring"))]
fn the_default_codec_is_the_same_on_the_wire_whichever_backend_it_is() {
    let codec = request_state::DefaultCodec::new(&keys());
    assert_eq!(
        codec.decode(SEALED_EARLIER, b"context").unwrap(),
        b"payload"
    );
    assert!(codec.encrypts());
    assert_eq!(codec.disclosure(), request_state::Disclosure::Opaque);
    assert_eq!(format!("{codec:?}"), "DefaultCodec(..)");
    round_trip(codec);
}

#[test]
#[cfg(feature = "aes-gcm")]
fn aes_gcm_brings_the_aes_gcm_codec() {
    let codec = request_state::AesGcmCodec::new(&keys());
    assert_eq!(
        codec.decode(SEALED_EARLIER, b"context").unwrap(),
        b"payload"
    );
    round_trip(codec);
}

#[test]
#[cfg(feature = "ring")]
fn ring_brings_both_of_its_codecs() {
    let codec = request_state::RingCodec::new(&keys());
    assert_eq!(
        codec.decode(SEALED_EARLIER, b"context").unwrap(),
        b"payload"
    );
    round_trip(codec);
    round_trip(request_state::RingCodec::chacha20_poly1305(&keys()));
}
