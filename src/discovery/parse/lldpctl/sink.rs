//! The neighbors of one device, from the documents of several commands.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// The rows so far. `None` stands for one that a later document replaces.
    rows: Vec<Option<NeighborRow>>,
    /// The number of documents that have begun.
    document: u32,
    known: HashMap<NeighborKey, KnownNeighbor>,
    ports: BTreeMap<PortKey, KnownPort>,
    /// The ports whose neighbors in this document have nothing in common with those of earlier ones so far.
    changed: BTreeSet<PortKey>,
    /// Whether this document has a neighbor of an earlier one, which shows that both are of one device.
    is_confirmed: bool,
    /// A port whose neighbors in two documents show two devices.
    conflict: Option<String>,
    /// Whether a document has an `lldp`.
    pub(super) found: bool,
    /// Whether an `lldp` has something else than neighbors.
    pub(super) has_others: bool,
    /// Whether a document replaces neighbors of an earlier one, which may have further neighbors that are no longer there.
    pub(super) has_replaced: bool,
}

/// A neighbor: the protocol and the local port, the ids of the device and of its port.
pub(super) type NeighborKey = (bool, Option<String>, String, Option<String>);

/// A local port, by name and protocol: a device may have another name in each protocol.
type PortKey = (String, bool);

/// The first row of a neighbor: its document, and its place among the rows.
#[derive(Clone, Copy)]
struct KnownNeighbor {
    document: u32,
    place: usize,
}

/// A local port with its neighbors by one protocol.
#[derive(Default)]
struct KnownPort {
    /// The latest document that has neighbors of the port.
    document: u32,
    /// The first neighbor of the first document, and that of the latest one.
    first: String,
    latest: String,
    /// The places of the rows of earlier documents, and of the latest one.
    earlier: Vec<usize>,
    places: Vec<usize>,
}

impl<'m> Sink<'m> {
    pub(super) fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            rows: Vec::new(),
            document: 0,
            known: HashMap::new(),
            ports: BTreeMap::new(),
            changed: BTreeSet::new(),
            is_confirmed: false,
            conflict: None,
            found: false,
            has_others: false,
            has_replaced: false,
        }
    }

    pub(super) fn begin_document(&mut self) {
        self.end_document();
        self.document += 1;
    }

    /// Decides about the ports with other neighbors than before: a document with other known neighbors is a later state of the
    /// device, and one without any is of another device.
    fn end_document(&mut self) {
        let is_confirmed = std::mem::take(&mut self.is_confirmed);
        for key in std::mem::take(&mut self.changed) {
            let Some(port) = self.ports.get_mut(&key) else { continue };
            if !is_confirmed {
                let KnownPort { first, latest, .. } = port;
                let conflict = format!("{} has the neighbors {first} and {latest}", key.0);
                self.conflict.get_or_insert_with(|| printable(&conflict, MAX_CONFLICT));
                continue;
            }
            self.has_replaced = true;
            let replaced = std::mem::take(&mut port.earlier);
            for row in replaced.into_iter().filter_map(|place| self.rows.get_mut(place)?.take()) {
                self.known.remove(&row.key());
                self.meter.leave_out(WarningCode::RowReplaced, || key.0.as_str());
            }
        }
    }

    /// Returns a contradiction that shows that the documents are of two devices.
    pub(super) fn conflict(&mut self) -> Option<String> {
        self.end_document();
        self.conflict.take()
    }

    /// Returns the neighbors by LLDP and by CDP.
    pub(super) fn into_tables(self) -> (Vec<LldpRow>, Vec<CdpRow>) {
        let (mut lldp, mut cdp) = (Vec::new(), Vec::new());
        for row in self.rows.into_iter().flatten() {
            match row {
                NeighborRow::Lldp(row) => lldp.push(row),
                NeighborRow::Cdp(row) => cdp.push(row),
            }
        }
        (lldp, cdp)
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
            if let Some(Some(first)) = self.rows.get_mut(known.place) {
                first.complete(row);
            }
            self.meter.skip_of(WarningCode::RowRepeated, example);
        } else if self.meter.admit_row() {
            let place = self.rows.len();
            self.rows.push(Some(row));
            if let (protocol, Some(port), ..) = &key
                && let Some(port) = self.ports.get_mut(&(port.clone(), *protocol))
            {
                port.places.push(place);
            }
            self.known.entry(key).or_insert(KnownNeighbor { document: self.document, place });
        }
    }

    /// Notes a neighbor of a port, which an earlier document may have.
    fn note_port(&mut self, (protocol, port, neighbor, _): &NeighborKey, is_known: bool) {
        self.is_confirmed |= is_known;
        let Some(name) = port else { return };
        let key = (name.clone(), *protocol);
        let port = self.ports.entry(key.clone()).or_default();
        if port.document != self.document {
            let is_first = port.document == 0;
            port.document = self.document;
            port.latest.clone_from(neighbor);
            port.earlier.append(&mut port.places);
            if is_first {
                port.first.clone_from(neighbor);
            } else {
                self.changed.insert(key.clone());
            }
        }
        if is_known {
            self.changed.remove(&key);
        }
    }
}
