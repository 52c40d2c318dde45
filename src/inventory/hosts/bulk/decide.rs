//! Decides what to write for the hosts of a bulk request.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::take;
use std::sync::Arc;

use uuid::Uuid;

use super::ids::{Assignment, PartId, parts, refers_to_hosts, rename_host};
use super::times::stamp;
use super::{BulkChange, Results};
use crate::access::Caller;
use crate::inventory::hosts::access::check_scope;
use crate::inventory::hosts::change::{Before, check_replacement};
use crate::inventory::hosts::document::{EncodedHost, HostEncoder, decode, likely_size, tags};
use crate::inventory::hosts::validate::validate_host;
use crate::inventory::hosts::virtualization::Summary;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{network_key, part_unique_key, tag_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, Timestamp};
use crate::store::{Batch, Guard, Key, Record, StoreErrorKind, UniqueKey};

/// A host of a request, with its position.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) index: usize,
    pub(super) host: Host,
}

/// The writes for some hosts of a request.
#[derive(Debug, Default)]
pub(super) struct Decision {
    pub(super) puts: Vec<EncodedHost>,
    /// The position of each put in the request.
    pub(super) indices: Vec<usize>,
    pub(super) before: Before,
}

impl Decision {
    /// Takes the hosts out, to decide again.
    pub(super) fn take_items(&mut self) -> Vec<Item> {
        let Self { puts, indices, .. } = take(self);
        indices.into_iter().zip(puts).map(|(index, put)| Item { index, host: put.host }).collect()
    }

    /// Splits the decision into parts of at most this many hosts.
    pub(super) fn into_groups(self, size: usize) -> Vec<Self> {
        let Self { puts, indices, mut before } = self;
        let mut groups: Vec<Self> = Vec::with_capacity(puts.len().div_ceil(size));
        for (put, index) in puts.into_iter().zip(indices) {
            if groups.last().is_none_or(|group| group.puts.len() == size) {
                groups.push(Self::default());
            }
            let Some(group) = groups.last_mut() else { break };
            group.before.extend(before.remove_entry(&put.host.id));
            group.indices.push(index);
            group.puts.push(put);
        }
        groups
    }
}

/// The way to find ids of parts that belong to other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartIds {
    /// By the commit, which then fails. The lookups of a thousand hosts take as long as a tenth of their request, and
    /// hardly any id is taken.
    Unchecked,
    /// By the store, before the commit.
    Checked,
}

/// A stored host with its record.
type Stored = (Record, Host);

/// A host to be written, with what it replaces.
type Settled = (EncodedHost, Option<(Record, Summary)>);

