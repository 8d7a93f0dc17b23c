//! Tests through a [`Sealer`]: a token belongs to one principal, one request and one server.

use std::collections::BTreeMap;

use request_state_core::{Binding, Disclosure, OpenError, Request, RequestStateCodec, Sealer};

use crate::edits;
use crate::kit::{Codec, Kit};
use crate::random::Random;
use crate::rings::ring_of;
use crate::stop::{Stop, Verdict, ensure};

type Params = BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>;

/// A request to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    server: &'static str,
    version: &'static str,
    method: &'static str,
    principal: Option<&'static str>,
    params: Params,
}

impl Asked {
    fn new() -> Self {
        Self {
            server: "billing",
            version: "2026-07-28",
            method: "tools/call",
            principal: Some("user:alice"),
            params: [("arguments", [("amount", "10"), ("to", "bob")].into())].into(),
        }
    }

    fn binding(&self) -> Result<Binding, Stop> {
        Ok(Binding::new(Request {
            version: self.version,
            method: self.method,
            params: &self.params,
            principal: self.principal,
        })?)
    }

    /// Creates a typed sealer, so that its errors distinguish the causes.
    fn sealer<'a>(&self, kit: &Kit<'a>) -> Result<Sealer<Codec<'a>>, Stop> {
        let builder = Sealer::builder(self.server, kit.codec()?);
        Ok(builder.disclosure(Disclosure::Typed).build()?)
    }
}

/// The part in which two requests differ. The error of the sealer depends on where that part is
/// bound.
#[derive(Clone, Copy)]
enum Where {
    /// The principal or the params. Their digests are in the payload if the codec encrypts.
    Claims,
    /// The version, the method or the server, which are in the context.
    Route,
}

/// Returns the error of a typed sealer for a token of another request.
fn answer(codec: &dyn RequestStateCodec, differs: Where) -> OpenError {
    let in_payload = codec.encrypts() && matches!(differs, Where::Claims);
    if in_payload || codec.disclosure() == Disclosure::Typed {
        OpenError::Mismatch
    } else {
        OpenError::Invalid
    }
}

/// Seals for each of `requests` and opens with each of them.
fn tells_apart(kit: &Kit<'_>, differs: Where, requests: Vec<Asked>) -> Verdict {
    let expected = answer(&kit.codec()?, differs);
    for sealed in &requests {
        let token = sealed.sealer(kit)?.seal(&42, &sealed.binding()?)?;
        for opened in &requests {
            let result = opened.sealer(kit)?.open::<u32>(&token, &opened.binding()?);
            let right = if sealed == opened {
                Ok(42)
            } else {
                Err(expected)
            };
            ensure(result == right, || {
                format!(
                    "sealed for {sealed:?}, opened for {opened:?}: {result:?} instead of {right:?}"
                )
            })?;
        }
    }
    Ok(())
}

pub(crate) fn the_same_request(kit: &Kit<'_>) -> Verdict {
    let asked = Asked::new();
    let (sealing, opening) = (asked.sealer(kit)?, asked.sealer(kit)?);
    let binding = asked.binding()?;
    // A dialog of many rounds: each round opens the token of the previous one, under the same
    // binding.
    let mut token = sealing.seal(&0u32, &binding)?;
    for round in 0..10u32 {
        for same in [&binding, &binding.clone(), &asked.binding()?] {
            let opened = opening.open::<u32>(&token, same);
            ensure(opened == Ok(round), || {
                format!("round {round} opened as {opened:?}")
            })?;
        }
        token = opening.seal(&(round + 1), &binding)?;
    }
    // The same value in different types.
    let request = |params| Request {
        version: "v",
        method: "m",
        params,
        principal: None,
    };
    let whole: BTreeMap<&str, u64> = [("b", 2), ("a", 10)].into();
    let float: BTreeMap<&str, f64> = [("a", 10.0), ("b", 2.0)].into();
    let one = Binding::new(request(&whole as &BTreeMap<_, _>))?;
    let other = Binding::new(Request {
        version: "v",
        method: "m",
        params: &float,
        principal: None,
    })?;
    let token = sealing.seal("state", &one)?;
    let opened = opening.open::<String>(&token, &other);
    ensure(opened.as_deref() == Ok("state"), || {
        format!("10 and 10.0 are the same number in JSON, but opening returned {opened:?}")
    })
}

pub(crate) fn another_principal(kit: &Kit<'_>) -> Verdict {
    let names = [
        None,
        Some("user:alice"),
        Some("user:bob"),
        Some("User:alice"),
        Some("user:alice "),
        Some(" user:alice"),
        Some("user:alic"),
        Some("user:alice2"),
        Some("user:alice\0"),
        Some("user:alice\n"),
        Some("None"),
        Some("null"),
        Some("anonymous"),
        Some("\0"),
        Some(" "),
        Some("user:al\u{131}ce"),
        Some("us\u{e9}r"),
        Some("use\u{301}r"),
    ];
    let with = names.map(|principal| Asked {
        principal,
        ..Asked::new()
    });
    tells_apart(kit, Where::Claims, with.into())
}

