//! The tables that discovery reads: an agent becomes rows, and rows become a report.
//!
//! The report is made by the readers of the file formats: a walk from a file with the same variables gives the same report.

mod reading;
mod subtrees;
mod vlans;

use std::borrow::Cow;

use super::snmp::{ObjectId, SnmpAgent, SnmpValue, TableEnd, WalkBudget, WalkLimits, WalkedTable};
use crate::discovery::report::TableKind;
use crate::discovery::{ParseError, ParseOptions, Report, VariableReader, VariableValue};

use reading::{is_silent, read_chosen};
use subtrees::{BASE_PORT_NUMBERS, BASE_PORTS, SUBTREES};
pub(super) use subtrees::{MarkCoverage, has_covered_neighbors, is_covered};

/// The reporter of the reports.
const REPORTER: &str = "collect";

/// Reads all tables of a device that discovery uses.
///
/// A table that fails does not stop the others. After two in a row without an answer, the device is asked for its clock: if it does not
/// answer that, either, or after ten in a row, the rest counts as truncated, without being asked for. Tables of which an earlier answer shows that the agent has none are not asked for, either.
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

/// Returns the kinds of tables that lack rows if variables below an object are missing.
///
/// There is none for an object with other facts of a device, such as its model, and for one that is not read.
#[must_use]
pub fn kinds(object: &ObjectId) -> &'static [TableKind] {
    let subtree = SUBTREES.iter().find(|(root, ..)| *root == object.arcs());
    subtree.map_or(&[], |(_, kinds, _)| kinds)
}

/// Notes what a truncated table lacks.
fn lose(reader: &mut VariableReader<'_>, table: &WalkedTable) {
    if table.vlan.is_some() {
        return reader.lose(TableKind::Fdb);
    }
    for kind in kinds(&table.root) {
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
