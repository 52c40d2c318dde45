//! The tables that discovery reads: an agent becomes rows, and rows become a report.
//!
//! The report is made by the readers of the file formats: a walk from a file with the same variables gives the same report.

mod vlans;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::IpAddr;

use self::SubtreeMark::{ByInterfaces, ByNeighbors, Unmarked};
use super::snmp::{
    ObjectId, ReadAhead, SnmpAgent, SnmpValue, TableEnd, TruncationReason, WalkBudget, WalkLimits,
    WalkedTable,
};
use crate::discovery::report::TableKind::{
    self, Addresses, Arp, Cdp, Fdb, IfEntries, Lag, Lldp, Routes, Stp,
};
use crate::discovery::{ParseError, ParseOptions, Report, VariableReader, VariableValue};

/// The reporter of the reports.
const REPORTER: &str = "collect";

/// Number of tables in a row without an answer after which no further ones are read.
const MAX_SILENT_TABLES: usize = 2;

/// `sysObjectID` of devices by Nokia, the only ones with TIMETRA-LLDP-MIB.
const TIMETRA: [u32; 7] = [1, 3, 6, 1, 4, 1, 6527];

/// The tables of the neighbors and of their addresses by LLDP-MIB, and of the addresses of the device by IP-MIB, in the order of
/// [`SUBTREES`].
const ADDRESSES: [&[u32]; 4] = [
    &[1, 0, 8802, 1, 1, 2, 1, 4, 1],
    &[1, 0, 8802, 1, 1, 2, 1, 4, 2],
    &[1, 3, 6, 1, 2, 1, 4, 20],
    &[1, 3, 6, 1, 2, 1, 4, 34],
];

/// `dot1dBasePort`, which differs from the index of its row on some devices.
const BASE_PORT_NUMBERS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 1];

/// `dot1dBasePortIfIndex`, by which the numbers of other tables are read.
const BASE_PORTS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2];

/// `dot1dTpFdbTable`.
const BRIDGE_FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 4, 3];

/// `dot1qTpFdbTable`.
const Q_BRIDGE_FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2];

/// The mark by which a device shows that variables are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubtreeMark {
    /// There is none, or the variables are needed to read others.
    Unmarked,
    /// `ifTableLastChange`.
    ByInterfaces,
    /// `lldpStatsRemTablesLastChangeTime`.
    ByNeighbors,
}

/// The marks that show that all variables below them are the same as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MarkCoverage {
    /// `ifTableLastChange`.
    pub(super) interfaces: bool,
    /// `lldpStatsRemTablesLastChangeTime`.
    pub(super) neighbors: bool,
}

impl MarkCoverage {
    const fn has(self, mark: SubtreeMark) -> bool {
        match mark {
            Unmarked => false,
            ByInterfaces => self.interfaces,
            ByNeighbors => self.neighbors,
        }
    }
}

/// The objects below which variables are read, in order, each with the tables that lack rows if it is truncated, and the mark that shows
/// that it is as before.
const SUBTREES: &[(&[u32], &[TableKind], SubtreeMark)] = &[
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
    (&[1, 3, 6, 1, 2, 1, 4, 21], &[Routes], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 22], &[Arp], Unmarked),
    (&[1, 3, 6, 1, 2, 1, 4, 24], &[Routes], Unmarked),
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
const ALTERNATIVES: [(&[u32], &[u32]); 2] = [
    (&[1, 3, 6, 1, 2, 1, 4, 3], &[1, 3, 6, 1, 2, 1, 4, 1]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 2], &[1, 3, 6, 1, 2, 1, 17, 4, 1]),
];

/// Neighbors by tables that `lldpStatsRemTablesLastChangeTime` does not cover.
const OTHER_NEIGHBORS: [&[u32]; 2] = [&[1, 3, 6, 1, 4, 1, 6527], &[1, 3, 111, 2, 802, 1, 1, 13]];

/// Reads all tables of a device that discovery uses.
///
/// A table that fails does not stop the others. After two in a row without an answer, the rest counts as truncated, without
/// being asked for. Tables of which an earlier answer shows that the agent has none are not asked for, either.
pub async fn read(agent: &mut SnmpAgent, limits: &WalkLimits) -> Vec<WalkedTable> {
    read_uncovered(agent, &mut WalkBudget::new(limits), MarkCoverage::default(), |_| {}).await
}

