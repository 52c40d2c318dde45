//! The numbers of bridge ports, and the interfaces that they mean.

use std::collections::{BTreeMap, BTreeSet};

use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::interfaces::Interfaces;
use crate::discovery::parse::mib::{Accepted, VariableValue};

/// `dot1dBasePortIfIndex`: the interface index of each bridge port.
#[derive(Debug, Default)]
pub(in crate::discovery::parse::mib) struct BasePorts {
    indexes: BTreeMap<i64, i64>,
    /// The rows whose `dot1dBasePort` is not their index. Other tables of such devices name ports by it. `None`: several.
    numbers: BTreeMap<i64, Option<i64>>,
    has_losses: bool,
}

impl BasePorts {
    pub(super) fn accept(&mut self, port: u64, value: &VariableValue<'_>, meter: &mut Meter) -> Accepted {
        super::insert(&mut self.indexes, port, value.integer(), meter)
    }

    /// Stores `dot1dBasePort` of a row.
    pub(super) fn accept_number(
        &mut self,
        row: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Ok(row) = i64::try_from(row) else { return Accepted::InvalidIndex };
        let Some(number) = value.integer() else { return Accepted::InvalidValue };
        // Other tables have 0 for an unknown port.
        if number == row || number <= 0 {
            return Accepted::Yes;
        }
        if let Some(held) = self.numbers.get_mut(&number) {
            *held = held.filter(|held| *held == row);
        } else if meter.admit_row() {
            meter.use_rows(1);
            self.numbers.insert(number, Some(row));
        } else {
            return Accepted::TooMany;
        }
        Accepted::Yes
    }

    /// Notes that ports are missing. A number that is not among the others may be one of these.
    pub(in crate::discovery::parse::mib) const fn note_loss(&mut self) {
        self.has_losses = true;
    }

    pub(in crate::discovery::parse::mib) const fn has_losses(&self) -> bool {
        self.has_losses
    }

    /// Returns the interface index of a port.
    pub(in crate::discovery::parse::mib) fn get(&self, port: i64) -> Option<i64> {
        let by_number = || self.indexes.get(self.numbers.get(&port)?.as_ref()?);
        self.indexes.get(&port).or_else(by_number).copied()
    }

    /// Returns whether the device has no table of bridge ports.
    pub(super) fn is_absent(&self) -> bool {
        self.indexes.is_empty() && !self.has_losses
    }

    pub(super) fn len(&self) -> usize {
        self.indexes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, i64)> {
        self.indexes.iter().map(|(port, index)| (*port, *index))
    }
}

/// Finds the interfaces behind the port numbers of tables.
#[derive(Debug)]
pub(super) struct BridgePorts<'b> {
    /// Interface indexes by bridge port.
    base_ports: &'b BasePorts,
    /// The interfaces that are bridge ports.
    indexes: BTreeSet<i64>,
    /// The highest number of a port that the bridge may have: that of a known one, or the number of interfaces.
    highest_port: i64,
    numbering: PortNumbering,
}

/// The meaning of the port numbers of one table. Not all bridges use those of `dot1dBasePortTable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortNumbering {
    /// Bridge ports, or indexes of interfaces that are bridge ports.
    BridgePorts,
    /// Bridge ports, some of which are not known. No other number is taken for an index.
    SomeBridgePorts,
    /// Indexes of interfaces.
    Interfaces,
    /// Interface indexes minus a constant, so that number 1 is the first interface of the bridge.
    Offset(i64),
}

impl<'b> BridgePorts<'b> {
    /// Determines the meaning of the numbers of tables from the numbers themselves, without 0.
    pub(super) fn new(
        base_ports: &'b BasePorts,
        interfaces: &Interfaces,
        numbers: &BTreeSet<i64>,
        meter: &mut Meter,
    ) -> Self {
        meter.add_steps(base_ports.len() + numbers.len().saturating_mul(2));
        let indexes: BTreeSet<i64> = base_ports.indexes.values().copied().collect();
        let is_known = |number: &i64| base_ports.get(*number).is_some() || indexes.contains(number);
        let highest_known = base_ports.indexes.last_key_value().map_or(0, |(port, _)| *port);
        let mut ports = Self {
            base_ports,
            indexes: BTreeSet::new(),
            highest_port: highest_known.max(interfaces.len() as i64),
            numbering: PortNumbering::BridgePorts,
        };
        if base_ports.has_losses {
            return Self { numbering: PortNumbering::SomeBridgePorts, ..ports };
        }
        if numbers.iter().all(is_known) {
            return Self { indexes, ..ports };
        }
        // A number that leads to another interface by the table of ports shows that the numbers are bridge ports.
        let is_own = |number: &i64| base_ports.get(*number).is_none_or(|index| index == *number);
        if numbers.iter().all(|number| is_own(number) && interfaces.is_ethernet(*number)) {
            ports.numbering = PortNumbering::Interfaces;
        } else if let Some(offset) = offset(&base_ports.indexes)
            && numbers.iter().all(|number| {
                let index = number.saturating_add(offset);
                !is_known(number) && indexes.contains(&index)
            })
        {
            ports.numbering = PortNumbering::Offset(offset);
        }
        Self { indexes, ..ports }
    }

