//! The attacks. Each is a message that a client can send, as text, to a server that it can reach.

use std::error::Error;
use std::time::{Duration, SystemTime};

use request_state::{Key, Keyring};
use serde_json::{Value, json};

use crate::messages::{BANK, converse, gist, peek, request};
use crate::once::OnceBank;
use crate::server::{Bank, TTL};
use crate::table::Table;
use crate::{ALICE, BACKENDS, Backend, NAME};

const STATE: &str = "/params/requestState";
const TOOL: &str = "/params/name";
const AMOUNT: &str = "/params/arguments/amount";
const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Attacks the last message of a conversation that took place at `now`, which is the message that
/// moves the money.
pub fn run(
    backend: &Backend,
    keys: &Keyring,
    last: &Value,
    now: SystemTime,
    table: &mut Table,
) -> Result<(), Box<dyn Error>> {
    let server = |name, keys: &Keyring| Bank::new(name, (backend.codec)(keys));
    let bank = server(NAME, keys)?;
    let alice = Some(ALICE);

    // An AEAD keeps the digests of the user and the request inside the token, so the log names the
    // part that differs. With HMAC they are not in the token, so that a reader of the token cannot
    // test a guess.
    let (user, request, context) = if backend.encrypts {
        ("principal", "request", "unauthentic")
    } else {
        ("other_context", "other_context", "other_context")
    };

    // Other messages, from the same user at the same time.
    let token = last["params"]["requestState"].as_str().unwrap_or_default();
    let bit = quoted(&flip(token, token.len() / 2));
    let cut = quoted(&token.chars().take(24).collect::<String>());
    let vast = last_message(&bank, 9_007_199_254_740_992, now)?;
    let vaster = set(&vast, AMOUNT, "9007199254740993")?;
    let with = |member, json: &str| set(last, member, json);
    let renamed = last.to_string().replace(
        r#""inputResponses":{"code":"#,
        r#""inputResponses":{"amount":"#,
    );
    #[rustfmt::skip]
    let messages = [
        ("one bit of the token flipped", with(STATE, &bit)?, "refused", "unauthentic"),
        ("token cut short", with(STATE, &cut)?, "refused", "malformed"),
        ("requestState a number", with(STATE, "4711")?, "refused", "not_a_string"),
        ("an accept that nobody asked for", with(STATE, "null")?, "asks bank", "answers_without_state"),
        ("an answer under another name", renamed, "asks code", "answers_not_asked"),
        ("another tool", with(TOOL, r#""transfer_abroad""#)?, "refused", request),
        ("another amount", with(AMOUNT, "11")?, "refused", request),
        ("amount 10.0 for 10: the same", with(AMOUNT, "10.0")?, "complete", ""),
        ("members in another order: the same", backwards(last), "complete", ""),
        ("amount 9007199254740992, as asked for", vast.to_string(), "complete", ""),
        ("amount 9007199254740993 instead", vaster, "refused", request),
        ("another protocol version", with(VERSION, r#""2025-11-25""#)?, "refused", context),
    ];
    for (attack, message, expected, reason) in messages {
        let answer = bank.handle(&serde_json::from_str(&message)?, alice, now);
        table.row(attack, &gist(&answer), expected, reason);
    }

    // Every character of the token in turn, including the kid and the dots.
    let mut accepted = 0usize;
    for place in 0..token.len() {
        let message = with(STATE, &quoted(&flip(token, place)))?;
        let answer = bank.handle(&serde_json::from_str(&message)?, alice, now);
        accepted = accepted.saturating_add(usize::from(gist(&answer) != "refused"));
    }
    let attack = format!("each of {} characters changed", token.len());
    let reasons = "malformed, unauthentic, unknown_key";
    table.row(&attack, &format!("{accepted} pass"), "0 pass", reasons);

    // The same message to another server, from another user, or later.
    let shop = server("shop.example", keys)?;
    let rekeyed = server(NAME, &Keyring::new([(keys.sealing().0, Key::generate()?)])?)?;
    let restarted = server(NAME, &Keyring::ephemeral()?)?;
    let after = |age| now.checked_add(age).ok_or("the clock is out of range");
    let expiry = after(TTL)?;
    let in_time = after(TTL.saturating_sub(Duration::from_secs(1)))?;
    #[rustfmt::skip]
    let senders = [
        ("another user", &bank, Some("user:mallory"), now, "refused", user),
        ("nobody instead of the user", &bank, None, now, "refused", user),
        ("another server, same keys", &shop, alice, now, "refused", context),
        ("another key under the same kid", &rekeyed, alice, now, "refused", "unauthentic"),
        ("a kid that is not in the keyring", &restarted, alice, now, "refused", "unknown_key"),
        ("one second before expiry: in time", &bank, alice, in_time, "complete", ""),
        ("at expiry: it starts over", &bank, alice, expiry, "asks bank", "restarted"),
        ("replayed inside the window", &bank, alice, now, "complete", ""),
    ];
    for (attack, server, user, now, expected, reason) in senders {
        let answer = server.handle(last, user, now);
        table.row(attack, &gist(&answer), expected, reason);
    }

    for (attack, again, expected, reason) in [
        (
            "replayed, with single use",
            false,
            "refused",
            "already_used",
        ),
        (
            "replayed, with answers kept",
            true,
            "the same",
            "answered_again",
        ),
    ] {
        let bank = OnceBank::new(NAME, (backend.codec)(keys), now, again)?;
        let first = bank.handle(last, alice)?;
        let second = bank.handle(last, alice)?;
        let is_same = gist(&first) == "complete" && second == first;
        let outcome = if is_same {
            "the same".into()
        } else {
            gist(&second)
        };
        table.row(attack, &outcome, expected, reason);
    }

    let asked_again = last_round(&bank, now)?;
    table.row("the 33rd round", &gist(&asked_again), "internal", "rounds");

    for other in BACKENDS.iter().filter(|other| other.name != backend.name) {
        let message = last_message(&Bank::new(NAME, (other.codec)(keys))?, 10, now)?;
        let (expected, reason) = if other.algorithm == backend.algorithm {
            ("complete", "")
        } else if other.encrypts == backend.encrypts {
            ("refused", "unauthentic")
        } else {
            ("refused", "malformed")
        };
        let attack = format!("token of {}", other.name);
        let answer = bank.handle(&message, alice, now);
        table.row(&attack, &gist(&answer), expected, reason);
    }

    let say = |readable| if readable { "readable" } else { "unreadable" };
    let readable = say(peek(token).contains(BANK));
    let attack = "earlier answer, read in the token";
    table.row(attack, readable, say(!backend.encrypts), "");
    Ok(())
}

/// Returns the last message that an honest client sends at `now`.
fn last_message(bank: &Bank, amount: u64, now: SystemTime) -> Result<Value, Box<dyn Error>> {
    let talk = converse(&request(amount), |message| {
        bank.handle(message, Some(ALICE), now)
    });
    Ok(talk.last().ok_or("nothing was sent")?.0.clone())
}

/// Returns the last response to a client that answers no question. The server asks it again as
/// often as it may.
fn last_round(bank: &Bank, now: SystemTime) -> Result<Value, Box<dyn Error>> {
    let mut message = request(10);
    let mut answer = bank.handle(&message, Some(ALICE), now);
    for _ in 1..=32 {
        let state = answer.pointer("/result/requestState").ok_or("no state")?;
        message["params"]["requestState"] = state.clone();
        answer = bank.handle(&message, Some(ALICE), now);
    }
    Ok(answer)
}

/// Returns the text of `message`, with the value of an existing member replaced by `json` verbatim.
fn set(message: &Value, member: &str, json: &str) -> Result<String, Box<dyn Error>> {
    const MARK: &str = "put it here";
    let mut message = message.clone();
    *message.pointer_mut(member).ok_or("no such member")? = json!(MARK);
    Ok(message.to_string().replace(&quoted(MARK), json))
}

fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// Returns the text of `value`, with the members of every object in reverse order. serde_json sorts
/// them as it parses, so the server sees this order only under its feature `preserve_order`.
fn backwards(value: &Value) -> String {
    let Value::Object(members) = value else {
        return value.to_string();
    };
    let members = members.iter().rev();
    let members: Vec<String> = members
        .map(|(key, value)| format!("{}:{}", quoted(key), backwards(value)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Returns `token` with one bit flipped, out of the six that its character at `place` encodes.
fn flip(token: &str, place: usize) -> String {
    const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let flipped = |c| match BASE64URL.find(c) {
        Some(value) => BASE64URL.chars().nth(value ^ 1).unwrap_or(c),
        None => 'A', // a dot
    };
    let numbered = token.chars().enumerate();
    numbered
        .map(|(at, c)| if at == place { flipped(c) } else { c })
        .collect()
}
