use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{HostId, PortId, Protocol};

/// The result of an import, or its progress so far.
///
/// Its size is bounded: everything is counted, but only the first [`ImportReport::MAX_DETAILS`] entries of each list
/// are kept. `Display` writes it for a person. The JSON form has the fields as named here, and the kinds of alterations
/// as `invalid_mac`, `dropped_port` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImportReport {
    /// Lines read, blank ones included.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Hosts stored.
    pub imported: u64,
    /// The number of stored hosts that replaced existing ones.
    pub replaced: u64,
    /// Lines whose hosts are stored as the lines describe them, so that nothing was written.
    #[serde(default)]
    pub unchanged: u64,
    /// Interfaces, ports, services and interface entries that the replaced hosts had and no longer have.
    #[serde(default)]
    pub removed_parts: u64,
    /// Lines refused.
    pub refused: u64,
    /// The first refused lines, with reasons.
    pub refusals: Vec<Refusal>,
    /// Networks created because hosts named them.
    pub created_networks: u64,
    /// The number of alterations in hosts that were not refused, by kind.
    pub alterations: BTreeMap<Alteration, u64>,
    /// The first dropped ports.
    pub dropped_ports: Vec<DroppedPort>,
    /// Hosts stored with a random id. The id in the line belongs to another organization.
    pub reassigned: u64,
    /// The first of these hosts, with both ids.
    pub reassignments: Vec<Reassignment>,
}

/// A line that was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Refusal {
    /// The line number, from 1.
    pub line: u64,
    /// The dotted path of the faulty value; `None`: not a single value.
    pub field: Option<String>,
    /// The reason for the refusal, as a sentence.
    pub reason: String,
    /// The code of the host application, such as `policy.frozen`, if its rules refuse the line; `entity_conflict` if the host has
    /// changed since `expected_updated_at`; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A port that was dropped because its number is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DroppedPort {
    /// The line number of its host.
    pub line: u64,
    /// The host's id.
    pub host_id: HostId,
    /// The port's id.
    pub port_id: PortId,
    /// The port's protocol.
    pub protocol: Protocol,
}

/// A host that was stored with a random id. The id in its line belongs to another organization.
///
/// References of other lines to the given id are stored as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reassignment {
    /// The line number, from 1.
    pub line: u64,
    /// The id in the line.
    pub given_id: HostId,
    /// The id of the stored host.
    pub id: HostId,
}

/// An alteration that an import makes to a host it stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Alteration {
    /// A MAC address that is not six bytes was set to null.
    InvalidMac,
    /// An empty MAC address was set to null.
    EmptyMac,
    /// A port with number 0 was dropped.
    DroppedPort,
    /// A null `if_descr` was set to the empty string.
    MissingDescription,
    /// A time was truncated to microseconds.
    TruncatedTime,
}

impl ImportReport {
    /// The maximum number of entries kept in each list; more are only counted.
    pub const MAX_DETAILS: usize = 1000;

    /// Returns how often an alteration was made.
    #[must_use]
    pub fn altered(&self, alteration: Alteration) -> u64 {
        self.alterations.get(&alteration).map_or(0, |count| *count)
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InvalidMac => "MAC addresses that are not six bytes set to null",
            Self::EmptyMac => "empty MAC addresses set to null",
            Self::DroppedPort => "ports numbered 0 dropped",
            Self::MissingDescription => "if_descr of null set to the empty string",
            Self::TruncatedTime => "times truncated to microseconds",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: ", self.line)?;
        if let Some(field) = &self.field {
            write!(formatter, "{field}: ")?;
        }
        formatter.write_str(&self.reason)
    }
}

impl fmt::Display for ImportReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} hosts imported ({} of them replaced others), {} lines refused, {} lines and {} bytes read.",
            self.imported, self.replaced, self.refused, self.lines, self.bytes
        )?;
        if self.unchanged > 0 {
            writeln!(formatter, "{} hosts are as described, so that nothing was written.", self.unchanged)?;
        }
        if self.removed_parts > 0 {
            writeln!(formatter, "{} parts of the replaced hosts removed.", self.removed_parts)?;
        }
        if self.created_networks > 0 {
            writeln!(formatter, "{} networks created.", self.created_networks)?;
        }
        for (alteration, count) in &self.alterations {
            writeln!(formatter, "Altered: {count} {alteration}.")?;
        }
        for port in &self.dropped_ports {
            writeln!(
                formatter,
                "  line {}: port {} (0/{}) of host {} dropped",
                port.line, port.port_id, port.protocol, port.host_id
            )?;
        }
        write_more(formatter, self.altered(Alteration::DroppedPort), self.dropped_ports.len())?;
        if self.reassigned > 0 {
            writeln!(formatter, "New ids: {} hosts, whose ids belong to others.", self.reassigned)?;
        }
        for Reassignment { line, given_id, id } in &self.reassignments {
            writeln!(formatter, "  line {line}: {given_id} stored as {id}")?;
        }
        write_more(formatter, self.reassigned, self.reassignments.len())?;
        for refusal in &self.refusals {
            writeln!(formatter, "Refused {refusal}")?;
        }
        write_more(formatter, self.refused, self.refusals.len())
    }
}

fn write_more(formatter: &mut fmt::Formatter<'_>, total: u64, named: usize) -> fmt::Result {
    match total.saturating_sub(named as u64) {
        0 => Ok(()),
        more => writeln!(formatter, "  … and {more} more"),
    }
}
