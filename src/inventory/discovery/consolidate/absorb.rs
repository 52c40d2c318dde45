//! Absorption of a host by another one that is the same device.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::mem::take;

use uuid::Uuid;

use crate::discovery::reconcile::HostState;
use crate::inventory::discovery::records::HostDiscovery;
use crate::inventory::hosts::rename_parts;
#[cfg(feature = "topology")]
use crate::model::HostId;
use crate::model::{
    BindingTarget, Host, HostPart, IfEntry, IfEntryId, Interface, InterfaceId, Neighbor, PortId, Record,
    RecordId, Service, ServiceId, ServiceVirtualization, TagId, Timestamp, for_each_part_type,
};

/// The ids of absorbed hosts and parts, with the ids that replace them.
#[derive(Clone, Debug, Default)]
pub(in crate::inventory) struct Replaced(HashMap<Uuid, Uuid>);

impl Replaced {
    /// Returns the id that replaces one of the same kind.
    pub(in crate::inventory) fn by<I: RecordId>(&self, gone: I) -> Option<I> {
        let gone: Uuid = gone.into();
        self.0.get(&gone).copied().map(I::from)
    }

    /// Returns the id that replaces one of the same kind, or the id itself.
    pub(in crate::inventory) fn latest<I: RecordId>(&self, id: I) -> I {
        self.by(id).unwrap_or(id)
    }

    pub(in crate::inventory) fn contains<I: RecordId>(&self, id: I) -> bool {
        let id: Uuid = id.into();
        self.0.contains_key(&id)
    }

    pub(in crate::inventory) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ids that were replaced.
    pub(in crate::inventory) fn gone(&self) -> impl Iterator<Item = Uuid> {
        self.0.keys().copied()
    }

    /// Returns the hosts that this host replaces.
    #[cfg(feature = "topology")]
    pub(in crate::inventory) fn hosts_replaced_by(&self, host: HostId) -> Vec<HostId> {
        self.0.iter().filter(|(_, by)| **by == host.uuid()).map(|(gone, _)| HostId::new(*gone)).collect()
    }

    /// Replaces the ids of parts of a host, and the references to them.
    pub(in crate::inventory) fn rename_parts(&self, host: &mut Host) {
        rename_parts(host, |id| self.0.get(&id).copied());
    }

    pub(in crate::inventory) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn insert<I: RecordId>(&mut self, gone: I, by: I) {
        self.0.insert(gone.into(), by.into());
    }
}

/// Moves all values of a host to another one. Returns the replacements of the parts that both have.
///
/// An interface with the same address, a port with the same number and protocol, a service with the same name and
/// definition, and an interface entry with the same index and name are the same part; so are entries with the same name
/// if the index of one is unknown. The part of the first host stays, and takes the bindings of the other part. Empty
/// fields of the first host and its parts are filled.
pub(in crate::inventory::discovery) fn absorb(host: &mut Host, mut other: Host, now: Timestamp) -> Replaced {
    let mut replaced = Replaced::default();
    replaced.insert(other.id, host.id);
    let addresses =
        |host: &Host| -> Vec<_> { host.interfaces.iter().map(|part| (part.ip_address, part.id)).collect() };
    let ports = |host: &Host| -> Vec<_> {
        host.ports.iter().map(|part| ((part.number, part.protocol), part.id)).collect()
    };
    let services = |host: &Host| -> Vec<_> {
        let services = host.services.iter();
        services.map(|part| ((part.name.clone(), part.service_definition.clone()), part.id)).collect()
    };
    let entries = |host: &Host| -> Vec<_> {
        host.if_entries.iter().map(|part| ((part.if_index, part.if_name.clone()), part.id)).collect()
    };
    same_parts(addresses(host), addresses(&other), &mut replaced);
    same_parts(ports(host), ports(&other), &mut replaced);
    same_parts(services(host), services(&other), &mut replaced);
    same_parts(entries(host), entries(&other), &mut replaced);
    same_names(host, &other, &mut replaced);
    fill_parts(host, &other, &replaced);

    other.interfaces.retain(|part| !replaced.contains(part.id));
    other.ports.retain(|part| !replaced.contains(part.id));
    other.if_entries.retain(|part| !replaced.contains(part.id));
    let (same, moved): (Vec<_>, Vec<_>) =
        take(&mut other.services).into_iter().partition(|part| replaced.contains(part.id));
    host.interfaces.append(&mut other.interfaces);
    host.ports.append(&mut other.ports);
    host.if_entries.append(&mut other.if_entries);
    host.services.extend(moved);
    replaced.rename_parts(host);
    absorb_services(host, same, &replaced);
    rename_parts(host, |_| None);
    host.tags.append(&mut other.tags);
    deduplicate(&mut host.tags);
    absorb_credentials(host, &other, &replaced);
    fill(host, &other);
    host.updated_at = now;
    replaced
}

