//! Which base64url is the fastest here, for the baseline to use.

use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::{NO_PAD, URL_SAFE_NO_PAD};
use base64_simd::AsOut as _;
use base64_turbo::URL_SAFE_NO_PAD as TURBO;
use data_encoding::BASE64URL_NOPAD as DATA_ENCODING;
use request_state_bench::clock::compare;

fn main() {
    let simd = base64::engine::Simd::url_safe(NO_PAD);
    println!("nanoseconds to encode and to decode, next to base64-turbo\n");
    for length in [100, 1024, 16 * 1024] {
        let bytes: Vec<u8> = (0..length)
            .map(|at: u32| (at * 7919).to_le_bytes()[1])
            .collect();
        let text = URL_SAFE_NO_PAD.encode(&bytes);
        let (bytes, text) = (bytes.as_slice(), text.as_bytes());
        let mut to = vec![0; 2 * bytes.len()];
        let mut turbo_to = to.clone();

        let mut encode = |name: &str, encode: &dyn Fn(&[u8], &mut [u8])| {
            let times = compare(
                || encode(black_box(bytes), &mut to),
                || TURBO.encode_slice(black_box(bytes), &mut turbo_to),
            );
            println!(
                "encode {length:>5} bytes, {name:<24}{:>8.0}{:>8.0}",
                times.work, times.baseline
            );
        };
        encode("base64, Simd", &|from, to| {
            simd.encode_slice(from, to).expect("room");
        });
        encode("base64, GeneralPurpose", &|from, to| {
            URL_SAFE_NO_PAD.encode_slice(from, to).expect("room");
        });
        encode("base64-simd", &|from, to| {
            let encoded = base64_simd::URL_SAFE_NO_PAD.encode(from, to.as_out());
            assert!(!encoded.is_empty());
        });
        encode("data-encoding", &|from, to| {
            DATA_ENCODING.encode_mut(from, &mut to[..text.len()]);
        });

        let mut decode = |name: &str, decode: &dyn Fn(&[u8], &mut [u8])| {
            let times = compare(
                || decode(black_box(text), &mut to),
                || TURBO.decode_slice(black_box(text), &mut turbo_to),
            );
            println!(
                "decode {length:>5} bytes, {name:<24}{:>8.0}{:>8.0}",
                times.work, times.baseline
            );
        };
        decode("base64, Simd", &|from, to| {
            simd.decode_slice(from, to).expect("base64url");
        });
        decode("base64, GeneralPurpose", &|from, to| {
            URL_SAFE_NO_PAD.decode_slice(from, to).expect("base64url");
        });
        decode("base64-simd", &|from, to| {
            let decoded = base64_simd::URL_SAFE_NO_PAD.decode(from, to.as_out());
            decoded.expect("base64url");
        });
        decode("data-encoding", &|from, to| {
            let decoded = DATA_ENCODING.decode_mut(from, &mut to[..bytes.len()]);
            decoded.expect("base64url");
        });
    }
}
