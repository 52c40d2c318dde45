//! The update of a host by a user.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::access::check_scope;
use super::age::keep_age;
use super::assign::{Assignment, TakenIds};
use super::change::{Attempt, Before, HostChange};
use super::document::EncodedHost;
use super::edit::StoredHost;
use super::size::likely_size;
use super::texts::check_host_texts;
use crate::access::Caller;
use crate::inventory::schema::host_key;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{Host, Permission, Timestamp};

impl Inventory {
    /// Updates a host that the caller, a Member or above, can access.
    ///
    /// `change` receives the host as stored and changes it. It is called again when the host changes meanwhile; an
    /// error that it returns ends the update. Its changes of ids of the host and of times are ignored. An embedded
    /// record with the id of a present one replaces it, any other is new and gets an id as in
    /// [`create_host_as`](Self::create_host_as), and records that are no longer in a list are deleted. `updated_at`
    /// moves for the embedded records that change and for the host, unless the host stays as it is.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Permission};
    /// # use toposcope::store::MemoryStore;
    /// # use uuid::Uuid;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let network = inventory.create_network(organization.id, "Office").await?;
    /// # let caller = Caller::new(organization.id, Uuid::nil(), Permission::Member, Scope::all());
    /// let host = inventory.create_host_as(&caller, Host::new(network.id, "printer")).await?;
    /// let hide = |host: &mut Host| {
    ///     host.hidden = true;
    ///     Ok(())
    /// };
    /// assert!(inventory.update_host_as(&caller, host.id, hide).await?.hidden);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such host, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the current or the new network.
    /// - Any error of `change`.
    /// - `ReferenceInvalid`: a network or tag is unknown, or an embedded record refers to nothing within the host.
    /// - `NetworkMismatch`: the host would move to another network.
    /// - `AlreadyExists`: two ports share number and protocol.
    /// - `Invalid` and `TooLarge`: as for [`put_host`](Self::put_host).
    pub async fn update_host_as(
        &self,
        caller: &Caller,
        id: Uuid,
        change: impl Fn(&mut Host) -> Result<(), Error> + Send + Sync,
    ) -> Result<Host, Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        let mut transaction = self.transaction(Entity::Host, id);
        let mut taken = TakenIds::default();
        loop {
            let record = self.host_record(organization, id).await?;
            if !transaction.enter(BTreeSet::from([host_key(id)])).await? {
                continue;
            }
            let bytes = record.body.len();
            let decode = move || {
                let stored = StoredHost::decode(record)?;
                let host = stored.host.clone();
                Ok::<_, Error>((stored, host))
            };
            let (stored, mut host) = self.state.offload.run(organization, bytes, decode).await??;
            check_scope(caller, host.network_id)?;
            change(&mut host)?;
            if host.network_id != stored.host.network_id {
                self.check_network(caller, host.network_id).await?;
                return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
            }
            let (encoded, before) =
                self.encode_update(organization, stored, host, taken.clone(), self.now()).await?;
            let Some(before) = before else {
                // A repeated request completes a renaming that was interrupted.
                self.follow_renamings(Some(organization)).await;
                return Ok(encoded.host);
            };
            let puts = std::slice::from_ref(&encoded);
            match self.try_change_hosts(&HostChange::putting(organization, puts), &before).await? {
                Attempt::Committed => return Ok(encoded.host),
                Attempt::Stale => {}
                Attempt::Taken(part) => self.note_taken(organization, &part, &mut taken).await?,
            }
            transaction.retry().await?;
        }
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
        organization: Uuid,
        stored: StoredHost,
        mut host: Host,
        taken: TakenIds,
        now: Timestamp,
    ) -> Result<(EncodedHost, Option<Before>), Error> {
        let (inventory, encoder) = (self.clone(), self.host_encoder(organization));
        let bytes = likely_size(&host).max(stored.record.body.len());
        let encode = move || {
            let StoredHost { record, summary, host: mut former } = stored;
            check_host_texts(&host, Some(&former))?;
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
