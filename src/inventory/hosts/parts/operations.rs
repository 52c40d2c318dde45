//! Reading, creating and deleting one part.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{HostParts, Part, settle};
use crate::access::Caller;
use crate::inventory::hosts::access::{check_scope, reference_invalid};
use crate::inventory::hosts::edit::HostEdit;
use crate::inventory::hosts::texts::check_part_texts;
use crate::inventory::schema::part_unique_key;
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{Common, Host, HostId, OrganizationId, Permission};
use crate::store::Record;

impl<P: Part> HostParts<'_, P> {
    /// Returns a part of a host that the caller can access. Every level may read.
    ///
    /// # Errors
    /// `NotFound`, also for a part of another organization; `AccessDenied` when the caller cannot access the network
    /// of the host.
    pub async fn get(self, caller: &Caller, id: P::Id) -> Result<P, Error> {
        let organization = caller.organization_id();
        let record = self.inventory.host_of_part::<P>(organization, id.into()).await?;
        let host: Host = self.inventory.decode_host(organization, &record).await?;
        let (_, part) = find_part(&host, id.into())?;
        check_scope(caller, host.network_id)?;
        Ok(part)
    }

    /// Returns the parts of a host in display order. Every level may read.
    ///
    /// Empty for a host that the caller cannot access or that does not exist.
    pub async fn of_host(self, caller: &Caller, host: HostId) -> Result<Vec<P>, Error> {
        let Some(record) = self.inventory.visible_host(caller, host).await? else { return Ok(Vec::new()) };
        let mut host: Host = self.inventory.decode_host(caller.organization_id(), &record).await?;
        Ok(std::mem::take(P::list_mut(&mut host)))
    }

    /// Adds a part to the host that it names, on behalf of a caller.
    ///
    /// The caller must be a Member or above who can access the host.
    ///
    /// The inventory chooses the id and the times. A binding of a service keeps its id unless the id is nil or another
    /// binding of the host has it. An interface or service with the position `i64::MAX` is placed behind the others.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Permission, Port, PortNumber, Protocol, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let host = inventory.hosts().create(&caller, Host::new(network.id, "printer")).await?;
    /// let port = Port::new(&host, PortNumber::try_from(443)?, Protocol::Tcp);
    /// let port = inventory.parts().create(&caller, port).await?;
    /// assert_eq!(inventory.parts::<Port>().of_host(&caller, host.id).await?, [port.clone()]);
    /// inventory.parts::<Port>().delete(&caller, port.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `ReferenceInvalid`: the network, the host, a tag, or the target of a binding or an interface entry is unknown.
    /// - `AccessDenied`: the caller cannot access the network, or a service that virtualizes the part.
    /// - `NetworkMismatch`: the host is on another network.
    /// - `AlreadyExists`: the host has another port with that number and protocol.
    /// - `Invalid` and `TooLarge`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    pub async fn create(self, caller: &Caller, part: P) -> Result<P, Error> {
        require_level(caller, Permission::Member)?;
        check_part_texts(&part, None)?;
        let organization = caller.organization_id();
        let Common { host_id, network_id, .. } = part.common();
        let id = self.inventory.new_id()?;
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Host, host_id);
        loop {
            self.inventory.check_network(caller, network_id).await?;
            let record = self.inventory.own_hosts(organization, vec![host_id]).await?.pop();
            let record = record.ok_or_else(|| reference_invalid(Entity::Host, "host_id"))?;
            if !transaction.enter(BTreeSet::from([record.key])).await? {
                continue;
            }
            let mut stored = self.inventory.open_host(organization, record).await?;
            if stored.host.network_id != network_id {
                return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
            }
            let (mut part, now) = (part.clone(), self.inventory.now());
            part.set_common(Common { id, ..part.common() });
            part.set_position(&stored.host);
            part.assign_binding_ids(Some(&stored.host), || self.inventory.new_id())?;
            settle(&mut part, None, (host_id, network_id), now);
            let list = P::list_mut(&mut stored.host);
            let index = list.len();
            list.push(part.clone());
            self.inventory.note_answer(&part, Some(network_id))?;
            match self.inventory.commit_edit(&transaction, caller, HostEdit::of::<P>(vec![stored], now)).await
            {
                Ok(Attempt::Committed) => return Ok(part),
                Ok(Attempt::Stale | Attempt::Taken(_)) => transaction.retry().await?,
                Err(error) => return Err(within(error, P::LIST, index)),
            }
        }
    }

    /// Deletes a part of a host.
    ///
    /// # Errors
    /// The errors of [`delete_if`](Self::delete_if), without a check.
    pub async fn delete(self, caller: &Caller, id: P::Id) -> Result<(), Error> {
        self.delete_if(caller, id, |_| Ok(())).await
    }

    /// Deletes a part of a host that the caller, a Member or above, can access.
    ///
    /// `check` receives the part that would be deleted; an error that it returns prevents the deletion.
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such part, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the network of the host.
    /// - Any error of `check`.
    /// - `InUse`: a binding, an interface entry or a credential assignment of the host refers to the part, or a host or
    ///   service is virtualized by it.
    pub async fn delete_if(
        self,
        caller: &Caller,
        id: P::Id,
        check: impl Fn(&P) -> Result<(), Error> + Send + Sync,
    ) -> Result<(), Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        let mut transaction = self.inventory.reviewed_transaction(caller, P::ENTITY, id);
        loop {
            let record = self.inventory.host_of_part::<P>(organization, id.into()).await?;
            if !transaction.enter(BTreeSet::from([record.key])).await? {
                continue;
            }
            let mut stored = self.inventory.open_host(organization, record).await?;
            let (index, part) = find_part::<P>(&stored.host, id.into())?;
            check_scope(caller, stored.host.network_id)?;
            check(&part)?;
            check_unused(&part, &stored.host)?;
            P::list_mut(&mut stored.host).remove(index);
            let edit = HostEdit::of::<P>(vec![stored], self.inventory.now());
            match self.inventory.commit_edit(&transaction, caller, edit).await? {
                Attempt::Committed => return Ok(()),
                Attempt::Stale | Attempt::Taken(_) => transaction.retry().await?,
            }
        }
    }
}

