//! Sort keys of hosts by the name of the service that virtualizes them.
//!
//! The service is embedded in another host, so changing that host may change the sort keys of others.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::document::{EncodedHost, decode};
use crate::inventory::schema::{SERVICE_UNIQUE_KEY, VIRTUALIZED_BY_LINK, part_unique_key};
use crate::inventory::{Error, Inventory};
use crate::model::{
    Host, HostVirtualization, NetworkId, OrganizationId, Service, ServiceId, ServiceVirtualization, TagId,
    Timestamp,
};
use crate::store::{Batch, Guard, Key, Link, Precondition};

/// The part of a stored host that changes of hosts need.
#[derive(Debug, Deserialize)]
#[serde(from = "StoredSummary")]
pub(in crate::inventory) struct Summary {
    pub(in crate::inventory) network_id: NetworkId,
    pub(super) updated_at: Timestamp,
    /// The tags of the host and of its services.
    pub(super) tags: HashSet<TagId>,
    pub(in crate::inventory) services: Vec<NamedService>,
    /// The services that virtualize the host and its services.
    pub(super) virtualized_by: HashSet<ServiceId>,
}

#[derive(Debug)]
pub(in crate::inventory) struct NamedService {
    pub(in crate::inventory) id: ServiceId,
    pub(super) name: String,
}

/// The part of a stored host that its summary is made of.
#[derive(Deserialize)]
struct StoredSummary {
    network_id: NetworkId,
    updated_at: Timestamp,
    tags: Vec<TagId>,
    services: Vec<StoredService>,
    virtualization: Option<HostVirtualization>,
}

#[derive(Deserialize)]
struct StoredService {
    id: ServiceId,
    name: String,
    tags: Vec<TagId>,
    virtualization: Option<ServiceVirtualization>,
}

impl From<StoredSummary> for Summary {
    fn from(StoredSummary { network_id, updated_at, tags, services, virtualization }: StoredSummary) -> Self {
        let mut tags: HashSet<TagId> = tags.into_iter().collect();
        let mut virtualized_by: HashSet<ServiceId> =
            virtualization.iter().map(HostVirtualization::service_id).collect();
        let summarize = |StoredService { id, name, tags: of_service, virtualization }| {
            tags.extend(of_service);
            virtualized_by.extend(virtualization.iter().map(ServiceVirtualization::service_id));
            NamedService { id, name }
        };
        let services = services.into_iter().map(summarize).collect();
        Self { network_id, updated_at, tags, services, virtualized_by }
    }
}

impl From<&Host> for Summary {
    fn from(host: &Host) -> Self {
        let summarize = |service: &Service| NamedService { id: service.id, name: service.name.clone() };
        let of_services = host.services.iter().flat_map(|service| &service.tags);
        let tags = host.tags.iter().chain(of_services).copied().collect();
        let services = host.services.iter().map(summarize).collect();
        let virtualized_by = virtualizing_services(host).collect();
        Self { network_id: host.network_id, updated_at: host.updated_at, tags, services, virtualized_by }
    }
}

impl From<Host> for Summary {
    fn from(host: Host) -> Self {
        let Host { network_id, updated_at, tags, services, virtualization, .. } = host;
        let of_service =
            |Service { id, name, tags, virtualization, .. }| StoredService { id, name, tags, virtualization };
        let services = services.into_iter().map(of_service).collect();
        Self::from(StoredSummary { network_id, updated_at, tags, services, virtualization })
    }
}

/// Returns the services that virtualize a host and its services.
pub(super) fn virtualizing_services(host: &Host) -> impl Iterator<Item = ServiceId> + '_ {
    let of_services = host.services.iter().filter_map(|service| service.virtualization.as_ref());
    let of_services = of_services.map(ServiceVirtualization::service_id);
    host.virtualization.iter().map(HostVirtualization::service_id).chain(of_services)
}

/// The services of the hosts that a change touches, and those that were looked up for it.
#[derive(Debug, Default)]
pub(super) struct ServiceNames {
    /// The name of each service after the change; `None` when deleted.
    after: HashMap<ServiceId, Option<String>>,
    /// The services whose names change.
    changed: Vec<ServiceId>,
}

