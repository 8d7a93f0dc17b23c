//! The official suite: the list of scenarios, a run of one scenario, and the evaluation of a run.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use request_state::OpenError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::Failure;

/// The protocol version of all runs.
const VERSION: &str = "2026-07-28";
/// The time limit of a scenario. It is far more than a scenario takes: the suite itself gives up
/// after 30 s.
const SCENARIO_LIMIT: Duration = Duration::from_secs(300);

/// The prefix of the names of the scenarios.
pub const PREFIX: &str = "input-required-result-";
/// The scenario that a server without protection must fail.
pub const TAMPERED: &str = "tampered-state";
/// The scenario in which the first request contains an unsolicited answer.
pub const UNASKED: &str = "ignore-extra-params";
/// The check of that scenario.
const UNEXPECTED: &str = "sep-2322-ignore-unexpected-params";
/// The scenarios, as the suite lists them, without the prefix.
pub const SCENARIOS: [&str; 14] = [
    "basic-elicitation",
    "basic-sampling",
    "basic-list-roots",
    "request-state",
    "multiple-input-requests",
    "multi-round",
    "missing-input-response",
    "non-tool-request",
    "result-type",
    "unsupported-methods",
    TAMPERED,
    "capability-check",
    UNASKED,
    "validate-input",
];

/// The location of the suite, and a Node.js to run it with.
pub struct Suite {
    pub node: PathBuf,
    pub index: PathBuf,
}

/// The suite's result of one scenario.
pub struct Run {
    /// Whether the suite exited with 0.
    pub succeeded: bool,
    /// The complete output of the suite.
    pub output: String,
    pub checks: Vec<Check>,
}

/// One entry of the suite's `checks.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    id: String,
    status: String,
    error_message: Option<String>,
    #[serde(default)]
    details: Value,
}

impl Check {
    /// Returns `true` if the server's result asks for `user_name` and has a state.
    fn asks_for_name(&self) -> bool {
        let part = |pointer| self.details.pointer(pointer);
        part("/result/resultType").is_some_and(|kind| kind == "input_required")
            && part("/result/inputRequests/user_name").is_some_and(Value::is_object)
            && part("/result/requestState").is_some_and(Value::is_string)
    }
}

impl Suite {
    /// Fails unless the suite lists exactly the scenarios that this package was written for.
    pub async fn expect_scenarios(&self) -> Result<(), Failure> {
        let list = ["list", "--server", "--spec-version", VERSION];
        let output = self.command().args(list).output().await?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let text = String::from_utf8(output.stdout)?;
        let listed: Vec<&str> = text.lines().filter_map(scenario).collect();
        if listed != SCENARIOS {
            return Err(format!("the suite lists other scenarios: {listed:?}").into());
        }
        Ok(())
    }

    /// Runs one scenario against the server at `url`. The suite writes its files to `directory`.
    pub async fn run(&self, scenario: &str, url: &str, directory: &Path) -> Result<Run, Failure> {
        let mut command = self.command();
        command
            .args(["server", "--spec-version", VERSION, "--url", url])
            .args(["--scenario", &format!("{PREFIX}{scenario}")])
            .arg("--output-dir")
            .arg(directory);
        let output = timeout(SCENARIO_LIMIT, command.output())
            .await
            .map_err(|_| format!("{scenario} at {url} did not end"))??;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text += &String::from_utf8_lossy(&output.stderr);
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join("output.txt"), &text)?;
        Ok(Run {
            succeeded: output.status.success(),
            output: text,
            checks: checks_below(directory)?,
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command
            .arg(&self.index)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// Parses a line of the suite's list. Returns the name of the scenario if this package covers it.
fn scenario(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("- ")?.strip_prefix(PREFIX)?;
    name.split_whitespace().next()
}

/// Reads the checks of the runs in `directory`. The suite creates one directory for each run, named
/// after the scenario and the time.
fn checks_below(directory: &Path) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path().join("checks.json");
        if path.is_file() {
            let found: Vec<Check> = serde_json::from_slice(&std::fs::read(path)?)?;
            checks.extend(found);
        }
    }
    Ok(checks)
}

impl Run {
    /// Evaluates a sealed server in `scenario`. Returns the number of checks, or a description of
    /// the failure.
    pub fn passed(&self, scenario: &str) -> Result<usize, String> {
        if let Some(bad) = self.checks.iter().find(|check| check.status != "SUCCESS") {
            let why = bad.error_message.as_deref().unwrap_or("no message");
            return Err(format!("{}: {}: {why}", bad.id, bad.status));
        }
        if !self.succeeded {
            return Err("the suite exited with an error".into());
        }
        if !self.has("wire-schema-valid") {
            return Err("the suite did not look at the messages".into());
        }
        if !self
            .checks
            .iter()
            .any(|check| check.id.starts_with("sep-2322-"))
        {
            return Err("the suite checked nothing of the scenario".into());
        }
        // The suite accepts any error. It must be the one error for all rejections.
        if scenario == TAMPERED && self.tampered_response() != Some(&refusal()) {
            return Err("refused with another error than the one for refusals".into());
        }
        Ok(self.checks.len())
    }

    /// Evaluates a server that removes unsolicited answers. The server must have asked again, which
    /// results in a warning of the suite, and nothing else may be wrong. Returns the number of
    /// checks, or a description of the failure.
    pub fn was_asked_again(&self) -> Result<usize, String> {
        let bad: Vec<_> = self
            .checks
            .iter()
            .filter(|check| check.status != "SUCCESS")
            .collect();
        let warning = match bad[..] {
            [check] if check.id == UNEXPECTED && check.status == "WARNING" => check,
            _ => {
                let found = bad.iter().map(|check| (&*check.id, &*check.status));
                let found: Vec<_> = found.collect();
                return Err(format!("expected one warning, found {found:?}"));
            }
        };
        if !self.succeeded {
            return Err("the suite exited with an error".into());
        }
        if !self.has("wire-schema-valid") {
            return Err("the suite did not look at the messages".into());
        }
        // The suite warns about any result that is not complete, and about errors.
        if !warning.asks_for_name() {
            return Err("the server did not ask for user_name with a requestState".into());
        }
        Ok(self.checks.len())
    }

