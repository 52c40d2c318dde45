//! Changes of hosts: their writes, conditions and effects.
//!
//! Hosts do not know the records that depend on them. A change runs the [effects](HostEffect) that the inventory was
//! created with:
//!
//! ```text
//! read the hosts -> decide -> policy -> before_commit of each effect -> commit -> after_commit of the effects that wait for it
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use async_trait::async_trait;

use super::access::check_scope;
use super::document::{EncodedHost, decode};
use super::removals::HostsInRequest;
use super::service_access::ServiceAccess;
use super::taken_part::{TakenPart, taken_part};
use super::virtualization::{ServiceNames, Summary};
use crate::access::Caller;
use crate::inventory::history::Author;
use crate::inventory::policy::Actor;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{HOST, exists, host_key, network_key, organization_key, tag_key};
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::model::{Host, HostId, NetworkId, OrganizationId, TagId};
use crate::store::{Batch, Key, Query, Record, StoreErrorKind};

/// Hosts to put and to delete in one batch.
#[derive(Debug)]
pub(in crate::inventory) struct HostChange<'a> {
    pub(in crate::inventory) author: Author,
    pub(in crate::inventory) organization: OrganizationId,
    pub(in crate::inventory) puts: &'a [EncodedHost],
    pub(in crate::inventory) deletes: &'a [HostId],
    pub(super) request: HostsInRequest<'a>,
    /// Whether services may be removed that virtualize hosts or services, which then keep the reference.
    pub(super) may_orphan: bool,
    /// Whether the identities and interface entries of the hosts stay as they are.
    pub(in crate::inventory) keeps_identities: bool,
}

/// The hosts that a change replaces or deletes, as read.
pub(in crate::inventory) type Before = HashMap<HostId, (Record, Summary)>;

/// An effect of changes of hosts on records that depend on them.
#[async_trait]
pub(in crate::inventory) trait HostEffect: fmt::Debug + Send + Sync {
    /// Returns whether changes that keep the identities of all hosts have no such effect.
    fn needs_new_identities(&self) -> bool {
        false
    }

