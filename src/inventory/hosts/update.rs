//! The update of a host by a user.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Hosts;
use super::access::check_scope;
use super::age::keep_age;
use super::assign::{Assignment, TakenIds};
use super::change::{Before, HostChange};
use super::document::EncodedHost;
use super::edit::StoredHost;
use super::kept_ids::keep_part_ids;
use super::removals::{HostsInRequest, check_kept_lists};
use super::texts::check_host_texts;
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::schema::host_key;
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{Host, HostId, OrganizationId, Permission, Record, Timestamp};

impl Hosts<'_> {
    /// Updates a host that the caller, a Member or above, can access.
    ///
    /// `change` receives the host as stored and changes it. It is called again when the host changes meanwhile; an
    /// error that it returns ends the update. Its changes of ids of the host and of times are ignored. An embedded
    /// record with the id of a present one replaces it, and so does one without an id that has the same address, number and protocol,
    /// name and definition, or index. Any other is new and gets an id as in
    /// [`Hosts::create`](crate::inventory::Hosts::create), and records that are no longer in a list are deleted. `updated_at`
    /// moves for the embedded records that change and for the host, unless the host stays as it is.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Permission, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let host = inventory.hosts().create(&caller, Host::new(network.id, "printer")).await?;
    /// let hide = |host: &mut Host| {
    ///     host.hidden = true;
    ///     Ok(())
    /// };
    /// assert!(inventory.hosts().update(&caller, host.id, hide).await?.hidden);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such host, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the current or the new network, or a service that newly virtualizes the host
    ///   or a service of it.
    /// - Any error of `change`.
    /// - `ReferenceInvalid`: a network or tag is unknown, or an embedded record refers to nothing within the host.
    /// - `NetworkMismatch`: the host would move to another network.
    /// - `AlreadyExists`: two ports share number and protocol.
    /// - `InUse`: a removed port or interface is referred to by a list that stays as it is, or a removed service
    ///   virtualizes a host or a service. [`Error::field`] is the list of the removed part.
    /// - `Invalid` and `TooLarge`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    pub async fn update(
        self,
        caller: &Caller,
        id: HostId,
        change: impl Fn(&mut Host) -> Result<(), Error> + Send + Sync,
    ) -> Result<Host, Error> {
        let mut update = self.inventory.host_update(caller, id)?;
        loop {
            let (stored, mut host) = update.open(0, |_| Ok(())).await?;
            change(&mut host)?;
            if let Some(host) = update.store(stored, host).await? {
                return Ok(host);
            }
        }
    }
}

impl Inventory {
    /// Updates a host like [`Hosts::update`](crate::inventory::Hosts::update).
    ///
    /// `change` concerns about `bytes` bytes. It runs on a blocking thread if these or the host are large.
    pub(crate) async fn update_host_with(
        &self,
        caller: &Caller,
        id: HostId,
        bytes: usize,
        change: impl Fn(&mut Host) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Host, Error> {
        let (mut update, change) = (self.host_update(caller, id)?, Arc::new(change));
        loop {
            let change = Arc::clone(&change);
            let (stored, host) = update.open(bytes, move |host| change(host)).await?;
            if let Some(host) = update.store(stored, host).await? {
                return Ok(host);
            }
        }
    }

    fn host_update<'a>(&'a self, caller: &'a Caller, id: HostId) -> Result<Update<'a>, Error> {
        require_level(caller, Permission::Member)?;
        let transaction = self.reviewed_transaction(caller, Entity::Host, id);
        Ok(Update { inventory: self, caller, id, transaction, taken: TakenIds::default() })
    }
}

/// An update of a host, in one or several attempts.
struct Update<'a> {
    inventory: &'a Inventory,
    caller: &'a Caller,
    id: HostId,
    transaction: Transaction<'a>,
    taken: TakenIds,
}