/// Notes which parts of the second list are the same as one of the first.
fn same_parts<K: Eq + Hash, I: RecordId>(own: Vec<(K, I)>, others: Vec<(K, I)>, replaced: &mut Replaced) {
    let mut known: HashMap<K, I> = HashMap::new();
    for (key, id) in own {
        known.entry(key).or_insert(id);
    }
    for (key, id) in others {
        if let Some(own) = known.get(&key) {
            replaced.insert(id, *own);
        }
    }
}

/// Pairs the entries of both hosts that share a unique name, if either lacks an index.
fn same_names(host: &Host, other: &Host, replaced: &mut Replaced) {
    let own = unique_names(&host.if_entries);
    let others = unique_names(&other.if_entries);
    let taken: HashSet<Uuid> = replaced.0.values().copied().collect();
    for (name, entry) in others {
        let Some(same) = own.get(name) else { continue };
        let is_unknown = entry.if_index == 0 || same.if_index == 0;
        if is_unknown && !taken.contains(&same.id.uuid()) && !replaced.contains(entry.id) {
            replaced.insert(entry.id, same.id);
        }
    }
}

/// Returns the entries by those names that only one of them has.
fn unique_names(entries: &[IfEntry]) -> HashMap<&str, &IfEntry> {
    let mut unique: HashMap<&str, Option<&IfEntry>> = HashMap::new();
    for entry in entries {
        if let Some(name) = entry.if_name.as_deref().filter(|name| !name.is_empty()) {
            unique.entry(name).and_modify(|held| *held = None).or_insert(Some(entry));
        }
    }
    unique.into_iter().filter_map(|(name, entry)| Some((name, entry?))).collect()
}

/// Fills the empty fields of interfaces and interface entries from the parts that they replace.
fn fill_parts(host: &mut Host, other: &Host, replaced: &Replaced) {
    let interfaces = other.interfaces.iter().filter_map(|part| Some((replaced.by(part.id)?, part)));
    let interfaces: HashMap<InterfaceId, &Interface> = interfaces.collect();
    for part in &mut host.interfaces {
        if let Some(gone) = interfaces.get(&part.id) {
            fill_interface(part, gone);
        }
    }
    let entries = other.if_entries.iter().filter_map(|part| Some((replaced.by(part.id)?, part)));
    let entries: HashMap<IfEntryId, &IfEntry> = entries.collect();
    for part in &mut host.if_entries {
        if let Some(gone) = entries.get(&part.id) {
            fill_entry(part, gone);
        }
    }
}

/// Adds the bindings and tags of services to the services that replace them, and fills their empty fields.
fn absorb_services(host: &mut Host, services: Vec<Service>, replaced: &Replaced) {
    let mut absorbed: HashMap<ServiceId, Vec<Service>> = HashMap::new();
    for service in services {
        if let Some(kept) = replaced.by(service.id) {
            absorbed.entry(kept).or_default().push(service);
        }
    }
    for kept in &mut host.services {
        let Some(services) = absorbed.remove(&kept.id) else { continue };
        let mut known: BTreeSet<_> =
            kept.bindings.iter().map(|binding| binding_key(&binding.target)).collect();
        for mut service in services {
            let (mut bindings, mut tags) = (take(&mut service.bindings), take(&mut service.tags));
            rename_virtualization(&mut service, replaced);
            kept.fill(&service);
            for binding in &mut bindings {
                rename_binding(&mut binding.target, replaced);
            }
            bindings.retain(|binding| known.insert(binding_key(&binding.target)));
            kept.bindings.append(&mut bindings);
            kept.tags.append(&mut tags);
        }
        deduplicate(&mut kept.tags);
    }
}

/// Replaces the service that virtualizes another. A service does not virtualize itself.
fn rename_virtualization(service: &mut Service, replaced: &Replaced) {
    let own = replaced.by(service.id);
    if let Some(ServiceVirtualization::Docker(container)) = &mut service.virtualization {
        let by = &mut container.service_id;
        *by = replaced.latest(*by);
        if Some(*by) == own {
            service.virtualization = None;
        }
    }
}

fn rename_binding(target: &mut BindingTarget, replaced: &Replaced) {
    match target {
        BindingTarget::Port { port_id, interface_id } => {
            *port_id = replaced.latest(*port_id);
            *interface_id = interface_id.map(|id| replaced.latest(id));
        }
        BindingTarget::Interface { interface_id } => *interface_id = replaced.latest(*interface_id),
    }
}

const fn binding_key(target: &BindingTarget) -> (Option<PortId>, Option<InterfaceId>) {
    match target {
        BindingTarget::Port { port_id, interface_id } => (Some(*port_id), *interface_id),
        BindingTarget::Interface { interface_id } => (None, Some(*interface_id)),
    }
}

