//! The columns of a CSV, and the hosts that their cells describe.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::csv::{SEPARATOR, unguard};
use crate::inventory::hosts::HOST_FIELDS;
use crate::inventory::import::report::Refusal;
use crate::inventory::{Error, Problem};
use crate::printable::printable;

/// Maximum number of characters of a column's name in an error.
const MAX_NAME: usize = 64;

/// The columns of a CSV.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<(&'static str, Kind)>,
    /// The network of rows without one.
    network: Option<Uuid>,
}

/// How the cells of a column are read.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Boolean,
    /// A list of ids.
    Ids,
    /// A list of addresses, or JSON.
    Interfaces,
    /// A list of numbers with protocols, or JSON.
    Ports,
    /// A type, or JSON.
    Source,
    Json,
}

impl Kind {
    fn of(field: &str) -> Self {
        match field {
            "hidden" | "is_stale" => Self::Boolean,
            "tags" => Self::Ids,
            "interfaces" => Self::Interfaces,
            "ports" => Self::Ports,
            "source" => Self::Source,
            "chassis_id" | "virtualization" | "credential_assignments" | "services" | "if_entries" => {
                Self::Json
            }
            _ => Self::Text,
        }
    }
}

impl Columns {
    /// Reads a header.
    ///
    /// # Errors
    /// `Invalid` if the header has an unknown field, one twice, or lacks a required one.
    pub(super) fn read<'c>(
        header: impl Iterator<Item = &'c [u8]>,
        network: Option<Uuid>,
    ) -> Result<Self, Error> {
        let mut columns: Vec<(&'static str, Kind)> = Vec::new();
        for cell in header {
            let name = String::from_utf8_lossy(cell).trim().to_ascii_lowercase();
            let Some(field) = HOST_FIELDS.iter().find(|field| **field == name) else {
                return Err(Error::invalid(printable(&name, MAX_NAME), Problem::UnknownField));
            };
            if columns.iter().any(|(known, _)| known == field) {
                return Err(Error::invalid(*field, Problem::Duplicate));
            }
            columns.push((field, Kind::of(field)));
        }
        let is_missing = |field: &&str| columns.iter().all(|(known, _)| known != field);
        let required = network.is_none().then_some("network_id");
        match ["name"].into_iter().chain(required).find(is_missing) {
            Some(missing) => Err(Error::invalid(missing, Problem::Required)),
            None => Ok(Self { columns, network }),
        }
    }

    /// Returns the host of a row as JSON.
    pub(super) fn host<'c>(
        &self,
        line: u64,
        cells: impl ExactSizeIterator<Item = &'c [u8]>,
    ) -> Result<Vec<u8>, Refusal> {
        let refusal =
            |field: Option<&str>, reason: String| Refusal { line, field: field.map(str::to_owned), reason };
        if cells.len() != self.columns.len() {
            let reason = format!("the row has {} cells, and the header {}", cells.len(), self.columns.len());
            return Err(refusal(None, reason));
        }
        let mut host = Map::new();
        for ((field, kind), cell) in self.columns.iter().zip(cells) {
            let text = str::from_utf8(cell).map_err(|_| refusal(Some(field), "must be UTF-8".to_owned()))?;
            let value =
                value(*kind, unguard(text)).map_err(|reason| refusal(Some(field), reason.to_owned()))?;
            // Discovered devices may have no name.
            if let Some(value) = value.or_else(|| (*field == "name").then(|| json!(""))) {
                host.insert((*field).to_owned(), value);
            }
        }
        if let Some(network) = self.network {
            host.entry("network_id").or_insert_with(|| json!(network));
        }
        serde_json::to_vec(&host).map_err(|_| refusal(None, "the row cannot be read".to_owned()))
    }
}

/// Returns the value of a cell; `None` for an empty one.
fn value(kind: Kind, text: &str) -> Result<Option<Value>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let trimmed = text.trim();
    let value = match kind {
        Kind::Text => json!(text),
        Kind::Boolean if trimmed.eq_ignore_ascii_case("true") => json!(true),
        Kind::Boolean if trimmed.eq_ignore_ascii_case("false") => json!(false),
        Kind::Boolean => return Err("must be true or false"),
        Kind::Ids => values(trimmed).collect(),
        Kind::Source if !trimmed.starts_with('{') => json!({"type": trimmed}),
        Kind::Interfaces if !trimmed.starts_with('[') => {
            values(trimmed).map(|address| json!({"ip_address": address})).collect()
        }
        Kind::Ports if !trimmed.starts_with('[') => {
            let ports: Option<Value> = values(trimmed).map(port).collect();
            ports.ok_or("must be numbers with protocols, such as 443/Tcp;53/Udp")?
        }
        Kind::Source | Kind::Interfaces | Kind::Ports | Kind::Json => {
            serde_json::from_str(trimmed).map_err(|_| "must be JSON")?
        }
    };
    Ok(Some(value))
}

/// Returns the values of a list within a cell.
fn values(text: &str) -> impl Iterator<Item = &str> {
    text.split(SEPARATOR).map(str::trim).filter(|value| !value.is_empty())
}

/// Parses a port, which is of TCP unless it names a protocol.
fn port(text: &str) -> Option<Value> {
    let (number, protocol) = text.split_once('/').unwrap_or((text, "Tcp"));
    let number: u16 = number.trim().parse().ok()?;
    Some(json!({"number": number, "protocol": protocol.trim()}))
}
