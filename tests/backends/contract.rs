//! What `open` answers, under every backend.

use std::time::{Duration, UNIX_EPOCH};

use crate::fixtures::{Call, at, codecs, key, keys, typed};
use request_state::{
    AesGcmCodec, ConfigError, Disclosure, HmacCodec, Keyring, OpenError, SealError, Sealer,
};
use serde_json::{Value, json};

const NOW: u64 = 1_790_000_000_000;

#[test]
fn a_state_comes_back_under_every_backend() {
    let binding = Call::default().binding();
    let state = json!({"step": 2, "answers": {"otp": "123 456", "ok": true, "rate": 0.1}});
    for (name, codec) in codecs(&keys()) {
        let sealer = Sealer::new("billing", codec).unwrap();
        let token = sealer.seal(&state, &binding).unwrap();
        assert!(token.starts_with("2026-10."), "{name}");
        assert_eq!(sealer.open(&token, &binding), Ok(state.clone()), "{name}");
        // The next round is sealed afresh under the same binding.
        assert_ne!(sealer.seal(&state, &binding).unwrap(), token, "{name}");
    }
}

#[test]
fn any_other_request_is_refused() {
    let call = Call::default();
    let with = |change: fn(&mut Call)| {
        let mut other = call.clone();
        change(&mut other);
        other.binding()
    };
    let others = [
        ("version", with(|c| c.version = "2026-07-29")),
        ("method", with(|c| c.method = "prompts/get")),
        ("principal", with(|c| c.principal = Some("user:bob"))),
        ("anonymous", with(|c| c.principal = None)),
        ("tool", with(|c| c.params["name"] = json!("withdraw"))),
        (
            "amount",
            with(|c| c.params["arguments"]["amount"] = json!(11)),
        ),
        (
            "type",
            with(|c| c.params["arguments"]["amount"] = json!("10")),
        ),
        (
            "more",
            with(|c| c.params["arguments"]["memo"] = json!(null)),
        ),
        (
            "less",
            with(|c| c.params["arguments"] = json!({"amount": 10})),
        ),
        // Parts that could be read as one another if they were joined without their lengths.
        (
            "shift 1",
            with(|c| (c.version, c.method) = ("2026-07-28t", "ools/call")),
        ),
        (
            "shift 2",
            with(|c| (c.version, c.method) = ("2026-07-2", "8tools/call")),
        ),
    ];
    for (name, codec) in codecs(&keys()) {
        let disclosure = codec.disclosure();
        let sealer = typed(codec).build().unwrap();
        let token = sealer.seal_at("state", &call.binding(), at(NOW)).unwrap();
        for (change, binding) in &others {
            let answer = sealer.open_at::<String>(&token, binding, at(NOW));
            // An opaque codec cannot tell another version or method from a forgery.
            let opaque = disclosure == Disclosure::Opaque
                && matches!(*change, "version" | "method" | "shift 1" | "shift 2");
            let expected = if opaque {
                OpenError::Invalid
            } else {
                OpenError::Mismatch
            };
            assert_eq!(answer, Err(expected), "{name}: {change}");
        }
        let same = with(|c| {
            c.params["arguments"]["amount"] = json!(10.0);
            c.params["_meta"] = json!({"progressToken": 7});
            c.params["inputResponses"] = json!({"otp": {"action": "accept"}});
            c.params["requestState"] = json!("anything");
            c.params["cursor"] = json!(null);
        });
        assert_eq!(
            sealer.open_at(&token, &same, at(NOW)),
            Ok("state".to_owned()),
            "{name}"
        );
    }
}

#[test]
fn another_server_is_refused() {
    let binding = Call::default().binding();
    for (name, codec) in codecs(&keys()) {
        let billing = typed(&codec).build().unwrap();
        let payroll = Sealer::builder("payroll", &codec)
            .disclosure(Disclosure::Typed)
            .build()
            .unwrap();
        let token = billing.seal("state", &binding).unwrap();
        let expected = match codec.disclosure() {
            Disclosure::Typed => OpenError::Mismatch,
            Disclosure::Opaque => OpenError::Invalid,
        };
        assert_eq!(
            payroll.open::<String>(&token, &binding),
            Err(expected),
            "{name}"
        );
    }
}

