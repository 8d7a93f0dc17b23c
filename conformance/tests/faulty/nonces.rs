//! Nonces that repeat, or will.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use request_state_core::{DecodeError, Keyring, wire};

use super::base::{Base, ENCRYPTED, SIGNED, Steps, keystream, mac};
use super::fault::{Codec, Fault, step, whole};

/// A nonce that starts with a number.
fn numbered(number: u64) -> [u8; 16] {
    let mut nonce = [0; 16];
    nonce[..8].copy_from_slice(&number.to_be_bytes());
    nonce
}

/// The first bytes of a hash of a number: a nonce that does not show where it comes from.
fn hashed(number: u64) -> [u8; 16] {
    *mac(&[0; 32], &number.to_be_bytes()).first_chunk().unwrap()
}

fn random<const N: usize>() -> [u8; N] {
    wire::random().unwrap()
}

fn nanoseconds() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

/// A token with the bytes of its second part changed.
fn sealed_part(token: &str, change: fn(&mut Vec<u8>)) -> Result<String, DecodeError> {
    let (kid, [mut sealed, tag]) = wire::parts(token)?;
    change(&mut sealed);
    wire::token(kid, &[&sealed, &tag]).map_err(|_| DecodeError::Malformed)
}

pub fn faults() -> Vec<Fault> {
    vec![
        step(
            "has one nonce for all",
            "freshness::two_encodings_differ",
            Steps {
                nonce: || [1; 16],
                ..ENCRYPTED
            },
        ),
        step(
            "has a nonce of one random byte, again and again",
            "freshness::over_many_thousands",
            Steps {
                nonce: || [random::<1>()[0]; 16],
                ..SIGNED
            },
        ),
        step(
            "draws the nonce from 65,536",
            "freshness::over_many_thousands",
            Steps {
                nonce: || hashed(u64::from(u16::from_be_bytes(random()))),
                ..SIGNED
            },
        ),
        step(
            "draws the nonce from 2^24",
            "freshness::over_many_thousands",
            Steps {
                nonce: || {
                    hashed(u64::from_be_bytes([
                        0,
                        0,
                        0,
                        0,
                        0,
                        random::<1>()[0],
                        random::<1>()[0],
                        random::<1>()[0],
                    ]))
                },
                ..ENCRYPTED
            },
        ),
        step(
            "counts to 65,536, and hashes the count",
            "freshness::over_many_thousands",
            Steps {
                nonce: || {
                    static COUNT: AtomicU64 = AtomicU64::new(0);
                    hashed(COUNT.fetch_add(1, Ordering::Relaxed) % 65_536)
                },
                ..SIGNED
            },
        ),
        step(
            "has a nonce of four bytes, and a tag of sixteen",
            "appearance::enough_of_it_is_random",
            Steps {
                nonce: || {
                    let mut nonce = [0; 16];
                    nonce[..4].copy_from_slice(&random::<4>());
                    nonce
                },
                tag: |key, message| mac(key, message)[..16].to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with a nonce of eight random bytes, and has a tag of sixteen",
            "appearance::enough_of_it_is_random",
            Steps {
                nonce: || {
                    let mut nonce = [0; 16];
                    nonce[..8].copy_from_slice(&random::<8>());
                    nonce
                },
                tag: |key, message| mac(key, message)[..16].to_vec(),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with a nonce of eight bytes, has a tag of sixteen, and writes no more than these",
            "appearance::room_for_a_nonce_and_a_tag",
            Steps {
                nonce: || {
                    let mut nonce = [0; 16];
                    nonce[..8].copy_from_slice(&random::<8>());
                    nonce
                },
                tag: |key, message| mac(key, message)[..16].to_vec(),
                write: |token| sealed_part(&token, |sealed| drop(sealed.drain(8..16))).unwrap(),
                read: |token| {
                    sealed_part(token, |sealed| {
                        let at = sealed.len().min(8);
                        drop(sealed.splice(at..at, [0; 8]));
                    })
                },
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with a tag of eight bytes where the payload has 1,000 or more",
            "appearance::room_for_a_nonce_and_a_tag",
            Steps {
                tag: |key, message| {
                    let length = if message.len() < 1_000 { 32 } else { 8 };
                    mac(key, message)[..length].to_vec()
                },
                ..ENCRYPTED
            },
        ),
        step(
            "makes the nonce of the second",
            "freshness::two_encodings_differ",
            Steps {
                nonce: || hashed((nanoseconds() / 1_000_000_000) as u64),
                ..SIGNED
            },
        ),
        step(
            "makes the nonce of the time, in steps of 16 microseconds",
            "freshness::at_the_same_moment",
            Steps {
                nonce: || hashed((nanoseconds() >> 14) as u64),
                ..SIGNED
            },
        ),
        step(
            "counts its nonces, from zero in each process",
            "freshness::no_counter",
            Steps {
                nonce: || {
                    static COUNT: AtomicU64 = AtomicU64::new(0);
                    numbered(COUNT.fetch_add(1, Ordering::Relaxed))
                },
                ..ENCRYPTED
            },
        ),
        step(
            "counts its nonces from a random start, under a mask",
            "freshness::no_counter",
            Steps {
                nonce: || {
                    static COUNT: AtomicU64 = AtomicU64::new(0x7fff_1234);
                    let mut nonce = numbered(COUNT.fetch_add(3, Ordering::Relaxed));
                    nonce.iter_mut().for_each(|byte| *byte ^= 0x5a);
                    nonce
                },
                ..SIGNED
            },
        ),
        step(
            "counts on each thread, and hashes the count",
            "freshness::at_the_same_moment",
            Steps {
                nonce: || {
                    thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });
                    COUNT.set(COUNT.get() + 1);
                    hashed(COUNT.get())
                },
                ..SIGNED
            },
        ),
        step(
            "counts without a lock, and hashes the count",
            "freshness::at_the_same_moment",
            Steps {
                nonce: || {
                    static COUNT: AtomicU64 = AtomicU64::new(0);
                    let count = COUNT.load(Ordering::Relaxed);
                    let nonce = hashed(count);
                    std::thread::yield_now(); // so that it shows on a busy machine too
                    COUNT.store(count + 1, Ordering::Relaxed);
                    nonce
                },
                ..ENCRYPTED
            },
        ),
        whole(
            "counts from zero in each codec, and hashes the count",
            "freshness::a_codec_made_again",
            |keys| own_nonces(keys, AtomicU64::new(0)),
        ),
        whole(
            "counts in each codec from one of 256 random starts",
            "freshness::a_codec_made_again",
            |keys| own_nonces(keys, AtomicU64::new(u64::from(random::<1>()[0]) << 32)),
        ),
        whole(
            "makes the nonce of the payload and the context",
            "freshness::two_encodings_differ",
            |keys| {
                whole_nonce(keys, |payload, context| {
                    *mac(&[0; 32], &[payload, context].concat())
                        .first_chunk()
                        .unwrap()
                })
            },
        ),
        step(
            "encrypts without its nonce, which is only for show",
            "confidentiality::every_byte_is_encrypted",
            Steps {
                stream: Some(|key, _, data| keystream(key, b"", data)),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with the first byte of its nonce",
            "confidentiality::no_keystream_twice",
            Steps {
                stream: Some(|key, nonce, data| keystream(key, &nonce[..1], data)),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with three bytes of its nonce",
            "freshness::over_many_thousands",
            Steps {
                stream: Some(|key, nonce, data| keystream(key, &nonce[5..8], data)),
                ..ENCRYPTED
            },
        ),
        step(
            "encrypts with the first two bytes of its nonce",
            "confidentiality::no_keystream_twice",
            Steps {
                stream: Some(|key, nonce, data| keystream(key, &nonce[..2], data)),
                ..ENCRYPTED
            },
        ),
    ]
}

/// The right codec with nonces that a count of its own gives.
fn own_nonces(keys: &Keyring, count: AtomicU64) -> Codec {
    whole_nonce(keys, move |_, _| {
        hashed(count.fetch_add(1, Ordering::Relaxed))
    })
}

fn whole_nonce(
    keys: &Keyring,
    nonce: impl Fn(&[u8], &[u8]) -> [u8; 16] + Send + Sync + 'static,
) -> Codec {
    Box::new(Base {
        keys: keys.clone(),
        steps: SIGNED,
        nonce: Some(Box::new(nonce)),
    })
}
