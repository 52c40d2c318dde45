//! The local ports of an LLDP agent, whose numbers may differ from the interface indexes.

use std::collections::BTreeMap;

use super::interfaces::{Interfaces, Names};
use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
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
}

impl LocalPort {
    pub(super) const fn id(&self) -> Option<&LldpPortId> {
        self.id.as_ref()
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl LocalPorts {
    pub(super) fn accept(
        &mut self,
        column: u64,
        number: u64,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Ok(number) = i64::try_from(number) else { return Accepted::InvalidIndex };
        meter.add_steps(1);
        if !self.ports.contains_key(&number) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let port = self.ports.entry(number).or_default();
        let accepted = match column {
            2 => Accepted::store(&mut port.subtype, value.integer()),
            3 => Accepted::store(&mut port.raw_id, value.bytes().map(<[u8]>::to_vec)),
            4 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                port.description = text::non_empty(bytes);
                Accepted::Yes
            }
            _ => Accepted::Yes,
        };
        if matches!(column, 2 | 3)
            && let (Some(subtype), Some(id)) = (port.subtype, &port.raw_id)
        {
            port.id = text::port_id(subtype, id);
        }
        accepted
    }

    pub(super) fn get(&self, number: i64) -> Option<&LocalPort> {
        self.ports.get(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, Option<&LldpPortId>, Option<&str>)> {
        self.ports.iter().map(|(number, port)| (*number, port.id(), port.description()))
    }

    /// Returns the interface index of each of the numbers for which it can be determined.
    pub(super) fn resolve(
        &self,
        numbers: impl Iterator<Item = i64>,
        interfaces: &Interfaces,
        base_ports: &BTreeMap<i64, i64>,
        meter: &mut Meter,
    ) -> BTreeMap<i64, i64> {
        let names = interfaces.names(meter);
        let mut indexes = BTreeMap::new();
        for number in numbers {
            meter.add_steps(1);
            if indexes.contains_key(&number) {
                continue;
            }
            let port = self.ports.get(&number);
            let index = port.and_then(|port| index_of(port, &names, interfaces));
            // Without a usable id, most agents number the ports as the bridge does, or as the interface table does.
            let index = index.or_else(|| base_ports.get(&number).copied());
            let index = index.or(Some(number)).filter(|index| interfaces.contains(*index));
            indexes.extend(index.map(|index| (number, index)));
        }
        indexes
    }
}

/// Finds the interface that a port's id names, or else its description.
fn index_of(port: &LocalPort, names: &Names<'_>, interfaces: &Interfaces) -> Option<i64> {
    use LldpPortIdSubtype::{InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress};
    let by_id = port.id().and_then(|LldpPortId { subtype, value }| match subtype {
        InterfaceName => names.by_name(value),
        InterfaceAlias => names.by_alias(value).or_else(|| names.by_name(value)),
        MacAddress => value.parse().ok().and_then(|address| names.by_mac(address)),
        LocallyAssigned => names.by_name(value).or_else(|| {
            let index = value.parse().ok()?;
            interfaces.contains(index).then_some(index)
        }),
        _ => names.by_name(value),
    });
    by_id.or_else(|| {
        let description = port.description()?;
        names.by_name(description).or_else(|| names.by_alias(description))
    })
}
