use serde_json::Value;
use toposcope::inventory::{ImportReport, Refusal};
use toposcope::model::Host;
use uuid::Uuid;

use super::{bare_host, id};

/// The JSON of a host, to be made invalid.
pub(crate) struct Document(pub(crate) Value);

impl Document {
    pub(crate) fn of(host: &Host) -> Self {
        Self(serde_json::to_value(host).unwrap())
    }

    /// Replaces the value at a dotted path.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        let pointer = format!("/{}", path.replace('.', "/"));
        *self.0.pointer_mut(&pointer).expect("there is such a value") = value.into();
        self
    }

    pub(crate) fn without(mut self, parent: &str, field: &str) -> Self {
        self.0.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(field);
        self
    }

    pub(crate) fn line(&self) -> String {
        self.0.to_string()
    }
}

/// Returns hosts as the lines of an import.
pub(crate) fn jsonl<'h>(hosts: impl IntoIterator<Item = &'h Host>) -> Vec<u8> {
    let mut lines = Vec::new();
    for host in hosts {
        serde_json::to_writer(&mut lines, host).unwrap();
        lines.push(b'\n');
    }
    lines
}

/// Returns `count` hosts with ids from 1.
pub(crate) fn numbered_hosts(network: Uuid, count: u128) -> Vec<Host> {
    (1..=count).map(|number| bare_host(id(number), network)).collect()
}

/// Returns the refusal of an import of which only the second line was refused.
#[track_caller]
pub(crate) fn refusal_of_second(report: &ImportReport, what: &str) -> Refusal {
    assert_eq!((report.lines, report.imported, report.refused), (3, 2, 1), "{what}: {report}");
    assert_eq!((report.refusals.len(), report.refusals[0].line), (1, 2), "{what}: {report}");
    report.refusals[0].clone()
}
