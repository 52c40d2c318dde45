use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::EncodedHost;
use super::document::decode;
use super::virtualization::{ServiceNames, Summary};
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{
    HOST, PORT_UNIQUE_KEY, SERVICE_UNIQUE_KEY, exists, host_key, network_key, organization_key,
    part_unique_key, tag_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::store::{Batch, Key, Query, Record, StoreErrorKind, UniqueKey};

/// Hosts to put, or one to delete, in one batch.
#[derive(Debug)]
pub(super) struct HostChange<'a> {
    pub(super) organization: Uuid,
    pub(super) puts: &'a [EncodedHost],
    pub(super) delete: Option<Uuid>,
}

/// The outcome of one attempt to change hosts.
#[derive(Debug)]
pub(super) enum Attempt {
    Committed,
    /// A record changed since it was read; the change must be decided again.
    Stale,
    /// An id used by one of the hosts belongs to another host.
    Taken(ErrorKind),
}

/// The hosts that a change replaces or deletes, as read.
pub(super) type Before = HashMap<Uuid, (Record, Summary)>;

impl Inventory {
    /// Puts and deletes hosts unconditionally. Returns the ids of the hosts that existed.
    ///
    /// Waits for the turns of these hosts and, when creating hosts under a quota, of the organization.
    pub(super) async fn change_hosts(&self, change: &HostChange<'_>) -> Result<Vec<Uuid>, Error> {
        let id = change.puts.first().map(|encoded| encoded.host.id).or(change.delete).unwrap_or_default();
        let mut transaction = self.transaction(Entity::Host, id);
        loop {
            let before = self.read_before(change).await?;
            if !self.check_ownership(change, &before).await? {
                transaction.retry().await?;
                continue;
            }
            let created = change.puts.iter().filter(|put| !before.contains_key(&put.host.id)).count();
            if !transaction.enter(self.records_to_enter(change, created)).await? {
                continue;
            }
            let limit = self.quotas.hosts_per_organization;
            let hosts = Query { organization: Some(change.organization), ..Query::new(HOST) };
            self.check_quota(limit, Entity::Host, hosts, created as u64).await?;
            match self.try_change_hosts(change, &before).await? {
                Attempt::Committed => return Ok(before.into_keys().collect()),
                Attempt::Stale => transaction.retry().await?,
                Attempt::Taken(kind) => return Err(kind.into()),
            }
        }
    }

    /// Returns the changed hosts, and the organization if the change creates hosts under a quota.
    fn records_to_enter(&self, change: &HostChange<'_>, created: usize) -> BTreeSet<Key> {
        let is_counted = created > 0 && self.quotas.hosts_per_organization.is_some();
        let owner = is_counted.then(|| organization_key(change.organization));
        change.ids().map(host_key).chain(owner).collect()
    }

