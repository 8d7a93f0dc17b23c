//! Nothing secret is printed: not by `Debug`, not by `Display`, not by an error.

use request_state::{
    AesGcmCodec, Binding, BindingError, DefaultCodec, HmacCodec, Key, Keyring, Request, RingCodec,
    Sealer,
};
use serde_json::json;

use crate::fixtures::{Call, key, keys};

/// A byte of every key, in each spelling that a dump could have.
fn holds_a_key(text: &str) -> bool {
    let byte = |n: u8| {
        [
            format!("{n}, {n}, {n}"),
            format!("{n:02x}{n:02x}{n:02x}"),
            format!("0x{n:02x}"),
            format!("{n:02X}{n:02X}"),
        ]
    };
    [
        [byte(171), byte(205)].concat(),
        vec!["q6ur".into(), "zc3N".into()],
    ]
    .concat()
    .iter()
    .any(|spelling| text.contains(spelling.as_str()))
}

#[test]
fn debug_of_what_holds_a_key_prints_none() {
    let keys = Keyring::new([("a", key(171)), ("b", key(205))]).unwrap();
    let sealer = Sealer::builder("billing", AesGcmCodec::new(&keys));
    for text in [
        format!("{:?} {:#?}", key(171), key(205)),
        format!("{keys:?} {keys:#?}"),
        format!("{:?}", AesGcmCodec::new(&keys)),
        format!("{:#?}", RingCodec::new(&keys)),
        format!("{:?}", RingCodec::chacha20_poly1305(&keys)),
        format!("{:?}", HmacCodec::new(&keys)),
        format!("{:?}", DefaultCodec::new(&keys)),
        format!("{sealer:?}"),
        format!("{:?}", sealer.build().unwrap()),
    ] {
        assert!(!holds_a_key(&text), "{text}");
        assert!(!text.is_empty());
    }
    // The check itself sees a key.
    assert!(holds_a_key(&format!("{:?}", [171u8; 32])));
    assert!(holds_a_key(&"ab".repeat(32)));
}

#[test]
fn debug_of_a_request_prints_neither_params_nor_principal() {
    let params = json!({"name": "TOP-SECRET-PARAM"});
    let request = Request {
        version: "2026-07-28",
        method: "tools/call",
        params: &params,
        principal: Some("user:alice"),
    };
    let binding = Binding::new(request).unwrap();
    let text = format!("{request:?} {binding:?} {binding:#?}");
    assert!(
        !text.contains("SECRET") && !text.contains("alice"),
        "{text}"
    );
    assert!(text.contains("tools/call"), "{text}");
}

#[test]
fn errors_print_no_value() {
    let sealer = Sealer::new("billing", AesGcmCodec::new(&keys())).unwrap();
    let call = Call::default();
    let secret = std::collections::BTreeMap::from([("TOP-SECRET-KEY", f64::NAN)]);
    let errors = [
        format!(
            "{0} {0:?}",
            sealer.seal(&secret, &call.binding()).unwrap_err()
        ),
        format!(
            "{0} {0:?}",
            sealer
                .seal(&"TOP-SECRET".repeat(9_999), &call.binding())
                .unwrap_err()
        ),
        format!("{0} {0:?}", bind(&secret).unwrap_err()),
        format!("{0} {0:?}", bind("TOP-SECRET").unwrap_err()),
        format!(
            "{0} {0:?}",
            sealer
                .open::<u8>("TOP-SECRET.AAAA", &call.binding())
                .unwrap_err()
        ),
        format!("{0} {0:?}", "TOP-SECRET".parse::<Key>().unwrap_err()),
        format!("{0} {0:?}", "a:TOP-SECRET".parse::<Keyring>().unwrap_err()),
        format!("{0} {0:?}", "TOP-SECRET:a".parse::<Keyring>().unwrap_err()),
        format!("{0} {0:?}", keys().sealing_with("TOP-SECRET").unwrap_err()),
    ];
    for error in errors {
        assert!(!error.contains("SECRET"), "{error}");
    }
}

fn bind<P: serde::Serialize + ?Sized>(params: &P) -> Result<Binding, BindingError> {
    Binding::new(Request {
        version: "2026-07-28",
        method: "tools/call",
        params,
        principal: Some("user:alice"),
    })
}

#[test]
fn empty_names_are_refused() {
    let bind = |version, method, principal| {
        Binding::new(Request {
            version,
            method,
            params: &(),
            principal,
        })
        .map(|_| ())
    };
    assert_eq!(bind("v", "m", None), Ok(()));
    assert_eq!(bind("", "m", None), Err(BindingError::EmptyVersion));
    assert_eq!(bind("v", "", None), Err(BindingError::EmptyMethod));
    assert_eq!(bind("v", "m", Some("")), Err(BindingError::EmptyPrincipal));
}
