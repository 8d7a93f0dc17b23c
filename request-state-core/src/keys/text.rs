//! A keyring as text: `kid:key,kid:key`.

use std::env::VarError;
use std::str::FromStr;

use zeroize::Zeroizing;

use super::error::KeyringError;
use super::key::is_quoted;
use super::keyring::Keyring;

impl FromStr for Keyring {
    type Err = KeyringError;

    /// Parses a keyring of the form `kid:key,kid:key`. The first entry is the sealing key, and each key is
    /// parsed as a [`Key`](crate::Key).
    ///
    /// White space around an entry is ignored.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Keyring::new`]. Also returns an error for an empty entry, for quotes around an
    /// entry or the whole text, for an entry without `:`, and for an invalid key. An error contains a kid only
    /// if its entry is otherwise valid, since somebody will write `key:kid`.
    fn from_str(text: &str) -> Result<Self, KeyringError> {
        if text.trim().is_empty() {
            return Err(KeyringError::Empty);
        }
        let mut entries = Vec::new();
        for (number, entry) in (1..).zip(text.split(',').map(str::trim)) {
            if entry.is_empty() {
                return Err(KeyringError::EmptyEntry { entry: number });
            }
            if is_quoted(entry) {
                return Err(KeyringError::Quoted { entry: number });
            }
            let (kid, key) = entry
                .split_once(':')
                .ok_or(KeyringError::Form { entry: number })?;
            let key = key.parse().map_err(|problem| KeyringError::Key {
                entry: number,
                problem,
            })?;
            entries.push((kid, key));
        }
        Self::new(entries)
    }
}