    /// Adds the writes and guards of the effect to the batch of the change.
    ///
    /// Returns whether [`after_commit`](Self::after_commit) is to follow.
    async fn before_commit(
        &self,
        inventory: &Inventory,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<bool, Error>;

    /// Follows a committed change. The change is stored, so that failures are only logged.
    async fn after_commit(&self, _inventory: &Inventory, _change: &HostChange<'_>, _before: &Before) {}
}

impl Inventory {
    /// Puts hosts unconditionally. Returns the hosts that existed, or a part whose id is taken.
    ///
    /// Waits for the turns of these hosts and, when creating hosts under a quota, of the organization.
    pub(super) async fn replace_hosts(
        &self,
        actor: Actor<'_>,
        puts: &[EncodedHost],
    ) -> Result<Result<Before, TakenPart>, Error> {
        self.replace_hosts_if(actor, puts, |_| Ok(())).await
    }

    /// Puts hosts like [`replace_hosts`](Self::replace_hosts) if `check` allows it for the hosts as read.
    pub(super) async fn replace_hosts_if(
        &self,
        actor: Actor<'_>,
        puts: &[EncodedHost],
        check: impl Fn(&Before) -> Result<(), Error>,
    ) -> Result<Result<Before, TakenPart>, Error> {
        let organization = actor.organization_id();
        let change = HostChange {
            request: HostsInRequest::Whole,
            // The host application may write hosts in any order, also the virtualizing one before the others.
            may_orphan: actor.caller().is_none_or(Caller::is_system),
            ..HostChange::putting(actor, puts)
        };
        let id = puts.first().map(|encoded| encoded.host.id).unwrap_or_default();
        let mut transaction = self.reviewed_transaction(actor, Entity::Host, id);
        loop {
            let before = self.read_before(&change).await?;
            if !self.check_ownership(&change, &before).await? {
                transaction.retry().await?;
                continue;
            }
            check(&before)?;
            let created = change.created(&before);
            if !transaction.enter(self.records_to_enter(&change, created)).await? {
                continue;
            }
            self.check_host_quota(organization, created).await?;
            match self.change_hosts_as(&transaction, actor, &change, &before).await? {
                Attempt::Committed => return Ok(Ok(before)),
                Attempt::Stale => transaction.retry().await?,
                Attempt::Taken(part) => return Ok(Err(part)),
            }
        }
    }

    /// Returns the changed hosts, and the organization if the change creates hosts under a quota.
    pub(super) fn records_to_enter(&self, change: &HostChange<'_>, created: usize) -> BTreeSet<Key> {
        let is_counted = created > 0 && self.quotas.hosts_per_organization.is_some();
        let owner = is_counted.then(|| organization_key(change.organization));
        change.puts.iter().map(|encoded| host_key(encoded.host.id)).chain(owner).collect()
    }

    /// Refuses to create this many hosts if the organization would exceed its quota.
    pub(in crate::inventory) async fn check_host_quota(
        &self,
        organization: OrganizationId,
        created: usize,
    ) -> Result<(), Error> {
        let hosts = Query { organization: Some(organization.uuid()), ..Query::new(HOST) };
        let limit = self.quotas.hosts_per_organization;
        self.check_quota(limit, Entity::Host, hosts, created as u64).await
    }

    /// Puts and deletes hosts like [`try_change_hosts`](Self::try_change_hosts) if the caller may access the services that they
    /// refer to, and the policy allows it.
    pub(super) async fn change_hosts_as(
        &self,
        transaction: &Transaction<'_>,
        actor: Actor<'_>,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<Attempt<TakenPart>, Error> {
        if let Some(caller) = actor.caller() {
            self.check_service_access(caller, change, before).await?;
        }
        let _turn = transaction.review_hosts(actor, (change.puts, change.deletes), before).await?;
        self.try_change_hosts(change, before).await
    }

    /// Refuses a change that lets hosts refer to services that the caller cannot access.
    async fn check_service_access(
        &self,
        caller: &Caller,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<(), Error> {
        let written = change.puts.iter().map(|encoded| &encoded.host);
        let Some(mut access) = ServiceAccess::new(self, caller, written.clone()) else { return Ok(()) };
        for host in written {
            access.check(host, before.get(&host.id).map(|(_, summary)| &summary.virtualized_by)).await?;
        }
        Ok(())
    }

    /// Puts and deletes hosts on the condition that `before` still holds, with all effects.
    pub(super) async fn try_change_hosts(
        &self,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<Attempt<TakenPart>, Error> {
        let mut batch = Batch::new();
        let mut following = Vec::new();
        let concerned =
            |effect: &&&dyn HostEffect| !(change.keeps_identities && effect.needs_new_identities());
        for effect in self.host_effects.iter().filter(concerned) {
            if effect.before_commit(self, change, before, &mut batch).await? {
                following.push(effect);
            }
        }
        let attempt = self.commit_hosts(change, before, batch).await?;
        if matches!(attempt, Attempt::Committed) {
            for effect in following {
                effect.after_commit(self, change, before).await;
            }
        }
        Ok(attempt)
    }

    /// Puts and deletes hosts like [`try_change_hosts`](Self::try_change_hosts), together with the writes in the batch
    /// and without effects.
    pub(in crate::inventory) async fn commit_hosts(
        &self,
        change: &HostChange<'_>,
        before: &Before,
        mut batch: Batch,
    ) -> Result<Attempt<TakenPart>, Error> {
        let is_complete = self.plan(change, before, &mut batch).await?;
        let Err(error) = self.commit(&change.author, batch).await else {
            if !is_complete {
                self.follow_renamings(Some(change.organization)).await;
            }
            return Ok(Attempt::Committed);
        };
        if self.is_of_missing_organization(&error).await? {
            return Err(error.into());
        }
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

    /// Adds the writes of a change and their guards to a batch.
    ///
    /// Returns `false` if hosts have to follow the commit, because services that virtualize many are renamed.
    async fn plan(&self, change: &HostChange<'_>, before: &Before, batch: &mut Batch) -> Result<bool, Error> {
        let mut names = ServiceNames::after(change.puts, before.values().map(|(_, summary)| summary));
        for key in self.read_references(change, before).await? {
            batch.guard(exists(key));
        }
        if !change.may_orphan {
            self.check_removed_services(change, before, batch).await?;
        }
        for encoded in change.puts {
            let name = self.virtualized_by(change.organization, &encoded.host, &mut names, batch).await?;
            let replaced = before.get(&encoded.host.id).map(|(record, _)| record);
            let mut facets = encoded.facets(&name);
            self.custom_index.add_to(&mut facets, &encoded.host.custom);
            batch.put(host_key(encoded.host.id), unchanged(replaced), facets, encoded.body.clone());
        }
        for id in change.deletes {
            let deleted = before.get(id).map(|(record, _)| record);
            batch.delete(host_key(*id), unchanged(deleted));
        }
        self.update_virtualized_hosts(change.organization, &names, batch).await
    }

    /// Reads the hosts that a change replaces.
    async fn read_before(&self, change: &HostChange<'_>) -> Result<Before, Error> {
        let keys: Vec<Key> = change.puts.iter().map(|encoded| host_key(encoded.host.id)).collect();
        let records = self.store.get(&keys).await?.into_iter().flatten().collect();
        self.summarize(change.organization, records).await
    }

    /// Decodes the summaries of hosts, on a blocking thread if the hosts are large.
    pub(super) async fn summarize(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
    ) -> Result<Before, Error> {
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let summarize = move || {
            let summaries = records.into_iter().map(|record| {
                let summary = decode(&record)?;
                Ok((record.key.id.into(), (record, summary)))
            });
            summaries.collect()
        };
        self.state.offload.run(organization, bytes, summarize).await?
    }

    /// Reads the networks and new tags of a change and checks their owner.
    ///
    /// Returns their keys, for guards.
    async fn read_references(&self, change: &HostChange<'_>, before: &Before) -> Result<Vec<Key>, Error> {
        let networks = referred_networks(change).into_iter();
        let networks = networks.map(|(id, field)| (network_key(id), Entity::Network, field));
        let tags =
            added_tags(change, before).into_iter().map(|(id, field)| (tag_key(id), Entity::Tag, field));
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

impl<'a> HostChange<'a> {
    pub(in crate::inventory) fn putting(author: impl Into<Author>, puts: &'a [EncodedHost]) -> Self {
        let author = author.into();
        let organization = author.organization();
        let request = HostsInRequest::Absent;
        Self { author, organization, puts, deletes: &[], request, may_orphan: false, keeps_identities: false }
    }

    pub(super) fn deleting(author: impl Into<Author>, deletes: &'a [HostId]) -> Self {
        Self { deletes, ..Self::putting(author, &[]) }
    }

    /// Returns the number of hosts that the change creates.
    pub(super) fn created(&self, before: &Before) -> usize {
        self.puts.iter().filter(|put| !before.contains_key(&put.host.id)).count()
    }

    /// Returns the hosts that are deleted or move to another network.
    #[cfg(feature = "discovery")]
    pub(in crate::inventory) fn removed(&self, before: &Before) -> Vec<HostId> {
        let has_moved = |host: &Host| {
            before.get(&host.id).is_some_and(|(_, summary)| summary.network_id != host.network_id)
        };
        let moved = self.puts.iter().map(|put| &put.host).filter(|host| has_moved(host)).map(|host| host.id);
        self.deletes.iter().copied().chain(moved).collect()
    }
}

/// Checks that the caller may replace a host of a network.
///
/// The caller must have access to the network, and the host must stay on it.
pub(super) fn check_replacement(caller: &Caller, host: &Host, network: NetworkId) -> Result<(), Error> {
    check_scope(caller, network)?;
    if host.network_id == network {
        Ok(())
    } else {
        Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into())
    }
}

/// Returns the networks of the hosts, each with a field that refers to it.
fn referred_networks(change: &HostChange<'_>) -> BTreeMap<NetworkId, &'static str> {
    change.puts.iter().map(|encoded| (encoded.host.network_id, "network_id")).collect()
}

/// Returns the tags that the change adds to hosts and services. Each comes with a field that refers to it.
///
/// The others need neither a check nor a guard: the deletion of a tag changes all hosts that have it.
fn added_tags<'a>(change: &HostChange<'a>, before: &Before) -> BTreeMap<TagId, &'a str> {
    let mut added = BTreeMap::new();
    for encoded in change.puts {
        let stored = before.get(&encoded.host.id).map(|(_, summary)| summary);
        let tags =
            encoded.tags.iter().filter(|(id, _)| !stored.is_some_and(|stored| stored.tags.contains(*id)));
        added.extend(tags.map(|(id, field)| (*id, field.as_str())));
    }
    added
}