    /// Returns the ports of one of the tables. Several tables of a bridge may have different numbers.
    pub(super) fn of_table(&self, numbers: &BTreeSet<i64>, meter: &mut Meter) -> TablePorts<'_> {
        meter.add_steps(numbers.len());
        let is_other = |number: &i64| self.base_ports.get(*number).is_some_and(|index| index != *number);
        let least_index = if numbers.iter().any(is_other) { self.highest_port.saturating_add(1) } else { 0 };
        TablePorts { ports: self, least_index, numbering: self.numbering }
    }

    /// Returns the ports of a table that has shown its numbers to be interface indexes.
    pub(super) const fn of_indexes(&self) -> TablePorts<'_> {
        TablePorts { ports: self, least_index: 0, numbering: PortNumbering::Interfaces }
    }

    /// Returns whether the numbers of a table with a row for each port are interface indexes, some of which equal those of
    /// bridge ports.
    ///
    /// `used` are the numbers with a value, `unused` those without. All numbers that are no bridge ports must be indexes of
    /// such. Either fewer numbers are of no bridge port if all are read as indexes, or the table has unused numbers in place of
    /// interfaces that are missing.
    pub(super) fn shows_indexes(
        &self,
        used: &BTreeSet<i64>,
        unused: &BTreeSet<i64>,
        interfaces: &Interfaces,
    ) -> bool {
        let is_index = |number: &&i64| self.indexes.contains(number);
        let unknown: Vec<&i64> =
            used.iter().filter(|number| self.base_ports.get(**number).is_none()).collect();
        if unknown.is_empty() || !unknown.iter().all(is_index) {
            return false;
        }
        let is_missing = |number: &i64| !interfaces.contains(*number);
        let has_gaps = unused.iter().any(is_missing) && !used.iter().any(is_missing);
        let others = used.len() - used.iter().filter(is_index).count();
        others < unknown.len() || (has_gaps && !unused.iter().any(|number| is_index(&number)))
    }
}

/// Finds the interface behind a port number of one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TablePorts<'p> {
    ports: &'p BridgePorts<'p>,
    /// The least number that may be an index, although it is no bridge port. Where another number shows that the table has
    /// bridge ports, those up to the highest one may be bridge ports that are missing.
    least_index: i64,
    numbering: PortNumbering,
}

impl TablePorts<'_> {
    /// Returns the index of the interface behind a port. Bridges send 0 or -1 for ports that are no interfaces.
    pub(super) fn index_of(self, number: i64) -> Option<i64> {
        let BridgePorts { base_ports, indexes, .. } = self.ports;
        let index = match self.numbering {
            PortNumbering::BridgePorts => {
                let is_index = number >= self.least_index && indexes.contains(&number);
                base_ports.get(number).or(is_index.then_some(number))
            }
            PortNumbering::SomeBridgePorts => base_ports.get(number),
            PortNumbering::Interfaces => Some(number),
            PortNumbering::Offset(offset) => Some(number.saturating_add(offset)),
        };
        index.filter(|index| *index > 0)
    }
}

/// Returns the difference between the first interface of the bridge and port 1.
///
/// There is one only if the table of ports numbers them as their interfaces, so that it shows no numbers of ports.
fn offset(base_ports: &BTreeMap<i64, i64>) -> Option<i64> {
    let (first, _) = base_ports.first_key_value()?;
    let is_identity = base_ports.iter().all(|(port, index)| port == index);
    Some(first.saturating_sub(1)).filter(|offset| is_identity && *offset > 0)
}
