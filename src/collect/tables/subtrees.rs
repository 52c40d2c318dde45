//! The objects that are read of a device.

use self::SubtreeMark::{ByInterfaces, ByNeighbors, Unmarked};
use crate::collect::snmp::WalkedTable;
use crate::discovery::report::MAX_ROUTES;
use crate::discovery::report::TableKind::{
    self, Addresses, Arp, Cdp, Fdb, IfEntries, Lag, Lldp, Routes, Stp,
};

/// `sysObjectID` of devices by Nokia, the only ones with TIMETRA-LLDP-MIB.
pub(super) const TIMETRA: [u32; 7] = [1, 3, 6, 1, 4, 1, 6527];

/// The tables of the neighbors and of their addresses by LLDP-MIB, and of the addresses of the device by IP-MIB, in the order of
/// [`SUBTREES`].
pub(super) const ADDRESSES: [&[u32]; 4] = [
    &[1, 0, 8802, 1, 1, 2, 1, 4, 1],
    &[1, 0, 8802, 1, 1, 2, 1, 4, 2],
    &[1, 3, 6, 1, 2, 1, 4, 20],
    &[1, 3, 6, 1, 2, 1, 4, 34],
];

/// `dot1dBasePort`, which differs from the index of its row on some devices.
pub(super) const BASE_PORT_NUMBERS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 1];

/// `dot1dBasePortIfIndex`, by which the numbers of other tables are read.
pub(super) const BASE_PORTS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2];

/// `dot1dTpFdbTable`.
pub(super) const BRIDGE_FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 4, 3];

/// `dot1qTpFdbTable`.
pub(super) const Q_BRIDGE_FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2];

/// The mark by which a device shows that variables are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubtreeMark {
    /// There is none, or the variables are needed to read others.
    Unmarked,
    /// `ifTableLastChange`.
    ByInterfaces,
    /// `lldpStatsRemTablesLastChangeTime`.
    ByNeighbors,
}

/// The marks that show that all variables below them are the same as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::collect) struct MarkCoverage {
    /// `ifTableLastChange`.
    pub(in crate::collect) interfaces: bool,
    /// `lldpStatsRemTablesLastChangeTime`.
    pub(in crate::collect) neighbors: bool,
}

impl MarkCoverage {
    pub(super) const fn has(self, mark: SubtreeMark) -> bool {
        match mark {
            Unmarked => false,
            ByInterfaces => self.interfaces,
            ByNeighbors => self.neighbors,
        }
    }
}

