use uuid::Uuid;

use super::change::{Before, HostChange};
use super::summary::Summary;
use super::{EncodedHost, host_key};
use crate::access::Caller;
use crate::inventory::networks::network_key;
use crate::inventory::records::{PORT_ALIAS, decode, id_alias};
use crate::inventory::references::belongs_to;
use crate::inventory::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, conflict, require_level};
use crate::model::{BindingTarget, Host, Permission, Port, PortNumber, Protocol, Timestamp};
use crate::store::Record;

/// How a port is to be. Its id and the time it was made stay.
///
/// ```
/// use toposcope::inventory::PortUpdate;
/// use toposcope::model::{PortNumber, Protocol};
/// use uuid::Uuid;
///
/// # let (host, network) = (Uuid::nil(), Uuid::nil());
/// let update = PortUpdate::new(host, network, PortNumber::try_from(443)?, Protocol::Tcp);
/// # Ok::<(), toposcope::model::PortNumberError>(())
/// ```
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

impl Inventory {
    /// Changes a port that the caller can access, if the caller is a Member or above. It may move to another host, also of
    /// another network, that the caller can access. The times of the hosts it touches move along.
    ///
    /// # Errors
    /// `PermissionDenied`. `NotFound`, also for a port of another organization. `AccessDenied` for a network, the present
    /// or the new one, that the caller cannot access. `ReferenceInvalid` for a host or a network that is not the
    /// organization's, `NetworkMismatch` for a host that is on another network. `AlreadyExists` when the host has another
    /// port of that number and protocol. `InUse` when the port would leave a host of which services are bound to it.
    pub async fn update_port(&self, caller: &Caller, id: Uuid, update: PortUpdate) -> Result<Port, Error> {
        may_update_ports(caller)?;
        for _ in 0..ATTEMPTS {
            let (record, from) = self.read_host_of_port(caller, id).await?;
            self.check_network(caller, update.network_id).await?;
            let mut before = Before::from([(from.id, (record, Summary::from(&from)))]);
            let mut hosts = vec![from];
            if !before.contains_key(&update.host_id) {
                let (record, to) = self.read_target(caller, update.host_id).await?;
                before.insert(to.id, (record, Summary::from(&to)));
                hosts.push(to);
            }
            let port = put_port(&mut hosts, id, update, self.now())?;
            let puts: Vec<EncodedHost> = hosts.into_iter().map(EncodedHost::new).collect::<Result<_, _>>()?;
            let change = HostChange { organization: caller.organization_id(), puts: &puts, delete: None };
            if self.try_change_hosts(&change, &before).await? {
                return Ok(port);
            }
        }
        Err(conflict(Entity::Port, id))
    }

    /// The host that a port is on, if the caller can access it.
    async fn read_host_of_port(&self, caller: &Caller, id: Uuid) -> Result<(Record, Host), Error> {
        let record = self.store.resolve(&id_alias(PORT_ALIAS, id)).await?;
        let (record, host) = self
            .own_host(caller.organization_id(), record)
            .await?
            .ok_or(ErrorKind::NotFound { entity: Entity::Port, id })?;
        check_scope(caller, host.network_id)?;
        Ok((record, host))
    }

    /// Whether a network that a client names is the organization's and one that the caller can access.
    async fn check_network(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        let organization = caller.organization_id();
        self.check_reference(organization, Entity::Network, network_key(id), "network_id").await?;
        check_scope(caller, id)
    }

    /// The host that a port is to move to.
    async fn read_target(&self, caller: &Caller, id: Uuid) -> Result<(Record, Host), Error> {
        let record = self.get(host_key(id)).await?;
        let found = self.own_host(caller.organization_id(), record).await?;
        let invalid = || ErrorKind::ReferenceInvalid { entity: Entity::Host, field: "host_id".to_owned() };
        Ok(found.ok_or_else(invalid)?)
    }

    /// A host of which the record was looked for, if there is one and it is the organization's.
    async fn own_host(
        &self,
        organization: Uuid,
        record: Option<Record>,
    ) -> Result<Option<(Record, Host)>, Error> {
        let Some(record) = record else { return Ok(None) };
        let host: Host = decode(&record)?;
        let network = self.get(network_key(host.network_id)).await?;
        Ok(belongs_to(organization, network.as_ref())?.then_some((record, host)))
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
