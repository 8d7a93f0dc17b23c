//! `Sealer::open_once`.

use std::time::Duration;

use request_state_core::{
    Binding, MemoryStore, OpenError, RedeemError, Request, RequestStateCodec, Sealer,
};
use serde_json::{Value, json};

use crate::kit::*;
use crate::stores::{Fault, Store, ready};

fn binding(params: &Value, principal: Option<&str>) -> Binding {
    let request = Request {
        version: VERSION,
        method: "tools/call",
        params,
        principal,
    };
    Binding::new(request).unwrap()
}

fn sealer_and_store() -> (Sealer<Ledger>, Store, Clock) {
    let clock = Clock::default();
    let sealer = sealer_behind(&clock, Duration::ZERO, &Ledger::default());
    (sealer, Store::new(&clock), clock)
}

fn open<C: RequestStateCodec>(
    sealer: &Sealer<C>,
    token: &str,
    binding: &Binding,
    store: &Store,
) -> Result<u32, RedeemError> {
    ready(sealer.open_once(token, binding, store))
}

#[test]
fn a_token_opens_once_and_each_token_by_itself() {
    let (sealer, store, _) = sealer_and_store();
    let binding = binding(&json!({}), ALICE);
    let tokens = [1, 1, 2].map(|state: u32| sealer.seal(&state, &binding).unwrap());
    for (token, state) in tokens.iter().zip([1, 1, 2]) {
        assert_eq!(open(&sealer, token, &binding, &store).unwrap(), state);
        let again = open(&sealer, token, &binding, &store).unwrap_err();
        assert!(matches!(again, RedeemError::AlreadyUsed));
        assert_eq!(
            (again.code(), again.to_string()),
            (-32602, OpenError::MESSAGE.into())
        );
    }
}

#[test]
fn what_does_not_open_is_not_used_up_and_costs_no_call() {
    let (sealer, store, clock) = sealer_and_store();
    let (ours, other) = (binding(&json!({}), ALICE), binding(&json!({"a": 1}), ALICE));
    let token = sealer.seal(&5u32, &ours).unwrap();
    for (token, binding) in [("junk", &ours), (&token, &other)] {
        let refused = open(&sealer, token, binding, &store).unwrap_err();
        assert!(matches!(refused, RedeemError::Refused(OpenError::Invalid)));
        assert_eq!(refused.code(), -32602);
    }
    let other_type = ready(sealer.open_once::<String>(&token, &ours, &store));
    assert!(matches!(other_type, Err(RedeemError::Refused(_))));
    assert_eq!(store.calls(), 0);
    assert_eq!(open(&sealer, &token, &ours, &store).unwrap(), 5);
    clock.advance(Duration::from_secs(300));
    let expired = open(&sealer, &token, &ours, &store).unwrap_err();
    assert!(matches!(expired, RedeemError::Refused(_)));
}

#[test]
fn an_outage_of_codec_or_store_is_unavailable() {
    let (sealer, store, _) = sealer_and_store();
    let binding = binding(&json!({}), ALICE);
    let token = sealer.seal(&5u32, &binding).unwrap();
    for fault in [Fault::Down, Fault::Forgot, Fault::AnswerLost] {
        store.set(fault);
        let error = open(&sealer, &token, &binding, &store).unwrap_err();
        assert!(matches!(error, RedeemError::Unavailable(_)), "{error:?}");
        assert_eq!(
            (error.code(), error.to_string()),
            (-32603, "Internal error".into())
        );
    }
    store.set(Fault::None);
    let down = Sealer::new("billing", Down).unwrap();
    store.calls();
    let error = open(&down, &token, &binding, &store).unwrap_err();
    assert!(matches!(error, RedeemError::Unavailable(_)));
    assert_eq!(store.calls(), 0);
    assert_eq!(open(&sealer, &token, &binding, &store).unwrap(), 5);
}

#[test]
fn a_token_that_expires_while_it_is_redeemed_does_not_count() {
    for (ms, counts) in [(299_999, true), (300_000, false), (3_600_000, false)] {
        let (sealer, store, _) = sealer_and_store();
        let binding = binding(&json!({}), ALICE);
        let token = sealer.seal(&5u32, &binding).unwrap();
        store.set(Fault::Slow(Duration::from_millis(ms)));
        match open(&sealer, &token, &binding, &store) {
            Ok(_) => assert!(counts, "{ms}"),
            Err(RedeemError::Unavailable(_)) => assert!(!counts, "{ms}"),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn an_id_is_kept_for_two_minutes_beyond_the_expiry() {
    for (principal, ttl) in [(ALICE, 300_000), (None, 60_000)] {
        let (clock, ledger) = (Clock::default(), Ledger::default());
        let sealer = sealer_behind(&clock, Duration::ZERO, &ledger);
        let time = clock.clone();
        let store = MemoryStore::with_clock(10, move || time.now());
        let binding = binding(&json!({}), principal);
        let token = sealer.seal(&5u32, &binding).unwrap();
        clock.advance(Duration::from_millis(ttl - 1));
        assert_eq!(
            ready(sealer.open_once::<u32>(&token, &binding, &store)).unwrap(),
            5
        );
        // Another replica, whose clock is behind.
        let skew = Duration::from_secs(119);
        let late = sealer_behind(&clock, skew, &ledger);
        clock.advance(skew);
        let again = ready(late.open_once::<u32>(&token, &binding, &store));
        assert!(matches!(again, Err(RedeemError::AlreadyUsed)), "{again:?}");
        assert_eq!(store.len(), 1);
        clock.advance(Duration::from_millis(2_000));
        let other = sealer.seal(&6u32, &binding).unwrap();
        assert!(ready(sealer.open_once::<u32>(&other, &binding, &store)).is_ok());
    }
}
