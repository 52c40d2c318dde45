//! Deletion of hosts.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::Hosts;
use super::access::check_scope;
use super::change::{Before, HostChange};
use super::virtualization::Summary;
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{HOST, host_key};
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error, Inventory, Problem, require_level};
use crate::model::{Host, HostId, Permission, uuids};
use crate::store::Query;

/// The maximum number of hosts deleted at once.
const MAX_DELETED: usize = 1000;

impl Hosts<'_> {
    /// Deletes a host that the caller, a Member or above, can access, with its embedded records.
    ///
    /// # Errors
    /// `PermissionDenied` when the caller is below Member; `NotFound`, also for a host of another organization;
    /// `AccessDenied` when the caller cannot access its network; `InUse` while a service of the host virtualizes another
    /// host or its services.
    pub async fn delete(self, caller: &Caller, id: HostId) -> Result<(), Error> {
        require_level(caller, Permission::Member)?;
        let check = |summary: &Summary| check_scope(caller, summary.network_id);
        self.inventory.remove_host(caller, id, check).await
    }

    /// Deletes a host that the caller, a Member or above, can access.
    ///
    /// `check` receives the host that would be deleted; an error that it returns prevents the deletion.
    ///
    /// # Errors
    /// The errors of [`delete`](Self::delete); any error of `check`.
    pub async fn delete_if(
        self,
        caller: &Caller,
        id: HostId,
        check: impl Fn(&Host) -> Result<(), Error> + Send + Sync,
    ) -> Result<(), Error> {
        require_level(caller, Permission::Member)?;
        let check = |host: &Host| {
            check_scope(caller, host.network_id)?;
            check(host)
        };
        self.inventory.remove_host(caller, id, check).await
    }

    /// Deletes hosts that the caller, a Member or above, can access, all or none. Returns how many.
    ///
    /// Hosts that do not exist, that belong to another organization, or that the caller cannot access are skipped.
    ///
    /// # Errors
    /// `PermissionDenied` when the caller is below Member; `Invalid` unless there are 1 to 1,000 ids; `InUse` while a
    /// service of one of the hosts virtualizes a host that stays, or its services.
    pub async fn delete_many(self, caller: &Caller, ids: &[HostId]) -> Result<usize, Error> {
        require_level(caller, Permission::Member)?;
        if ids.is_empty() {
            return Err(Error::invalid("ids", Problem::Empty));
        }
        if ids.len() > MAX_DELETED {
            return Err(Error::invalid("ids", Problem::MaxLength { max: MAX_DELETED }));
        }
        let organization = caller.organization_id();
        let query = Query {
            organization: Some(organization.uuid()),
            networks: caller.scope().network_filter(),
            ids: Some(uuids(ids)),
            ..Query::new(HOST)
        };
        let mut transaction = self.inventory.reviewed_transaction(
            caller,
            Entity::Host,
            ids.first().copied().unwrap_or_default(),
        );
        loop {
            let records = self.inventory.store.list(&query).await?.records;
            if records.is_empty() {
                return Ok(0);
            }
            if !transaction.enter(records.iter().map(|record| record.key).collect()).await? {
                continue;
            }
            let deletes: Vec<HostId> = records.iter().map(|record| record.key.id.into()).collect();
            let before = self.inventory.summarize(organization, records).await?;
            let change = HostChange::deleting(caller, &deletes);
            match self
                .inventory
                .change_hosts_as(&transaction, Actor::Caller(caller), &change, &before)
                .await
                .map_err(|error| error.among(ids))?
            {
                Attempt::Committed => return Ok(deletes.len()),
                Attempt::Stale | Attempt::Taken(_) => transaction.retry().await?,
            }
        }
    }
}

impl Inventory {
    /// Deletes a host, decoded as far as `check` needs it.
    async fn remove_host<T>(
        &self,
        caller: &Caller,
        id: HostId,
        check: impl Fn(&T) -> Result<(), Error> + Send + Sync,
    ) -> Result<(), Error>
    where
        T: DeserializeOwned + Into<Summary> + Send + 'static,
    {
        let organization = caller.organization_id();
        let mut transaction = self.reviewed_transaction(caller, Entity::Host, id);
        loop {
            let record = self.host_record(organization, id).await?;
            if !transaction.enter(BTreeSet::from([host_key(id)])).await? {
                continue;
            }
            let host: T = self.decode_host(organization, &record).await?;
            check(&host)?;
            let before = Before::from([(id, (record, host.into()))]);
            let change = HostChange::deleting(caller, std::slice::from_ref(&id));
            match self.change_hosts_as(&transaction, Actor::Caller(caller), &change, &before).await? {
                Attempt::Committed => return Ok(()),
                Attempt::Stale | Attempt::Taken(_) => transaction.retry().await?,
            }
        }
    }
}
