//! Keyrings from the environment, as a server starts up.

use std::process::Command;

use request_state::{AesGcmCodec, Keyring, Sealer};

use crate::fixtures::{Call, keys};

const VARIABLE: &str = "REQUEST_STATE_KEYS_OF_THIS_TEST";
const TOKEN: &str = "REQUEST_STATE_TOKEN_OF_THIS_TEST";

/// Runs in a process of its own, since setting a variable of this one is unsafe: see below.
#[test]
fn child_opens_with_the_ring_in_its_environment() {
    let Ok(token) = std::env::var(TOKEN) else {
        assert!(Keyring::from_env(VARIABLE).is_err());
        return;
    };
    let keys = Keyring::from_env(VARIABLE).unwrap();
    let sealer = Sealer::new("billing", AesGcmCodec::new(&keys)).unwrap();
    let opened = sealer.open::<String>(&token, &Call::default().binding());
    println!("opened: {}", opened.unwrap());
}

fn child(ring: &str) -> (bool, String) {
    let sealer = Sealer::new("billing", AesGcmCodec::new(&keys())).unwrap();
    let token = sealer.seal("state", &Call::default().binding()).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "keys::child_opens_with_the_ring_in_its_environment",
        ])
        .env(VARIABLE, ring)
        .env(TOKEN, token)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_ring_is_read_from_the_environment() {
    let (key_1, key_2) = ("01".repeat(32), "02".repeat(32));
    let (success, text) = child(&format!(" 2026-07:{key_2} ,\n2026-10:{key_1}\n"));
    assert!(success && text.contains("opened: state"), "{text}");
    let (success, text) = child(&format!("2026-10:{key_2}"));
    assert!(!success && text.contains("Invalid"), "{text}");
    let (success, text) = child(&format!("{key_1}:2026-10"));
    assert!(!success && text.contains(VARIABLE), "{text}");
    assert!(!text.contains("0101"), "{text}");
}