pub(crate) fn other_params(kit: &Kit<'_>) -> Verdict {
    let arguments: [&[(&str, &str)]; 11] = [
        &[("amount", "10")],
        &[("amount", "100"), ("to", "bob")],
        &[("amount", "10"), ("to", "bob")],
        &[("amount", "10"), ("to", "Bob")],
        &[("amount", "bob"), ("to", "10")],
        &[("amount", "10"), ("to", "bob"), ("memo", "")],
        &[("amount", "1"), ("to", "0bob")],
        &[("amount", "10to"), ("", "bob")],
        &[("amount", "10\",\"to\":\"bob")],
        &[("amoun", "t10"), ("to", "bob")],
        &[("Amount", "10"), ("to", "bob")],
    ];
    let mut all: Vec<Params> = arguments
        .into_iter()
        .map(|arguments| [("arguments", arguments.iter().copied().collect())].into())
        .collect();
    all.push([].into());
    all.push([("argument", [("amount", "10"), ("to", "bob")].into())].into());
    all.push(
        [
            ("arguments", [("amount", "10")].into()),
            ("more", [("to", "bob")].into()),
        ]
        .into(),
    );
    let with = all.into_iter().map(|params| Asked {
        params,
        ..Asked::new()
    });
    tells_apart(kit, Where::Claims, with.collect())
}

pub(crate) fn another_method(kit: &Kit<'_>) -> Verdict {
    let methods = [
        "tools/call",
        "prompts/get",
        "resources/read",
        "Tools/call",
        "tools/cal",
        "tools/calls",
        "tools/call\0",
        " tools/call",
    ];
    tells_apart(
        kit,
        Where::Route,
        methods
            .map(|method| Asked {
                method,
                ..Asked::new()
            })
            .into(),
    )
}

pub(crate) fn another_version(kit: &Kit<'_>) -> Verdict {
    let versions = [
        "2026-07-28",
        "2026-07-29",
        "2025-06-18",
        "2026-07-2",
        "2026-07-28 ",
        "2026-07-280",
        "2026-7-28",
    ];
    tells_apart(
        kit,
        Where::Route,
        versions
            .map(|version| Asked {
                version,
                ..Asked::new()
            })
            .into(),
    )
}

pub(crate) fn another_server(kit: &Kit<'_>) -> Verdict {
    let servers = [
        "billing",
        "Billing",
        "billin",
        "billing2",
        "billing\0",
        "billing ",
        "payroll",
        "a",
        "é",
    ];
    tells_apart(
        kit,
        Where::Route,
        servers
            .map(|server| Asked {
                server,
                ..Asked::new()
            })
            .into(),
    )
}

pub(crate) fn parts_that_shift(kit: &Kit<'_>) -> Verdict {
    // These requests are all alike if their parts are joined without lengths, or with a separator
    // that may occur in them.
    let mut requests = Vec::new();
    for (version, method, server) in [
        ("v1", "call", "host"),
        ("v", "1call", "host"),
        ("v1c", "all", "host"),
        ("v1", "callh", "ost"),
        ("v1call", "h", "ost"),
        ("v1", "cal", "lhost"),
        ("v", "1", "callhost"),
        ("call", "v1", "host"),
        ("host", "call", "v1"),
        ("v1", "host", "call"),
        ("a\0b", "c", "d"),
        ("a", "b\0c", "d"),
        ("a", "b", "c\0d"),
        ("a/b", "c", "d"),
        ("a", "b/c", "d"),
        ("a", "b", "c/d"),
        ("a|b", "c", "d"),
        ("a", "b|c", "d"),
        ("a", "b", "c|d"),
        ("a:b", "c", "d"),
        ("a", "b:c", "d"),
        ("a", "b", "c:d"),
    ] {
        requests.push(Asked {
            version,
            method,
            server,
            ..Asked::new()
        });
    }
    tells_apart(kit, Where::Route, requests)
}

pub(crate) fn another_ring(kit: &Kit<'_>) -> Verdict {
    let asked = Asked::new();
    let theirs = kit.codec_of(&ring_of([("2026-10", Random::new(120).key())])?);
    let theirs = Sealer::builder(asked.server, theirs)
        .disclosure(Disclosure::Typed)
        .build()?;
    let token = theirs.seal(&42, &asked.binding()?)?;
    let opened = asked.sealer(kit)?.open::<u32>(&token, &asked.binding()?);
    ensure(opened == Err(OpenError::Invalid), || {
        format!("sealed under another key for the same request: {opened:?} instead of Invalid")
    })
}

pub(crate) fn every_edit_is_invalid(kit: &Kit<'_>) -> Verdict {
    let asked = Asked::new();
    let (sealer, binding) = (asked.sealer(kit)?, asked.binding()?);
    let token = sealer.seal(&1, &binding)?;
    for edit in kit.paced(edits::sample(&token, 700)) {
        let opened = sealer.open::<u32>(&edit.token, &binding);
        ensure(opened == Err(OpenError::Invalid), || {
            format!("{}: {opened:?} instead of Invalid", edit.about)
        })?;
    }
    let opened = sealer.open::<u32>(&token, &binding);
    ensure(opened == Ok(1), || {
        format!("after all edits, the token itself opened as {opened:?}")
    })
}