impl Keyring {
    /// Parses a keyring from the environment variable `var`, as [`FromStr`] does.
    ///
    /// # Errors
    ///
    /// Returns [`KeyringError::VariableNotSet`] if the variable is not set,
    /// [`KeyringError::VariableNotUnicode`] if its value is not Unicode, and [`KeyringError::Variable`] if its
    /// value is not a keyring. Each error names the variable.
    ///
    /// ```
    /// use request_state_core::Keyring;
    ///
    /// let error = Keyring::from_env("THIS_IS_NOT_SET").unwrap_err();
    /// assert!(error.to_string().contains("THIS_IS_NOT_SET"));
    /// ```
    pub fn from_env(var: &str) -> Result<Self, KeyringError> {
        let name = var.to_owned();
        match std::env::var(var) {
            Ok(text) => Zeroizing::new(text)
                .parse()
                .map_err(|problem| KeyringError::Variable {
                    name,
                    problem: Box::new(problem),
                }),
            Err(VarError::NotPresent) => Err(KeyringError::VariableNotSet { name }),
            // The standard library's error contains the text, so it is dropped here.
            Err(VarError::NotUnicode(_)) => Err(KeyringError::VariableNotUnicode { name }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Key;

    const KEY_1: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
    const KEY_2: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";

    fn key(byte: u8) -> Key {
        Key::from([byte; 32])
    }

    #[test]
    fn reads_entries_with_white_space_around_them() {
        let keys: Keyring = format!("\n a:{KEY_1} ,\tb:{KEY_2}\n").parse().unwrap();
        let kids: Vec<_> = keys.iter().map(|(kid, _)| kid).collect();
        assert_eq!(kids, ["a", "b"]);
        assert_eq!(keys.sealing(), ("a", &key(1)));
        assert_eq!(keys.get("b"), Some(&key(2)));
        assert_eq!(keys.get("c"), None);
    }

    #[test]
    fn every_error_names_the_entry_and_no_key() {
        let message = |text: &str| text.parse::<Keyring>().unwrap_err().to_string();
        for (text, says) in [
            (String::new(), "at least one key"),
            (" \n".into(), "at least one key"),
            (",".into(), "entry 1 is empty"),
            (format!("a:{KEY_1},"), "entry 2 is empty"),
            (format!("a:{KEY_1},,b:{KEY_2}"), "entry 2 is empty"),
            (format!("a:{KEY_1},{KEY_2}"), "entry 2 has no `:`"),
            (format!("a.b:{KEY_1}"), "entry 1 has an invalid kid"),
            (format!(":{KEY_1}"), "entry 1 has an invalid kid"),
            (format!("a:{KEY_1},a:{KEY_2}"), "entry 2: duplicate kid `a`"),
            (
                format!("a:{KEY_1},b:{KEY_1}"),
                "entry 2 (`b`): duplicate key",
            ),
            ("a:c2hvcnQ".into(), "entry 1 has an invalid key"),
            (format!("\"a:{KEY_1}\""), "entry 1 has quotes around it"),
            (format!("'a:{KEY_1}'"), "entry 1 has quotes around it"),
            (format!("\"a:{KEY_1},b:{KEY_2}\""), "entry 1 has quotes"),
            (format!("a:{KEY_1}, 'b:{KEY_2}' "), "entry 2 has quotes"),
            (format!("a:\"{KEY_1}\""), "entry 1 has quotes around it"),
            (format!("a:{}", "A".repeat(43)), "replace this placeholder"),
            (format!("a: {KEY_1}"), "entry 1 has an invalid key"),
            (format!("a:{KEY_1},{KEY_2}:b"), "entry 2 has an invalid key"),
        ] {
            let message = message(&text);
            assert!(message.contains(says), "{text:?}: {message}");
            assert!(!message.contains("AQEB") && !message.contains("AgIC"));
        }
    }

    #[test]
    fn a_kid_that_reads_like_a_key_is_never_shown() {
        let error = |text: String| text.parse::<Keyring>().unwrap_err();
        for (text, says) in [
            (
                format!("{KEY_1}:{KEY_1}"),
                "entry 1 uses the key as its kid",
            ),
            (format!("a:{KEY_1},{KEY_1}:{KEY_1}"), "entry 2 uses the key"),
            (
                format!("{KEY_2}:{KEY_1},{KEY_2}:{KEY_2}"),
                "entry 2 uses the",
            ),
            (format!("a:{KEY_1},{KEY_2}:{KEY_1}"), "entry 2 (`..`)"),
            (
                format!("{KEY_2}:{KEY_1},{KEY_2}:{}", "03".repeat(32)),
                "entry 2: duplicate kid `..`",
            ),
        ] {
            let error = error(text);
            let text = format!("{error} {error:?}");
            assert!(text.contains(says), "{text}");
            assert!(!text.contains("AQEB") && !text.contains("AgIC"), "{text}");
        }
        // Not even if the key is a placeholder.
        let zeros = "A".repeat(43);
        let error = Keyring::new([(zeros.as_str(), Key::from([0; 32]))]).unwrap_err();
        assert_eq!(error, KeyringError::KidIsKey { entry: 1 });
        // The digest of something is a good kid, and is as long as a key.
        assert!(Keyring::new([(KEY_2, key(1))]).is_ok());
        assert!(Keyring::new([("ab".repeat(32), key(1))]).is_ok());
    }

    #[test]
    fn a_swapped_entry_is_never_shown() {
        let swapped = format!("{KEY_1}:2026-10").parse::<Keyring>().unwrap_err();
        assert!(!format!("{swapped} {swapped:?}").contains("AQEB"));
        let keys = Keyring::new([("a", key(1))]).unwrap();
        let wrong = keys.sealing_with(KEY_1).unwrap_err();
        assert!(!format!("{wrong} {wrong:?}").contains("AQEB"));
    }

    #[test]
    fn an_environment_variable_is_named() {
        // Setting a variable is unsafe in the 2024 edition. So this test uses the environment that Cargo and
        // the shell provide.
        let absent = Keyring::from_env("REQUEST_STATE_ABSENT").unwrap_err();
        assert_eq!(
            absent.to_string(),
            "environment variable REQUEST_STATE_ABSENT is not set"
        );
        let wrong = Keyring::from_env("CARGO_PKG_NAME").unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "environment variable CARGO_PKG_NAME: keyring entry 1 has no `:` between kid and key"
        );
    }
}
