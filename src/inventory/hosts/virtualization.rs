//! Sort keys of hosts by the name of the service that virtualizes them.
//!
//! The service is embedded in another host, so changing that host may change the sort keys of others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use uuid::Uuid;

use super::document::{EncodedHost, HostEncoder, decode, set_virtualized_by};
use crate::inventory::schema::{
    HOST, SERVICE_UNIQUE_KEY, SERVICE_VIRTUALIZED_BY_LINK, VIRTUALIZED_BY_LINK, linked, part_unique_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, Service};
use crate::store::{Batch, Facets, Guard, Key, Link, LinkFilter, Precondition, Query, Record};

/// The part of a stored host that changes of hosts need.
#[derive(Debug, Deserialize)]
pub(in crate::inventory) struct Summary {
    pub(in crate::inventory) network_id: Uuid,
    pub(super) tags: Vec<Uuid>,
    pub(in crate::inventory) services: Vec<ServiceSummary>,
}

#[derive(Debug, Deserialize)]
pub(in crate::inventory) struct ServiceSummary {
    pub(in crate::inventory) id: Uuid,
    pub(super) name: String,
    tags: Vec<Uuid>,
}

impl Summary {
    /// Returns whether the host or one of its services has a tag.
    pub(super) fn has_tag(&self, tag: Uuid) -> bool {
        self.tags.contains(&tag) || self.services.iter().any(|service| service.tags.contains(&tag))
    }
}

impl From<&Host> for Summary {
    fn from(host: &Host) -> Self {
        let summarize = |service: &Service| {
            let Service { id, name, tags, .. } = service;
            ServiceSummary { id: *id, name: name.clone(), tags: tags.clone() }
        };
        let services = host.services.iter().map(summarize).collect();
        Self { network_id: host.network_id, tags: host.tags.clone(), services }
    }
}

impl From<Host> for Summary {
    fn from(host: Host) -> Self {
        let summarize = |Service { id, name, tags, .. }| ServiceSummary { id, name, tags };
        let services = host.services.into_iter().map(summarize).collect();
        Self { network_id: host.network_id, tags: host.tags, services }
    }
}

/// A service that a change removes only if nothing is virtualized by it.
#[derive(Clone, Debug)]
pub(in crate::inventory) struct RemovedService {
    pub(super) id: Uuid,
    pub(super) name: String,
}

/// The services of the hosts that a change touches.
#[derive(Debug)]
pub(super) struct ServiceNames {
    /// The name of each service after the change; `None` when deleted.
    after: Arc<HashMap<Uuid, Option<String>>>,
    /// The services whose names change.
    changed: Vec<Uuid>,
}