/// Reads the tables that the marks do not cover. `on_addresses` gets the tables of IP-MIB with the addresses of the device, and those of
/// LLDP-MIB with its neighbors, once they were read: before most of the others.
pub(super) async fn read_uncovered(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    coverage: MarkCoverage,
    on_addresses: impl FnMut(&[&WalkedTable]),
) -> Vec<WalkedTable> {
    let mut tables = read_chosen(agent, budget, |mark| !coverage.has(mark), on_addresses).await;
    if tables.last().is_some_and(is_silent) {
        vlans::note_unread(agent, &mut tables);
    } else {
        vlans::read(agent, budget, &mut tables).await;
    }
    tables
}

/// Reads the tables that the marks cover, and adds them to the others.
pub(super) async fn read_covered(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    coverage: MarkCoverage,
    tables: &mut Vec<WalkedTable>,
) {
    tables.extend(read_chosen(agent, budget, |mark| coverage.has(mark), |_| {}).await);
    tables.sort_by(|one, other| one.root.cmp(&other.root));
}

/// Returns whether the marks cover a table.
pub(super) fn is_covered(table: &WalkedTable, coverage: MarkCoverage) -> bool {
    let subtree = SUBTREES.iter().find(|(root, ..)| *root == table.root.arcs());
    subtree.is_some_and(|(.., mark)| coverage.has(*mark))
}

/// Returns whether all neighbors that a device has are in tables that `lldpStatsRemTablesLastChangeTime` covers.
pub(super) fn has_covered_neighbors(tables: &[WalkedTable]) -> bool {
    let is_other = |table: &WalkedTable| {
        OTHER_NEIGHBORS.iter().any(|root| table.root.arcs().starts_with(root)) && !table.rows.is_empty()
    };
    !tables.iter().any(is_other)
}

/// `ipCidrRouteNextHop` and `ipRouteNextHop`. A device that has the first is not asked for the second.
const NEXT_HOPS: [&[u32]; 2] = [&[1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 4], &[1, 3, 6, 1, 2, 1, 4, 21, 1, 7]];

/// Maximum number of routes that are read.
const MAX_ROUTES: usize = 10_000;

/// The next hops of the routes of a device.
#[derive(Default)]
pub(super) struct NextHops {
    /// The addresses, each once.
    pub(super) addresses: Vec<IpAddr>,
    /// The columns that were not read to their ends, without their rows.
    pub(super) truncated: Vec<WalkedTable>,
}

/// Reads the next hops of the routes of a device, with the reserve of the budget and what its tables have left of it.
pub(super) async fn next_hops(agent: &mut SnmpAgent, budget: &mut WalkBudget) -> NextHops {
    budget.use_reserve();
    budget.limit_rows(MAX_ROUTES);
    let (mut hops, mut truncated) = (BTreeSet::new(), Vec::new());
    for column in NEXT_HOPS {
        let table = agent.walk(&ObjectId::new(column), budget).await;
        let address = |value| match value {
            SnmpValue::IpAddress(octets) => Some(IpAddr::from(octets)).filter(|hop| !hop.is_unspecified()),
            _ => None,
        };
        hops.extend(table.rows.into_iter().filter_map(|variable| address(variable.value)));
        if matches!(table.end, TableEnd::Truncated(_)) {
            truncated.push(WalkedTable::without_rows(table.root, table.end));
        }
        if !hops.is_empty() {
            break;
        }
    }
    NextHops { addresses: hops.into_iter().collect(), truncated }
}

async fn read_chosen(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    is_chosen: impl Fn(SubtreeMark) -> bool,
    mut on_addresses: impl FnMut(&[&WalkedTable]),
) -> Vec<WalkedTable> {
    let is_timetra = agent.system().object_id.as_ref().is_some_and(|id| id.arcs().starts_with(&TIMETRA));
    let (mut tables, mut ahead) = (Vec::<WalkedTable>::new(), ReadAhead::default());
    for (subtree, _, mark) in SUBTREES {
        let is_other = subtree.starts_with(&TIMETRA) && !is_timetra;
        if !is_chosen(*mark) || is_other || has_alternative(subtree, &tables) {
            continue;
        }
        let root = ObjectId::new(*subtree);
        let silent = tables.iter().rev().take_while(|table| is_silent(table)).count();
        let table = if silent >= MAX_SILENT_TABLES {
            WalkedTable::without_rows(root, TableEnd::Truncated(TruncationReason::Silent))
        } else if let Some(empty) = tables.last().and_then(|former| former.known_empty(&root)) {
            empty
        } else {
            agent.walk_on(&root, budget, &mut ahead).await
        };
        tables.push(table);
        if Some(subtree) == ADDRESSES.last() {
            let is_of_addresses = |table: &&WalkedTable| ADDRESSES.contains(&table.root.arcs());
            on_addresses(&tables.iter().filter(is_of_addresses).collect::<Vec<_>>());
        }
    }
    tables
}

