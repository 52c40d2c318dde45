use uuid::Uuid;

use super::EncodedHost;
use super::change::{Attempt, Before, HostChange};
use super::document::decode;
use super::summary::Summary;
use crate::access::Caller;
use crate::inventory::records::{PORT_ALIAS, host_key, id_alias, network_key};
use crate::inventory::references::organization_of;
use crate::inventory::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, conflict, require_level};
use crate::model::{BindingTarget, Host, Permission, Port, PortNumber, Protocol, Timestamp};
use crate::store::{Key, Record};

/// How a port is to be. Its id and the time it was made stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortUpdate {
    /// The host it is open on.
    pub host_id: Uuid,
    /// The network of that host.
    pub network_id: Uuid,
    /// Its number.
    pub number: PortNumber,
    /// The protocol that numbers it.
    pub protocol: Protocol,
}

impl PortUpdate {
    /// A port of a host.
    #[must_use]
    pub const fn new(host_id: Uuid, network_id: Uuid, number: PortNumber, protocol: Protocol) -> Self {
        Self { host_id, network_id, number, protocol }
    }
}

/// Whether a caller may change ports at all: from a Member on.
pub(crate) fn may_update_ports(caller: &Caller) -> Result<(), Error> {
    require_level(caller, Permission::Member)
}

#[derive(Debug)]
struct OwnedHost {
    record: Record,
    host: Host,
    organization: Uuid,
}

impl Inventory {
    /// Changes a port that the caller can access, if the caller is a Member or above. It may move to another host, also of
    /// another network, that the caller can access. The times of the hosts it touches move along.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::{Inventory, PortUpdate};
    /// # use toposcope::model::{Host, Permission, PortNumber, Protocol};
    /// # use toposcope::store::MemoryStore;
    /// # use uuid::Uuid;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example", true).await?;
    /// # let network = inventory.create_network(organization.id, "Office").await?;
    /// # let (host, time) = (Uuid::from_u128(1), "2026-08-14T12:00:14Z");
    /// # let host: Host = serde_json::from_value(serde_json::json!({
    /// #     "id": host, "network_id": network.id, "name": "printer", "created_at": time, "updated_at": time,
    /// #     "ports": [{"id": Uuid::from_u128(2), "host_id": host, "network_id": network.id, "number": 80,
    /// #         "protocol": "Tcp", "created_at": time, "updated_at": time}],
    /// # }))?;
    /// # inventory.put_host(organization.id, host.clone()).await?;
    /// # let caller = Caller::new(organization.id, Uuid::nil(), Permission::Member, Scope::all());
    /// let port = host.ports[0].id;
    /// let update = PortUpdate::new(host.id, network.id, PortNumber::try_from(443)?, Protocol::Tcp);
    /// let port = inventory.update_port(&caller, port, update).await?;
    /// assert_eq!(port.kind(), "Https");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `PermissionDenied`. `NotFound`, also for a port of another organization. `AccessDenied` for a network, the present
    /// or the new one, that the caller cannot access. `ReferenceInvalid` for a host or a network that is not the
    /// organization's, `NetworkMismatch` for a host that is on another network. `AlreadyExists` when the host has another
    /// port of that number and protocol. `InUse` when the port would leave a host of which services are bound to it.
    pub async fn update_port(&self, caller: &Caller, id: Uuid, update: PortUpdate) -> Result<Port, Error> {
        may_update_ports(caller)?;
        for _ in 0..ATTEMPTS {
            let Some(hosts) = self.read_hosts_of_port(caller, id, update).await? else {
                tokio::task::yield_now().await;
                continue;
            };
            let before: Before =
                hosts.iter().map(|(record, host)| (host.id, (record.clone(), Summary::from(host)))).collect();
            let mut hosts: Vec<Host> = hosts.into_iter().map(|(_, host)| host).collect();
            let port = put_port(&mut hosts, id, update, self.now())?;
            let puts: Vec<EncodedHost> = hosts.into_iter().map(EncodedHost::new).collect::<Result<_, _>>()?;
            let change = HostChange { organization: caller.organization_id(), puts: &puts, delete: None };
            // The ids are all of these hosts: one that is taken went to another meanwhile.
            if matches!(self.try_change_hosts(&change, &before).await?, Attempt::Done) {
                return Ok(port);
            }
        }
        Err(conflict(Entity::Port, id))
    }