impl ServiceNames {
    pub(super) fn after<'a>(puts: &[EncodedHost], before: impl Iterator<Item = &'a Summary>) -> Self {
        let before: HashMap<Uuid, &str> = before
            .flat_map(|summary| &summary.services)
            .map(|service| (service.id, service.name.as_str()))
            .collect();
        let mut after: HashMap<Uuid, Option<String>> = before.keys().map(|id| (*id, None)).collect();
        for service in puts.iter().flat_map(|encoded| &encoded.host.services) {
            after.insert(service.id, Some(service.name.clone()));
        }
        let is_changed = |id: &Uuid, name: &Option<String>| before.get(id).copied() != name.as_deref();
        let changed = after.iter().filter(|(id, name)| is_changed(id, name)).map(|(id, _)| *id).collect();
        Self { after: Arc::new(after), changed }
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
        organization: Uuid,
        host: &Host,
        names: &ServiceNames,
        batch: &mut Batch,
    ) -> Result<String, Error> {
        let Some(service) = host.virtualization.as_ref().map(|by| by.service_id()) else {
            return Ok(String::new());
        };
        if let Some(name) = names.after.get(&service) {
            return Ok(name.clone().unwrap_or_default());
        }
        let unique_key = part_unique_key(SERVICE_UNIQUE_KEY, organization, service);
        let Some(holder) = self.store.get_by_unique_key(&unique_key).await? else {
            batch.guard(Guard::UniqueKey { unique_key, holder: None });
            return Ok(String::new());
        };
        batch.guard(Guard::UniqueKey { unique_key, holder: Some(holder.key) });
        batch.guard(Guard::Record { key: holder.key, precondition: Precondition::Version(holder.version) });
        let summary: Summary =
            self.state.offload.run(organization, holder.body.len(), move || decode(&holder)).await??;
        let found = summary.services.into_iter().find(|candidate| candidate.id == service);
        Ok(found.map(|service| service.name).unwrap_or_default())
    }

    /// Refuses to remove a service that virtualizes a host or a service.
    ///
    /// Services of hosts that the batch writes do not count.
    ///
    /// Adds guards that nothing is virtualized by it meanwhile.
    pub(super) async fn check_not_virtualizing(
        &self,
        organization: Uuid,
        removed: &RemovedService,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let written: HashSet<Key> = batch.writes().iter().map(|write| write.key()).collect();
        let relations = [(VIRTUALIZED_BY_LINK, Entity::Host), (SERVICE_VIRTUALIZED_BY_LINK, Entity::Service)];
        for (relation, used_by) in relations {
            let link = Link::new(relation, removed.id);
            // One more than the batch writes: if they are all among the written ones, there are no others.
            let limit = Some(written.len() + 1);
            let guests = self.store.list(&Query { limit, ..linked(HOST, organization, link) }).await?.records;
            if guests.iter().any(|guest| used_by == Entity::Host || !written.contains(&guest.key)) {
                let (entity, name) = (Entity::Service, removed.name.clone());
                return Err(ErrorKind::InUse { entity, name, used_by }.into());
            }
            batch.guard(Guard::LinkedWithin { organization: Some(organization), link });
        }
        Ok(())
    }

    /// Adds other hosts whose virtualizing services are renamed to the batch.
    ///
    /// Their documents stay; their sort keys change.
    pub(super) async fn update_virtualized_hosts(
        &self,
        organization: Uuid,
        names: &ServiceNames,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        if names.changed.is_empty() {
            return Ok(());
        }
        let filter = LinkFilter { relation: VIRTUALIZED_BY_LINK, targets: names.changed.clone() };
        let query = Query { organization: Some(organization), links: vec![filter], ..Query::new(HOST) };
        let written: HashSet<Key> = batch.writes().iter().map(|write| write.key()).collect();
        let mut guests = self.store.list(&query).await?.records;
        guests.retain(|guest| !written.contains(&guest.key));
        let bytes = guests.iter().map(|guest| guest.body.len()).sum();
        let (after, encoder) = (Arc::clone(&names.after), self.host_encoder(organization));
        let update =
            move || guests.into_iter().map(|guest| with_renamed_service(encoder, guest, &after)).collect();
        let updated: Result<Vec<(Record, Facets)>, Error> =
            self.state.offload.run(organization, bytes, update).await?;
        for (guest, facets) in updated? {
            batch.put(guest.key, Precondition::Version(guest.version), facets, guest.body);
        }
        for service in &names.changed {
            batch.guard(Guard::LinkedWithin {
                organization: Some(organization),
                link: Link::new(VIRTUALIZED_BY_LINK, *service),
            });
        }
        Ok(())
    }
}

/// Computes the facets of a host virtualized by one of these services.
fn with_renamed_service(
    encoder: HostEncoder,
    guest: Record,
    after: &HashMap<Uuid, Option<String>>,
) -> Result<(Record, Facets), Error> {
    let host: Host = decode(&guest)?;
    let service = host.virtualization.as_ref().and_then(|by| after.get(&by.service_id()));
    let mut facets = encoder.facets(&host);
    set_virtualized_by(&mut facets, service.and_then(Option::as_deref).unwrap_or_default());
    Ok((guest, facets))
}
