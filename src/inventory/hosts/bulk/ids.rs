//! Ids of hosts and parts of one request.
//!
//! A host or part without an id, or with a taken one, gets a new id. References follow the new ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::access::{RandomSource, uuid_v7};
use crate::inventory::Error;
use crate::inventory::schema::{
    IF_ENTRY_UNIQUE_KEY, INTERFACE_UNIQUE_KEY, PORT_UNIQUE_KEY, SERVICE_UNIQUE_KEY,
};
use crate::model::{
    BindingTarget, Host, HostId, HostPart, HostVirtualization, Neighbor, ServiceVirtualization, Timestamp,
    UuidMut, for_each_part_type,
};
use crate::store::Name;

/// A host or a kind of part, each of which has ids of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum IdKind {
    Host,
    Interface,
    Port,
    Service,
    Binding,
    IfEntry,
}

impl IdKind {
    /// Returns the unique key for ids of this kind; `None` if the store has none.
    pub(super) const fn unique_key(self) -> Option<Name> {
        match self {
            Self::Port => Some(PORT_UNIQUE_KEY),
            Self::Service => Some(SERVICE_UNIQUE_KEY),
            Self::Interface => Some(INTERFACE_UNIQUE_KEY),
            Self::IfEntry => Some(IF_ENTRY_UNIQUE_KEY),
            Self::Host | Self::Binding => None,
        }
    }
}

/// The id of a part, with its kind.
pub(super) type PartId = (IdKind, Uuid);

/// Returns the parts of a host.
pub(super) fn parts(host: &Host) -> impl Iterator<Item = PartId> + '_ {
    let interfaces = host.interfaces.iter().map(|part| (IdKind::Interface, part.id.uuid()));
    let ports = host.ports.iter().map(|part| (IdKind::Port, part.id.uuid()));
    let services = host.services.iter().map(|part| (IdKind::Service, part.id.uuid()));
    let bindings = host.services.iter().flat_map(|service| &service.bindings);
    let bindings = bindings.map(|part| (IdKind::Binding, part.id.uuid()));
    let if_entries = host.if_entries.iter().map(|part| (IdKind::IfEntry, part.id.uuid()));
    interfaces.chain(ports).chain(services).chain(bindings).chain(if_entries)
}

/// Calls `visit` with the kind and id of every part of a host.
fn for_each_part(host: &mut Host, mut visit: impl FnMut(IdKind, &mut Uuid)) {
    host.interfaces.iter_mut().for_each(|part| visit(IdKind::Interface, part.id.uuid_mut()));
    host.ports.iter_mut().for_each(|part| visit(IdKind::Port, part.id.uuid_mut()));
    for service in &mut host.services {
        visit(IdKind::Service, service.id.uuid_mut());
        service.bindings.iter_mut().for_each(|binding| visit(IdKind::Binding, binding.id.uuid_mut()));
    }
    host.if_entries.iter_mut().for_each(|part| visit(IdKind::IfEntry, part.id.uuid_mut()));
}

/// Calls `visit` for each reference of a host and its parts. It gets the kind and id of the target.
fn for_each_reference(host: &mut Host, mut visit: impl FnMut(IdKind, &mut Uuid)) {
    for assignment in &mut host.credential_assignments {
        assignment.interface_ids.iter_mut().flatten().for_each(|id| visit(IdKind::Interface, id.uuid_mut()));
    }
    if let Some(HostVirtualization::Proxmox(details)) = &mut host.virtualization {
        visit(IdKind::Service, details.service_id.uuid_mut());
    }
    for service in &mut host.services {
        if let Some(ServiceVirtualization::Docker(details)) = &mut service.virtualization {
            visit(IdKind::Service, details.service_id.uuid_mut());
        }
        for binding in &mut service.bindings {
            match &mut binding.target {
                BindingTarget::Port { port_id, interface_id } => {
                    visit(IdKind::Port, port_id.uuid_mut());
                    interface_id.iter_mut().for_each(|id| visit(IdKind::Interface, id.uuid_mut()));
                }
                BindingTarget::Interface { interface_id } => {
                    visit(IdKind::Interface, interface_id.uuid_mut());
                }
            }
        }
    }
    for entry in &mut host.if_entries {
        entry.interface_id.iter_mut().for_each(|id| visit(IdKind::Interface, id.uuid_mut()));
        entry.lag_id.iter_mut().for_each(|id| visit(IdKind::IfEntry, id.uuid_mut()));
        match &mut entry.neighbor {
            Some(Neighbor::IfEntry(id)) => visit(IdKind::IfEntry, id.uuid_mut()),
            Some(Neighbor::Host(id)) => visit(IdKind::Host, id.uuid_mut()),
            None => {}
        }
    }
}

/// Returns whether a host or its parts refer to another host or its parts.
pub(super) fn refers_to_hosts(host: &Host) -> bool {
    host.virtualization.is_some()
        || host.services.iter().any(|service| service.virtualization.is_some())
        || host.if_entries.iter().any(|entry| entry.neighbor.is_some())
}

/// Gives new ids to the hosts and parts of a request that need them.
#[derive(Debug)]
pub(super) struct IdAssignment {
    pub(super) random: Arc<dyn RandomSource>,
    pub(super) now: Timestamp,
    /// The replaced hosts' parts, each with its host.
    pub(super) held: HashMap<PartId, HostId>,
    /// The ids that parts of hosts outside of the request have.
    pub(super) taken: HashSet<PartId>,
    /// Whether a part may move from one host of the request to another, which requires a single commit.
    pub(super) may_move: bool,
    /// The new ids of hosts whose own id belongs to another organization.
    pub(super) renamed_hosts: HashMap<HostId, HostId>,
}

