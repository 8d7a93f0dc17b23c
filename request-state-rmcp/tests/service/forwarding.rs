//! Every method of rmcp's `ServerHandler` is passed on: one that is not would fall back to rmcp's
//! default, and a feature of the wrapped server would be lost without a word.

use std::borrow::Cow;
use std::collections::BTreeSet;

use request_state_rmcp::{AnyService, SealedService};
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::service::Service;

use crate::kit::*;

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

/// The source of rmcp's `ServerHandler`, of the release that this test is built with: where the
/// compiler found it, rmcp's log events say.
async fn server_handler() -> String {
    let log = Log::start();
    let (server, _) = sealed(ALICE);
    Raw::connect(server, MODERN)
        .token(&request("tools/call"))
        .await;
    let log = log.everything();
    let file = log
        .split_whitespace()
        .find_map(|word| word.split_once("/src/service"))
        .map(|(rmcp, _)| format!("{rmcp}/src/handler/server.rs"))
        .unwrap_or_else(|| panic!("no event of rmcp in {log}"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[tokio::test]
async fn every_method_of_rmcp_is_forwarded() {
    let source = server_handler().await;
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

/// A method that is there by name may still be rmcp's default: what a server speaks is its own.
#[test]
fn the_versions_are_those_of_the_wrapped_server() {
    struct Old;
    impl ServerHandler for Old {
        fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
            Cow::Owned(vec![ProtocolVersion::V_2025_11_25])
        }
    }
    let expected = [ProtocolVersion::V_2025_11_25];
    let server = SealedService::new(Old, sealer());
    assert_eq!(
        *ServerHandler::supported_protocol_versions(&server),
        expected
    );
    let service = SealedService::new(AnyService(Old), sealer());
    assert_eq!(*Service::supported_protocol_versions(&service), expected);
}