impl Update<'_> {
    /// Reads the host, and returns it as stored and as `change` leaves it.
    ///
    /// A large host is decoded and changed on a blocking thread, and so is one that a large change concerns.
    async fn open(
        &mut self,
        bytes: usize,
        change: impl FnOnce(&mut Host) -> Result<(), Error> + Send + 'static,
    ) -> Result<(StoredHost, Host), Error> {
        let (inventory, organization) = (self.inventory, self.caller.organization_id());
        let record = loop {
            let record = inventory.host_record(organization, self.id).await?;
            if self.transaction.enter(BTreeSet::from([host_key(self.id)])).await? {
                break record;
            }
        };
        let (bytes, caller) = (bytes.max(record.body.len()), self.caller.clone());
        let open = move || {
            let stored = StoredHost::decode(record)?;
            check_scope(&caller, stored.host.network_id)?;
            let mut host = stored.host.clone();
            change(&mut host)?;
            Ok((stored, host))
        };
        inventory.state.offload.run(organization, bytes, open).await?
    }

    /// Stores the changed host. `None`: another change came first, and this one must begin again.
    async fn store(&mut self, stored: StoredHost, host: Host) -> Result<Option<Host>, Error> {
        let (inventory, organization) = (self.inventory, self.caller.organization_id());
        if host.network_id != stored.host.network_id {
            inventory.check_network(self.caller, host.network_id).await?;
            return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
        }
        let (encoded, before) =
            inventory.encode_update(organization, stored, host, self.taken.clone(), inventory.now()).await?;
        let Some(before) = before else {
            // A repeated request completes a renaming that was interrupted.
            inventory.follow_renamings(Some(organization)).await;
            return Ok(Some(encoded.host));
        };
        let puts = std::slice::from_ref(&encoded);
        let change = HostChange { request: HostsInRequest::Whole, ..HostChange::putting(self.caller, puts) };
        match inventory
            .change_hosts_as(&self.transaction, Actor::Caller(self.caller), &change, &before)
            .await?
        {
            Attempt::Committed => return Ok(Some(encoded.host)),
            Attempt::Stale => {}
            Attempt::Taken(part) => inventory.note_taken(organization, &part, &mut self.taken).await?,
        }
        self.transaction.retry().await?;
        Ok(None)
    }
}

impl Inventory {
    /// Sets the fields that only the server sets in an updated host, and encodes it.
    ///
    /// A large host is encoded on a blocking thread.
    ///
    /// Returns it with the host as stored, or with `None` if both are the same.
    pub(super) async fn encode_update(
        &self,
        organization: OrganizationId,
        stored: StoredHost,
        mut host: Host,
        taken: TakenIds,
        now: Timestamp,
    ) -> Result<(EncodedHost, Option<Before>), Error> {
        let (inventory, encoder) = (self.clone(), self.host_encoder(organization));
        let bytes = host.likely_size().max(stored.record.body.len());
        let encode = move || {
            let StoredHost { record, summary, host: mut former } = stored;
            check_host_texts(&host, Some(&former))?;
            keep_part_ids(&former, &mut host);
            check_kept_lists(&former, &host)?;
            (host.id, host.created_at, host.updated_at) = (former.id, former.created_at, now);
            keep_age(&mut host, Some(&former));
            let new_id = || inventory.new_id();
            Assignment { before: Some(&former), taken: &taken, now, new_id: &new_id }.apply(&mut host)?;
            let mut encoded = encoder.of_stored(record.body.len()).encode(host)?;
            // Compared after encoding, which sorts the lists.
            let updated_at = std::mem::replace(&mut former.updated_at, now);
            if encoded.host == former {
                encoded.host.updated_at = updated_at;
                return Ok((encoded, None));
            }
            Ok((encoded, Some(Before::from([(former.id, (record, summary))]))))
        };
        self.state.offload.run(organization, bytes, encode).await?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::access::Scope;
    use crate::model::UserId;
    use crate::store::MemoryStore;

    /// Returns whether a change of a host with a description of this length runs on the thread of the request.
    async fn runs_in_place(length: usize, bytes: usize) -> bool {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let network = inventory
            .networks()
            .create(&Caller::system(organization), crate::model::Network::new("Office"))
            .await
            .unwrap()
            .id;
        let caller = Caller::new(organization, UserId::nil(), Permission::Member, Scope::all());
        let mut host = Host::new(network, "printer");
        host.if_entries = (0..10)
            .map(|index| {
                let mut entry = crate::model::IfEntry::new(&host, index);
                entry.if_descr = "x".repeat(length);
                entry
            })
            .collect();
        let id = inventory.hosts().create(&caller, host).await.unwrap().id;
        let (own, is_same) = (thread::current().id(), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&is_same);
        let change = move |host: &mut Host| {
            seen.store(thread::current().id() == own, Ordering::Relaxed);
            host.hidden = true;
            Ok(())
        };
        assert!(inventory.update_host_with(&caller, id, bytes, change).await.unwrap().hidden);
        is_same.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn large_host_is_changed_on_a_blocking_thread() {
        assert!(runs_in_place(10, 0).await);
        assert!(!runs_in_place(60_000, 0).await);
        assert!(!runs_in_place(10, 1024 * 1024).await);
    }
}