#[test]
fn a_token_expires_to_the_millisecond() {
    for (call, ttl) in [
        (Call::default(), 300_000),
        (
            Call {
                principal: None,
                ..Call::default()
            },
            60_000,
        ),
    ] {
        let binding = call.binding();
        for (name, codec) in codecs(&keys()) {
            let sealer = typed(codec).build().unwrap();
            let opens = |token: &str, now| sealer.open_at::<Value>(token, &binding, now);
            // The fraction of a millisecond is dropped on both sides.
            let sealed_at = at(NOW) + Duration::from_nanos(999_999);
            let token = sealer.seal_at(&json!(1), &binding, sealed_at).unwrap();
            let last = at(NOW + ttl - 1) + Duration::from_nanos(999_999);
            assert_eq!(opens(&token, last), Ok(json!(1)), "{name}");
            assert_eq!(
                opens(&token, at(NOW + ttl)),
                Err(OpenError::Expired),
                "{name}"
            );
            // A clock that lags by up to a minute opens it, and no further.
            assert_eq!(opens(&token, at(NOW - 60_000)), Ok(json!(1)), "{name}");
            assert_eq!(
                opens(&token, at(NOW - 60_001)),
                Err(OpenError::Invalid),
                "{name}"
            );
        }
    }
}

#[test]
fn times_that_no_clock_should_say() {
    let binding = Call::default().binding();
    let before_1970 = UNIX_EPOCH - Duration::from_nanos(1);
    let far = UNIX_EPOCH + Duration::from_secs(u64::MAX / 2); // more milliseconds than 64 bits hold
    for (name, codec) in codecs(&keys()) {
        let sealer = typed(codec).build().unwrap();
        let at_epoch = sealer.seal_at(&1, &binding, UNIX_EPOCH).unwrap();
        assert_eq!(
            sealer.open_at(&at_epoch, &binding, UNIX_EPOCH),
            Ok(1),
            "{name}"
        );
        let refused = sealer.open_at::<i32>(&at_epoch, &binding, before_1970);
        assert_eq!(refused, Err(OpenError::Invalid), "{name}");
        let late = sealer.open_at::<i32>(&at_epoch, &binding, far);
        assert_eq!(late, Err(OpenError::Expired), "{name}");
        for now in [before_1970, far] {
            let sealed = sealer.seal_at(&1, &binding, now);
            assert!(matches!(sealed, Err(SealError::Clock)), "{name}");
        }
    }
}

#[test]
fn the_first_check_that_fails_decides() {
    let call = Call::default();
    let other_user = Call {
        principal: Some("user:bob"),
        ..call.clone()
    };
    let other_request = Call {
        params: json!({"name": "x"}),
        ..call.clone()
    };
    let late = at(NOW + 300_000);
    for (name, codec) in codecs(&keys()) {
        let sealer = typed(codec).build().unwrap();
        let open = |token: &str, call: &Call, now| {
            sealer
                .open_at::<i32>(token, &call.binding(), now)
                .unwrap_err()
        };
        // Not a number, for another user, of another request, too late.
        let token = sealer.seal_at("text", &call.binding(), at(NOW)).unwrap();
        assert_eq!(
            open(&token, &other_user, late),
            OpenError::Mismatch,
            "{name}"
        );
        assert_eq!(
            open(&token, &other_request, late),
            OpenError::Mismatch,
            "{name}"
        );
        assert_eq!(open(&token, &call, late), OpenError::Expired, "{name}");
        assert_eq!(open(&token, &call, at(NOW)), OpenError::Invalid, "{name}");
        let forged = format!("{token}A");
        assert_eq!(
            open(&forged, &other_user, late),
            OpenError::Invalid,
            "{name}"
        );
    }
}

#[test]
fn opaque_sealers_say_invalid_and_nothing_else() {
    let call = Call::default();
    let other_user = Call {
        principal: Some("user:bob"),
        ..call.clone()
    };
    for (name, codec) in codecs(&keys()) {
        let sealer = Sealer::builder("billing", codec)
            .disclosure(Disclosure::Opaque)
            .build()
            .unwrap();
        let token = sealer.seal_at(&1, &call.binding(), at(NOW)).unwrap();
        for (call, now) in [(&other_user, at(NOW)), (&call, at(NOW + 300_000))] {
            let answer = sealer.open_at::<i32>(&token, &call.binding(), now);
            assert_eq!(answer, Err(OpenError::Invalid), "{name}");
        }
    }
}

