//! The split of a host in two, the inverse of consolidation.

mod claims;
mod divide;
mod request;

use std::collections::BTreeSet;

use serde::Deserialize;

use self::divide::divide;
use self::request::MovedParts;
use super::known_host::DecodedHosts;
use super::known_host::{HostRecords, KnownHost};
use super::neighbors::follow::Naming;
use super::records::{NetworkHost, claim_key, put_claim, put_discovered_hosts, put_state};
use crate::access::Caller;
use crate::discovery::reconcile::Identity;
use crate::discovery::report::TableKind;
use crate::inventory::discovery::Reconciliation;
use crate::inventory::hosts::{Before, HostChange, Summary};
use crate::inventory::policy::Actor;
use crate::inventory::schema::{
    decode, discovered_hosts_key, host_discovery_key, host_key, organization_key,
};
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{Host, HostId, Permission};
use crate::store::{Batch, Key, Precondition};
use crate::wire::HostSplit;

/// The part of a host's state that names the hosts split from it.
#[derive(Deserialize)]
struct Separate {
    #[serde(default)]
    separate: BTreeSet<HostId>,
}

impl Reconciliation<'_> {
    /// Moves parts of a host to a new one, on behalf of a caller. Returns the new host.
    ///
    /// The caller must be a Member or above who can access the host. `check` receives the host as stored; an error that
    /// it returns ends the operation.
    ///
    /// The parts keep their ids, so that references to them stay valid, and the times at which they were seen. What
    /// users have edited follows, and so do rows of claims about the parts, and manual links at the moved entries. A
    /// field that the request gives becomes that of the new host. If it is an identity that the host has with the same
    /// value, the host loses it. Both hosts are stored in one commit.
    ///
    /// Discovery does not merge the two again: a device with identities of both is ambiguous.
    /// [`Reconciliation::consolidate`](crate::inventory::Reconciliation::consolidate) makes one of them again.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::{HostSplit, Inventory};
    /// # use toposcope::model::{Host, Interface, Permission, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let mut host = Host::new(network.id, "two devices");
    /// host.interfaces.push(Interface::new(&host, "192.0.2.7".parse()?));
    /// host.interfaces.push(Interface::new(&host, "192.0.2.8".parse()?));
    /// let host = inventory.hosts().create(&caller, host).await?;
    ///
    /// let mut split = HostSplit::default();
    /// split.interfaces = vec![host.interfaces[1].id];
    /// let new = inventory.discovery().split(&caller, host.id, &split, |_| Ok(())).await?;
    /// assert_eq!((new.name.as_str(), new.interfaces.len()), ("192.0.2.8", 1));
    /// assert_eq!(inventory.hosts().get(&caller, host.id).await?.interfaces.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such host, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the network.
    /// - Any error of `check`.
    /// - `ReferenceInvalid`: an id is not that of a part of the host.
    /// - `Invalid`: no part or every part is selected, an id is repeated, a part that moves refers to one that stays or
    ///   the other way round, or a text is too long.
    /// - `QuotaExceeded`: the organization has as many hosts as it may have.
    pub async fn split(
        self,
        caller: &Caller,
        id: HostId,
        split: &HostSplit,
        check: impl Fn(&Host) -> Result<(), Error> + Send + Sync,
    ) -> Result<Host, Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        let kinds: BTreeSet<TableKind> = TableKind::ALL.iter().copied().collect();
        let new = self.inventory.new_id()?;
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Host, id);
        loop {
            // Checks the access.
            self.inventory.host_record_as(caller, id).await?;
            let stored = self.inventory.read_stored(id, &kinds).await?;
            let stored = stored.ok_or(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() })?;
            let bytes = stored.record.body.len();
            let open = move || stored.open().map(|opened| (stored, opened));
            let (stored, opened) = self.inventory.state.offload.run(organization, bytes, open).await??;
            check(&opened.host)?;
            let selection = MovedParts::of(split, &opened.host)?;
            let mut keys = BTreeSet::from([host_key(id), discovered_hosts_key(opened.host.network_id)]);
            if self.inventory.quotas.hosts_per_organization.is_some() {
                keys.insert(organization_key(organization));
            }
            if !transaction.enter(keys).await? {
                continue;
            }
            self.inventory.check_host_quota(organization, 1).await?;
            if let Some(host) = self
                .inventory
                .try_split(&transaction, (caller, new), stored, opened, (split, &selection))
                .await?
            {
                return Ok(host);
            }
            transaction.retry().await?;
        }
    }
}

