//! The port of a host that a neighbor names.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use crate::discovery::reconcile::{PortNames, names};
use crate::discovery::report::LldpRow;
#[cfg(feature = "topology")]
use crate::model::IfEntry;
use crate::model::{Host, LldpPortId, LldpPortIdSubtype, MacAddress};

/// The field of a port that has a value.
#[derive(Clone, Copy, Hash)]
enum PortField {
    Name,
    Description,
    Alias,
    /// An abbreviated name or description.
    Abbreviation,
    Mac,
    Index,
    Address,
    /// The id that the host itself announces.
    Announced,
}

/// The ports of a host by each value that may name one.
///
/// A port is its place in the host's list of interface entries. Values are kept as hashes, so that a table of many
/// ports stays small. A value that two ports have finds neither of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchPorts {
    /// Hashes of values, each with the place of a port that has the value, sorted.
    values: Box<[(u64, u32)]>,
    /// The places of logical units and subinterfaces, each with the place of the port below it, sorted.
    #[cfg(feature = "topology")]
    units: Box<[(u32, u32)]>,
    names: PortNames,
}

impl SwitchPorts {
    /// Collects the ports of a host. `lldp` is the host's own LLDP table.
    pub(crate) fn new(host: &Host, lldp: &[LldpRow], port_names: &PortNames) -> Self {
        let mut values = Vec::with_capacity(host.if_entries.len().saturating_mul(6));
        let addresses: HashMap<_, _> =
            host.interfaces.iter().map(|interface| (interface.id, interface.ip_address)).collect();
        for (entry, place) in host.if_entries.iter().zip(0_u32..) {
            let mut note = |hash: u64| values.push((hash, place));
            let name = entry.if_name.as_deref().and_then(names::trimmed);
            let description = names::trimmed(&entry.if_descr);
            name.into_iter().for_each(|name| note(hash(PortField::Name, name)));
            description.into_iter().for_each(|text| note(hash(PortField::Description, text)));
            for alias in entry.if_alias.as_deref().into_iter().filter_map(names::trimmed) {
                note(hash(PortField::Alias, alias));
            }
            // Some descriptions have the medium behind the name: `gigabitEthernet 1/0/2 : copper`.
            let before_medium = description.and_then(|text| text.split_once(" : ")).map(|(name, _)| name);
            let texts = name.into_iter().chain(description).chain(before_medium);
            for short in texts.filter_map(|name| port_names.abbreviated(name)) {
                note(hash(PortField::Abbreviation, short.as_str()));
            }
            entry.mac_address.into_iter().for_each(|address| note(hash(PortField::Mac, &address)));
            if entry.if_index != 0 {
                note(hash(PortField::Index, &entry.if_index));
            }
            if let Some(address) = entry.interface_id.and_then(|id| addresses.get(&id)) {
                note(hash(PortField::Address, address));
            }
        }
        let mut ports = Self::of(values, port_names);
        let announced = |row: &LldpRow| {
            let place = ports.local(row.if_index, row.if_name.as_deref())?;
            let id = row.local_port_id.as_ref()?;
            Some((hash(PortField::Announced, id.value.as_str()), u32::try_from(place).ok()?))
        };
        let announced: Vec<_> = lldp.iter().filter_map(announced).collect();
        if !announced.is_empty() {
            ports = Self::of(ports.values.iter().copied().chain(announced).collect(), port_names);
        }
        #[cfg(feature = "topology")]
        {
            ports.units = ports.units_of(host);
        }
        ports
    }

    /// Finds logical units and subinterfaces, such as `ge-0/0/1.0` and `GigabitEthernet0/1.100`. The port below them has
    /// the name without the number.
    #[cfg(feature = "topology")]
    fn units_of(&self, host: &Host) -> Box<[(u32, u32)]> {
        let port_below = |name: &str| {
            let (port, unit) = names::trimmed(name)?.rsplit_once('.')?;
            let is_number =
                !unit.is_empty() && unit.len() <= 5 && unit.bytes().all(|byte| byte.is_ascii_digit());
            let has = |is: fn(&char) -> bool| port.chars().any(|character| is(&character));
            let is_port = has(char::is_ascii_alphabetic) && has(char::is_ascii_digit) && !port.contains('.');
            if is_number && is_port { self.exactly(port) } else { None }
        };
        let below = |(entry, place): (&IfEntry, u32)| {
            let port =
                entry.if_name.as_deref().and_then(port_below).or_else(|| port_below(&entry.if_descr))?;
            Some((place, u32::try_from(port).ok()?)).filter(|(place, port)| place != port)
        };
        host.if_entries.iter().zip(0_u32..).filter_map(below).collect()
    }

