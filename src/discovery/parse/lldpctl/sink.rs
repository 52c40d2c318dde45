//! The neighbors of one device, from the documents of several commands.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};

use super::interface::{self, NeighborRow, Unusable};
use super::node::JsonNode;
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{CdpRow, LldpRow, WarningCode};
use crate::printable::printable;

/// Maximum number of characters that show a contradiction between two documents.
const MAX_CONFLICT: usize = 120;

/// Collects the neighbors, and counts what is left out.
pub(super) struct Sink<'m> {
    pub(super) meter: &'m mut Meter,
    pub(super) lldp: Vec<LldpRow>,
    pub(super) cdp: Vec<CdpRow>,
    /// The number of documents that have begun.
    document: u32,
    known: HashMap<NeighborKey, KnownNeighbor>,
    /// By name and protocol: a device may have another name in each protocol.
    ports: BTreeMap<(String, bool), KnownPort>,
    /// A port whose neighbors in two documents have nothing in common.
    conflict: Option<String>,
    /// Whether a document has an `lldp`.
    pub(super) found: bool,
    /// Whether an `lldp` has something else than neighbors.
    pub(super) has_others: bool,
}

/// A neighbor: the protocol and the local port, the ids of the device and of its port.
pub(super) type NeighborKey = (bool, Option<String>, String, Option<String>);

/// The first row of a neighbor: its document, and its place in the table of its protocol.
#[derive(Clone, Copy)]
struct KnownNeighbor {
    document: u32,
    place: usize,
}

/// A local port with the neighbors, by one protocol, of the latest document that has it.
struct KnownPort {
    document: u32,
    /// The first neighbor of the first document, and that of the latest one.
    first: String,
    latest: String,
    /// Whether the document is the first one of the port, or has a neighbor that was known before.
    is_confirmed: bool,
}

impl KnownPort {
    fn conflict(&self, name: &str) -> Option<String> {
        let Self { first, latest, .. } = self;
        let conflict = || printable(&format!("{name} has the neighbors {first} and {latest}"), MAX_CONFLICT);
        (!self.is_confirmed).then(conflict)
    }
}

impl<'m> Sink<'m> {
    pub(super) fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            lldp: Vec::new(),
            cdp: Vec::new(),
            document: 0,
            known: HashMap::new(),
            ports: BTreeMap::new(),
            conflict: None,
            found: false,
            has_others: false,
        }
    }

    pub(super) const fn begin_document(&mut self) {
        self.document += 1;
    }

    /// Returns a contradiction that shows that the documents are of two devices.
    pub(super) fn conflict(&mut self) -> Option<String> {
        let latest = || self.ports.iter().find_map(|((name, _), port)| port.conflict(name));
        self.conflict.take().or_else(latest)
    }

    /// Takes the neighbor on an interface.
    pub(super) fn push(&mut self, name: &str, interface: &JsonNode) {
        let example = || interface::described(name, interface);
        match interface::row(name, interface) {
            Ok(row) => self.push_row(row, example),
            Err(Unusable::Incomplete) => self.meter.skip_of(WarningCode::RowIncomplete, example),
            Err(Unusable::Local) => {
                self.has_others = true;
                self.meter.skip_of(WarningCode::EntryInvalid, || format!("the port {name} itself"));
            }
            Err(Unusable::Protocol) => self.meter.skip_of(WarningCode::ProtocolUnread, example),
        }
    }

    fn push_row(&mut self, row: NeighborRow, example: impl FnOnce() -> String) {
        let key = row.key();
        let known = self.known.get(&key).copied().filter(|known| known.document != self.document);
        self.note_port(&key, known.is_some());
        if let Some(known) = known {
            // Another command has printed the neighbor as well, with other details.
            self.complete(known.place, row);
            self.meter.skip_of(WarningCode::RowRepeated, example);
        } else if self.meter.admit_row() {
            let place = self.add(row);
            self.known.entry(key).or_insert(KnownNeighbor { document: self.document, place });
        }
    }

    /// Notes a neighbor of a port, which an earlier document may have.
    fn note_port(&mut self, key: &NeighborKey, is_known: bool) {
        let (protocol, Some(port), neighbor, _) = key else { return };
        match self.ports.entry((port.clone(), *protocol)) {
            Entry::Vacant(vacant) => {
                let (first, latest) = (neighbor.clone(), neighbor.clone());
                let document = self.document;
                vacant.insert(KnownPort { document, first, latest, is_confirmed: true });
            }
            Entry::Occupied(known) if known.get().document == self.document => {
                known.into_mut().is_confirmed |= is_known;
            }
            Entry::Occupied(known) => {
                let known = known.into_mut();
                self.conflict = self.conflict.take().or_else(|| known.conflict(port));
                known.document = self.document;
                known.latest.clone_from(neighbor);
                known.is_confirmed = is_known;
            }
        }
    }

    /// Adds a row to the table of its protocol. Returns its place.
    fn add(&mut self, row: NeighborRow) -> usize {
        match row {
            NeighborRow::Lldp(row) => {
                self.lldp.push(row);
                self.lldp.len() - 1
            }
            NeighborRow::Cdp(row) => {
                self.cdp.push(row);
                self.cdp.len() - 1
            }
        }
    }

    /// Adds what a row has and the known one of the same neighbor lacks.
    fn complete(&mut self, place: usize, row: NeighborRow) {
        match row {
            NeighborRow::Lldp(row) => {
                if let Some(known) = self.lldp.get_mut(place) {
                    interface::complete_lldp(known, row);
                }
            }
            NeighborRow::Cdp(row) => {
                if let Some(known) = self.cdp.get_mut(place) {
                    interface::complete_cdp(known, row);
                }
            }
        }
    }
}