impl Inventory {
    /// Returns the organization's host that has a part.
    ///
    /// Parts of another organization behave as nonexistent, without reading their hosts.
    pub(super) async fn host_of_part<P: Part>(
        &self,
        organization: OrganizationId,
        id: Uuid,
    ) -> Result<Record, Error> {
        let holder = self.store.get_by_unique_key(&part_unique_key(P::UNIQUE_KEY, organization, id)).await?;
        holder.ok_or_else(|| not_found::<P>(id))
    }
}

/// Returns a part of a host and its index.
pub(super) fn find_part<P: Part>(host: &Host, id: Uuid) -> Result<(usize, P), Error> {
    let found = P::list(host).iter().enumerate().find(|(_, part)| part.common().id == id);
    found.map(|(index, part)| (index, part.clone())).ok_or_else(|| not_found::<P>(id))
}

/// Refuses to remove a part to which another record of the host refers.
pub(super) fn check_unused<P: Part>(part: &P, host: &Host) -> Result<(), Error> {
    let Some(used_by) = part.used_by(host) else { return Ok(()) };
    Err(ErrorKind::InUse { entity: P::ENTITY, name: part.name(), used_by }.into())
}

/// Makes the field of an error relative to the part instead of its host.
pub(super) fn within(error: Error, list: &str, index: usize) -> Error {
    let prefix = format!("{list}.{index}.");
    let in_part = |field: &str| field.strip_prefix(&prefix).map(ToOwned::to_owned);
    match error.kind() {
        ErrorKind::Invalid { field, problem } => match in_part(field) {
            Some(field) => Error::invalid(field, problem.clone()),
            None => error,
        },
        ErrorKind::ReferenceInvalid { entity, field } => match in_part(field) {
            Some(field) => ErrorKind::ReferenceInvalid { entity: *entity, field }.into(),
            None => error,
        },
        ErrorKind::Refused { field: Some(field), .. } => match in_part(field) {
            Some(field) => error.at(field),
            None => error,
        },
        _ => error,
    }
}

fn not_found<P: Part>(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: P::ENTITY, id }.into()
}