impl Inventory {
    /// Decides what to write. Hosts that cannot be stored, or do not change, get their results.
    pub(super) async fn decide(
        &self,
        caller: &Caller,
        items: Vec<Item>,
        part_ids: PartIds,
        results: &mut Results,
    ) -> Result<Decision, Error> {
        let organization = caller.organization_id();
        let items = self.with_valid_references(caller, items, results).await?;
        let mut stored = self.stored_hosts(organization, &items).await?;
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            match check_stored(caller, &item.host, &stored) {
                Ok(()) => kept.push(item),
                Err(error) => results.fail(item.index, error)?,
            }
        }
        let items = self.with_assigned_ids(organization, kept, &stored, part_ids, results).await?;
        let (encoder, now) = (self.host_encoder(organization), self.now());
        let inputs = items.into_iter().map(|item| {
            let stored = stored.remove(&item.host.id);
            let size = likely_size(&item.host);
            (size, (item, stored))
        });
        let work = move |(item, stored): (Item, Option<Stored>)| {
            (item.index, settle(item.host, stored, encoder, now))
        };
        let mut decision = Decision::default();
        for (index, settled) in self.in_jobs(organization, inputs.collect(), work).await? {
            match settled {
                Ok(None) => results.set(index, Ok(BulkChange::Unchanged)),
                Ok(Some((put, before))) => {
                    decision.before.extend(before.map(|before| (put.host.id, before)));
                    decision.indices.push(index);
                    decision.puts.push(put);
                }
                Err(error) => results.fail(index, error)?,
            }
        }
        Ok(decision)
    }

    /// Returns the items whose references are valid.
    ///
    /// Their networks and tags belong to the organization, and the caller can access their networks.
    async fn with_valid_references(
        &self,
        caller: &Caller,
        items: Vec<Item>,
        results: &mut Results,
    ) -> Result<Vec<Item>, Error> {
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
    async fn stored_hosts(&self, organization: Uuid, items: &[Item]) -> Result<HashMap<Uuid, Stored>, Error> {
        let records = self.own_hosts(organization, items.iter().map(|item| item.host.id).collect()).await?;
        let inputs = records.into_iter().map(|record| (record.body.len(), record)).collect();
        let decode = |record: Record| Ok((record.key.id, (decode(&record)?, record)));
        let stored = self.in_jobs(organization, inputs, decode).await?;
        stored.into_iter().map(|stored| stored.map(|(id, (host, record))| (id, (record, host)))).collect()
    }

    /// Gives new ids to the hosts and parts whose own are taken or missing.
    async fn with_assigned_ids(
        &self,
        organization: Uuid,
        mut items: Vec<Item>,
        stored: &HashMap<Uuid, Stored>,
        part_ids: PartIds,
        results: &mut Results,
    ) -> Result<Vec<Item>, Error> {
        let new = items.iter().map(|item| item.host.id).filter(|id| !stored.contains_key(id)).collect();
        let foreign = self.foreign_host_ids(organization, new).await?;
        let mut renamed_hosts = HashMap::with_capacity(foreign.len());
        for item in items.iter_mut().filter(|item| foreign.contains(&item.host.id)) {
            let id = self.new_random_id()?;
            renamed_hosts.insert(item.host.id, id);
            rename_host(&mut item.host, id);
            results.set_id(item.index, id);
        }
        let held = held_parts(stored);
        // Other groups of the request may be stored already when the commit of one finds a taken id. Only references
        // from other hosts would have to follow the new id.
        let is_alone = |item: &Item| !refers_to_hosts(&item.host);
        let taken = if part_ids == PartIds::Unchecked && items.iter().all(is_alone) {
            HashSet::new()
        } else {
            self.taken_parts(organization, &items, &held).await?
        };
        let random = Arc::clone(&self.random);
        let assignment = Assignment { random, now: self.now(), held, taken, renamed_hosts };
        let size = items.iter().map(|item| likely_size(&item.host)).sum();
        let assign = move || {
            assignment.apply(items.iter_mut().map(|item| &mut item.host))?;
            Ok(items)
        };
        self.state.offload.run(organization, size, assign).await?
    }

    /// Returns the parts whose ids belong to hosts outside of the request.
    async fn taken_parts(
        &self,
        organization: Uuid,
        items: &[Item],
        held: &HashMap<PartId, Uuid>,
    ) -> Result<HashSet<PartId>, Error> {
        let mut unknown = Vec::new();
        for part in items.iter().flat_map(|item| parts(&item.host)) {
            let name = part.0.unique_key().filter(|_| !part.1.is_nil() && !held.contains_key(&part));
            unknown.extend(name.map(|name| (name, part)));
        }
        let mut taken = HashSet::new();
        for parts in unknown.chunks(LOOKUPS) {
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
const LOOKUPS: usize = 1024;

/// Returns the network and the tags of a host, each with its entity and field.
fn references(host: &Host) -> Vec<(Key, Entity, String)> {
    let network = (network_key(host.network_id), Entity::Network, "network_id".to_owned());
    let tags = tags(host).into_iter().map(|(id, field)| (tag_key(id), Entity::Tag, field));
    std::iter::once(network).chain(tags).collect()
}

/// Returns the parts of stored hosts, each with its host.
fn held_parts(stored: &HashMap<Uuid, Stored>) -> HashMap<PartId, Uuid> {
    let mut held = HashMap::new();
    for (id, (_, host)) in stored {
        held.extend(parts(host).map(|part| (part, *id)));
    }
    held
}

fn check_stored(caller: &Caller, host: &Host, stored: &HashMap<Uuid, Stored>) -> Result<(), Error> {
    stored.get(&host.id).map_or(Ok(()), |(_, stored)| check_replacement(caller, host, stored.network_id))
}

/// Sets the times of a host, and encodes it. `None`: it is the same as the stored one.
fn settle(
    mut host: Host,
    stored: Option<Stored>,
    encoder: HostEncoder,
    now: Timestamp,
) -> Result<Option<Settled>, Error> {
    let Some((record, stored)) = stored else {
        stamp(&mut host, None, now);
        return Ok(Some((encoder.encode(host)?, None)));
    };
    // Validate before the lists are sorted, so that errors name the places in the request.
    validate_host(&host)?;
    if !stamp(&mut host, Some(&stored), now) {
        return Ok(None);
    }
    let encoded = encoder.of_stored(record.body.len()).encode(host)?;
    Ok(Some((encoded, Some((record, Summary::from(&stored))))))
}
