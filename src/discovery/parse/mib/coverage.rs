//! The MIBs that discovery reads, and the tables that a walk asked for.

use std::collections::BTreeSet;

use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{Table, TableKind, WarningCode};

/// LLDP-EXT-DOT1-MIB: the number of IEEE 802.1 below the extensions of LLDP-MIB.
pub(super) const DOT1: u64 = 32_962;
/// LLDP-EXT-DOT3-MIB: the number of IEEE 802.3 below the extensions of LLDP-MIB.
pub(super) const DOT3: u64 = 4_623;

/// Returns whether a table may need the variable with this identifier.
pub(super) fn is_read(oid: &[u64]) -> bool {
    match oid {
        [1, 3, 6, 1, 2, 1, group, ..] => matches!(group, 1..=4 | 17 | 31 | 47 | 55),
        [1, 0, 8802, 1, 1, 2, 1, rest @ ..] | [1, 3, 111, 2, 802, 1, 1, 13, 1, rest @ ..] => {
            matches!(rest, [3 | 4, ..] | [5, DOT1, 1, 2 | 3, 1, ..] | [5, DOT3, 1, 2 | 3, 3, ..])
        }
        [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, ..]
        | [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, ..]
        | [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, ..] => true,
        _ => false,
    }
}

/// Returns whether a variable is of a column that is read, of a table whose index is one number. Of these, only rows with
/// another index are asked.
pub(super) fn is_row(oid: &[u64]) -> bool {
    matches!(
        oid,
        [1, 3, 6, 1, 2, 1, 2, 2, 1, 2 | 3 | 5..=8, ..]
            | [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1 | 15 | 18, ..]
            | [1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3, ..]
            | [1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 4 | 5 | 11..=13, ..]
            | [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 12 | 13, ..]
    )
}

/// Returns whether a variable that no table needs belongs to a MIB that discovery reads.
fn is_of_known_mib(oid: &[u64]) -> bool {
    let lldp = match oid {
        [1, 0, 8802, 1, 1, 2, 1, rest @ ..] | [1, 3, 111, 2, 802, 1, 1, 13, 1, rest @ ..] => rest,
        _ => &[],
    };
    let is_lldp = matches!(lldp, [1 | 2, ..] | [5, DOT3, 1, ..]);
    let others: [&[u64]; 3] =
        [&[1, 2, 840, 10006, 300, 43], &[1, 3, 6, 1, 4, 1, 9, 9, 23], &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59]];
    is_lldp || others.iter().any(|other| oid.starts_with(other))
}

/// The modules of these MIBs, as net-snmp names them.
const MODULES: &[&str] = &[
    "BRIDGE-MIB",
    "CISCO-CDP-MIB",
    "ENTITY-MIB",
    "IEEE8023-LAG-MIB",
    "IF-MIB",
    "IP-FORWARD-MIB",
    "IP-MIB",
    "IPV6-MIB",
    "LLDP-EXT-DOT1-MIB",
    "LLDP-EXT-DOT3-MIB",
    "LLDP-MIB",
    "LLDP-V2-MIB",
    "Q-BRIDGE-MIB",
    "RFC1213-MIB",
    "SNMPv2-MIB",
    "TIMETRA-LLDP-MIB",
];

/// The beginnings of the names of their objects, for output without names of modules.
const PREFIXES: &[&str] = &[
    "atIfIndex",
    "atNetAddress",
    "atPhysAddress",
    "cdp",
    "dot1d",
    "dot1q",
    "dot3ad",
    "entPhysical",
    "if",
    "inetCidr",
    "ip",
    "lldp",
    "sys",
    "tmnxLldp",
];

/// The facts that the variables of an input show besides their values.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// The number of variables of MIBs that are not read, and line and subtree of the first.
    unread: u64,
    first_unread: Option<(u64, String)>,
    /// The tables from which variables were lost.
    lost: BTreeSet<TableKind>,
    /// The tables that the walk asked for: the device answered variables beside them.
    answered: BTreeSet<TableKind>,
    /// Whether there are variables other than those of the device's own LLDP data.
    is_beyond_lldp: bool,
    /// Whether there are variables other than those of the device's own CDP data.
    is_beyond_cdp: bool,
}

impl Coverage {
    /// Notes a variable that no table needs.
    pub(super) fn pass_over(&mut self, oid: &[u64], meter: &Meter) {
        self.is_beyond_lldp = true;
        self.is_beyond_cdp = true;
        if is_of_known_mib(oid) {
            return;
        }
        self.unread = self.unread.saturating_add(1);
        if self.first_unread.is_none() {
            // Below `enterprises`, the arcs of the vendor and of two of its levels; below LLDP-MIB, those of an extension.
            let length = match oid {
                [1, 3, 6, 1, 4, 1, ..] => 9,
                [1, 0, 8802, ..] | [1, 3, 111, ..] => 12,
                _ => 7,
            };
            let arcs: Vec<String> = oid.iter().take(length).map(u64::to_string).collect();
            self.first_unread = Some((meter.line(), arcs.join(".")));
        }
    }