impl IdAssignment {
    /// Assigns the ids of all parts and rewrites the references to them.
    ///
    /// A part keeps its id if the host that it replaces has it, or else if no other host does and no earlier host of
    /// the request claims it. Where parts may move, the other hosts are those outside of the request.
    pub(super) fn apply<'h>(&self, hosts: impl IntoIterator<Item = &'h mut Host>) -> Result<(), Error> {
        let mut hosts: Vec<&mut Host> = hosts.into_iter().collect();
        if self.renamed_hosts.is_empty() && self.all_keep_ids(&hosts) {
            hosts.into_iter().for_each(adopt_parts);
            return Ok(());
        }
        let keepers = self.keepers(hosts.iter().map(|host| &**host));
        // References from other hosts of the request follow a part only if none keeps the id.
        let mut followed: HashMap<PartId, Uuid> =
            self.renamed_hosts.iter().map(|(old, new)| ((IdKind::Host, old.uuid()), new.uuid())).collect();
        let mut renamed = Vec::with_capacity(hosts.len());
        for host in &mut hosts {
            let own = self.rename_parts(host, &keepers)?;
            for (part, id) in &own {
                if !keepers.contains_key(part) {
                    followed.entry(*part).or_insert(*id);
                }
            }
            renamed.push(own);
        }
        for (host, own) in hosts.into_iter().zip(&renamed) {
            if !own.is_empty() || !followed.is_empty() {
                for_each_reference(host, |kind, id| {
                    let new = own.get(&(kind, *id)).or_else(|| followed.get(&(kind, *id)));
                    *id = new.copied().unwrap_or(*id);
                });
            }
            adopt_parts(host);
        }
        Ok(())
    }

    /// Returns whether every part keeps its id. Each id must be given, free, and unique within the request.
    ///
    /// This is true of most requests, and takes less time than finding out which parts do not keep theirs.
    fn all_keep_ids(&self, hosts: &[&mut Host]) -> bool {
        let is_free = |host: &Host| parts(host).all(|part| self.is_free(part, host.id));
        if !self.may_move && !self.held.is_empty() && !hosts.iter().all(|host| is_free(host)) {
            return false;
        }
        let mut all: Vec<PartId> = hosts.iter().flat_map(|host| parts(host)).collect();
        all.sort_unstable_by_key(|(kind, id)| (id.as_u128(), *kind));
        let is_repeated = |pair: &[PartId]| pair.first() == pair.last();
        !all.windows(2).any(is_repeated)
            && all.iter().all(|part| !part.1.is_nil() && !self.taken.contains(part))
    }

    /// Returns whether other stored hosts leave the id of a part free for a host.
    fn is_free(&self, part: PartId, host: HostId) -> bool {
        let is_held = || self.held.get(&part).is_some_and(|holder| *holder != host);
        !self.taken.contains(&part) && (self.may_move || !is_held())
    }

    /// Returns which host keeps each given id.
    fn keepers<'h>(&self, hosts: impl Iterator<Item = &'h Host>) -> HashMap<PartId, HostId> {
        let mut keepers = HashMap::new();
        for host in hosts {
            for part in parts(host).filter(|part| !part.1.is_nil() && self.is_free(*part, host.id)) {
                let is_holder = self.held.get(&part) == Some(&host.id);
                keepers
                    .entry(part)
                    .and_modify(|keeper| *keeper = if is_holder { host.id } else { *keeper })
                    .or_insert(host.id);
            }
        }
        keepers
    }

    /// Gives new ids to the parts that cannot keep theirs. Returns the new ids by the old ones.
    fn rename_parts(
        &self,
        host: &mut Host,
        keepers: &HashMap<PartId, HostId>,
    ) -> Result<HashMap<PartId, Uuid>, Error> {
        let (host_id, mut own, mut failure) = (host.id, HashMap::new(), None);
        for_each_part(host, |kind, id| {
            let part = (kind, *id);
            if keepers.get(&part) == Some(&host_id) {
                return;
            }
            let new = match own.get(&part) {
                // Repeated within the host, which validation then reports.
                Some(new) => Ok(*new),
                None => uuid_v7(&*self.random, self.now),
            };
            match new {
                Ok(new) => {
                    if !id.is_nil() {
                        own.insert(part, new);
                    }
                    *id = new;
                }
                Err(error) => failure = Some(error),
            }
        });
        failure.map_or(Ok(own), |error| Err(error.into()))
    }
}

/// Makes the host the owner of its parts.
pub(in crate::inventory) fn adopt_parts(host: &mut Host) {
    let (id, network) = (host.id, host.network_id);
    for_each_part_type!(P => for part in P::list_mut(host) {
        (part.host_id, part.network_id) = (id, network);
    });
    for service in &mut host.services {
        for binding in &mut service.bindings {
            (binding.service_id, binding.network_id) = (service.id, network);
        }
    }
}

/// Replaces ids of parts of a host, and the references to them. Ids for which `new_id` returns `None` stay.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn rename_parts(host: &mut Host, new_id: impl Fn(Uuid) -> Option<Uuid>) {
    let rename = |_: IdKind, id: &mut Uuid| *id = new_id(*id).unwrap_or(*id);
    for_each_part(host, rename);
    for_each_reference(host, rename);
    adopt_parts(host);
}

/// Gives a host another id, which its parts then refer to.
pub(in crate::inventory) fn rename_host(host: &mut Host, id: HostId) {
    host.id = id;
    adopt_parts(host);
}