#[test]
fn disclosure_is_the_codecs_unless_asked() {
    let call = Call::default();
    let bob = Call {
        principal: Some("user:bob"),
        ..call.clone()
    }
    .binding();
    let aead = Sealer::new("billing", AesGcmCodec::new(&keys())).unwrap();
    let token = aead.seal(&1, &call.binding()).unwrap();
    assert_eq!(aead.open::<i32>(&token, &bob), Err(OpenError::Invalid));
    let hmac = Sealer::new("billing", HmacCodec::new(&keys())).unwrap();
    let token = hmac.seal(&1, &call.binding()).unwrap();
    assert_eq!(hmac.open::<i32>(&token, &bob), Err(OpenError::Mismatch));
}

#[test]
fn every_refusal_prints_the_same() {
    for error in [OpenError::Invalid, OpenError::Mismatch, OpenError::Expired] {
        assert_eq!(error.to_string(), "Invalid or expired requestState");
    }
}

#[test]
fn the_limit_itself_passes() {
    let binding = Call::default().binding();
    for (name, codec) in codecs(&keys()) {
        let roomy = Sealer::new("billing", &codec).unwrap();
        let state = "x".repeat(1000);
        let token = roomy.seal(&state, &binding).unwrap();
        let sealer = |limit| {
            Sealer::builder("billing", &codec)
                .max_token_len(limit)
                .build()
                .unwrap()
        };
        let exact = sealer(token.len());
        let again = exact.seal(&state, &binding).unwrap();
        assert_eq!(again.len(), token.len(), "{name}");
        assert_eq!(exact.open(&again, &binding), Ok(state.clone()), "{name}");
        let short = sealer(token.len() - 1);
        assert!(short.open::<String>(&token, &binding).is_err(), "{name}");
        assert_eq!(
            short.seal(&state, &binding).unwrap_err().to_string(),
            format!(
                "the token would be {} bytes long; max_token_len is {}",
                token.len(),
                token.len() - 1
            )
        );
    }
}

