//! The embedded records of a host, as discovery matches and merges them.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use uuid::Uuid;

use super::entries;
use crate::discovery::reconcile::PortNames;
use crate::discovery::reconcile::attributes::{Attribute, IF_ENTRY, INTERFACE, SERVICE};
use crate::discovery::report::TableKind;
use crate::model::{
    BindingTarget, Common, Host, HostPart, IfEntry, Interface, Port, PortId, PortNumber, Protocol, Service,
    Timestamp, derived_id,
};

/// A key that identifies a part within its host, apart from its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::discovery::reconcile) enum PartKey {
    Address(IpAddr),
    Port(Protocol, PortNumber),
    /// `ifName`.
    Name(String),
    /// `ifDescr`.
    Description(String),
    /// `ifIndex`.
    Index(i64),
    /// The ports that a service is bound to, and its name.
    Service(Vec<(Protocol, PortNumber)>, String),
    /// The ports that a service is bound to.
    ServicePorts(Vec<(Protocol, PortNumber)>),
}

/// The rules by which the interface entries of a report are paired with those of a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::discovery::reconcile) struct EntryRules<'r> {
    /// Whether the reported indexes come from a table of interfaces. Others may be numbers of another kind.
    pub(in crate::discovery::reconcile) trusts_reported: bool,
    /// Whether the indexes of the host come from a table of interfaces.
    pub(in crate::discovery::reconcile) trusts_current: bool,
    pub(in crate::discovery::reconcile) port_names: &'r PortNames,
}

/// A part of a host, with the rules by which reports are merged into it.
pub(in crate::discovery::reconcile) trait MergedPart: HostPart {
    /// The table that has all records of the list if it is complete.
    const TABLE: TableKind;
    /// The number of keys that a record may have.
    const KEYS: usize = 1;

    fn attributes() -> &'static [&'static dyn Attribute<Self>];
    fn id(&self) -> Uuid {
        self.common().id
    }
    /// Makes the part one of a host, with this id.
    fn move_to(&mut self, host: &Host, id: Uuid) {
        self.set_common(Common { id, host_id: host.id, network_id: host.network_id, ..self.common() });
    }
    /// Sets the time of the last change, and the time of creation if given.
    fn set_times(&mut self, created_at: Option<Timestamp>, updated_at: Timestamp) {
        let common = self.common();
        let created_at = created_at.unwrap_or(common.created_at);
        self.set_common(Common { created_at, updated_at, ..common });
    }
    /// Returns the keys of the host's records at a rank. Rank 0 is the strongest, and all ranks are below `KEYS`.
    fn keys(host: &Host, rank: usize) -> Vec<Option<PartKey>>;
    /// Returns the texts by which the host's records stay known when they are deleted.
    fn labels(host: &Host) -> Vec<String>;
    /// Returns whether the fields of a table have values, for tables whose fields belong together.
    fn has_group(&self, _: TableKind) -> Option<bool> {
        None
    }
    /// Returns for each part that a report describes the position of the same part of the host.
    fn pairs(reported: &Host, current: &Host, _: EntryRules<'_>) -> Vec<Option<usize>> {
        pairs::<Self>(reported, current, false)
    }
    /// Returns a record without values, for lists whose records have fields of several tables.
    fn blank(_: &Host) -> Option<Self> {
        None
    }
}

impl MergedPart for Interface {
    const TABLE: TableKind = TableKind::Addresses;

    fn attributes() -> &'static [&'static dyn Attribute<Self>] {
        INTERFACE
    }

    fn keys(host: &Host, _: usize) -> Vec<Option<PartKey>> {
        host.interfaces.iter().map(|interface| Some(PartKey::Address(interface.ip_address))).collect()
    }

    fn labels(host: &Host) -> Vec<String> {
        host.interfaces.iter().map(|interface| interface.ip_address.to_string()).collect()
    }
}

impl MergedPart for Port {
    const TABLE: TableKind = TableKind::Ports;

    fn attributes() -> &'static [&'static dyn Attribute<Self>] {
        &[]
    }

    fn keys(host: &Host, _: usize) -> Vec<Option<PartKey>> {
        host.ports.iter().map(|port| Some(PartKey::Port(port.protocol, port.number))).collect()
    }

    fn labels(host: &Host) -> Vec<String> {
        host.ports.iter().map(|port| format!("{}/{}", port.number, port.protocol)).collect()
    }
}

