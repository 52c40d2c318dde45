//! Checks the hosts of a bulk request, and gives them ids.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Results;
use super::ids::{IdAssignment, PartId, parts, refers_to_hosts, rename_host};
use crate::access::Caller;
use crate::inventory::hosts::access::check_scope;
use crate::inventory::hosts::change::check_replacement;
use crate::inventory::hosts::check_expectation;
use crate::inventory::hosts::document::{decode, tags};
use crate::inventory::hosts::kept_ids::keep_part_ids;
use crate::inventory::hosts::service_access::ServiceAccess;
use crate::inventory::hosts::virtualization::virtualizing_services;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{network_key, part_unique_key, tag_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, HostId, OrganizationId, Record as _};
use crate::store::{Batch, Guard, Key, Record, StoreErrorKind, UniqueKey};
use crate::wire::Atomicity;

/// A host of a request, with its position.
#[derive(Debug)]
pub(super) struct BulkItem {
    pub(super) index: usize,
    pub(super) host: Host,
}

/// A host whose references and ids are settled, with the host that it replaces.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) item: BulkItem,
    pub(super) stored: Option<Stored>,
}

/// A stored host with its record.
pub(super) type Stored = (Record, Host);

/// The way to find ids of parts that belong to other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartIds {
    /// By the commit, which then fails. Looking up the ids of a thousand hosts would take a tenth of the time of the
    /// request, and ids are almost never taken.
    Unchecked,
    /// By the store, before the commit.
    Checked,
}

impl Inventory {
    /// Checks hosts and gives them ids. Hosts that cannot be stored get their results.
    pub(super) async fn check_hosts(
        &self,
        caller: &Caller,
        items: Vec<BulkItem>,
        part_ids: PartIds,
        results: &mut Results,
    ) -> Result<Vec<Checked>, Error> {
        let organization = caller.organization_id();
        let items = self.with_valid_references(caller, items, results).await?;
        let mut stored = self.stored_hosts(organization, &items).await?;
        let mut kept = Vec::with_capacity(items.len());
        let mut services = ServiceAccess::new(self, caller, items.iter().map(|item| &item.host));
        for mut item in items {
            if let Some((_, before)) = stored.get(&item.host.id) {
                keep_part_ids(before, &mut item.host);
            }
            let expected = results.expected_updated_at(item.index);
            let checked = check_stored(caller, &item.host, &stored, services.as_mut()).await;
            let id = item.host.id;
            let updated_at = stored.get(&id).map(|(_, stored)| stored.updated_at);
            match checked.and_then(|()| check_expectation(expected, id, updated_at)) {
                Ok(()) => kept.push(item),
                Err(error) => results.fail(item.index, error)?,
            }
        }
        let items = self.with_assigned_ids(organization, kept, &stored, part_ids, results).await?;
        let checked = items.into_iter().map(|item| {
            let stored = stored.remove(&item.host.id);
            Checked { item, stored }
        });
        Ok(checked.collect())
    }

    /// Returns the items whose references are valid.
    ///
    /// Their networks and tags belong to the organization, and the caller can access their networks.
    async fn with_valid_references(
        &self,
        caller: &Caller,
        items: Vec<BulkItem>,
        results: &mut Results,
    ) -> Result<Vec<BulkItem>, Error> {
        let references: Vec<_> = items.iter().map(|item| references(&item.host)).collect();
        let keys: BTreeSet<Key> = references.iter().flatten().map(|(key, ..)| *key).collect();
        let keys: Vec<Key> = keys.into_iter().collect();
        let mut own = HashSet::with_capacity(keys.len());
        for record in self.store.get(&keys).await?.into_iter().flatten() {
            if belongs_to(caller.organization_id(), Some(&record))? {
                own.insert(record.key);
            }
        }
        let mut valid = Vec::with_capacity(items.len());
        for (item, references) in items.into_iter().zip(references) {
            let unknown = references.into_iter().find(|(key, ..)| !own.contains(key));
            let checked = match unknown {
                Some((_, entity, field)) => Err(ErrorKind::ReferenceInvalid { entity, field }.into()),
                None => check_scope(caller, item.host.network_id),
            };
            match checked {
                Ok(()) => valid.push(item),
                Err(error) => results.fail(item.index, error)?,
            }
        }
        Ok(valid)
    }

    /// Reads the hosts that the items replace.
    async fn stored_hosts(
        &self,
        organization: OrganizationId,
        items: &[BulkItem],
    ) -> Result<HashMap<HostId, Stored>, Error> {
        let records = self.own_hosts(organization, items.iter().map(|item| item.host.id).collect()).await?;
        let inputs = records.into_iter().map(|record| (record.body.len(), record)).collect();
        let decode = |record: Record| Ok((record.key.id.into(), (decode(&record)?, record)));
        let stored = self.in_jobs(organization, inputs, decode).await?;
        stored.into_iter().map(|stored| stored.map(|(id, (host, record))| (id, (record, host)))).collect()
    }

