//! Tables of requests and their expected answers.

use std::collections::BTreeSet;

use http::Request;
use serde_json::{Value, json};

use super::check::CODES;
use super::{Reply, Server};

/// A row of a table: a request and its expected answer.
pub(crate) struct Row {
    name: String,
    request: Request<String>,
    expected: Expected,
}

#[derive(Debug, PartialEq)]
enum Expected {
    Success,
    Data(Value),
    Refusal(u16, String, Value),
}

/// The errors that occurred: status, code, and the keys of the params.
pub(crate) type Produced = BTreeSet<(u16, String, Vec<String>)>;

/// The entities that an error may name.
const ENTITIES: [&str; 20] = [
    "Address Reservation",
    "Host",
    "Port",
    "Network",
    "Share",
    "Tag",
    "User API Key",
    "Daemon API Key",
    "Organization",
    "User",
    "Service",
    "Interface",
    "Session",
    "Daemon",
    "Discovery",
    "If Entry",
    "Subnet",
    "Location",
    "Topology Layout",
    "Topology Link",
];

impl Row {
    /// A request that is refused without params.
    pub(crate) fn refused(name: impl Into<String>, request: Request<String>, code: &str) -> Self {
        Self::refused_with(name, request, code, json!({}))
    }

    /// A request that is refused with exactly these params.
    pub(crate) fn refused_with(
        name: impl Into<String>,
        request: Request<String>,
        code: &str,
        params: Value,
    ) -> Self {
        let (status, ..) = CODES.iter().find(|(_, known, _)| *known == code).expect("a code of the contract");
        Self { name: name.into(), request, expected: Expected::Refusal(*status, code.to_owned(), params) }
    }

    /// A request that succeeds with exactly this data.
    pub(crate) fn gives(name: impl Into<String>, request: Request<String>, data: Value) -> Self {
        Self { name: name.into(), request, expected: Expected::Data(data) }
    }

    /// A request that succeeds.
    pub(crate) fn succeeds(name: impl Into<String>, request: Request<String>) -> Self {
        Self { name: name.into(), request, expected: Expected::Success }
    }
}

/// Sends the requests in order and compares all answers before it reports differences. Returns the errors
/// that occurred.
pub(crate) async fn check(server: &Server, rows: impl IntoIterator<Item = Row>) -> Produced {
    let (mut produced, mut wrong) = (Produced::new(), Vec::new());
    for Row { name, request, expected } in rows {
        let reply = server.send(request).await;
        let answered = match (&expected, reply.status.as_u16()) {
            (Expected::Success, 200) => Expected::Success,
            (_, 200) => Expected::Data(reply.json["data"].clone()),
            (_, status) => {
                let code = reply.json["code"].as_str().unwrap_or_default().to_owned();
                Expected::Refusal(status, code, reply.json["params"].clone())
            }
        };
        if answered != expected {
            wrong.push(format!("{name}: expected {expected:?}, got {answered:?}"));
        }
        produced.extend(produced_by(&reply));
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    produced
}

/// Returns the error of an answer, if it is one.
pub(crate) fn produced_by(reply: &Reply) -> Produced {
    if reply.status == 200 {
        return Produced::new();
    }
    let params = reply.json["params"].as_object().expect("params are an object");
    for name in ["entity", "used_by"] {
        let entity = params.get(name).map(|entity| entity.as_str().unwrap_or_default());
        assert!(entity.is_none_or(|entity| ENTITIES.contains(&entity)), "{params:?}");
    }
    let mut keys: Vec<String> = params.keys().cloned().collect();
    keys.sort_unstable();
    let code = reply.json["code"].as_str().expect("an error has a code").to_owned();
    Produced::from([(reply.status.as_u16(), code, keys)])
}