impl MergedPart for Service {
    const TABLE: TableKind = TableKind::Ports;
    const KEYS: usize = 2;

    fn attributes() -> &'static [&'static dyn Attribute<Self>] {
        SERVICE
    }

    fn move_to(&mut self, host: &Host, id: Uuid) {
        (self.id, self.host_id, self.network_id) = (id.into(), host.id, host.network_id);
        for binding in &mut self.bindings {
            binding.service_id = self.id;
        }
    }

    fn set_times(&mut self, created_at: Option<Timestamp>, updated_at: Timestamp) {
        self.created_at = created_at.unwrap_or(self.created_at);
        self.updated_at = updated_at;
        if let Some(created_at) = created_at {
            for binding in &mut self.bindings {
                (binding.created_at, binding.updated_at) = (created_at, updated_at);
            }
        }
    }

    fn keys(host: &Host, rank: usize) -> Vec<Option<PartKey>> {
        let services = host.services.iter().zip(bound_ports(host));
        let keys = services.map(|(service, ports)| match rank {
            0 => Some(PartKey::Service(ports, service.name.clone())),
            // A scan that recognizes the software gives the service another name.
            _ => (!ports.is_empty()).then_some(PartKey::ServicePorts(ports)),
        });
        keys.collect()
    }

    fn labels(host: &Host) -> Vec<String> {
        let label = |(service, ports): (&Self, Vec<(Protocol, PortNumber)>)| {
            let ports: Vec<String> =
                ports.iter().map(|(protocol, number)| format!("{number}/{protocol}")).collect();
            // A deleted service of a port stays deleted under all names that scans may give it.
            if ports.is_empty() { service.name.clone() } else { ports.join(",") }
        };
        host.services.iter().zip(bound_ports(host)).map(label).collect()
    }
}

impl MergedPart for IfEntry {
    const TABLE: TableKind = TableKind::IfEntries;
    const KEYS: usize = 3;

    fn attributes() -> &'static [&'static dyn Attribute<Self>] {
        IF_ENTRY
    }

    fn keys(host: &Host, rank: usize) -> Vec<Option<PartKey>> {
        let key = |entry: &Self| match rank {
            0 => entry.if_name.clone().filter(|name| !name.is_empty()).map(PartKey::Name),
            1 => Some(entry.if_descr.clone()).filter(|text| !text.is_empty()).map(PartKey::Description),
            _ => Some(entry.if_index).filter(|index| *index != 0).map(PartKey::Index),
        };
        host.if_entries.iter().map(key).collect()
    }

    fn labels(host: &Host) -> Vec<String> {
        let label = |entry: &Self| match &entry.if_name {
            Some(name) if !name.is_empty() => name.clone(),
            _ => entry.if_index.to_string(),
        };
        host.if_entries.iter().map(label).collect()
    }

    fn has_group(&self, table: TableKind) -> Option<bool> {
        match table {
            TableKind::Lldp => Some(self.lldp_chassis_id.is_some()),
            TableKind::Cdp => Some(self.cdp_device_id.is_some()),
            _ => None,
        }
    }

    fn pairs(reported: &Host, current: &Host, rules: EntryRules<'_>) -> Vec<Option<usize>> {
        entries::pair_entries(reported, current, rules)
    }

    fn blank(host: &Host) -> Option<Self> {
        Some(Self::new(host, 0))
    }
}

/// Returns the ports that each service of a host is bound to, in ascending order.
pub(in crate::discovery::reconcile) fn bound_ports(host: &Host) -> Vec<Vec<(Protocol, PortNumber)>> {
    let ports: HashMap<PortId, _> =
        host.ports.iter().map(|port| (port.id, (port.protocol, port.number))).collect();
    let bound = |service: &Service| {
        let ids = service.bindings.iter().filter_map(|binding| match binding.target {
            BindingTarget::Port { port_id, .. } => Some(port_id),
            BindingTarget::Interface { .. } => None,
        });
        let mut bound: Vec<_> = ids.filter_map(|id| ports.get(&id).copied()).collect();
        bound.sort_unstable();
        bound.dedup();
        bound
    };
    host.services.iter().map(bound).collect()
}