    /// Gives new ids to the hosts and parts whose own are taken or missing.
    async fn with_assigned_ids(
        &self,
        organization: OrganizationId,
        mut items: Vec<BulkItem>,
        stored: &HashMap<HostId, Stored>,
        part_ids: PartIds,
        results: &mut Results,
    ) -> Result<Vec<BulkItem>, Error> {
        let new = items.iter().map(|item| item.host.id).filter(|id| !stored.contains_key(id)).collect();
        let foreign = self.foreign_host_ids(organization, new).await?;
        let mut renamed_hosts = HashMap::with_capacity(foreign.len());
        for item in items.iter_mut().filter(|item| foreign.contains(&item.host.id)) {
            let id = self.new_random_id()?;
            renamed_hosts.insert(item.host.id, id);
            rename_host(&mut item.host, id);
            results.assign_id(item.index, id);
        }
        let held = held_parts(stored);
        // Other groups of the request may be stored already when the commit of one finds a taken id. Only references
        // from other hosts would have to follow the new id.
        let is_alone = |item: &BulkItem| !refers_to_hosts(&item.host);
        let taken = if part_ids == PartIds::Unchecked && items.iter().all(is_alone) {
            HashSet::new()
        } else {
            self.taken_parts(organization, &items, &held).await?
        };
        let random = Arc::clone(&self.random);
        let may_move = results.atomicity == Atomicity::AllOrNothing;
        let assignment = IdAssignment { random, now: self.now(), held, taken, may_move, renamed_hosts };
        let size = items.iter().map(|item| item.host.likely_size()).sum();
        let assign = move || {
            assignment.apply(items.iter_mut().map(|item| &mut item.host))?;
            Ok(items)
        };
        self.state.offload.run(organization, size, assign).await?
    }

    /// Returns the parts whose ids belong to hosts outside of the request.
    async fn taken_parts(
        &self,
        organization: OrganizationId,
        items: &[BulkItem],
        held: &HashMap<PartId, HostId>,
    ) -> Result<HashSet<PartId>, Error> {
        let mut unknown = Vec::new();
        for part in items.iter().flat_map(|item| parts(&item.host)) {
            let name = part.0.unique_key().filter(|_| !part.1.is_nil() && !held.contains_key(&part));
            unknown.extend(name.map(|name| (name, part)));
        }
        let mut taken = HashSet::new();
        for parts in unknown.chunks(KEYS_PER_LOOKUP) {
            let parts =
                parts.iter().map(|(name, part)| (part_unique_key(*name, organization, part.1), *part));
            let parts: Vec<(UniqueKey, PartId)> = parts.collect();
            if self.are_free(&parts).await? {
                continue;
            }
            for (unique_key, part) in parts {
                if self.store.get_by_unique_key(&unique_key).await?.is_some() {
                    taken.insert(part);
                }
            }
        }
        Ok(taken)
    }

    /// Returns whether no record has one of these unique keys. The store answers in a single request.
    async fn are_free(&self, parts: &[(UniqueKey, PartId)]) -> Result<bool, Error> {
        let mut batch = Batch::new();
        for (unique_key, _) in parts {
            batch.guard(Guard::unique_key(unique_key.clone(), None));
        }
        match self.store.commit(batch).await {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), StoreErrorKind::UniqueKeyTaken(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// The number of unique keys that are looked up at a time.
const KEYS_PER_LOOKUP: usize = 1024;

/// Returns the network and the tags of a host, each with its entity and field.
fn references(host: &Host) -> Vec<(Key, Entity, String)> {
    let network = (network_key(host.network_id), Entity::Network, "network_id".to_owned());
    let tags = tags(host).into_iter().map(|(id, field)| (tag_key(id), Entity::Tag, field));
    std::iter::once(network).chain(tags).collect()
}

/// Returns the parts of stored hosts, each with its host.
fn held_parts(stored: &HashMap<HostId, Stored>) -> HashMap<PartId, HostId> {
    let mut held = HashMap::new();
    for (id, (_, host)) in stored {
        held.extend(parts(host).map(|part| (part, *id)));
    }
    held
}

/// Checks that the caller may replace what is stored, and let the host refer to services.
async fn check_stored(
    caller: &Caller,
    host: &Host,
    stored: &HashMap<HostId, Stored>,
    services: Option<&mut ServiceAccess<'_>>,
) -> Result<(), Error> {
    let stored = stored.get(&host.id).map(|(_, stored)| stored);
    if let Some(stored) = stored {
        check_replacement(caller, host, stored.network_id)?;
    }
    let Some(services) = services else { return Ok(()) };
    services.check(host, stored.map(|stored| virtualizing_services(stored).collect()).as_ref()).await
}