fn deduplicate(ids: &mut Vec<TagId>) {
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
}

/// Adds the credentials that the host does not have.
fn absorb_credentials(host: &mut Host, other: &Host, replaced: &Replaced) {
    let own = host.credential_assignments.iter();
    let mut known: BTreeSet<_> = own.map(|assignment| assignment.credential_id).collect();
    for assignment in &other.credential_assignments {
        if !known.insert(assignment.credential_id) {
            continue;
        }
        let mut assignment = assignment.clone();
        for id in assignment.interface_ids.iter_mut().flatten() {
            *id = replaced.latest(*id);
        }
        host.credential_assignments.push(assignment);
    }
}

/// Merges the discovery state of a host into that of the host that absorbs it.
pub(in crate::inventory::discovery) fn absorb_state(
    discovery: &mut HostDiscovery,
    other: HostDiscovery,
    replaced: &Replaced,
    now: Timestamp,
) {
    let HostDiscovery { state: other, organization_id: _, network_id: _, claims: _, separate: _ } = other;
    let state = &mut discovery.state;
    let HostState { mut baseline, edited, deleted, observed, seen, kept, has_derived_chassis: _ } = other;
    fill_parts(&mut state.baseline, &baseline, replaced);
    // The baseline absorbs the same services as the host: otherwise, the absorbed values would count as edited.
    let (kept_services, replaced_services) =
        take(&mut baseline.services).into_iter().partition(|service| !replaced.contains(service.id));
    baseline.services = kept_services;
    absorb_services(&mut state.baseline, replaced_services, replaced);
    for_each_part_type!(P => P::list_mut(&mut baseline).retain(|part| !replaced.contains(part.id)));
    absorb(&mut state.baseline, baseline, now);
    let is_of_part = |path: &String| path.contains('.');
    state.edited.extend(edited.into_iter().filter(is_of_part));
    state.deleted.extend(deleted);
    state.kept.extend(kept.into_iter().filter(|(path, _)| is_of_part(path)));
    for (id, seen) in seen {
        let id = replaced.0.get(&id).copied().unwrap_or(id);
        let latest = state.seen.entry(id).or_insert(seen);
        if seen.last_seen_at > latest.last_seen_at {
            *latest = seen;
        }
    }
    for (table, observed) in observed {
        let latest = state.observed.entry(table).or_insert(observed);
        latest.at = latest.at.max(observed.at);
        latest.complete_at = latest.complete_at.max(observed.complete_at);
    }
}

/// Replaces the neighbors of a host that were absorbed. Returns whether there were any.
pub(super) fn replace_neighbors(host: &mut Host, replaced: &Replaced, now: Option<Timestamp>) -> bool {
    let mut is_changed = false;
    for entry in &mut host.if_entries {
        let neighbor = match entry.neighbor {
            Some(Neighbor::Host(id)) => replaced.by(id).map(Neighbor::Host),
            Some(Neighbor::IfEntry(id)) => replaced.by(id).map(Neighbor::IfEntry),
            None => None,
        };
        // A host is not its own neighbor.
        let neighbor =
            neighbor.map(|neighbor| Some(neighbor).filter(|to| *to != Neighbor::Host(entry.host_id)));
        if let Some(neighbor) = neighbor {
            entry.neighbor = neighbor;
            entry.updated_at = now.unwrap_or(entry.updated_at);
            is_changed = true;
        }
    }
    is_changed
}

/// Fills the empty fields of a host, after its lists have been absorbed.
pub(super) fn fill(host: &mut Host, other: &Host) {
    host.fill(other);
    host.created_at = host.created_at.min(other.created_at);
}

/// Fills the empty fields of an interface.
pub(super) fn fill_interface(part: &mut Interface, gone: &Interface) {
    // An address that the device itself reports replaces one that others state.
    let is_replaced = part.mac_address.is_none() || (part.mac_source.is_some() && gone.mac_source.is_none());
    if is_replaced && gone.mac_address.is_some() {
        (part.mac_address, part.mac_source) = (gone.mac_address, gone.mac_source);
    }
    part.fill(gone);
}

/// Fills the empty fields of an interface entry. The fields of LLDP and of CDP, which the table keeps, are taken
/// together.
pub(super) fn fill_entry(part: &mut IfEntry, gone: &IfEntry) {
    let take = |part: &mut IfEntry, prefix: &str| {
        let names = IfEntry::NAMES.iter().filter(|name| name.starts_with(prefix));
        names.for_each(|name| part.copy_field(gone, name));
    };
    if part.lldp_chassis_id.is_none() {
        take(part, "lldp_");
    }
    if part.cdp_device_id.is_none() {
        take(part, "cdp_");
    }
    part.fill(gone);
}