    /// Returns the port that has the cable: a logical unit or a subinterface has that of the port below it.
    #[cfg(feature = "topology")]
    pub(crate) fn cabled(&self, place: usize) -> usize {
        let unit = u32::try_from(place).ok().and_then(|place| {
            let index = self.units.binary_search_by_key(&place, |(unit, _)| *unit).ok()?;
            self.units.get(index)
        });
        unit.and_then(|(_, port)| usize::try_from(*port).ok()).unwrap_or(place)
    }

    /// Returns the logical units and subinterfaces, each with the port below it.
    #[cfg(feature = "topology")]
    pub(crate) const fn units(&self) -> &[(u32, u32)] {
        &self.units
    }

    fn of(mut values: Vec<(u64, u32)>, names: &PortNames) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            values: values.into_boxed_slice(),
            #[cfg(feature = "topology")]
            units: Box::default(),
            names: names.clone(),
        }
    }

    /// Returns the port on which a row of the host's own tables was seen.
    pub(crate) fn local(&self, if_index: Option<i64>, if_name: Option<&str>) -> Option<usize> {
        let by_index =
            if_index.filter(|index| *index != 0).and_then(|index| self.only(PortField::Index, &index));
        by_index.or_else(|| self.by_name(names::trimmed(if_name?)?))
    }

    /// Returns the port that an id of LLDP names, or else a description.
    pub(crate) fn of_lldp(&self, id: Option<&LldpPortId>, description: Option<&str>) -> Option<usize> {
        let by_id = id.and_then(|id| self.of_id(id));
        by_id.or_else(|| {
            let text = names::trimmed(description?)?;
            self.by_name(text).or_else(|| self.only(PortField::Alias, text))
        })
    }

    /// Returns the port that a port id of CDP names.
    pub(crate) fn of_cdp(&self, id: &str) -> Option<usize> {
        let text = names::trimmed(id)?;
        self.by_name(text).or_else(|| self.of_mac(names::separated_mac(text)?))
    }

    /// Returns the only port with a MAC address.
    pub(crate) fn of_mac(&self, address: MacAddress) -> Option<usize> {
        self.only(PortField::Mac, &address)
    }

    fn of_id(&self, id: &LldpPortId) -> Option<usize> {
        use LldpPortIdSubtype::{
            AgentCircuitId, InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress, NetworkAddress,
            PortComponent,
        };
        let text = names::trimmed(&id.value)?;
        let announced = || self.only(PortField::Announced, text);
        if let Some(address) = names::separated_mac(text) {
            return self.of_mac(address).or_else(announced);
        }
        let index = || self.only(PortField::Index, &text.parse::<i64>().ok()?);
        match id.subtype {
            InterfaceName => self.by_name(text).or_else(announced),
            MacAddress => self.of_mac(names::mac(text)?),
            LocallyAssigned => announced()
                .or_else(index)
                .or_else(|| self.by_name(text))
                .or_else(|| self.of_mac(names::mac(text)?)),
            InterfaceAlias | PortComponent => {
                self.only(PortField::Alias, text).or_else(announced).or_else(|| self.by_name(text))
            }
            NetworkAddress => self.only(PortField::Address, &text.parse::<IpAddr>().ok()?),
            AgentCircuitId => announced(),
        }
    }

    fn by_name(&self, name: &str) -> Option<usize> {
        self.exactly(name)
            .or_else(|| self.only(PortField::Abbreviation, self.names.abbreviated(name)?.as_str()))
            .or_else(|| self.of_bridge(name))
    }

    fn exactly(&self, name: &str) -> Option<usize> {
        self.only(PortField::Name, name).or_else(|| self.only(PortField::Description, name))
    }

    /// Returns the port that a name such as `bridge/ether5` has behind the bridge. RouterOS announces both.
    fn of_bridge(&self, name: &str) -> Option<usize> {
        let (bridge, port) = name.rsplit_once('/')?;
        // A number is that of a slot.
        let is_name = |text: &str| text.contains(|character: char| character.is_ascii_alphabetic());
        self.exactly(bridge).filter(|_| is_name(bridge) && is_name(port))?;
        self.exactly(port)
    }

    /// Returns the only port that has a value.
    fn only<V: Hash + ?Sized>(&self, field: PortField, value: &V) -> Option<usize> {
        let hash = hash(field, value);
        let start = self.values.partition_point(|(other, _)| *other < hash);
        let mut found = self.values.iter().skip(start).take_while(|(other, _)| *other == hash);
        let (_, place) = found.next()?;
        if found.next().is_some() { None } else { usize::try_from(*place).ok() }
    }
}

fn hash<V: Hash + ?Sized>(field: PortField, value: &V) -> u64 {
    let mut hasher = DefaultHasher::new();
    field.hash(&mut hasher);
    value.hash(&mut hasher);
    hasher.finish()
}
