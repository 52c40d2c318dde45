//! The local ports of an LLDP agent, whose numbers may differ from the interface indexes.

use std::collections::{BTreeMap, HashMap};

use super::bridge::BasePorts;
use super::interfaces::{InterfaceNames, Interfaces};
use super::numbering::Numbering;
use super::{Accepted, VariableValue, ids};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::WarningCode;
use crate::model::{LldpPortId, LldpPortIdSubtype};

#[derive(Debug, Default)]
pub(super) struct LocalPorts {
    ports: BTreeMap<i64, LocalPort>,
}

/// A local port of an LLDP agent.
#[derive(Debug, Default)]
pub(super) struct LocalPort {
    subtype: Option<i64>,
    raw_id: Option<Vec<u8>>,
    id: Option<LldpPortId>,
    description: Option<String>,
    /// The aggregation that the port announces.
    pub(super) aggregation: Aggregation,
    /// The VLAN of untagged frames that the port announces; 0: none.
    pub(super) port_vlan: Option<u16>,
}

/// The link aggregation that a port announces (LLDP-EXT-DOT3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    is_active: bool,
    aggregate: Option<i64>,
}

impl Aggregation {
    /// Stores a variable of the tables for local or for remote ports, which have the same columns.
    pub(super) fn accept(&mut self, column: u64, value: &VariableValue<'_>) -> Accepted {
        match column {
            1 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                // The second bit. Some agents copy the byte of the frame, which counts bits from the other end.
                let status = bytes.first().map_or(0, |byte| *byte);
                self.is_active = status & 0x40 != 0 || matches!(status, 2 | 3);
                Accepted::Yes
            }
            2 => Accepted::store(&mut self.aggregate, value.integer()),
            _ => Accepted::Yes,
        }
    }

    /// Returns the number of the aggregate if the port is a member.
    pub(super) fn aggregate(self) -> Option<i64> {
        self.aggregate.filter(|aggregate| self.is_active && *aggregate != 0)
    }
}

impl LocalPort {
    pub(super) const fn id(&self) -> Option<&LldpPortId> {
        self.id.as_ref()
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Returns the texts that may be the name of the port, the likeliest first.
    fn possible_names(&self) -> [Option<&str>; 3] {
        use LldpPortIdSubtype::{InterfaceName, LocallyAssigned};
        let is_named = |id: &&LldpPortId| matches!(id.subtype, InterfaceName | LocallyAssigned);
        let id = self.id().filter(is_named).map(|id| id.value.as_str());
        let is_number = |id: &&str| id.bytes().all(|byte| byte.is_ascii_digit());
        [id.filter(|id| !is_number(id)), self.description(), id]
    }

    /// Returns whether only the number of the port is known.
    const fn is_bare(&self) -> bool {
        self.raw_id.is_none()
            && self.description.is_none()
            && self.port_vlan.is_none()
            && self.aggregation.aggregate.is_none()
    }
}

impl LocalPorts {
    /// Stores a variable of the table of local ports.
    pub(super) fn accept(
        &mut self,
        column: u64,
        number: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let port = match self.port(number, meter) {
            Ok(port) => port,
            Err(refused) => return refused,
        };
        let accepted = match column {
            2 => Accepted::store(&mut port.subtype, value.integer()),
            3 => Accepted::store(&mut port.raw_id, value.bytes().map(<[u8]>::to_vec)),
            4 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                port.description = text::trimmed(bytes);
                Accepted::Yes
            }
            _ => Accepted::Yes,
        };
        if matches!(column, 2 | 3) {
            port.id = port.raw_id.as_deref().and_then(|id| ids::port_id(port.subtype, id));
        }
        accepted
    }

    /// Stores a variable of the link aggregation that a port announces.
    pub(super) fn accept_aggregation(
        &mut self,
        column: u64,
        number: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match self.port(number, meter) {
            Ok(port) => port.aggregation.accept(column, value),
            Err(refused) => refused,
        }
    }

    /// Stores the VLAN of untagged frames that a port announces.
    pub(super) fn accept_port_vlan(
        &mut self,
        number: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let vlan = value.integer().and_then(|vlan| u16::try_from(vlan).ok());
        match self.port(number, meter) {
            Ok(port) => Accepted::store(&mut port.port_vlan, vlan),
            Err(refused) => refused,
        }
    }

    fn port(&mut self, number: u64, meter: &mut Meter) -> Result<&mut LocalPort, Accepted> {
        let Ok(number) = i64::try_from(number) else { return Err(Accepted::InvalidIndex) };
        meter.add_steps(1);
        if !self.ports.contains_key(&number) && !meter.admit_row() {
            return Err(Accepted::TooMany);
        }
        Ok(self.ports.entry(number).or_default())
    }

