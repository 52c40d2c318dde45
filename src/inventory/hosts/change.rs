use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::EncodedHost;
use super::document::decode;
use super::facets::host_facets;
use super::summary::Summary;
use super::virtualization::ServiceNames;
use crate::inventory::records::{PORT_ALIAS, SERVICE_ALIAS, host_key, network_key, tag_key};
use crate::inventory::references::belongs_to;
use crate::inventory::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, as_read, conflict};
use crate::store::{Alias, Batch, Check, Expect, Key, Record, StoreErrorKind};

/// Hosts to be put, or one to be deleted, in one batch.
#[derive(Debug)]
pub(super) struct HostChange<'a> {
    pub(super) organization: Uuid,
    pub(super) puts: &'a [EncodedHost],
    pub(super) delete: Option<Uuid>,
}

/// What became of an attempt to change hosts.
#[derive(Debug)]
pub(super) enum Attempt {
    Done,
    /// What it rests on is not as it was read: it is to be decided anew.
    Overtaken,
    /// An id that one of the hosts brings is another host's.
    Taken(ErrorKind),
}

/// The hosts that a change replaces or deletes, as they were read.
pub(super) type Before = HashMap<Uuid, (Record, Summary)>;

impl Inventory {
    /// Puts and deletes hosts, whatever is there before, and begins again when others come between. Tells which hosts
    /// were there.
    pub(super) async fn change_hosts(&self, change: &HostChange<'_>) -> Result<Vec<Uuid>, Error> {
        for _ in 0..ATTEMPTS {
            let before = self.read_before(change).await?;
            match self.try_change_hosts(change, &before).await? {
                Attempt::Done => return Ok(before.into_keys().collect()),
                Attempt::Overtaken => {}
                Attempt::Taken(kind) => return Err(kind.into()),
            }
        }
        let id = change.puts.first().map(|encoded| encoded.host.id).or(change.delete).unwrap_or_default();
        Err(conflict(Entity::Host, id))
    }

    /// Puts and deletes hosts on the condition that those before are still as they were read.
    pub(super) async fn try_change_hosts(
        &self,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<Attempt, Error> {
        if !self.check_ownership(change, before).await? {
            tokio::task::yield_now().await;
            return Ok(Attempt::Overtaken);
        }
        let batch = self.plan(change, before).await?;
        let Err(error) = self.store.commit(batch).await else { return Ok(Attempt::Done) };
        match error.kind() {
            StoreErrorKind::Conflict(_) | StoreErrorKind::Linked(_) => {}
            StoreErrorKind::AliasTaken(alias) => {
                if let Some(taken) = taken_id(change, alias) {
                    return Ok(Attempt::Taken(taken));
                }
            }
            _ => return Err(error.into()),
        }
        tokio::task::yield_now().await;
        Ok(Attempt::Overtaken)
    }

    async fn plan(&self, change: &HostChange<'_>, before: &Before) -> Result<Batch, Error> {
        let names = ServiceNames::after(change.puts, before.values().map(|(_, summary)| summary));
        let mut batch = Batch::new();
        for key in self.read_references(change).await? {
            batch.check(Check::Record { key, expect: Expect::Present });
        }
        for encoded in change.puts {
            let name = self.virtualized_by(change.organization, &encoded.host, &names, &mut batch).await?;
            let replaced = before.get(&encoded.host.id).map(|(record, _)| record);
            let facets = host_facets(change.organization, &encoded.host, &name);
            batch.put(host_key(encoded.host.id), as_read(replaced), facets, encoded.body.clone());
        }
        if let Some(id) = change.delete {
            let deleted = before.get(&id).map(|(record, _)| record);
            batch.delete(host_key(id), as_read(deleted));
        }
        self.follow_renamed_services(change.organization, &names, &mut batch).await?;
        Ok(batch)
    }

    async fn read_before(&self, change: &HostChange<'_>) -> Result<Before, Error> {
        let ids: BTreeSet<Uuid> =
            change.puts.iter().map(|encoded| encoded.host.id).chain(change.delete).collect();
        let keys: Vec<Key> = ids.into_iter().map(host_key).collect();
        let mut before = Before::new();
        for record in self.store.get(&keys).await?.into_iter().flatten() {
            let summary = decode(&record)?;
            before.insert(record.key.id, (record, summary));
        }
        Ok(before)
    }

    /// The networks and tags that a change refers to: they are there and the organization's, and must be so still when it
    /// is committed.
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

    /// A host of another organization is neither replaced nor deleted, whatever its id. One that stays on its network
    /// stays whose it is. `false` when one has left its network since it was read.
    async fn check_ownership(&self, change: &HostChange<'_>, before: &Before) -> Result<bool, Error> {
        if let Some(id) = change.delete {
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id };
            let (record, _) = before.get(&id).ok_or(not_found.clone())?;
            match self.owner_of(record).await? {
                Some(owner) if owner == change.organization => {}
                Some(_) => return Err(not_found.into()),
                None => return Ok(false),
            }
        }
        for encoded in change.puts {
            let Some((record, summary)) = before.get(&encoded.host.id) else { continue };
            if summary.network_id == encoded.host.network_id {
                continue;
            }
            match self.owner_of(record).await? {
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

/// The networks of the hosts, each with the field that names it.
fn referred_networks(change: &HostChange<'_>) -> BTreeMap<Uuid, &'static str> {
    change.puts.iter().map(|encoded| (encoded.host.network_id, "network_id")).collect()
}

/// The tags of the hosts and of their services, each with a field that names it.
fn referred_tags<'a>(change: &HostChange<'a>) -> BTreeMap<Uuid, &'a str> {
    let tags = change.puts.iter().flat_map(|encoded| &encoded.tags);
    tags.map(|(id, field)| (*id, field.as_str())).collect()
}

/// What the client must hear when an alias that a host of the change brings belongs to another host. `None` for an alias
/// that was only looked at.
fn taken_id(change: &HostChange<'_>, alias: &Alias) -> Option<ErrorKind> {
    let id = Uuid::from_slice(&alias.value).ok()?;
    let mut hosts = change.puts.iter().map(|encoded| &encoded.host);
    let name = id.to_string();
    match alias.name {
        PORT_ALIAS if hosts.any(|host| host.ports.iter().any(|port| port.id == id)) => {
            Some(ErrorKind::AlreadyExists { entity: Entity::Port, name })
        }
        SERVICE_ALIAS if hosts.any(|host| host.services.iter().any(|service| service.id == id)) => {
            Some(ErrorKind::AlreadyExists { entity: Entity::Service, name })
        }
        _ => None,
    }
}
