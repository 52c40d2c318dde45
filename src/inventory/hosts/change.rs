use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::facets::host_facets;
use super::summary::Summary;
use super::virtualization::ServiceNames;
use super::{EncodedHost, expectation, host_key};
use crate::inventory::networks::network_key;
use crate::inventory::records::{PORT_ALIAS, SERVICE_ALIAS, decode};
use crate::inventory::references::belongs_to;
use crate::inventory::tags::tag_key;
use crate::inventory::{ATTEMPTS, Entity, Error, ErrorKind, Inventory};
use crate::store::{Alias, Batch, Check, Expect, Key, Record, StoreErrorKind};

/// Hosts to be put, or one to be deleted, in one batch.
#[derive(Debug)]
pub(super) struct HostChange<'a> {
    pub(super) organization: Uuid,
    pub(super) puts: &'a [EncodedHost],
    pub(super) delete: Option<Uuid>,
}

/// The records that a change rests on, as they were read.
#[derive(Debug)]
struct Known {
    /// The hosts that the change replaces or deletes.
    hosts: HashMap<Uuid, (Record, Summary)>,
    /// The networks and tags that the change refers to, and that must still be there.
    references: Vec<Key>,
}

impl Inventory {
    /// Reads, decides, commits what was decided on the condition that what was read still holds, and begins again if it
    /// does not. Tells which hosts were there before.
    pub(super) async fn change_hosts(&self, change: &HostChange<'_>) -> Result<Vec<Uuid>, Error> {
        for _ in 0..ATTEMPTS {
            let known = self.read_known(change).await?;
            let batch = self.plan(change, &known).await?;
            let Err(error) = self.store.commit(batch).await else {
                return Ok(known.hosts.into_keys().collect());
            };
            match error.kind() {
                StoreErrorKind::Conflict(_) | StoreErrorKind::Linked(_) => {}
                StoreErrorKind::AliasTaken(alias) => {
                    if let Some(taken) = taken_id(change, alias) {
                        return Err(taken.into());
                    }
                }
                _ => return Err(error.into()),
            }
            tokio::task::yield_now().await;
        }
        let id = change.puts.first().map(|encoded| encoded.host.id).or(change.delete).unwrap_or_default();
        Err(ErrorKind::Conflict { entity: Entity::Host, id }.into())
    }

    async fn plan(&self, change: &HostChange<'_>, known: &Known) -> Result<Batch, Error> {
        let names = ServiceNames::after(change.puts, known.hosts.values().map(|(_, summary)| summary));
        let mut batch = Batch::new();
        for key in &known.references {
            batch.check(Check::Record { key: *key, expect: Expect::Present });
        }
        for encoded in change.puts {
            let name = self.virtualized_by(change.organization, &encoded.host, &names, &mut batch).await?;
            let replaced = known.hosts.get(&encoded.host.id).map(|(record, _)| record);
            let facets = host_facets(change.organization, &encoded.host, &name);
            batch.put(host_key(encoded.host.id), expectation(replaced), facets, encoded.body.clone());
        }
        if let Some(id) = change.delete {
            let deleted = known.hosts.get(&id).map(|(record, _)| record);
            batch.delete(host_key(id), expectation(deleted));
        }
        self.follow_renamed_services(change.organization, &names, &mut batch).await?;
        Ok(batch)
    }

    async fn read_known(&self, change: &HostChange<'_>) -> Result<Known, Error> {
        let ids: BTreeSet<Uuid> =
            change.puts.iter().map(|encoded| encoded.host.id).chain(change.delete).collect();
        let networks = referred_networks(change);
        let tags = referred_tags(change);
        let keys: Vec<Key> = (ids.iter().map(|id| host_key(*id)))
            .chain(networks.keys().map(|id| network_key(*id)))
            .chain(tags.keys().map(|id| tag_key(*id)))
            .collect();
        let mut records = self.store.get(&keys).await?.into_iter();
        let mut known = Known { hosts: HashMap::new(), references: Vec::new() };
        for (id, record) in ids.into_iter().zip(records.by_ref()) {
            if let Some(record) = record {
                let summary = decode(&record)?;
                known.hosts.insert(id, (record, summary));
            }
        }
        for ((id, field), record) in networks.into_iter().zip(records.by_ref()) {
            let valid = belongs_to(change.organization, record.as_ref())?;
            known.refer_to(network_key(id), valid, Entity::Network, field)?;
        }
        for ((id, field), record) in tags.into_iter().zip(records) {
            let valid = belongs_to(change.organization, record.as_ref())?;
            known.refer_to(tag_key(id), valid, Entity::Tag, field)?;
        }
        self.check_ownership(change, &known).await?;
        Ok(known)
    }

    /// A host of another organization is neither replaced nor deleted, whatever its id. One that stays on its network
    /// stays whose it is.
    async fn check_ownership(&self, change: &HostChange<'_>, known: &Known) -> Result<(), Error> {
        if let Some(id) = change.delete {
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id };
            let (record, _) = known.hosts.get(&id).ok_or(not_found.clone())?;
            if !self.is_host_of(change.organization, record).await? {
                return Err(not_found.into());
            }
        }
        for encoded in change.puts {
            let Some((record, summary)) = known.hosts.get(&encoded.host.id) else { continue };
            if summary.network_id != encoded.host.network_id
                && !self.is_host_of(change.organization, record).await?
            {
                let name = encoded.host.id.to_string();
                return Err(ErrorKind::AlreadyExists { entity: Entity::Host, name }.into());
            }
        }
        Ok(())
    }
}

impl Known {
    fn refer_to(&mut self, key: Key, valid: bool, entity: Entity, field: &str) -> Result<(), Error> {
        if !valid {
            let field = field.to_owned();
            return Err(ErrorKind::ReferenceInvalid { entity, field }.into());
        }
        self.references.push(key);
        Ok(())
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