fn has_alternative(subtree: &[u32], tables: &[WalkedTable]) -> bool {
    let other = ALTERNATIVES.iter().find(|(object, _)| *object == subtree);
    other.is_some_and(|(_, other)| {
        tables.iter().any(|table| table.root.arcs() == *other && !table.rows.is_empty())
    })
}

const fn is_silent(table: &WalkedTable) -> bool {
    matches!(table.end, TableEnd::Truncated(TruncationReason::Silent))
}

/// Makes the report of a device of its tables.
///
/// Tables that were read to their ends are complete, if `options` state that the input is.
///
/// # Errors
/// Returns an error if the device states no name of itself and `options` do not name it, and if the tables come from
/// several devices.
pub fn report(tables: &[WalkedTable], options: &ParseOptions) -> Result<Report, ParseError> {
    report_of(tables.iter(), options)
}

/// Makes a report like [`report`].
pub(super) fn report_of<'t>(
    tables: impl Iterator<Item = &'t WalkedTable>,
    options: &ParseOptions,
) -> Result<Report, ParseError> {
    let mut reader = VariableReader::new(options);
    let mut arcs = Vec::new();
    for table in tables {
        for variable in &table.rows {
            arcs.clear();
            arcs.extend(variable.id.arcs().iter().copied().map(u64::from));
            match (value(&variable.value), table.vlan) {
                (ReadValue::Value(value), Some(vlan)) => reader.accept_of_vlan(vlan, &arcs, &value)?,
                (ReadValue::Value(value), None) => reader.accept(&arcs, Some(&value))?,
                (ReadValue::OutOfRange, None) => reader.accept(&arcs, None)?,
                (ReadValue::OutOfRange, Some(_)) | (ReadValue::Nothing, _) => {}
            }
        }
        if matches!(table.end, TableEnd::Truncated(_)) {
            lose(&mut reader, table);
        }
    }
    reader.into_report(REPORTER)
}

/// Notes what a truncated table lacks.
fn lose(reader: &mut VariableReader<'_>, table: &WalkedTable) {
    if table.vlan.is_some() {
        return reader.lose(Fdb);
    }
    let subtree = SUBTREES.iter().find(|(root, ..)| *root == table.root.arcs());
    for kind in subtree.map_or(&[] as &[TableKind], |(_, kinds, _)| kinds) {
        reader.lose(*kind);
    }
    if [BASE_PORT_NUMBERS, BASE_PORTS].contains(&table.root.arcs()) {
        reader.lose_base_ports();
    }
}

enum ReadValue<'v> {
    Value(VariableValue<'v>),
    /// No table reads numbers as large.
    OutOfRange,
    /// There is no value, or one of a type that no table reads.
    Nothing,
}

fn value(value: &SnmpValue) -> ReadValue<'_> {
    let value = match value {
        SnmpValue::Integer(number) => VariableValue::Integer(i64::from(*number)),
        SnmpValue::Counter32(number) | SnmpValue::Gauge32(number) | SnmpValue::TimeTicks(number) => {
            VariableValue::Integer(i64::from(*number))
        }
        SnmpValue::Counter64(number) => match i64::try_from(*number) {
            Ok(number) => VariableValue::Integer(number),
            Err(_) => return ReadValue::OutOfRange,
        },
        SnmpValue::Bytes(bytes) => VariableValue::Bytes(Cow::Borrowed(bytes)),
        SnmpValue::IpAddress(octets) => VariableValue::Bytes(Cow::Borrowed(octets)),
        SnmpValue::ObjectId(id) => {
            VariableValue::Oid(id.arcs().iter().copied().map(u64::from).collect::<Vec<_>>().into())
        }
        _ => return ReadValue::Nothing,
    };
    ReadValue::Value(value)
}