/// The objects below which variables are read, in order, each with the tables that lack rows if it is truncated, and the mark that shows
/// that it is as before.
pub(super) const SUBTREES: &[(&[u32], &[TableKind], SubtreeMark)] = &[
    // LLDP-MIB: the device itself, its neighbors, their addresses, and the extensions of IEEE 802.1 and 802.3.
    (&[1, 0, 8802, 1, 1, 2, 1, 3], &[Lldp], ByNeighbors),
    (&[1, 0, 8802, 1, 1, 2, 1, 4, 1], &[Lldp], ByNeighbors),
    (&[1, 0, 8802, 1, 1, 2, 1, 4, 2], &[Lldp], ByNeighbors),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 4623, 1, 2, 3], &[Lag], Unmarked),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 4623, 1, 3, 3], &[Lldp], ByNeighbors),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 32962, 1, 2, 1], &[IfEntries], ByNeighbors),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 32962, 1, 3, 1], &[Lldp], ByNeighbors),
    // IEEE8023-LAG-MIB: the aggregates that members have selected, and those that they are attached to.
    (&[1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 12], &[Lag], Unmarked),
    (&[1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13], &[Lag], Unmarked),
    // The system group.
    (&[1, 3, 6, 1, 2, 1, 1], &[], Unmarked),
    // IF-MIB: `ifTable` by columns.
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 1], &[IfEntries], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 2], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 3], &[IfEntries], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 5], &[IfEntries], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 6], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 7], &[IfEntries], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 8], &[IfEntries], Unmarked),
    // IP-MIB. A scalar shows that the device has the group, so that a cache without entries is an empty one.
    (&[1, 3, 6, 1, 2, 1, 4, 1], &[], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 3], &[], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 20], &[Addresses], Unmarked),
    // Routing tables by columns, because they may be long: RFC1213-MIB, and IP-FORWARD-MIB old and new. A scalar shows that the device has the
    // group.
    (&[1, 3, 6, 1, 2, 1, 4, 21, 1, 2], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 21, 1, 3], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 21, 1, 7], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 21, 1, 8], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 21, 1, 11], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 22], &[Arp], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 3], &[], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 5], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 6], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 11], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 6], &[], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 7, 1, 7], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 7, 1, 8], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 7, 1, 12], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 34], &[Addresses], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 35], &[Arp], Unmarked),
    // BRIDGE-MIB: the address, the ports, the spanning tree, and the forwarding database.
    (&[1, 3, 6, 1, 2, 1, 17, 1, 1], &[], Unmarked),
    (BASE_PORT_NUMBERS, &[Fdb, Stp], Unmarked),
    (BASE_PORTS, &[Fdb, Stp], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 2], &[Stp], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 1], &[], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 2], &[], Unmarked),
    (BRIDGE_FDB, &[Fdb], Unmarked),
    // Q-BRIDGE-MIB: the forwarding database by VLAN, current and static VLANs, and the default VLANs of ports.
    (Q_BRIDGE_FDB, &[Fdb], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 3], &[IfEntries, Fdb], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 4], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 5], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 4], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 5, 1, 1], &[IfEntries], Unmarked),
    // IF-MIB: `ifXTable` by columns, and `ifStackTable`.
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 15], &[IfEntries], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 18], &[IfEntries], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3], &[Lag], Unmarked),
    // ENTITY-MIB by columns.
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 4], &[], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 5], &[], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 11], &[], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 12], &[], ByInterfaces),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 13], &[], ByInterfaces),
    // IPV6-MIB.
    (&[1, 3, 6, 1, 2, 1, 55, 1, 8], &[Addresses], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 55, 1, 12], &[Arp], Unmarked),
    // CISCO-CDP-MIB: names of interfaces, neighbors, and the device's own id.
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 1, 1, 1, 6], &[Cdp], Unmarked),
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2], &[Cdp], Unmarked),
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 3, 4], &[], Unmarked),
    // TIMETRA-LLDP-MIB.
    (&[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4], &[Lldp], Unmarked),
    // LLDP-V2-MIB, as LLDP-MIB.
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 3], &[Lldp], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1], &[Lldp], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 2], &[Lldp], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 4623, 1, 2, 3], &[Lag], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 4623, 1, 3, 3], &[Lldp], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 32962, 1, 2, 1], &[IfEntries], Unmarked),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 32962, 1, 3, 1], &[Lldp], Unmarked),
];

/// Scalars that are read only if the device lacks another one with the same meaning.
const ALTERNATIVES: [(&[u32], &[u32]); 3] = [
    (&[1, 3, 6, 1, 2, 1, 4, 3], &[1, 3, 6, 1, 2, 1, 4, 1]),
    (&[1, 3, 6, 1, 2, 1, 4, 24, 6], &[1, 3, 6, 1, 2, 1, 4, 24, 3]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 2], &[1, 3, 6, 1, 2, 1, 17, 4, 1]),
];

/// Neighbors by tables that `lldpStatsRemTablesLastChangeTime` does not cover.
const OTHER_NEIGHBORS: [&[u32]; 2] = [&[1, 3, 6, 1, 4, 1, 6527], &[1, 3, 111, 2, 802, 1, 1, 13]];

/// Returns the number of variables that are read below an object of these tables: no more than a report has rows of.
pub(super) const fn max_rows(kinds: &[TableKind]) -> usize {
    match kinds {
        [Routes] => MAX_ROUTES,
        _ => usize::MAX,
    }
}

/// Returns whether the marks cover a table.
pub(in crate::collect) fn is_covered(table: &WalkedTable, coverage: MarkCoverage) -> bool {
    let subtree = SUBTREES.iter().find(|(root, ..)| *root == table.root.arcs());
    subtree.is_some_and(|(.., mark)| coverage.has(*mark))
}

/// Returns whether all neighbors that a device has are in tables that `lldpStatsRemTablesLastChangeTime` covers.
pub(in crate::collect) fn has_covered_neighbors(tables: &[WalkedTable]) -> bool {
    let is_other = |table: &WalkedTable| {
        OTHER_NEIGHBORS.iter().any(|root| table.root.arcs().starts_with(root)) && !table.rows.is_empty()
    };
    !tables.iter().any(is_other)
}

pub(super) fn has_alternative(subtree: &[u32], tables: &[WalkedTable]) -> bool {
    let other = ALTERNATIVES.iter().find(|(object, _)| *object == subtree);
    other.is_some_and(|(_, other)| {
        tables.iter().any(|table| table.root.arcs() == *other && !table.rows.is_empty())
    })
}
