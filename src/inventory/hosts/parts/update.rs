//! The update of one part, which for a port may change two hosts.

use std::collections::BTreeSet;

use super::operations::{check_unused, find_part, within};
use super::{HostParts, Part, settle};
use crate::access::Caller;
use crate::inventory::hosts::access::check_scope;
use crate::inventory::hosts::edit::{HostEdit, StoredHost};
use crate::inventory::hosts::texts::check_part_texts;
use crate::inventory::schema::{HOST, host_key};
use crate::inventory::transaction::Attempt;
use crate::inventory::transaction::Transaction;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{Common, HostId, OrganizationId, Permission};
use crate::store::{Query, Record};

impl<P: Part> HostParts<'_, P> {
    /// Updates a part of a host that the caller, a Member or above, can access.
    ///
    /// `change` receives the part as stored and changes it. It is called again when the host changes meanwhile; an
    /// error that it returns ends the update. Its changes of the id and the times are ignored, also in the bindings of
    /// a service, and bindings without an id get one. `updated_at` of the part and of its host move, unless the part
    /// stays as it is. For a port, both always move.
    ///
    /// A port may move to another host, also on another network, that the caller can access.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Interface, Permission, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let mut host = Host::new(network.id, "printer");
    /// # host.interfaces.push(Interface::new(&host, "192.0.2.7".parse()?));
    /// # inventory.hosts().put(&Caller::system(organization.id), host.clone()).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let rename = |interface: &mut Interface| {
    ///     interface.name = Some("eth0".to_owned());
    ///     Ok(())
    /// };
    /// let interface = inventory.parts().update(&caller, host.interfaces[0].id, rename).await?;
    /// assert_eq!(interface.name.as_deref(), Some("eth0"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such part, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the current or the new network, or a service that newly virtualizes the part.
    /// - Any error of `change`.
    /// - `ReferenceInvalid`: the host, the network, a tag, or the target of a binding or an interface entry is unknown.
    /// - `UpdateForbidden`: a part other than a port would move to another host.
    /// - `NetworkMismatch`: the host is on another network.
    /// - `InUse`: the port would leave a host whose services are bound to it.
    /// - `AlreadyExists`: the host has another port with that number and protocol.
    /// - `Invalid` and `TooLarge`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    pub async fn update(
        self,
        caller: &Caller,
        id: P::Id,
        change: impl Fn(&mut P) -> Result<(), Error> + Send + Sync,
    ) -> Result<P, Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        let mut transaction = self.inventory.reviewed_transaction(caller, P::ENTITY, id);
        loop {
            let record = self.inventory.host_of_part::<P>(organization, id.into()).await?;
            if !transaction.enter(BTreeSet::from([record.key])).await? {
                continue;
            }
            let from = self.inventory.open_host(organization, record).await?;
            let (index, before) = find_part::<P>(&from.host, id.into())?;
            check_scope(caller, from.host.network_id)?;
            let mut part = before.clone();
            change(&mut part)?;
            check_part_texts(&part, Some(&before))?;
            let Common { host_id, network_id, .. } = part.common();
            if network_id != from.host.network_id {
                self.inventory.check_network(caller, network_id).await?;
            }
            let mut to = None;
            if host_id != from.host.id {
                to = self
                    .inventory
                    .open_target::<P>(&mut transaction, organization, &from.record, host_id)
                    .await?;
                if to.is_none() {
                    continue;
                }
            }
            let now = self.inventory.now();
            let target = to.as_ref().map_or(&from.host, |to| &to.host);
            if network_id != target.network_id {
                return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
            }
            part.set_common(Common { id: id.into(), ..part.common() });
            part.assign_binding_ids(Some(target), || self.inventory.new_id())?;
            settle(&mut part, Some(&before), (host_id, network_id), now);
            if P::IS_ALWAYS_TOUCHED {
                part.set_common(Common { updated_at: now, ..part.common() });
            } else if part == before {
                // A repeated request completes a renaming that was interrupted.
                self.inventory.follow_renamings(Some(organization)).await;
                return Ok(part);
            }
            let (hosts, index) = replace(from, to, index, part.clone())?;
            match self.inventory.commit_edit(&transaction, caller, HostEdit::of::<P>(hosts, now)).await {
                Ok(Attempt::Committed) => return Ok(part),
                // All ids belong to these hosts; a taken one has moved to another host in the meantime.
                Ok(Attempt::Stale | Attempt::Taken(_)) => transaction.retry().await?,
                Err(error) => return Err(within(error, P::LIST, index)),
            }
        }
    }
}

impl Inventory {
    /// Takes the turns of both hosts and returns the host that a part moves to.
    ///
    /// It is read with the state in which the current host, `from`, was read. `None`: that state has changed.
    async fn open_target<P: Part>(
        &self,
        transaction: &mut Transaction<'_>,
        organization: OrganizationId,
        from: &Record,
        to: HostId,
    ) -> Result<Option<StoredHost>, Error> {
        // Checked before entering, so that changes of other organizations never wait or are waited for.
        let own =
            Query { organization: Some(organization.uuid()), ids: Some(vec![to.uuid()]), ..Query::new(HOST) };
        if self.count(own).await? == 0 {
            return Err(
                ErrorKind::ReferenceInvalid { entity: Entity::Host, field: "host_id".to_owned() }.into()
            );
        }
        if !P::IS_MOVABLE {
            return Err(ErrorKind::UpdateForbidden { entity: P::ENTITY }.into());
        }
        if !transaction.enter(BTreeSet::from([from.key, host_key(to)])).await? {
            return Ok(None);
        }
        let found = self.own_hosts(organization, vec![from.key.id.into(), to]).await?;
        let (sources, targets): (Vec<Record>, Vec<Record>) =
            found.into_iter().partition(|host| host.key == from.key);
        let is_current = sources.first().is_some_and(|source| source.version == from.version);
        match targets.into_iter().next() {
            Some(target) if is_current => Ok(Some(self.open_host(organization, target).await?)),
            _ => {
                transaction.retry().await?;
                Ok(None)
            }
        }
    }
}

/// Replaces the part at `index` of `from`, or moves the part to `to`.
///
/// Returns the changed hosts, and the index of the part in its host.
fn replace<P: Part>(
    mut from: StoredHost,
    to: Option<StoredHost>,
    index: usize,
    part: P,
) -> Result<(Vec<StoredHost>, usize), Error> {
    let Some(mut to) = to else {
        if let Some(place) = P::list_mut(&mut from.host).get_mut(index) {
            *place = part;
        }
        return Ok((vec![from], index));
    };
    let former = P::list_mut(&mut from.host).remove(index);
    check_unused(&former, &from.host)?;
    let list = P::list_mut(&mut to.host);
    list.push(part);
    let index = list.len() - 1;
    Ok((vec![from, to], index))
}
