//! The removal of parts to which other records refer.
//!
//! A host may refer to a service that never existed, but a change does not take a service away from those that it
//! virtualizes, nor a port or an interface from the lists that stay as they are.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use super::change::{Before, HostChange};
use super::parts::Embedded;
use crate::inventory::schema::{HOST, SERVICE_VIRTUALIZED_BY_LINK, VIRTUALIZED_BY_LINK, host_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{
    BindingTarget, Host, HostId, HostPart, HostVirtualization, Interface, Port, Service, ServiceId,
    ServiceVirtualization, uuids,
};
use crate::store::{Batch, Guard, Key, Link, LinkFilter, Query};

/// Maximum number of targets of a query.
const MAX_TARGETS: usize = 512;

/// The way in which a request contains the hosts that it writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum HostsInRequest<'a> {
    /// It has no lists of their parts.
    Absent,
    /// It is the host.
    Whole,
    /// Its list has them at these positions, in the order of the puts.
    Listed(&'a [usize]),
}

/// The services that a change removes, each with its host and its name.
#[derive(Debug, Default)]
pub(super) struct RemovedServices(BTreeMap<ServiceId, (HostId, String)>);

impl RemovedServices {
    /// Returns the services of the former hosts that no written host has.
    pub(super) fn of(change: &HostChange<'_>, before: &Before) -> Self {
        let written = change.puts.iter().flat_map(|put| &put.host.services);
        let written: HashSet<ServiceId> = written.map(|service| service.id).collect();
        let former = before
            .iter()
            .flat_map(|(host, (_, summary))| summary.services.iter().map(move |service| (*host, service)));
        let removed = former.filter(|(_, service)| !written.contains(&service.id));
        Self(removed.map(|(host, service)| (service.id, (host, service.name.clone()))).collect())
    }

    /// Returns the host and the name of the removed service that virtualizes a host or one of its services, and the kind
    /// of record that it virtualizes.
    fn used_by(&self, guest: &Host) -> Option<(HostId, &str, Entity)> {
        let of_host = guest.virtualization.iter().map(HostVirtualization::service_id);
        let of_services = guest.services.iter().filter_map(|service| service.virtualization.as_ref());
        let of_services = of_services.map(ServiceVirtualization::service_id);
        let mut uses = of_host
            .map(|service| (service, Entity::Host))
            .chain(of_services.map(|service| (service, Entity::Service)));
        uses.find_map(|(service, used_by)| {
            let (host, name) = self.0.get(&service)?;
            Some((*host, name.as_str(), used_by))
        })
    }

    /// Refuses to remove a service that virtualizes a host or one of its services.
    fn check_guest(&self, change: &HostChange<'_>, guest: &Host) -> Result<(), Error> {
        let Some((host, name, used_by)) = self.used_by(guest) else { return Ok(()) };
        let error = in_use(Entity::Service, name.to_owned(), used_by);
        Err(match change.path_of(host, Service::LIST) {
            Some(path) => error.at(path),
            None => error,
        })
    }
}

impl HostChange<'_> {
    /// Returns the path of a list of a host's parts in the request; `None` if the request does not have it.
    fn path_of(&self, host: HostId, list: &str) -> Option<String> {
        match self.request {
            HostsInRequest::Absent => None,
            HostsInRequest::Whole => Some(list.to_owned()),
            HostsInRequest::Listed(positions) => {
                let mut listed = self.puts.iter().zip(positions);
                let (_, position) = listed.find(|(put, _)| put.host.id == host)?;
                Some(format!("hosts.{position}.{list}"))
            }
        }
    }
}