impl Inventory {
    /// Returns the new host; `None` when a record has changed meanwhile.
    async fn try_split(
        &self,
        transaction: &Transaction<'_>,
        (caller, new): (&Caller, HostId),
        stored: HostRecords,
        mut opened: KnownHost,
        (split, selection): (&HostSplit, &MovedParts),
    ) -> Result<Option<Host>, Error> {
        let (organization, id, network) = (caller.organization_id(), opened.host.id, opened.host.network_id);
        let marker = self.get(discovered_hosts_key(network)).await?;
        let mut identities: BTreeSet<Identity> = Naming::of(&opened.host).identities.into_iter().collect();
        let summary = Summary::from(&opened.host);
        let claims_before = opened.claims.clone();
        let moved = divide(&mut opened, split, selection, (new, self.now()));
        identities.extend(Naming::of(&moved.host).identities);

        let mut batch = Batch::new();
        put_discovered_hosts((organization, network), marker.as_ref(), &mut batch);
        if let Some(discovery) = &opened.discovery {
            put_state(id, discovery, stored.state.as_ref(), &mut batch)?;
        }
        if let Some(discovery) = &moved.discovery {
            put_state(new, discovery, None, &mut batch)?;
        }
        for kind in claims_before.keys().filter(|kind| !opened.claims.contains_key(*kind)) {
            batch.delete(claim_key(id, *kind), Precondition::Any);
        }
        for (kind, claimed) in opened.claims {
            if claims_before.get(&kind) != Some(&claimed) {
                put_claim(NetworkHost { organization, network, host: id }, claimed, &mut batch)?;
            }
        }
        for claimed in moved.claims.into_values() {
            put_claim(NetworkHost { organization, network, host: new }, claimed, &mut batch)?;
        }
        #[cfg(feature = "topology")]
        self.split_links(
            organization,
            (id, new),
            |entry| selection.if_entries.contains_key(&entry),
            &mut batch,
        )
        .await?;
        let encoder = self.host_encoder(organization).of_stored(stored.record.body.len());
        let kept = encoder.encode_in(&self.state.offload, opened.host).await?;
        let puts = [kept, encoder.encode_in(&self.state.offload, moved.host).await?];
        let before = Before::from([(id, (stored.record, summary))]);
        let _turn = transaction.review_hosts(Actor::Caller(caller), (&puts, &[]), &before).await?;
        let change = HostChange::putting(&transaction.author, &puts);
        if !matches!(self.commit_hosts(&change, &before, batch).await?, Attempt::Committed) {
            return Ok(None);
        }
        let hosts = BTreeSet::from([id, new]);
        let place = (organization, network);
        let resolved = self.resolve_all(place, &identities, hosts, &mut DecodedHosts::default()).await;
        if let Err(error) = resolved {
            tracing::warn!(error = error.with_causes(), "neighbors of split hosts were not resolved");
        }
        let [_, new] = puts;
        Ok(Some(new.host))
    }

    /// Returns whether a user has split two of these hosts from each other.
    pub(super) async fn are_separate(&self, hosts: &[HostId]) -> Result<bool, Error> {
        let keys: Vec<Key> = hosts.iter().map(|id| host_discovery_key(*id)).collect();
        for record in self.store.get(&keys).await?.into_iter().flatten() {
            let Separate { separate } = decode(&record)?;
            if hosts.iter().any(|id| separate.contains(id)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
