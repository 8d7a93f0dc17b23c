//! What the documents must not fall behind.

use std::collections::BTreeSet;

/// The words in the log, as the source has them.
fn reasons() -> BTreeSet<&'static str> {
    let source = include_str!("../request-state-core/src/reason.rs");
    let after_arrow = source.split("=> \"").skip(1);
    after_arrow
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

#[test]
fn every_reason_is_explained_to_the_operator() {
    let page = include_str!("../docs/operations.md");
    let reasons = reasons();
    assert_eq!(reasons.len(), 27, "{reasons:?}");
    for reason in reasons {
        let row = format!("\n| `{reason}` | ");
        assert!(
            page.contains(&row),
            "{reason} has no row in docs/operations.md"
        );
    }
}