impl Inventory {
    /// Refuses a change that removes a service which virtualizes a host or a service.
    ///
    /// Hosts that the change writes count as they are afterwards. Adds guards that nothing else is virtualized by the
    /// removed services meanwhile.
    pub(super) async fn check_removed_services(
        &self,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let removed = RemovedServices::of(change, before);
        if removed.0.is_empty() {
            return Ok(());
        }
        for put in change.puts {
            removed.check_guest(change, &put.host)?;
        }
        let puts = change.puts.iter().map(|put| host_key(put.host.id));
        let written: HashSet<Key> =
            puts.chain(change.deletes.iter().map(|deleted| host_key(*deleted))).collect();
        let services: Vec<ServiceId> = removed.0.keys().copied().collect();
        let organization = Some(change.organization.uuid());
        for relation in [VIRTUALIZED_BY_LINK, SERVICE_VIRTUALIZED_BY_LINK] {
            for services in services.chunks(MAX_TARGETS) {
                let links = vec![LinkFilter::new(relation, uuids(services))];
                // One more than the change writes: if they are all among the written ones, there are no others.
                let limit = Some(written.len() + 1);
                let guests = Query { organization, links, limit, ..Query::new(HOST) };
                let mut guests = self.store.list(&guests).await?.records.into_iter();
                if let Some(guest) = guests.find(|guest| !written.contains(&guest.key)) {
                    removed.check_guest(change, &self.decode_host(change.organization, &guest).await?)?;
                }
            }
            for service in &services {
                batch.guard(Guard::LinkedWithin { organization, link: Link::new(relation, service.uuid()) });
            }
        }
        Ok(())
    }
}

/// Refuses to remove a port or an interface to which a list refers that the update leaves as it is.
///
/// Thus the error names the list that the request has. Validation would name the one that it does not have.
pub(super) fn check_kept_lists(former: &Host, host: &Host) -> Result<(), Error> {
    check_removed::<Port>(former, host)?;
    check_removed::<Interface>(former, host)
}

fn check_removed<P: Embedded>(former: &Host, host: &Host) -> Result<(), Error> {
    fn ids<P: HostPart>(host: &Host) -> impl Iterator<Item = Uuid> + '_ {
        P::list(host).iter().map(|part| part.common().id)
    }
    if ids::<P>(former).eq(ids::<P>(host)) {
        return Ok(());
    }
    let (kept, used): (HashSet<Uuid>, _) = (ids::<P>(host).collect(), used_by_kept_lists(former, host));
    let mut removed = P::list(former).iter().filter(|part| !kept.contains(&part.common().id));
    let refused = removed.find_map(|part| Some((part, *used.get(&part.common().id)?)));
    refused
        .map_or(Ok(()), |(part, used_by)| Err(in_use(P::ENTITY, part.name(), used_by).at(P::LIST.to_owned())))
}

/// Returns the ports and interfaces to which the lists refer that an update leaves as they are, each with the kind of
/// record that refers to it.
fn used_by_kept_lists(former: &Host, host: &Host) -> HashMap<Uuid, Entity> {
    let mut used = HashMap::new();
    if host.credential_assignments == former.credential_assignments {
        let ids = host.credential_assignments.iter().filter_map(|by| by.interface_ids.as_ref()).flatten();
        used.extend(ids.map(|id| (id.uuid(), Entity::Host)));
    }
    if host.if_entries == former.if_entries {
        let ids = host.if_entries.iter().filter_map(|entry| entry.interface_id);
        used.extend(ids.map(|id| (id.uuid(), Entity::IfEntry)));
    }
    if host.services == former.services {
        let targets = host.services.iter().flat_map(|service| &service.bindings);
        let ids = targets.flat_map(|binding| match binding.target {
            BindingTarget::Port { port_id, interface_id } => {
                [Some(port_id.uuid()), interface_id.map(Uuid::from)]
            }
            BindingTarget::Interface { interface_id } => [Some(interface_id.uuid()), None],
        });
        used.extend(ids.flatten().map(|id| (id, Entity::Service)));
    }
    used
}

fn in_use(entity: Entity, name: String, used_by: Entity) -> Error {
    ErrorKind::InUse { entity, name, used_by }.into()
}