/// Returns for each part of one host the position of the same part of another.
///
/// Parts are paired by id if `by_id` is set, then by each key that one part of both hosts has, and finally by keys that
/// several parts have.
pub(in crate::discovery::reconcile) fn pairs<P: MergedPart>(
    one: &Host,
    other: &Host,
    by_id: bool,
) -> Vec<Option<usize>> {
    let (left, right) = (P::list(one), P::list(other));
    let mut pairs = vec![None; left.len()];
    let mut is_taken = vec![false; right.len()];
    if by_id {
        let ids = |parts: &[P]| parts.iter().map(|part| Some(part.id())).collect();
        pair_by(&mut pairs, &mut is_taken, ids(left), ids(right));
    }
    for rank in 0..P::KEYS {
        if pairs.contains(&None) {
            pair_by(&mut pairs, &mut is_taken, P::keys(one, rank), P::keys(other, rank));
        }
    }
    for rank in 0..P::KEYS {
        if pairs.contains(&None) && is_taken.contains(&false) {
            let groups = group::<P>(one, rank, |place| pairs.get(place) == Some(&None));
            let mut others = group::<P>(other, rank, |place| is_taken.get(place) == Some(&false));
            for (key, places) in groups {
                let partners = others.remove(&key).unwrap_or_default();
                for (place, partner) in places.into_iter().zip(partners) {
                    pair(&mut pairs, &mut is_taken, place, partner);
                }
            }
        }
    }
    pairs
}

/// Returns the places of free parts by key, in the order of their ids.
fn group<P: MergedPart>(
    host: &Host,
    rank: usize,
    is_free: impl Fn(usize) -> bool,
) -> HashMap<PartKey, Vec<usize>> {
    let mut parts: Vec<_> = P::list(host).iter().map(P::id).zip(P::keys(host, rank)).enumerate().collect();
    parts.retain(|(place, _)| is_free(*place));
    parts.sort_by_key(|(_, (id, _))| *id);
    let mut groups: HashMap<PartKey, Vec<usize>> = HashMap::new();
    for (place, (_, key)) in parts {
        if let Some(key) = key {
            groups.entry(key).or_default().push(place);
        }
    }
    groups
}

fn pair(pairs: &mut [Option<usize>], is_taken: &mut [bool], place: usize, partner: usize) {
    if let (Some(pair), Some(is_taken)) = (pairs.get_mut(place), is_taken.get_mut(partner)) {
        (*pair, *is_taken) = (Some(partner), true);
    }
}

/// Pairs parts without a partner by the keys that are unique on both sides.
fn pair_by<K: Eq + Hash>(
    pairs: &mut [Option<usize>],
    is_taken: &mut [bool],
    left: Vec<Option<K>>,
    right: Vec<Option<K>>,
) {
    let is_free: Vec<bool> = pairs.iter().map(Option::is_none).collect();
    let left = unique(left, &is_free);
    let is_free: Vec<bool> = is_taken.iter().map(|is_taken| !is_taken).collect();
    let right = unique(right, &is_free);
    for (key, place) in left {
        if let Some((place, partner)) = place.zip(right.get(&key).copied().flatten()) {
            pair(pairs, is_taken, place, partner);
        }
    }
}

/// Returns the places of the free parts by key. `None` for a key that several of them have.
fn unique<K: Eq + Hash>(keys: Vec<Option<K>>, is_free: &[bool]) -> HashMap<K, Option<usize>> {
    let mut unique = HashMap::new();
    let free = keys.into_iter().zip(is_free).enumerate().filter(|(_, (_, is_free))| **is_free);
    for (place, (key, _)) in free {
        if let Some(key) = key {
            unique.entry(key).and_modify(|held| *held = None).or_insert(Some(place));
        }
    }
    unique
}

/// Returns the id of a new part. It differs from the proposed id if a part of the host has that.
pub(in crate::discovery::reconcile) fn free_id(
    proposed: Uuid,
    list: &'static str,
    is_taken: impl Fn(Uuid) -> bool,
) -> Uuid {
    let mut id = proposed;
    while is_taken(id) {
        id = derived_id(list, &[id.as_bytes()]);
    }
    id
}
