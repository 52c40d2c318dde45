//! The interfaces behind the numbers by which the tables of a bridge name its ports.

use std::collections::{BTreeMap, BTreeSet};

use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::interfaces::Interfaces;

/// Finds the interface behind a port number of one table.
#[derive(Debug)]
pub(super) struct Ports<'b> {
    /// Interface indexes by bridge port.
    base_ports: &'b BTreeMap<i64, i64>,
    /// The interfaces that are bridge ports.
    indexes: BTreeSet<i64>,
    numbering: Numbering,
}

/// The meaning of the port numbers of one table. Not all bridges use those of `dot1dBasePortTable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// Bridge ports, or indexes of interfaces that are bridge ports.
    BridgePorts,
    /// Indexes of interfaces.
    Interfaces,
    /// Indexes of interfaces less a constant: number 1 is the first interface of the bridge.
    Offset(i64),
}

impl<'b> Ports<'b> {
    /// Determines from the numbers of a table, without 0, what they mean.
    pub(super) fn new(
        base_ports: &'b BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        numbers: &BTreeSet<i64>,
        meter: &mut Meter,
    ) -> Self {
        meter.add_steps(base_ports.len() + numbers.len().saturating_mul(2));
        let indexes: BTreeSet<i64> = base_ports.values().copied().collect();
        let is_known = |number: &i64| base_ports.contains_key(number) || indexes.contains(number);
        let mut ports = Self { base_ports, indexes: BTreeSet::new(), numbering: Numbering::BridgePorts };
        if numbers.iter().all(is_known) {
            return Self { indexes, ..ports };
        }
        // A number that leads to another interface by the table of ports shows that the numbers are bridge ports.
        let is_own = |number: &i64| base_ports.get(number).is_none_or(|index| index == number);
        if numbers.iter().all(|number| is_own(number) && interfaces.is_ethernet(*number)) {
            ports.numbering = Numbering::Interfaces;
        } else if let Some(offset) = offset(base_ports)
            && numbers.iter().all(|number| {
                let index = number.saturating_add(offset);
                !is_known(number) && indexes.contains(&index)
            })
        {
            ports.numbering = Numbering::Offset(offset);
        }
        Self { indexes, ..ports }
    }

    /// Returns the index of the interface behind a port. Bridges send 0 or -1 for ports that are no interfaces.
    pub(super) fn index_of(&self, number: i64) -> Option<i64> {
        let index = match self.numbering {
            Numbering::BridgePorts => {
                let index = self.base_ports.get(&number).copied();
                index.or_else(|| self.indexes.get(&number).copied())
            }
            Numbering::Interfaces => Some(number),
            Numbering::Offset(offset) => Some(number.saturating_add(offset)),
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