impl ServiceNames {
    pub(super) fn after<'a>(puts: &[EncodedHost], before: impl Iterator<Item = &'a Summary>) -> Self {
        let before: HashMap<ServiceId, &str> = before
            .flat_map(|summary| &summary.services)
            .map(|service| (service.id, service.name.as_str()))
            .collect();
        let mut after: HashMap<ServiceId, Option<String>> = before.keys().map(|id| (*id, None)).collect();
        for service in puts.iter().flat_map(|encoded| &encoded.host.services) {
            after.insert(service.id, Some(service.name.clone()));
        }
        let is_changed = |id: &ServiceId, name: &Option<String>| before.get(id).copied() != name.as_deref();
        let changed = after.iter().filter(|(id, name)| is_changed(id, name)).map(|(id, _)| *id).collect();
        Self { after, changed }
    }
}

impl Inventory {
    /// Returns the name of the service that virtualizes a host.
    ///
    /// Empty when the host is not virtualized, or the organization has no such service.
    ///
    /// Adds guards on everything the result depends on.
    pub(super) async fn virtualized_by(
        &self,
        organization: OrganizationId,
        host: &Host,
        names: &mut ServiceNames,
        batch: &mut Batch,
    ) -> Result<String, Error> {
        let service = host.virtualization.as_ref().map(|by| by.service_id());
        self.service_name(organization, service, names, batch).await
    }

    /// Returns the name of a service; empty without one, or if the organization has no such service.
    ///
    /// Adds guards on everything the result depends on. A host with services is read once, for all of them.
    pub(super) async fn service_name(
        &self,
        organization: OrganizationId,
        service: Option<ServiceId>,
        names: &mut ServiceNames,
        batch: &mut Batch,
    ) -> Result<String, Error> {
        let Some(service) = service else { return Ok(String::new()) };
        if let Some(name) = names.after.get(&service) {
            return Ok(name.clone().unwrap_or_default());
        }
        let unique_key = part_unique_key(SERVICE_UNIQUE_KEY, organization, service);
        let Some(holder) = self.store.get_by_unique_key(&unique_key).await? else {
            batch.guard(Guard::UniqueKey { unique_key, holder: None });
            names.after.insert(service, None);
            return Ok(String::new());
        };
        batch.guard(Guard::UniqueKey { unique_key, holder: Some(holder.key) });
        batch.guard(Guard::Record { key: holder.key, precondition: Precondition::Version(holder.version) });
        let summary: Summary =
            self.state.offload.run(organization, holder.body.len(), move || decode(&holder)).await??;
        for NamedService { id, name } in summary.services {
            names.after.entry(id).or_insert(Some(name));
        }
        Ok(names.after.get(&service).cloned().flatten().unwrap_or_default())
    }

    /// Adds other hosts whose virtualizing services are renamed to the batch.
    ///
    /// Their documents stay; their sort keys change. If the hosts are many, they have to
    /// [follow](Self::follow_renamings) after the commit, and the result is `false`.
    pub(super) async fn update_virtualized_hosts(
        &self,
        organization: OrganizationId,
        names: &ServiceNames,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        if names.changed.is_empty() {
            return Ok(true);
        }
        let written: HashSet<Key> = batch.writes().iter().map(|write| write.key()).collect();
        let Some(guests) = self.few_guests(organization, &names.changed, &written).await? else {
            self.put_renaming(organization, &names.changed, batch)?;
            return Ok(false);
        };
        for guest in self.as_guests(organization, guests).await? {
            let name = guest.service.and_then(|service| names.after.get(&service)?.clone());
            guest.put(&name.unwrap_or_default(), batch);
        }
        for service in &names.changed {
            batch.guard(Guard::LinkedWithin {
                organization: Some(organization.uuid()),
                link: Link::new(VIRTUALIZED_BY_LINK, service.uuid()),
            });
        }
        Ok(true)
    }
}