    /// Puts and deletes hosts on the condition that `before` still holds.
    pub(super) async fn try_change_hosts(
        &self,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<Attempt, Error> {
        let batch = self.plan(change, before).await?;
        let Err(error) = self.store.commit(batch).await else { return Ok(Attempt::Committed) };
        match error.kind() {
            StoreErrorKind::Conflict(_) | StoreErrorKind::Linked(_) => {}
            StoreErrorKind::UniqueKeyTaken(unique_key) => {
                if let Some(taken) = taken_part(change, unique_key) {
                    return Ok(Attempt::Taken(taken));
                }
            }
            _ => return Err(error.into()),
        }
        Ok(Attempt::Stale)
    }

    async fn plan(&self, change: &HostChange<'_>, before: &Before) -> Result<Batch, Error> {
        let names = ServiceNames::after(change.puts, before.values().map(|(_, summary)| summary));
        let mut batch = Batch::new();
        for key in self.read_references(change).await? {
            batch.guard(exists(key));
        }
        for encoded in change.puts {
            let name = self.virtualized_by(change.organization, &encoded.host, &names, &mut batch).await?;
            let replaced = before.get(&encoded.host.id).map(|(record, _)| record);
            let facets = encoded.facets(&name);
            batch.put(host_key(encoded.host.id), unchanged(replaced), facets, encoded.body.clone());
        }
        if let Some(id) = change.delete {
            let deleted = before.get(&id).map(|(record, _)| record);
            batch.delete(host_key(id), unchanged(deleted));
        }
        self.update_virtualized_hosts(change.organization, &names, &mut batch).await?;
        Ok(batch)
    }

    /// Reads the hosts that a change replaces or deletes.
    ///
    /// For deletions, only the organization's own hosts are read.
    async fn read_before(&self, change: &HostChange<'_>) -> Result<Before, Error> {
        let records = match change.delete {
            Some(id) => vec![self.host_record(change.organization, id).await?],
            None => {
                let keys: Vec<Key> = change.ids().map(host_key).collect();
                self.store.get(&keys).await?.into_iter().flatten().collect()
            }
        };
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let summarize = move || {
            let summaries = records.into_iter().map(|record| {
                let summary = decode(&record)?;
                Ok((record.key.id, (record, summary)))
            });
            summaries.collect()
        };
        self.state.offload.run(change.organization, bytes, summarize).await?
    }

    /// Reads the networks and tags of a change and checks their owner.
    ///
    /// Returns their keys, for guards.
    async fn read_references(&self, change: &HostChange<'_>) -> Result<Vec<Key>, Error> {
        let networks = referred_networks(change).into_iter();
        let networks = networks.map(|(id, field)| (network_key(id), Entity::Network, field));
        let tags = referred_tags(change).into_iter().map(|(id, field)| (tag_key(id), Entity::Tag, field));
        let references: Vec<(Key, Entity, &str)> = networks.chain(tags).collect();
        let keys: Vec<Key> = references.iter().map(|(key, ..)| *key).collect();
        for ((_, entity, field), record) in references.into_iter().zip(self.store.get(&keys).await?) {
            if !belongs_to(change.organization, record.as_ref())? {
                return Err(ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }.into());
            }
        }
        Ok(keys)
    }

    /// Checks that the change replaces no host of another organization.
    ///
    /// A host that stays on its network keeps its owner. Returns `false` when a host's network was deleted since the
    /// host was read.
    async fn check_ownership(&self, change: &HostChange<'_>, before: &Before) -> Result<bool, Error> {
        for encoded in change.puts {
            let Some((_, summary)) = before.get(&encoded.host.id) else { continue };
            if summary.network_id == encoded.host.network_id {
                continue;
            }
            match self.owner_of_network(summary.network_id).await? {
                Some(owner) if owner == change.organization => {}
                Some(_) => {
                    let name = encoded.host.id.to_string();
                    return Err(ErrorKind::AlreadyExists { entity: Entity::Host, name }.into());
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl HostChange<'_> {
    /// Returns the ids of the hosts that the change puts and deletes.
    fn ids(&self) -> impl Iterator<Item = Uuid> {
        self.puts.iter().map(|encoded| encoded.host.id).chain(self.delete)
    }
}

/// Returns the networks of the hosts, each with a field that refers to it.
fn referred_networks(change: &HostChange<'_>) -> BTreeMap<Uuid, &'static str> {
    change.puts.iter().map(|encoded| (encoded.host.network_id, "network_id")).collect()
}

/// Returns the tags of the hosts and services, each with a referring field.
fn referred_tags<'a>(change: &HostChange<'a>) -> BTreeMap<Uuid, &'a str> {
    let tags = change.puts.iter().flat_map(|encoded| &encoded.tags);
    tags.map(|(id, field)| (*id, field.as_str())).collect()
}

/// Returns the error for a port or service id of another host.
///
/// `None` when the change only reads this unique key.
fn taken_part(change: &HostChange<'_>, taken: &UniqueKey) -> Option<ErrorKind> {
    let hosts = || change.puts.iter().map(|encoded| &encoded.host);
    let is_taken = |id: &Uuid| part_unique_key(taken.name, change.organization, *id) == *taken;
    let (entity, id) = match taken.name {
        PORT_UNIQUE_KEY => {
            let mut ids = hosts().flat_map(|host| &host.ports).map(|port| port.id);
            (Entity::Port, ids.find(is_taken))
        }
        SERVICE_UNIQUE_KEY => {
            let mut ids = hosts().flat_map(|host| &host.services).map(|service| service.id);
            (Entity::Service, ids.find(is_taken))
        }
        _ => return None,
    };
    Some(ErrorKind::AlreadyExists { entity, name: id?.to_string() })
}
