//! The tables that discovery reads: an agent becomes rows, and rows become a report.
//!
//! The report is made by the readers of the file formats: a walk from a file with the same variables gives the same report.

use std::borrow::Cow;

use super::snmp::{
    ObjectId, SnmpAgent, SnmpValue, TableEnd, TruncationReason, WalkBudget, WalkLimits, WalkedTable,
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

/// The objects below which variables are read, in order, each with the tables that lack rows if it is truncated.
const SUBTREES: &[(&[u32], &[TableKind])] = &[
    // LLDP-MIB: the device itself, its neighbors, their addresses, and the extensions of IEEE 802.1 and 802.3.
    (&[1, 0, 8802, 1, 1, 2, 1, 3], &[Lldp]),
    (&[1, 0, 8802, 1, 1, 2, 1, 4, 1], &[Lldp]),
    (&[1, 0, 8802, 1, 1, 2, 1, 4, 2], &[Lldp]),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 4623, 1, 2, 3], &[Lag]),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 4623, 1, 3, 3], &[Lldp]),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 32962, 1, 2, 1], &[IfEntries]),
    (&[1, 0, 8802, 1, 1, 2, 1, 5, 32962, 1, 3, 1], &[Lldp]),
    // IEEE8023-LAG-MIB.
    (&[1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13], &[Lag]),
    // The system group.
    (&[1, 3, 6, 1, 2, 1, 1], &[]),
    // IF-MIB: `ifTable` by columns.
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 1], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 2], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 3], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 5], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 6], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 7], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 2, 2, 1, 8], &[IfEntries]),
    // IP-MIB. A scalar shows that the device has the group, so that a cache without entries is an empty one.
    (&[1, 3, 6, 1, 2, 1, 4, 1], &[]),
    (&[1, 3, 6, 1, 2, 1, 4, 3], &[]),
    (&[1, 3, 6, 1, 2, 1, 4, 20], &[Addresses]),
    (&[1, 3, 6, 1, 2, 1, 4, 21], &[Routes]),
    (&[1, 3, 6, 1, 2, 1, 4, 22], &[Arp]),
    (&[1, 3, 6, 1, 2, 1, 4, 24], &[Routes]),
    (&[1, 3, 6, 1, 2, 1, 4, 34], &[Addresses]),
    (&[1, 3, 6, 1, 2, 1, 4, 35], &[Arp]),
    // BRIDGE-MIB: the address, the ports, the spanning tree, and the forwarding database.
    (&[1, 3, 6, 1, 2, 1, 17, 1, 1], &[]),
    (&[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2], &[Fdb, Stp]),
    (&[1, 3, 6, 1, 2, 1, 17, 2], &[Stp]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 1], &[]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 2], &[]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 3], &[Fdb]),
    // Q-BRIDGE-MIB: the forwarding database by VLAN, current and static VLANs, and the default VLANs of ports.
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2], &[Fdb]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 3], &[IfEntries, Fdb]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 4], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 5], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 4], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 5, 1, 1], &[IfEntries]),
    // IF-MIB: `ifXTable` by columns, and `ifStackTable`.
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 15], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 18], &[IfEntries]),
    (&[1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3], &[Lag]),
    // ENTITY-MIB by columns.
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 4], &[]),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 5], &[]),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 11], &[]),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 12], &[]),
    (&[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 13], &[]),
    // IPV6-MIB.
    (&[1, 3, 6, 1, 2, 1, 55, 1, 8], &[Addresses]),
    (&[1, 3, 6, 1, 2, 1, 55, 1, 12], &[Arp]),
    // CISCO-CDP-MIB: names of interfaces, neighbors, and the device's own id.
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 1, 1, 1, 6], &[Cdp]),
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2], &[Cdp]),
    (&[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 3, 4], &[]),
    // TIMETRA-LLDP-MIB.
    (&[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4], &[Lldp]),
    // LLDP-V2-MIB, as LLDP-MIB.
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 3], &[Lldp]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1], &[Lldp]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 2], &[Lldp]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 4623, 1, 2, 3], &[Lag]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 4623, 1, 3, 3], &[Lldp]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 32962, 1, 2, 1], &[IfEntries]),
    (&[1, 3, 111, 2, 802, 1, 1, 13, 1, 5, 32962, 1, 3, 1], &[Lldp]),
];

/// Scalars that are read only if the device lacks another one with the same meaning.
const ALTERNATIVES: [(&[u32], &[u32]); 2] = [
    (&[1, 3, 6, 1, 2, 1, 4, 3], &[1, 3, 6, 1, 2, 1, 4, 1]),
    (&[1, 3, 6, 1, 2, 1, 17, 4, 2], &[1, 3, 6, 1, 2, 1, 17, 4, 1]),
];

/// Reads all tables of a device that discovery uses.
///
/// A table that fails does not stop the others. After two in a row without an answer, the rest counts as truncated, without
/// being asked for. Tables of which an earlier answer shows that the agent has none are not asked for, either.
pub async fn read(agent: &mut SnmpAgent, limits: &WalkLimits) -> Vec<WalkedTable> {
    let is_timetra = agent.system().object_id.as_ref().is_some_and(|id| id.arcs().starts_with(&TIMETRA));
    let (mut tables, mut budget) = (Vec::<WalkedTable>::new(), WalkBudget::new(limits));
    for (subtree, _) in SUBTREES {
        if (subtree.starts_with(&TIMETRA) && !is_timetra) || has_alternative(subtree, &tables) {
            continue;
        }
        let root = ObjectId::new(*subtree);
        let silent = tables.iter().rev().take_while(|table| is_silent(table)).count();
        let table = if silent >= MAX_SILENT_TABLES {
            WalkedTable::without_rows(root, TableEnd::Truncated(TruncationReason::Silent))
        } else if let Some(empty) = tables.last().and_then(|former| former.known_empty(&root)) {
            empty
        } else {
            agent.walk(&root, &mut budget).await
        };
        tables.push(table);
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
    let mut reader = VariableReader::new(options);
    let mut arcs = Vec::new();
    for table in tables {
        for variable in &table.rows {
            arcs.clear();
            arcs.extend(variable.id.arcs().iter().copied().map(u64::from));
            match value(&variable.value) {
                ReadValue::Value(value) => reader.accept(&arcs, Some(&value))?,
                ReadValue::OutOfRange => reader.accept(&arcs, None)?,
                ReadValue::Nothing => {}
            }
        }
        if matches!(table.end, TableEnd::Truncated(_)) {
            let subtree = SUBTREES.iter().find(|(root, _)| *root == table.root.arcs());
            for kind in subtree.map_or(&[] as &[TableKind], |(_, kinds)| kinds) {
                reader.lose(*kind);
            }
        }
    }
    reader.into_report(REPORTER)
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