    /// Evaluates a server without protection. It must have accepted the changed state and passed
    /// everything else. Returns a description of the failure otherwise.
    pub fn fell(&self) -> Result<usize, String> {
        let failed: Vec<&str> = self
            .checks
            .iter()
            .filter(|check| check.status != "SUCCESS")
            .map(|check| check.id.as_str())
            .collect();
        if self.succeeded || failed != ["sep-2322-reject-tampered-state"] {
            return Err(format!("a server without protection failed {failed:?}"));
        }
        match self
            .tampered_response()
            .and_then(|response| response.get("resultType"))
        {
            Some(kind) if kind == "complete" => Ok(self.checks.len()),
            _ => Err("a server without protection did not go on with a changed state".into()),
        }
    }

    fn has(&self, id: &str) -> bool {
        self.checks.iter().any(|check| check.id == id)
    }

    /// Returns the server's response to the changed state.
    fn tampered_response(&self) -> Option<&Value> {
        self.checks
            .iter()
            .find_map(|check| check.details.get("tamperedResponse"))
    }
}

/// Returns the error for all rejections.
fn refusal() -> Value {
    json!({
        "code": OpenError::CODE,
        "message": OpenError::MESSAGE,
        "data": {"reason": OpenError::REASON},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(succeeded: bool, checks: Value) -> Run {
        Run {
            succeeded,
            output: String::new(),
            checks: serde_json::from_value(checks).unwrap(),
        }
    }

    fn tampered(status: &str, response: Value) -> Value {
        json!([
            {"id": "sep-2322-reject-tampered-state", "status": status,
             "details": {"tamperedResponse": response}},
            {"id": "wire-schema-valid", "status": "SUCCESS"},
        ])
    }

    #[test]
    fn a_line_of_the_list() {
        assert_eq!(
            scenario("  - input-required-result-multi-round [2026-07-28]"),
            Some("multi-round")
        );
        assert_eq!(scenario("  - tools-list"), None);
    }

    #[test]
    fn only_a_run_that_checked_something_and_found_nothing_passes() {
        let good = json!([
            {"id": "sep-2322-multi-round-r1", "status": "SUCCESS"},
            {"id": "wire-schema-valid", "status": "SUCCESS"},
        ]);
        assert_eq!(run(true, good.clone()).passed("multi-round"), Ok(2));
        assert!(run(false, good.clone()).passed("multi-round").is_err());
        for status in ["FAILURE", "WARNING", "SKIPPED", "INFO"] {
            let mut bad = good.clone();
            bad[0]["status"] = status.into();
            assert!(run(true, bad).passed("multi-round").is_err(), "{status}");
        }
        assert!(run(true, json!([])).passed("multi-round").is_err());
        for missing in 0..2 {
            let mut bad = good.clone();
            bad.as_array_mut().unwrap().remove(missing);
            assert!(run(true, bad).passed("multi-round").is_err(), "{missing}");
        }
    }

    #[test]
    fn a_changed_state_is_refused_with_the_one_error() {
        let right = tampered("SUCCESS", refusal());
        assert_eq!(run(true, right).passed(TAMPERED), Ok(2));
        let other = json!({"code": -32603, "message": "Internal error"});
        assert!(
            run(true, tampered("SUCCESS", other))
                .passed(TAMPERED)
                .is_err()
        );
    }

    #[test]
    fn asking_again_is_one_warning_and_nothing_else() {
        let question = json!({"resultType": "input_required",
            "inputRequests": {"user_name": {"method": "elicitation/create"}},
            "requestState": "token"});
        let asked = |status: &str, schema: &str, result: &Value| {
            let checks = json!([
                {"id": UNEXPECTED, "status": status, "details": {"result": result}},
                {"id": "wire-schema-valid", "status": schema},
            ]);
            run(true, checks).was_asked_again()
        };
        assert_eq!(asked("WARNING", "SUCCESS", &question), Ok(2));
        for (status, schema) in [
            ("SUCCESS", "SUCCESS"),
            ("FAILURE", "SUCCESS"),
            ("WARNING", "WARNING"),
            ("WARNING", "FAILURE"),
        ] {
            assert!(
                asked(status, schema, &question).is_err(),
                "{status} {schema}"
            );
        }
        // The suite gives these the same warnings.
        for (member, value) in [
            ("resultType", json!("complete")),
            ("resultType", json!(null)),
            (
                "inputRequests",
                json!({"greeting": {"method": "roots/list"}}),
            ),
            ("inputRequests", json!({"user_name": null})),
            ("requestState", json!(null)),
            ("requestState", json!({})),
        ] {
            let mut other = question.clone();
            other[member] = value;
            assert!(asked("WARNING", "SUCCESS", &other).is_err(), "{other}");
        }
        assert!(asked("WARNING", "SUCCESS", &Value::Null).is_err());
        assert!(run(true, json!([])).was_asked_again().is_err());
    }

    #[test]
    fn the_control_must_go_on_with_a_changed_state() {
        let complete = json!({"resultType": "complete"});
        assert_eq!(run(false, tampered("FAILURE", complete)).fell(), Ok(2));
        let again = json!({"resultType": "input_required"});
        assert!(run(false, tampered("FAILURE", again)).fell().is_err());
        assert!(run(true, tampered("SUCCESS", refusal())).fell().is_err());
    }
}
