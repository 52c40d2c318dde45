//! Reversion of hosts to former states.

use std::slice;
use std::sync::Arc;

use super::Hosts;
use super::assign::TakenIds;
use super::change::Before;
use super::texts::check_host_texts;
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level, transaction};
use crate::model::{ChangePosition, ChangedEntity, Host, HostId, Permission, Record as _};

/// The maximum number of attempts to find ids for the embedded records of a host.
const MAX_ATTEMPTS: usize = 16;

impl Hosts<'_> {
    /// Restores the state of a host at a position of the history, by a new change.
    ///
    /// The change is subject to all rules of an [`update`](Self::update), or of a [`create`](Self::create) if the host
    /// no longer exists: the host then gets its former id again. Parts get their former ids again, unless other hosts
    /// have them.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::ChangeQuery;
    /// # use toposcope::model::{Host, Network};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let hosts = inventory.hosts();
    /// let printer = hosts.create(&caller, Host::new(network.id, "printer")).await?;
    /// let before = inventory.changes(&caller, &ChangeQuery::default()).await?.next;
    /// hosts.delete(&caller, printer.id).await?;
    /// let reverted = hosts.revert(&caller, printer.id, &before).await?;
    /// assert_eq!((reverted.id, reverted.name), (printer.id, printer.name));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` if the host did not exist at the position, and the errors of [`update`](Self::update) and
    /// [`create`](Self::create). `Invalid` for a position that is not one of this organization.
    pub async fn revert(self, caller: &Caller, id: HostId, position: &ChangePosition) -> Result<Host, Error> {
        self.revert_if(caller, id, position, |_, _| Ok(())).await
    }

    /// Reverts a host like [`revert`](Self::revert), if `check` allows it.
    ///
    /// `check` receives the present host, or `None` if it no longer exists, and the former one; an error that it
    /// returns ends the reversion.
    ///
    /// # Errors
    /// The errors of [`revert`](Self::revert), and the errors of `check`.
    pub async fn revert_if(
        self,
        caller: &Caller,
        id: HostId,
        position: &ChangePosition,
        check: impl Fn(Option<&Host>, &Host) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Host, Error> {
        require_level(caller, Permission::Member)?;
        let past = self.inventory.record_at(caller, (ChangedEntity::Host, id.uuid()), position).await?;
        let Some(mut past): Option<Host> = past else {
            return Err(self.inventory.error_of_unseen_host(caller, id).await?);
        };
        past.sort_embedded();
        let (past, check) = (Arc::new(past), Arc::new(check));
        let (state, allowed) = (Arc::clone(&past), Arc::clone(&check));
        let change = move |host: &mut Host| {
            allowed(Some(host), &state)?;
            host.clone_from(&state);
            Ok(())
        };
        match self.inventory.update_host_with(caller, id, past.likely_size(), change).await {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound { entity: Entity::Host, .. }) => {}
            // The request has no lists of parts that the error could name.
            Err(error) if matches!(error.kind(), ErrorKind::InUse { .. }) => {
                return Err(error.kind().clone().into());
            }
            outcome => return outcome,
        }
        check(None, &past)?;
        self.inventory.create_host_again(caller, Host::clone(&past)).await
    }
}

impl Inventory {
    /// Creates a deleted host again, with its former id.
    async fn create_host_again(&self, caller: &Caller, mut host: Host) -> Result<Host, Error> {
        check_host_texts(&host, None)?;
        let (organization, id) = (caller.organization_id(), host.id);
        self.check_network(caller, host.network_id).await?;
        let is_gone = |before: &Before| match before.is_empty() {
            true => Ok(()),
            // It has been created again in the meantime, or another organization has a host of this id.
            false => Err(transaction::conflict(Entity::Host, id)),
        };
        let mut taken = TakenIds::default();
        for _ in 0..MAX_ATTEMPTS {
            let encoded = self.encode_new(organization, host, taken.clone(), self.now()).await?;
            let created =
                self.replace_hosts_if(Actor::Caller(caller), slice::from_ref(&encoded), is_gone).await?;
            host = encoded.host;
            match created {
                Ok(_) => return Ok(host),
                Err(part) => self.note_taken(organization, &part, &mut taken).await?,
            }
        }
        Err(transaction::conflict(Entity::Host, id))
    }
}
