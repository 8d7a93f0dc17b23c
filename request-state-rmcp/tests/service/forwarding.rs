//! Every method of rmcp's `ServerHandler` is passed on: one that is not would fall back to rmcp's
//! default, and a feature of the wrapped server would be lost without a word.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The names of all functions in a piece of Rust.
fn functions(source: &str) -> BTreeSet<&str> {
    source
        .lines()
        .filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest = line.strip_prefix("fn ")?;
            rest.split_once('(').map(|(name, _)| name)
        })
        .collect()
}

/// The source of rmcp's `ServerHandler`, of the release that this test is built with.
fn server_handler() -> String {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp = packages
        .iter()
        .find(|package| package["name"] == "rmcp")
        .unwrap();
    let manifest = std::path::Path::new(rmcp["manifest_path"].as_str().unwrap());
    let path = manifest.with_file_name("src/handler/server.rs");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_method_of_rmcp_is_forwarded() {
    let source = server_handler();
    let (_, methods) = source
        .split_once("macro_rules! server_handler_methods")
        .unwrap();
    let (methods, _) = methods.split_once("pub trait ServerHandler").unwrap();
    // Those in examples within docs are methods too.
    let theirs = functions(methods);
    assert!(theirs.len() > 30, "{theirs:?}");
    let ours = functions(include_str!("../../src/handler.rs"));
    assert_eq!(theirs, ours);
}