#[test]
fn the_largest_state_passes_and_one_byte_more_does_not() {
    let binding = Call::default().binding();
    for (name, codec) in codecs(&keys()) {
        let sealer = Sealer::new("billing", codec).unwrap();
        let fits = |length: usize| {
            let state = "x".repeat(length);
            match sealer.seal(&state, &binding) {
                Ok(token) => {
                    assert!(token.len() <= 65_536, "{name}");
                    assert_eq!(sealer.open(&token, &binding), Ok(state), "{name}");
                    true
                }
                Err(SealError::TooLong { length, limit }) => {
                    assert!(length > limit && limit == 65_536, "{name}");
                    false
                }
                Err(error) => panic!("{name}: {error}"),
            }
        };
        // The lengths from which on no state fits are found, not assumed.
        let (mut low, mut high) = (40_000, 50_000);
        assert!(fits(low) && !fits(high), "{name}");
        while high - low > 1 {
            let middle = (low + high) / 2;
            if fits(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        println!("{name}: the largest string in a state of its own is {low} bytes");
    }
}

#[test]
fn bad_settings_are_named() {
    let build = |server: &str, ttl: Duration, anonymous: Duration, limit| {
        Sealer::builder(server, AesGcmCodec::new(&keys()))
            .ttl(ttl)
            .anonymous_ttl(anonymous)
            .max_token_len(limit)
            .build()
            .map(|_| ())
    };
    let minute = Duration::from_secs(60);
    let ten_years = Duration::from_secs(315_576_000);
    assert!(build("s", Duration::from_millis(1), ten_years, 64).is_ok());
    assert_eq!(build("", minute, minute, 64), Err(ConfigError::EmptyServer));
    let nearly = Duration::from_nanos(999_999);
    let above = ten_years + Duration::from_nanos(1);
    for ttl in [Duration::ZERO, nearly, above, Duration::MAX] {
        assert_eq!(build("s", ttl, minute, 64), Err(ConfigError::Ttl { ttl }));
        assert_eq!(
            build("s", minute, ttl, 64),
            Err(ConfigError::AnonymousTtl { ttl })
        );
    }
    let error = build("s", minute, minute, 63).unwrap_err();
    assert_eq!(
        error.to_string(),
        "max_token_len is 63 bytes; the minimum is 64"
    );
}

#[test]
fn keys_open_what_they_sealed_and_nothing_else() {
    let binding = Call::default().binding();
    let other_ring = Keyring::new([("2026-10", key(9))]).unwrap();
    let unknown = Keyring::new([("2026-11", key(1))]).unwrap();
    let old_first = keys().sealing_with("2026-07").unwrap();
    for (at, (name, codec)) in codecs(&keys()).into_iter().enumerate() {
        let sealer = Sealer::new("billing", codec).unwrap();
        let token = sealer.seal(&1, &binding).unwrap();
        let opened_by = |keys: &Keyring, token: &str| {
            let [codec] = codecs(keys)
                .into_iter()
                .skip(at)
                .take(1)
                .collect::<Vec<_>>()
                .try_into()
                .ok()
                .unwrap();
            Sealer::new("billing", codec.1)
                .unwrap()
                .open::<i32>(token, &binding)
        };
        assert_eq!(opened_by(&old_first, &token), Ok(1), "{name}");
        assert!(opened_by(&other_ring, &token).is_err(), "{name}");
        assert!(opened_by(&unknown, &token).is_err(), "{name}");
        let relabelled = token.replacen("2026-10", "2026-07", 1);
        assert!(opened_by(&keys(), &relabelled).is_err(), "{name}");
        let relabelled = token.replacen("2026-10", "2026-11", 1);
        assert!(
            opened_by(&unknown, &relabelled).is_err(),
            "{name}: the kid is authenticated"
        );
    }
}

#[test]
fn every_single_edit_of_a_token_is_refused() {
    let binding = Call::default().binding();
    for (name, codec) in codecs(&keys()) {
        let sealer = Sealer::new("billing", codec).unwrap();
        let token = sealer.seal(&7, &binding).unwrap();
        let refused = |edited: &str| {
            assert!(
                sealer.open::<i32>(edited, &binding).is_err(),
                "{name}: {edited}"
            );
        };
        for position in 0..token.len() {
            let (head, tail) = token.split_at(position);
            let rest = &tail[1..];
            for other in "ABmz059-_.+/= é\0"
                .chars()
                .filter(|c| !tail.starts_with(*c))
            {
                refused(&format!("{head}{other}{rest}"));
                refused(&format!("{head}{other}{tail}"));
            }
            refused(head);
            refused(tail.get(1..).unwrap());
            refused(&format!("{head}{rest}"));
        }
        for more in ["A", "=", ".", " ", "\n", &token] {
            refused(&format!("{token}{more}"));
        }
        assert_eq!(sealer.open(&token, &binding), Ok(7), "{name}");
    }
}

#[test]
fn junk_is_refused_without_panic() {
    let binding = Call::default().binding();
    let megabytes = "A".repeat(4 << 20);
    for (name, codec) in codecs(&keys()) {
        let sealer = Sealer::builder("billing", codec)
            .max_token_len(usize::MAX)
            .build()
            .unwrap();
        for junk in [
            "",
            ".",
            "..",
            "...",
            "a",
            "2026-10",
            "2026-10.",
            "2026-10..",
            "2026-10.A",
            ".A",
            "2026-10.A.A",
            "2026-10.AA.AA",
            "é.é",
            "\0.\0",
            "2026-10.é",
            "null",
            "{}",
            "2026-10.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            &"2026-10.".repeat(1000),
            &".".repeat(100_000),
            &megabytes,
            &format!("2026-10.{megabytes}"),
            &format!("2026-10.{megabytes}.{megabytes}"),
            &format!("2026-10.{megabytes}.{}", "A".repeat(64)),
        ] {
            let answer = sealer.open::<Value>(junk, &binding);
            assert_eq!(answer, Err(OpenError::Invalid), "{name}: {:.40}", junk);
        }
    }
}
