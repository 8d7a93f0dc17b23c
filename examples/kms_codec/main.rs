//! A codec whose keys are in a key management service, tested with the conformance suite.
//!
//! `cargo run --example kms_codec` prints the report. `docs/custom-codec.md` explains `codec.rs`.
//! `kms.rs` is an in-memory stand-in for your service.

mod codec;
mod kms;

use std::error::Error;

use codec::KmsCodec;
use kms::Kms;
use request_state_conformance::check_keyless;

fn main() -> Result<(), Box<dyn Error>> {
    let kms = Kms::start()?;
    let report = check_keyless(|| KmsCodec(kms.clone()));
    println!("{report}");
    if report.is_ok() {
        Ok(())
    } else {
        Err("the codec does not conform".into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use request_state::{DecodeError, EncodeError, RequestStateCodec};

    use super::*;

    static KMS: LazyLock<Kms> = LazyLock::new(|| Kms::start().unwrap());

    request_state_conformance::suite!(conforms, keyless: || KmsCodec(KMS.clone()));

    #[test]
    fn an_outage_says_nothing_about_a_token() {
        let token = KmsCodec(KMS.clone()).encode(b"payload", b"").unwrap();
        let mut kms = KMS.clone();
        kms.is_reachable = false;
        let codec = KmsCodec(kms);
        let sealed = codec.encode(b"payload", b"");
        assert!(matches!(sealed, Err(EncodeError::Unavailable(_))));
        let opened = codec.decode(&token, b"");
        assert!(matches!(opened, Err(DecodeError::Unavailable(_))));
        // A string that is not a token does not cost a call to the service, so it is rejected
        // during an outage, too.
        let junk = codec.decode("kms.AAAA.AAAA", b"");
        assert!(matches!(junk, Err(DecodeError::Malformed)));
    }

    #[test]
    fn another_service_refuses() {
        let token = KmsCodec(KMS.clone()).encode(b"payload", b"").unwrap();
        let other = KmsCodec(Kms::start().unwrap());
        let opened = other.decode(&token, b"");
        assert!(matches!(opened, Err(DecodeError::Unauthentic)));
    }

    /// Checks that the page shows the tested code.
    #[test]
    fn the_page_quotes_the_codec() {
        let page = include_str!("../../docs/custom-codec.md");
        let quoted = format!("```rust,ignore\n{}```\n", include_str!("codec.rs"));
        assert!(
            page.contains(&quoted),
            "docs/custom-codec.md is not codec.rs"
        );
    }
}