    pub(super) fn get(&self, number: i64) -> Option<&LocalPort> {
        self.ports.get(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, &LocalPort)> {
        self.ports.iter().map(|(number, port)| (*number, port))
    }

    /// Returns the interface indexes of these numbers and of the ports, where they can be determined.
    pub(super) fn resolve(
        &self,
        numbers: impl Iterator<Item = i64>,
        interfaces: &Interfaces,
        base_ports: &BasePorts,
        meter: &mut Meter,
    ) -> BTreeMap<i64, i64> {
        let mut indexes = self.resolve_by_name(interfaces, meter);
        let known: Vec<(i64, i64)> = indexes.iter().map(|(number, index)| (*number, *index)).collect();
        let numbering = Numbering::new(known.into_iter(), interfaces, base_ports, meter);
        for number in numbers.chain(self.ports.keys().copied()) {
            meter.add_steps(1);
            if let std::collections::btree_map::Entry::Vacant(entry) = indexes.entry(number)
                && let Some(index) = numbering.interface(number)
            {
                entry.insert(index);
            }
        }
        indexes
    }

    /// Returns the interface index of each port whose id or description names an interface.
    pub(super) fn resolve_by_name(&self, interfaces: &Interfaces, meter: &mut Meter) -> BTreeMap<i64, i64> {
        if self.ports.is_empty() {
            return BTreeMap::new();
        }
        let names = interfaces.names(meter);
        let uses = self.uses(meter);
        let by_name = self.ports.iter().filter_map(|(number, port)| {
            index_of(port, &uses, &names, interfaces).map(|index| (*number, index))
        });
        by_name.collect()
    }

    /// Returns a name of each port that no other port has: its id, or else its description.
    ///
    /// A description is preferred to an id that is a number.
    pub(super) fn names(&self, meter: &mut Meter) -> BTreeMap<i64, &str> {
        let uses = self.uses(meter);
        let is_own = |text: &&str| uses.get(text) == Some(&1);
        let name = |port| LocalPort::possible_names(port).into_iter().flatten().find(is_own);
        self.ports.iter().filter_map(|(number, port)| Some((*number, name(port)?))).collect()
    }

    /// Counts the ports that announce each text. An id or a description of several ports names none of them.
    fn uses(&self, meter: &mut Meter) -> HashMap<&str, usize> {
        meter.add_steps(self.ports.len().saturating_mul(4));
        let mut uses = HashMap::new();
        for port in self.ports.values() {
            let id = port.id().map(|id| id.value.as_str());
            let description = port.description().filter(|description| Some(*description) != id);
            for text in [id, description].into_iter().flatten() {
                *uses.entry(text).or_insert(0) += 1;
            }
        }
        uses
    }

    /// Counts the ports as rows of the input.
    pub(super) fn account(&self, meter: &mut Meter) {
        meter.add_steps(self.ports.len());
        for (number, port) in &self.ports {
            if port.is_bare() {
                meter.leave_out(WarningCode::RowEmpty, || format!("local port {number} of LLDP"));
            } else {
                meter.use_rows(1);
            }
        }
    }
}

/// Finds the interface that a port's id names, or else its description.
///
/// A description that is the name of an interface counts more than a MAC address, which a bond shares with its members.
fn index_of(
    port: &LocalPort,
    uses: &HashMap<&str, usize>,
    names: &InterfaceNames<'_>,
    interfaces: &Interfaces,
) -> Option<i64> {
    use LldpPortIdSubtype::{InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress};
    let is_own = |text: &&str| uses.get(text) == Some(&1);
    let description = port.description().filter(is_own);
    let by_description = description.and_then(|description| names.by_name(description));
    let id = port.id().filter(|id| is_own(&id.value.as_str()));
    let by_id = id.and_then(|LldpPortId { subtype, value }| match subtype {
        InterfaceName => names.by_name(value),
        InterfaceAlias => names.by_alias(value).or_else(|| names.by_name(value)),
        MacAddress => by_description.or_else(|| value.parse().ok().and_then(|address| names.by_mac(address))),
        LocallyAssigned => names.by_name(value).or_else(|| {
            let index = value.parse().ok()?;
            interfaces.contains(index).then_some(index)
        }),
        _ => names.by_name(value),
    });
    by_id.or(by_description).or_else(|| names.by_alias(description?))
}