    /// The host that a port is on and, where that is another one, the host that it is to be on, from one state of the
    /// store. `None` when they changed while they were looked for.
    async fn read_hosts_of_port(
        &self,
        caller: &Caller,
        id: Uuid,
        update: PortUpdate,
    ) -> Result<Option<Vec<(Record, Host)>>, Error> {
        let organization = caller.organization_id();
        let not_found = || Error::from(ErrorKind::NotFound { entity: Entity::Port, id });
        let holder = self.store.resolve(&id_alias(PORT_ALIAS, id)).await?.ok_or_else(not_found)?;
        let target = Some(host_key(update.host_id)).filter(|key| *key != holder.key);
        let keys: Vec<Key> = std::iter::once(holder.key).chain(target).collect();
        let mut records = self.store.get(&keys).await?.into_iter();
        let Some(from) = records.next().flatten().filter(|from| from.version == holder.version) else {
            return Ok(None);
        };
        let Some(from) = self.owned_host(from).await? else { return Ok(None) };
        if from.organization != organization {
            return Err(not_found());
        }
        check_scope(caller, from.host.network_id)?;
        self.check_reference(organization, Entity::Network, network_key(update.network_id), "network_id")
            .await?;
        check_scope(caller, update.network_id)?;
        let mut hosts = vec![(from.record, from.host)];
        if target.is_some() {
            let field = || "host_id".to_owned();
            let invalid = || ErrorKind::ReferenceInvalid { entity: Entity::Host, field: field() };
            let to = records.next().flatten().ok_or_else(invalid)?;
            let Some(to) = self.owned_host(to).await? else { return Ok(None) };
            if to.organization != organization {
                return Err(invalid().into());
            }
            hosts.push((to.record, to.host));
        }
        Ok(Some(hosts))
    }

    /// A host and whose it is. `None` when its network is gone, which it must have left before.
    async fn owned_host(&self, record: Record) -> Result<Option<OwnedHost>, Error> {
        let host: Host = decode(&record)?;
        let network = self.get(network_key(host.network_id)).await?;
        let organization = network.as_ref().map(organization_of).transpose()?;
        Ok(organization.map(|organization| OwnedHost { record, host, organization }))
    }
}

fn check_scope(caller: &Caller, network: Uuid) -> Result<(), Error> {
    if caller.scope().allows(network) {
        Ok(())
    } else {
        Err(ErrorKind::AccessDenied { entity: Entity::Network, id: network }.into())
    }
}

/// Takes a port from the first of the hosts and puts it, changed, on the last, which may be the same.
fn put_port(hosts: &mut [Host], id: Uuid, update: PortUpdate, now: Timestamp) -> Result<Port, Error> {
    let not_found = || Error::from(ErrorKind::NotFound { entity: Entity::Port, id });
    if hosts.last().is_some_and(|host| host.network_id != update.network_id) {
        return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
    }
    let [from, others @ ..] = hosts else { return Err(not_found()) };
    let place = from.ports.iter().position(|port| port.id == id).ok_or_else(not_found)?;
    let port = from.ports.remove(place);
    if !others.is_empty() && is_bound(from, id) {
        let name = name(port.number, port.protocol);
        return Err(ErrorKind::InUse { entity: Entity::Port, name, used_by: Entity::Service }.into());
    }
    let PortUpdate { host_id, network_id, number, protocol } = update;
    let port = Port { host_id, network_id, number, protocol, updated_at: now, ..port };
    let to = others.last_mut().unwrap_or(&mut *from);
    if to.ports.iter().any(|other| (other.number, other.protocol) == (number, protocol)) {
        let name = name(number, protocol);
        return Err(ErrorKind::AlreadyExists { entity: Entity::Port, name }.into());
    }
    to.ports.push(port.clone());
    for host in hosts {
        host.updated_at = now;
    }
    Ok(port)
}

fn is_bound(host: &Host, port: Uuid) -> bool {
    let mut bindings = host.services.iter().flat_map(|service| &service.bindings);
    bindings.any(|binding| matches!(binding.target, BindingTarget::Port { port_id, .. } if port_id == port))
}

/// What people call a port.
fn name(number: PortNumber, protocol: Protocol) -> String {
    format!("{number}/{protocol}")
}
