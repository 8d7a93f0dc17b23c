//! What an entry is found by.

use super::base::{RIGHT, Steps};
use super::fault::{Fault, step};

pub fn faults() -> Vec<Fault> {
    const BITS: &str = "claims::every_bit_of_the_id";
    const ORDER: &str = "claims::bytes_in_another_order";
    vec![
        keyed("keys by the first half of the id", BITS, |id| {
            id[..16].to_vec()
        }),
        keyed("keys by all but the last byte of the id", BITS, |id| {
            id[..31].to_vec()
        }),
        keyed("keys by all but the first bit of the id", BITS, |id| {
            [&[id[0] & 0x7f], &id[1..]].concat()
        }),
        keyed("keys by the id as text", BITS, |id| {
            String::from_utf8_lossy(id).into_owned().into_bytes()
        }),
        keyed("keys by the id without regard to case", BITS, |id| {
            id.to_ascii_lowercase()
        }),
        keyed("keys by the id up to a zero", BITS, |id| {
            id.iter().copied().take_while(|byte| *byte != 0).collect()
        }),
        keyed(
            "keys by the id in hexadecimal, cut to 63 digits",
            BITS,
            |id| {
                let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
                digits.as_bytes()[..63].to_vec()
            },
        ),
        keyed(
            "keys by the id in hexadecimal without leading zeros",
            ORDER,
            |id| {
                id.iter()
                    .flat_map(|byte| format!("{byte:x}").into_bytes())
                    .collect::<Vec<_>>()[..40]
                    .to_vec()
            },
        ),
        keyed(
            "keys by the exclusive or of all words of 32 bits",
            ORDER,
            |id| {
                let words = id
                    .chunks(4)
                    .map(|word| u32::from_be_bytes(word.try_into().unwrap()));
                words.fold(0, |a, b| a ^ b).to_be_bytes().into()
            },
        ),
        keyed(
            "keys by the sum of the bytes and of their squares",
            ORDER,
            |id| {
                let of = |power| {
                    id.iter()
                        .map(|byte| u64::from(*byte).pow(power))
                        .sum::<u64>()
                };
                [
                    of(1).to_be_bytes(),
                    of(2).to_be_bytes(),
                    of(3).to_be_bytes(),
                ]
                .concat()
            },
        ),
        keyed(
            "keys by a hash of 16 bits",
            "keeping::thousands_of_entries",
            |id| {
                let hash = id.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                    (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
                });
                (hash >> 40).to_be_bytes()[6..].to_vec()
            },
        ),
    ]
}

fn keyed(about: &'static str, found_by: &'static str, key: fn(&[u8; 32]) -> Vec<u8>) -> Fault {
    step(about, found_by, Steps { key, ..RIGHT })
}
