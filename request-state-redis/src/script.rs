//! The scripts that run within the server. Each is one atomic step.

use redis::{Cmd, ErrorKind, RedisResult, ServerErrorKind, Value};

use crate::link::Connection;

const IDENTITY: &str = include_str!("lua/identity.lua");
const HISTORY: &str = include_str!("lua/history.lua");

/// A script, and the digest that identifies it to a server that has run it before.
pub(crate) struct Script {
    text: String,
    digest: String,
}

impl Script {
    fn new(parts: &[&str]) -> Self {
        let text = parts.join("\n");
        let digest = redis::Script::new(&text).get_hash().to_owned();
        Self { text, digest }
    }

    /// Runs the script by its digest or, if the server does not know the script yet, by its text.
    pub(crate) async fn run(
        &self,
        connection: &mut Connection,
        keys: &[String],
        args: &[&[u8]],
    ) -> RedisResult<Value> {
        let command = |name: &str, script: &str| -> Cmd {
            let mut command = redis::cmd(name);
            command.arg(script).arg(keys.len()).arg(keys).arg(args);
            command
        };
        let known = connection.query(&command("EVALSHA", &self.digest)).await;
        match known {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                connection.query(&command("EVAL", &self.text)).await
            }
            result => result,
        }
    }
}

/// All scripts, prepared for the settings of a store.
pub(crate) struct Scripts {
    pub(crate) claim: Script,
    pub(crate) find: Script,
    pub(crate) record: Script,
    pub(crate) release: Script,
    pub(crate) mark: Script,
    pub(crate) provision: Script,
}

impl Scripts {
    pub(crate) fn new(trust_persistence: bool, assume_noeviction: bool) -> Self {
        let settings = format!(
            "local TRUST_PERSISTENCE, ASSUME_NOEVICTION = {trust_persistence}, {assume_noeviction}"
        );
        let settings = settings.as_str();
        let with_history = |tail| Script::new(&[settings, IDENTITY, HISTORY, tail]);
        Self {
            claim: with_history(include_str!("lua/claim.lua")),
            find: with_history(include_str!("lua/find.lua")),
            record: Script::new(&[include_str!("lua/record.lua")]),
            release: Script::new(&[include_str!("lua/release.lua")]),
            mark: with_history(include_str!("lua/mark.lua")),
            provision: Script::new(&[settings, IDENTITY, include_str!("lua/provision.lua")]),
        }
    }
}

/// The reply of a script that checks the history.
pub(crate) enum Reply {
    /// The mark was missing or named another process. It has been set anew.
    Forgot,
    /// The history begins after the limit that the script was given.
    Young,
    /// The claim is the first.
    First,
    /// There is no entry.
    None,
    /// The mark exists or has been set.
    Marked,
    /// An entry, and the time according to the server's clock.
    Entry { bytes: Vec<u8>, now_ms: u64 },
}

impl Reply {
    /// Parses a reply. Returns `None` for a value that no script returns.
    pub(crate) fn parse(value: Value) -> Option<Self> {
        match value {
            Value::BulkString(word) => match word.as_slice() {
                b"forgot" => Some(Self::Forgot),
                b"young" => Some(Self::Young),
                b"first" => Some(Self::First),
                b"none" => Some(Self::None),
                b"marked" => Some(Self::Marked),
                _ => None,
            },
            Value::Array(items) => match <[Value; 2]>::try_from(items) {
                Ok([Value::BulkString(bytes), Value::Int(now_ms)]) => Some(Self::Entry {
                    bytes,
                    now_ms: u64::try_from(now_ms).ok()?,
                }),
                _ => None,
            },
            _ => None,
        }
    }
}
