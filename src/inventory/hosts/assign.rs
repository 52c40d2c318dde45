//! Assignment of ids, owners and times to the embedded records of a host.
//!
//! The server sets them in a host that a client sends.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::parts::{Embedded, settle};
use super::taken_part::TakenPart;
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{
    BindingTarget, Host, IfEntry, Interface, Neighbor, OrganizationId, Port, RecordId, Service,
    ServiceVirtualization, Timestamp, for_each_part_type,
};

/// The number of hosts with taken ids that makes all new parts get new ids.
const MAX_HOLDERS: usize = 8;

/// Ids of parts of other hosts, which the parts of a host cannot have.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenIds {
    ids: HashSet<(Entity, Uuid)>,
    holders: usize,
}

/// New ids of parts, by the ids that they replace.
type Renamed = HashMap<Uuid, Uuid>;

/// The embedded records of a host, with ids, owners and times to be set.
pub(super) struct Assignment<'a> {
    /// The host as stored; `None` for a new one.
    pub(super) before: Option<&'a Host>,
    pub(super) taken: &'a TakenIds,
    pub(super) now: Timestamp,
    pub(super) new_id: &'a dyn Fn() -> Result<Uuid, Error>,
}

impl TakenIds {
    /// Adds a part of another host, and with it all parts of that host.
    pub(super) fn insert(&mut self, part: &TakenPart, holder: Option<&Host>) {
        self.holders += 1;
        self.ids.insert((part.entity, part.id));
        if let Some(host) = holder {
            for_each_part_type!(P => self.extend::<P>(host));
        }
    }

    fn extend<P: Embedded>(&mut self, host: &Host) {
        self.ids.extend(P::list(host).iter().map(|part| (P::ENTITY, part.common().id)));
    }

    fn contains(&self, entity: Entity, id: Uuid) -> bool {
        self.holders >= MAX_HOLDERS || self.ids.contains(&(entity, id))
    }
}

impl Inventory {
    /// Adds the ids of the host that has a taken part.
    pub(super) async fn note_taken(
        &self,
        organization: OrganizationId,
        part: &TakenPart,
        taken: &mut TakenIds,
    ) -> Result<(), Error> {
        let holder = match self.store.get_by_unique_key(&part.unique_key).await? {
            // Read again as a host of the organization: the digest may collide with that of another organization's
            // part.
            Some(holder) => self.own_hosts(organization, vec![holder.key.id.into()]).await?.pop(),
            None => None,
        };
        match holder {
            Some(record) => taken.insert(part, Some(&self.decode_host(organization, &record).await?)),
            None => taken.insert(part, None),
        }
        Ok(())
    }
}

impl Assignment<'_> {
    /// Sets ids, owners and times of all embedded records, and rewrites the references between them.
    ///
    /// # Errors
    /// The errors of `new_id`.
    pub(super) fn apply(&self, host: &mut Host) -> Result<(), Error> {
        let interfaces = self.assign_ids::<Interface>(host)?;
        let ports = self.assign_ids::<Port>(host)?;
        let services = self.assign_ids::<Service>(host)?;
        let entries = self.assign_ids::<IfEntry>(host)?;
        rewrite_interfaces(host, &interfaces);
        rewrite_ports(host, &ports);
        rewrite_services(host, &services);
        rewrite_entries(host, &entries);
        for service in &mut host.services {
            service.assign_binding_ids(None, self.new_id)?;
        }
        for_each_part_type!(P => self.settle_all::<P>(host));
        Ok(())
    }

    /// Gives each part without an id, or with one that is taken, a new id.
    fn assign_ids<P: Embedded>(&self, host: &mut Host) -> Result<Renamed, Error> {
        let before = self.before.map_or(&[][..], P::list);
        let own: HashSet<Uuid> = before.iter().map(|part| part.common().id).collect();
        let mut renamed = Renamed::new();
        for part in P::list_mut(host) {
            let mut common = part.common();
            if common.id.is_nil() {
                common.id = (self.new_id)()?;
            } else if !own.contains(&common.id) && self.taken.contains(P::ENTITY, common.id) {
                let new_id = (self.new_id)()?;
                // A repeated id stays repeated, and is refused.
                common.id = *renamed.entry(common.id).or_insert(new_id);
            }
            part.set_common(common);
        }
        Ok(renamed)
    }

    fn settle_all<P: Embedded>(&self, host: &mut Host) {
        let before = self.before.map_or(&[][..], P::list);
        let before: HashMap<Uuid, &P> = before.iter().map(|part| (part.common().id, part)).collect();
        let owner = (host.id, host.network_id);
        for part in P::list_mut(host) {
            settle(part, before.get(&part.common().id).copied(), owner, self.now);
        }
    }
}

fn rename<I: RecordId>(id: &mut I, renamed: &Renamed) {
    let old: Uuid = (*id).into();
    if let Some(new) = renamed.get(&old) {
        *id = (*new).into();
    }
}

fn rewrite_interfaces(host: &mut Host, renamed: &Renamed) {
    let assigned = host.credential_assignments.iter_mut().flat_map(|by| &mut by.interface_ids).flatten();
    let entries = host.if_entries.iter_mut().filter_map(|entry| entry.interface_id.as_mut());
    let bound = bindings(&mut host.services).filter_map(|target| match target {
        BindingTarget::Port { interface_id, .. } => interface_id.as_mut(),
        BindingTarget::Interface { interface_id } => Some(interface_id),
    });
    assigned.chain(entries).chain(bound).for_each(|id| rename(id, renamed));
}

fn rewrite_ports(host: &mut Host, renamed: &Renamed) {
    for target in bindings(&mut host.services) {
        if let BindingTarget::Port { port_id, .. } = target {
            rename(port_id, renamed);
        }
    }
}

fn rewrite_services(host: &mut Host, renamed: &Renamed) {
    for by in host.services.iter_mut().filter_map(|service| service.virtualization.as_mut()) {
        match by {
            ServiceVirtualization::Docker(details) => rename(&mut details.service_id, renamed),
        }
    }
}

fn rewrite_entries(host: &mut Host, renamed: &Renamed) {
    host.if_entries.iter_mut().filter_map(|entry| entry.lag_id.as_mut()).for_each(|id| rename(id, renamed));
    for neighbor in host.if_entries.iter_mut().filter_map(|entry| entry.neighbor.as_mut()) {
        if let Neighbor::IfEntry(id) = neighbor {
            rename(id, renamed);
        }
    }
}

fn bindings(services: &mut [Service]) -> impl Iterator<Item = &mut BindingTarget> {
    services.iter_mut().flat_map(|service| &mut service.bindings).map(|binding| &mut binding.target)
}
