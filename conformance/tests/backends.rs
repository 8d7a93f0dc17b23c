//! Our own backends pass.
#![allow(missing_docs, reason = "a test has no users")]

use request_state_aesgcm::AesGcmCodec;
use request_state_conformance::suite;
use request_state_hmac::HmacCodec;
use request_state_ring::RingCodec;

suite!(aes_gcm, AesGcmCodec::new);
suite!(hmac, HmacCodec::new);
suite!(ring, RingCodec::new);
suite!(ring_chacha20_poly1305, |keys| RingCodec::chacha20_poly1305(
    keys
));