    /// Notes a variable with a name that no table needs.
    pub(super) fn pass_over_name(&mut self, name: &[u8], meter: &Meter) {
        self.is_beyond_lldp = true;
        self.is_beyond_cdp = true;
        let module = memchr::memmem::find(name, b"::").and_then(|end| name.get(..end));
        let is_known = match module {
            Some(module) => MODULES.iter().any(|known| known.as_bytes() == module),
            None => PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes())),
        };
        if is_known {
            return;
        }
        self.unread = self.unread.saturating_add(1);
        if self.first_unread.is_none() {
            let end = name.iter().position(|byte| matches!(byte, b'.' | b'[')).filter(|_| module.is_none());
            let name = module.or_else(|| name.get(..end?)).unwrap_or(name);
            self.first_unread = Some((meter.line(), String::from_utf8_lossy(name).into_owned()));
        }
    }

    /// Notes a variable that a table may need.
    pub(super) fn note(&mut self, oid: &[u64]) {
        match oid {
            [1, 0, 8802, 1, 1, 2, 1, 3, ..] | [1, 3, 111, 2, 802, 1, 1, 13, 1, 3, ..] => {
                self.is_beyond_cdp = true;
            }
            [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 3, ..] => self.is_beyond_lldp = true,
            _ => {
                self.is_beyond_lldp = true;
                self.is_beyond_cdp = true;
            }
        }
        let kind = match oid {
            // Scalars of the group to which the table belongs.
            [1, 3, 6, 1, 2, 1, 4, _, 0] => TableKind::Arp,
            [1, 3, 6, 1, 2, 1, 4, 24, _, 0] => TableKind::Routes,
            [1, 3, 6, 1, 2, 1, 17, 2, _, 0] => TableKind::Stp,
            [1, 3, 6, 1, 2, 1, 17, 4, _, 0] => TableKind::Fdb,
            // The columns that state the aggregate of each port, 0 for none.
            [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 12 | 13, _] => TableKind::Lag,
            _ => return,
        };
        self.answered.insert(kind);
    }

    /// Notes a variable of a table that could not be read.
    pub(super) fn note_loss(&mut self, oid: &[u64]) {
        self.lost.extend(kind(oid));
    }

    /// Notes that a table lacks rows.
    pub(super) fn note_loss_of(&mut self, kind: TableKind) {
        self.lost.insert(kind);
    }

    /// Notes the protocols whose neighbors the walk asked for. They are those by which the device states its own
    /// identity.
    ///
    /// A walk of only the device's own data did not ask for neighbors.
    pub(super) fn note_identities(&mut self, by_lldp: bool, by_cdp: bool) {
        if by_lldp && self.is_beyond_lldp {
            self.answered.insert(TableKind::Lldp);
        }
        if by_cdp && self.is_beyond_cdp {
            self.answered.insert(TableKind::Cdp);
        }
    }

    /// Makes a table of rows. It is complete if the input is, and if no row was lost while reading or converting.
    ///
    /// Without rows there is a table only if the input is complete and the device was asked for it.
    pub(super) fn table<T>(
        &self,
        kind: TableKind,
        is_input_complete: bool,
        rows: Converted<T>,
    ) -> Option<Box<Table<T>>> {
        let Converted { rows, has_losses } = rows;
        let complete = is_input_complete && !has_losses && !self.lost.contains(&kind);
        if rows.is_empty() && !(complete && self.answered.contains(&kind)) {
            return None;
        }
        Some(Table::of(rows, complete))
    }

    /// Warns of the variables that no table needs.
    pub(super) fn finish(&self, meter: &mut Meter) {
        if let Some((line, example)) = &self.first_unread {
            meter.warn_many(WarningCode::VariableUnread, self.unread, *line, example);
        }
    }
}

/// The rows of a table.
#[derive(Debug)]
pub(super) struct Converted<T> {
    rows: Vec<T>,
    /// Whether rows were lost in the conversion.
    has_losses: bool,
}

impl<T> Converted<T> {
    /// Converts a table, and notes whether rows are lost.
    pub(super) fn new(meter: &mut Meter, convert: impl FnOnce(&mut Meter) -> Vec<T>) -> Self {
        let before = meter.lost_rows();
        let rows = convert(meter);
        Self { rows, has_losses: meter.lost_rows() > before }
    }
}

/// Returns the table to which a variable belongs.
fn kind(oid: &[u64]) -> Option<TableKind> {
    match oid {
        [1, 3, 6, 1, 2, 1, 31, 1, 2, ..] | [1, 2, 840, 10006, 300, 43, ..] => Some(TableKind::Lag),
        [1, 3, 6, 1, 2, 1, 2 | 31, ..] | [1, 3, 6, 1, 2, 1, 17, 7, 1, 4, ..] => Some(TableKind::IfEntries),
        [1, 3, 6, 1, 2, 1, 4, 20 | 34, ..] | [1, 3, 6, 1, 2, 1, 55, 1, 8, ..] => Some(TableKind::Addresses),
        [1, 3, 6, 1, 2, 1, 3, ..]
        | [1, 3, 6, 1, 2, 1, 4, 22 | 35, ..]
        | [1, 3, 6, 1, 2, 1, 55, 1, 12, ..] => Some(TableKind::Arp),
        [1, 3, 6, 1, 2, 1, 4, 21 | 24, ..] => Some(TableKind::Routes),
        [1, 3, 6, 1, 2, 1, 17, 2, ..] => Some(TableKind::Stp),
        [1, 3, 6, 1, 2, 1, 17, 4, ..] | [1, 3, 6, 1, 2, 1, 17, 7, 1, 2, ..] => Some(TableKind::Fdb),
        [1, 0, 8802, 1, 1, 2, 1, 4, 1, ..]
        | [1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, ..]
        | [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, ..] => Some(TableKind::Lldp),
        [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, ..] => Some(TableKind::Cdp),
        _ => None,
    }
}
