//! The scripts that run within the server, each of them one atomic step.

use redis::{Cmd, ErrorKind, RedisResult, ServerErrorKind, Value};

use crate::link::Connection;

const IDENTITY: &str = include_str!("lua/identity.lua");
const HISTORY: &str = include_str!("lua/history.lua");

/// A script, and the digest under which a server has it once it ran.
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

    /// Runs the script: by its digest, and where the server has not seen it yet, by its text.
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

/// All scripts, for the settings of a store.
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

/// What the scripts with a history return.
pub(crate) enum Reply {
    /// The mark was missing or named another process. It is set anew.
    Forgot,
    /// The history begins after the limit that the script was given.
    Young,
    /// The claim is the first.
    First,
    /// There is no entry.
    None,
    /// The mark is there, or was set.
    Marked,
    /// An entry, and the time by the server's clock.
    Entry { bytes: Vec<u8>, now_ms: u64 },
}

impl Reply {
    /// Returns `None` for what no script returns.
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
