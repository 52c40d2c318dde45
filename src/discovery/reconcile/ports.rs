//! The port of a host that a neighbor names.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use super::names;
use crate::discovery::report::LldpRow;
use crate::model::{Host, IfEntry, LldpPortId, LldpPortIdSubtype, MacAddress};

/// The usual abbreviations of kinds of interfaces, each with the full names that devices also use.
const KINDS: &[(&str, &[&str])] = &[
    ("be", &["bundle-ether"]),
    ("et", &["eth", "ethernet"]),
    ("fa", &["fas", "fastethernet", "fast"]),
    ("fo", &["fortygigabitethernet", "fortygige", "for"]),
    ("gi", &["gig", "gigabitethernet", "gige"]),
    ("hu", &["hundredgige", "hundredgigabitethernet", "hun"]),
    ("lo", &["loopback"]),
    ("ma", &["mgmt", "management", "mgmteth", "managementethernet"]),
    ("po", &["port-channel", "portchannel"]),
    ("se", &["ser", "serial"]),
    ("te", &["ten", "tengigabitethernet", "tengige"]),
    ("tu", &["tunnel"]),
    ("tw", &["two", "twogigabitethernet"]),
    ("twe", &["twentyfivegige", "twentyfivegigabitethernet"]),
    ("vl", &["vlan"]),
];

/// Returns the name of an interface with the usual abbreviation of its kind, in lower case: `gi0/1`.
pub(super) fn abbreviated(name: &str) -> Option<String> {
    let name = names::trimmed(name)?.to_lowercase();
    let digits = name.find(|character: char| character.is_ascii_digit()).unwrap_or(name.len());
    let (kind, number) = name.split_at_checked(digits)?;
    let kind = kind.trim_end();
    let short = KINDS.iter().find(|(_, long)| long.contains(&kind)).map_or(kind, |(short, _)| *short);
    Some(format!("{short}{number}"))
}

/// The ports of a host by each value that may name one; `None` for a value of several ports.
#[derive(Debug, Default)]
pub(super) struct Ports<'h> {
    names: HashMap<&'h str, Option<&'h IfEntry>>,
    descriptions: HashMap<&'h str, Option<&'h IfEntry>>,
    aliases: HashMap<&'h str, Option<&'h IfEntry>>,
    /// By abbreviated name or description.
    abbreviations: HashMap<String, Option<&'h IfEntry>>,
    macs: HashMap<MacAddress, Option<&'h IfEntry>>,
    indexes: HashMap<i64, Option<&'h IfEntry>>,
    addresses: HashMap<IpAddr, Option<&'h IfEntry>>,
    /// By the ids that the host itself announces.
    announced: HashMap<&'h str, Option<&'h IfEntry>>,
}

impl<'h> Ports<'h> {
    /// Collects the ports of a host. `lldp`: the host's own table.
    pub(super) fn new(host: &'h Host, lldp: &'h [LldpRow]) -> Self {
        let mut ports = Self::default();
        let addresses: HashMap<_, _> =
            host.interfaces.iter().map(|interface| (interface.id, interface.ip_address)).collect();
        for entry in &host.if_entries {
            for name in entry.if_name.as_deref().into_iter().filter_map(names::trimmed) {
                note(&mut ports.names, name, entry);
            }
            if let Some(text) = names::trimmed(&entry.if_descr) {
                note(&mut ports.descriptions, text, entry);
            }
            for alias in entry.if_alias.as_deref().into_iter().filter_map(names::trimmed) {
                note(&mut ports.aliases, alias, entry);
            }
            let names = [entry.if_name.as_deref(), Some(entry.if_descr.as_str())];
            for short in names.into_iter().flatten().filter_map(abbreviated) {
                note(&mut ports.abbreviations, short, entry);
            }
            if let Some(address) = entry.mac_address {
                note(&mut ports.macs, address, entry);
            }
            if entry.if_index != 0 {
                note(&mut ports.indexes, entry.if_index, entry);
            }
            if let Some(address) = entry.interface_id.and_then(|id| addresses.get(&id)) {
                note(&mut ports.addresses, *address, entry);
            }
        }
        for row in lldp {
            let entry = ports.local(row.if_index, row.if_name.as_deref());
            if let Some((entry, id)) = entry.zip(row.local_port_id.as_ref()) {
                note(&mut ports.announced, id.value.as_str(), entry);
            }
        }
        ports
    }

    /// Returns the port on which a row of the host's own tables was seen.
    pub(super) fn local(&self, if_index: Option<i64>, if_name: Option<&str>) -> Option<&'h IfEntry> {
        let by_index = if_index.filter(|index| *index != 0).and_then(|index| only(&self.indexes, &index));
        by_index.or_else(|| self.by_name(names::trimmed(if_name?)?))
    }

    /// Returns the port that an id of LLDP names, or else a description.
    pub(super) fn of_lldp(&self, id: Option<&LldpPortId>, description: Option<&str>) -> Option<&'h IfEntry> {
        let by_id = id.and_then(|id| self.of_id(id));
        by_id.or_else(|| {
            let text = names::trimmed(description?)?;
            self.by_name(text).or_else(|| only(&self.aliases, text))
        })
    }

    /// Returns the port that a port id of CDP names.
    pub(super) fn of_cdp(&self, id: &str) -> Option<&'h IfEntry> {
        let text = names::trimmed(id)?;
        self.by_name(text).or_else(|| only(&self.macs, &names::separated_mac(text)?))
    }

    fn of_id(&self, id: &LldpPortId) -> Option<&'h IfEntry> {
        use LldpPortIdSubtype::{
            AgentCircuitId, InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress, NetworkAddress,
            PortComponent,
        };
        let text = names::trimmed(&id.value)?;
        if let Some(address) = names::separated_mac(text) {
            return only(&self.macs, &address).or_else(|| only(&self.announced, text));
        }
        let index = || only(&self.indexes, &text.parse().ok()?);
        match id.subtype {
            InterfaceName => self.by_name(text).or_else(|| only(&self.announced, text)),
            MacAddress => only(&self.macs, &names::mac(text)?),
            LocallyAssigned => only(&self.announced, text).or_else(index).or_else(|| self.by_name(text)),
            InterfaceAlias | PortComponent => only(&self.aliases, text)
                .or_else(|| only(&self.announced, text))
                .or_else(|| self.by_name(text)),
            NetworkAddress => only(&self.addresses, &text.parse().ok()?),
            AgentCircuitId => only(&self.announced, text),
        }
    }

    fn by_name(&self, name: &str) -> Option<&'h IfEntry> {
        only(&self.names, name)
            .or_else(|| only(&self.descriptions, name))
            .or_else(|| only(&self.abbreviations, &abbreviated(name)?))
    }
}

/// Notes that a port has a value. A value of two ports leads to none.
fn note<'h, K: Eq + Hash>(ports: &mut HashMap<K, Option<&'h IfEntry>>, key: K, entry: &'h IfEntry) {
    ports
        .entry(key)
        .and_modify(|held| *held = held.filter(|held| held.id == entry.id))
        .or_insert(Some(entry));
}

fn only<'h, K, Q>(ports: &HashMap<K, Option<&'h IfEntry>>, key: &Q) -> Option<&'h IfEntry>
where
    K: Eq + Hash + std::borrow::Borrow<Q>,
    Q: Eq + Hash + ?Sized,
{
    ports.get(key).copied().flatten()
}
