//! Params like those of a real request, their binding, and its baseline.

use request_state::{Binding, Request};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Params that the figures digest.
///
/// The methods are compiled once, in this crate: generic ones would be compiled anew into every
/// benchmark, and come out faster or slower by a tenth with other code around them.
pub trait Params {
    /// The binding of a `tools/call` with these params.
    fn bind(&self) -> Binding;

    /// The baseline of that: JSON and SHA-256. Call it on the salient part alone.
    fn baseline(&self) -> [u8; 32];
}

impl Params for Value {
    fn bind(&self) -> Binding {
        binding(self)
    }

    fn baseline(&self) -> [u8; 32] {
        json_digest(self)
    }
}

impl Params for Call {
    fn bind(&self) -> Binding {
        binding(self)
    }

    fn baseline(&self) -> [u8; 32] {
        json_digest(self)
    }
}

impl Params for Unsorted {
    fn bind(&self) -> Binding {
        binding(self)
    }

    fn baseline(&self) -> [u8; 32] {
        json_digest(self)
    }
}

fn binding<P: Serialize>(params: &P) -> Binding {
    Binding::new(Request {
        version: "2026-07-28",
        method: "tools/call",
        params,
        principal: Some("https://login.example.com|auth0|64f1c0ffee"),
    })
    .expect("params that can be digested")
}

fn json_digest<P: Serialize>(params: &P) -> [u8; 32] {
    Sha256::digest(serde_json::to_vec(params).expect("JSON")).into()
}

/// A `tools/call` as a struct, none of whose objects has its fields in sorted order. 500 bytes of
/// it are salient.
#[derive(Debug, Serialize)]
pub struct Call {
    name: &'static str,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
    arguments: Transfer,
}

#[derive(Debug, Serialize)]
struct Transfer {
    to: Account,
    from: Account,
    amount: f64,
    currency: &'static str,
    execute_on: &'static str,
    tags: [&'static str; 3],
    standing_order: bool,
    reference: u64,
    note: &'static str,
    approvals: u8,
}

#[derive(Debug, Serialize)]
struct Account {
    iban: &'static str,
    holder: &'static str,
    bic: &'static str,
}

impl Call {
    /// The whole params, with the `_meta` that every request of protocol 2026-07-28 carries.
    #[must_use]
    pub fn whole() -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "ExampleClient", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}
        });
        Self {
            meta: Some(meta),
            ..Self::salient()
        }
    }

    /// The part that a digest covers.
    #[must_use]
    pub fn salient() -> Self {
        Self {
            name: "bank_transfer",
            meta: None,
            arguments: Transfer {
                to: Account {
                    iban: "DE89370400440532013000",
                    holder: "Müller & Söhne GmbH",
                    bic: "COBADEFFXXX",
                },
                from: Account {
                    iban: "GB29NWBK60161331926819",
                    holder: "Alice Example",
                    bic: "NWBKGB2LXXX",
                },
                amount: 1299.95,
                currency: "EUR",
                execute_on: "2026-11-30",
                tags: ["rent", "office", "recurring"],
                standing_order: false,
                reference: 9_007_199_254_740_993,
                note: "Rent for December, the second floor, with the deposit that we agreed on \
                       in \"writing\" on a Monday of last week",
                approvals: 2,
            },
        }
    }

    /// The same, untyped.
    ///
    /// # Panics
    ///
    /// Never: a call is JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a call is JSON")
    }
}

/// Params whose JSON is about `bytes` long.
#[must_use]
pub fn params(bytes: usize) -> Value {
    let mut rows = Vec::new();
    let mut length = 0;
    while length < bytes {
        let number = rows.len();
        let row = json!({
            "active": number.is_multiple_of(3),
            "city": "Zürich",
            "id": 1000 + number,
            "name": format!("customer number {number}"),
            "score": number as f64 / 8.0,
        });
        length += row.to_string().len() + 1;
        rows.push(row);
    }
    json!({"name": "import", "arguments": {"rows": rows}})
}

/// Params whose keys come in an order that is not the canonical one, at every level.
#[derive(Debug)]
pub enum Unsorted {
    /// The innermost level.
    Text(String),
    /// Members in the order in which they are written.
    Object(Vec<(String, Unsorted)>),
}

impl Unsorted {
    /// A text of `bytes` inside `levels` objects, each with one short member behind it that belongs
    /// in front.
    #[must_use]
    pub fn nested(bytes: usize, levels: usize) -> Self {
        (0..levels).fold(Self::Text("x".repeat(bytes)), |inner, _| {
            let short = Self::Text("y".into());
            Self::Object(vec![("z".into(), inner), ("a".into(), short)])
        })
    }

    /// About `bytes` in one object.
    #[must_use]
    pub fn flat(bytes: usize) -> Self {
        // Times an odd number, so that none comes twice.
        let key = |n: u32| format!("key-{:08x}", n.wrapping_mul(2_654_435_761));
        let member = |n| (key(n), Self::Text("value".into()));
        Self::Object((0..bytes as u32 / 23).map(member).collect())
    }
}

impl Serialize for Unsorted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
