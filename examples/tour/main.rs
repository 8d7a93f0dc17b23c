//! A bank transfer over three rounds of questions, as MCP messages, under every backend. It then
//! runs attacks on the transfer, each as a message that a client could send, and prints the
//! results.
//!
//! ```text
//! cargo run --example tour --features hmac,ring
//! ```
//!
//! The example exits with an error if one answer, or one reason in the log, is not as expected.
#![allow(clippy::indexing_slicing)] // indexing a `Value` does not panic

mod attacks;
mod messages;
mod once;
mod server;
mod table;

use std::error::Error;
use std::time::SystemTime;

use request_state::{
    AesGcmCodec, HmacCodec, Key, Keyring, OpenError, RequestStateCodec, RingCodec,
};

use messages::{converse, gist, peek, print, print_gist, request};
use server::Bank;
use table::{Table, capture_log};

/// The server's name, the same on all its replicas.
const NAME: &str = "bank.example";

/// The user, as named by the transport's authentication.
const ALICE: &str = "user:alice";

struct Backend {
    name: &'static str,
    /// The algorithm. Backends of the same algorithm open each other's tokens.
    algorithm: &'static str,
    /// Whether clients are unable to read the backend's tokens.
    encrypts: bool,
    codec: fn(&Keyring) -> Box<dyn RequestStateCodec>,
}

const BACKENDS: [Backend; 4] = [
    Backend {
        name: "AesGcmCodec",
        algorithm: "AES-256-GCM",
        encrypts: true,
        codec: |keys| Box::new(AesGcmCodec::new(keys)),
    },
    Backend {
        name: "HmacCodec",
        algorithm: "HMAC-SHA256",
        encrypts: false,
        codec: |keys| Box::new(HmacCodec::new(keys)),
    },
    Backend {
        name: "RingCodec",
        algorithm: "AES-256-GCM",
        encrypts: true,
        codec: |keys| Box::new(RingCodec::new(keys)),
    },
    Backend {
        name: "RingCodec (ChaCha20)",
        algorithm: "ChaCha20-Poly1305",
        encrypts: true,
        codec: |keys| Box::new(RingCodec::chacha20_poly1305(keys)),
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    capture_log();
    let now = SystemTime::now();
    // One keyring is safe under every backend, because each derives its own key.
    let keys = Keyring::new([("2026-10", Key::generate()?)])?;
    let mut table = Table::default();
    for (number, backend) in BACKENDS.iter().enumerate() {
        println!("==== {}: {} ====\n", backend.name, backend.algorithm);
        let bank = Bank::new(NAME, (backend.codec)(&keys))?;
        let talk = converse(&request(10), |message| {
            bank.handle(message, Some(ALICE), now)
        });
        for (sent, answer) in &talk {
            if number == 0 {
                print("->", sent);
                print("<-", answer);
            } else {
                print_gist(sent, answer);
            }
        }
        let (last, answer) = talk.last().ok_or("nothing was sent")?;
        let token = last["params"]["requestState"].as_str().unwrap_or_default();
        println!("\nThe last token, decoded: {}\n", peek(token));

        table.header();
        table.row(
            "none: the conversation above",
            &gist(answer),
            "complete",
            "",
        );
        attacks::run(backend, &keys, last, now, &mut table)?;
        println!();
    }
    let Table { rows, wrong } = table;
    if wrong > 0 {
        return Err(format!("{wrong} of {rows} rows are not as expected").into());
    }
    println!(
        "{rows} rows, all as expected.\n\
         \"refused\" is one and the same error for every cause: {} {}.\n\
         Without single use, a token opens as often as it is sent, until it expires.",
        OpenError::CODE,
        OpenError::MESSAGE,
    );
    Ok(())
}
