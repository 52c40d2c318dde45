use std::collections::BTreeSet;

use uuid::Uuid;

use super::change::{Attempt, Before, HostChange};
use super::document::decode;
use super::virtualization::Summary;
use super::{EncodedHost, HostEncoder};
use crate::access::Caller;
use crate::inventory::background::Offload;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{HOST, PORT_UNIQUE_KEY, host_key, network_key, part_unique_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level};
use crate::model::{BindingTarget, Host, Permission, Port, PortNumber, Protocol, Timestamp};
use crate::store::{Key, Query, Record};

/// The new values of a port. Its id and creation time stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortUpdate {
    /// The host on which the port is open.
    pub host_id: Uuid,
    /// The network of that host.
    pub network_id: Uuid,
    /// The port number.
    pub number: PortNumber,
    /// The transport protocol.
    pub protocol: Protocol,
}

impl PortUpdate {
    /// Creates an update with all fields.
    #[must_use]
    pub const fn new(host_id: Uuid, network_id: Uuid, number: PortNumber, protocol: Protocol) -> Self {
        Self { host_id, network_id, number, protocol }
    }
}

/// Requires the level that may change ports: Member or above.
pub(crate) fn may_update_ports(caller: &Caller) -> Result<(), Error> {
    require_level(caller, Permission::Member)
}

impl Inventory {
    /// Updates a port that the caller, a Member or above, can access.
    ///
    /// The port may move to another host, also on another network, that the caller can access. `updated_at` of the
    /// affected hosts changes as well.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::{Inventory, PortUpdate};
    /// # use toposcope::model::{Host, Permission, Port, PortNumber, Protocol};
    /// # use toposcope::store::MemoryStore;
    /// # use uuid::Uuid;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let network = inventory.create_network(organization.id, "Office").await?;
    /// # let mut host = Host::new(network.id, "printer");
    /// # host.ports.push(Port::new(&host, PortNumber::try_from(80)?, Protocol::Tcp));
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
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such port, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the current or the new network.
    /// - `ReferenceInvalid`: the host or network belongs to another organization.
    /// - `NetworkMismatch`: the host is on another network.
    /// - `AlreadyExists`: the host has another port with that number and protocol.
    /// - `InUse`: the port would leave a host whose services are bound to it.
    pub async fn update_port(&self, caller: &Caller, id: Uuid, update: PortUpdate) -> Result<Port, Error> {
        may_update_ports(caller)?;
        let organization = caller.organization_id();
        let mut transaction = self.transaction(Entity::Port, id);
        loop {
            let from = self.host_of_port(organization, id).await?;
            if !transaction.enter(self.hosts_to_enter(organization, &from, update).await?).await? {
                continue;
            }
            let Some(to) = self.target_host(organization, &from, update).await? else {
                transaction.retry().await?;
                continue;
            };
            let network = self.get(network_key(update.network_id)).await?;
            let decision = Decision {
                caller: caller.clone(),
                id,
                update,
                is_network_known: belongs_to(organization, network.as_ref())?,
                encoder: self.host_encoder(organization),
                now: self.now(),
            };
            let Decided { port, puts, before } = decision.make_in(&self.state.offload, from, to).await?;
            let change = HostChange { organization, puts: &puts, delete: None };
            // All ids belong to these hosts; a taken one has moved to another host in the meantime.
            match self.try_change_hosts(&change, &before).await? {
                Attempt::Committed => return Ok(port),
                Attempt::Stale | Attempt::Taken(_) => transaction.retry().await?,
            }
        }
    }

    /// Returns the organization's host that has a port.
    ///
    /// Ports of another organization behave as nonexistent, without reading their hosts.
    async fn host_of_port(&self, organization: Uuid, id: Uuid) -> Result<Record, Error> {
        let holder =
            self.store.get_by_unique_key(&part_unique_key(PORT_UNIQUE_KEY, organization, id)).await?;
        holder.ok_or_else(|| not_found(id))
    }

    /// Returns the hosts whose turns an update takes.
    ///
    /// They are the current host, and the new one if the organization owns it.
    ///
    /// Updates of other organizations never wait or are waited for.
    async fn hosts_to_enter(
        &self,
        organization: Uuid,
        from: &Record,
        update: PortUpdate,
    ) -> Result<BTreeSet<Key>, Error> {
        let mut records = BTreeSet::from([from.key]);
        if update.host_id != from.key.id {
            let ids = Some(vec![update.host_id]);
            let own = Query { organization: Some(organization), ids, ..Query::new(HOST) };
            records.extend((self.count(own).await? > 0).then(|| host_key(update.host_id)));
        }
        Ok(records)
    }

    /// Returns the target of a port, read with the state in which `from` has it. `None` when that has changed.
    async fn target_host(
        &self,
        organization: Uuid,
        from: &Record,
        update: PortUpdate,
    ) -> Result<Option<Target>, Error> {
        if update.host_id == from.key.id {
            return Ok(Some(Target::Same));
        }
        let found = self.own_hosts(organization, vec![from.key.id, update.host_id]).await?;
        let (sources, targets): (Vec<Record>, Vec<Record>) =
            found.into_iter().partition(|host| host.key == from.key);
        let is_current = sources.first().is_some_and(|source| source.version == from.version);
        let target = targets.into_iter().next().map_or(Target::Unknown, Target::Other);
        Ok(is_current.then_some(target))
    }
}

/// The host that a port moves to.
#[derive(Debug)]
enum Target {
    /// The current host.
    Same,
    Other(Record),
    /// A host that the organization does not have.
    Unknown,
}

impl Target {
    fn bytes(&self) -> usize {
        if let Self::Other(record) = self { record.body.len() } else { 0 }
    }
}

/// The input of a port update, except for the hosts.
#[derive(Debug)]
struct Decision {
    caller: Caller,
    id: Uuid,
    update: PortUpdate,
    /// Whether the organization owns the network named by the update.
    is_network_known: bool,
    encoder: HostEncoder,
    now: Timestamp,
}

/// The result of a port update.
#[derive(Debug)]
struct Decided {
    port: Port,
    puts: Vec<EncodedHost>,
    before: Before,
}

impl Decision {
    /// Runs [`make`](Self::make), on a blocking thread if the hosts are large.
    async fn make_in(self, offload: &Offload, from: Record, to: Target) -> Result<Decided, Error> {
        let bytes = from.body.len() + to.bytes();
        offload.run(self.caller.organization_id(), bytes, move || self.make(from, to)).await?
    }

    /// Applies the update. Errors are reported in the order: access, references, port rules.
    fn make(self, from: Record, to: Target) -> Result<Decided, Error> {
        let Self { caller, id, update, is_network_known, encoder, now } = self;
        let host: Host = decode(&from)?;
        check_scope(&caller, host.network_id)?;
        if !is_network_known {
            return Err(reference_invalid(Entity::Network, "network_id"));
        }
        check_scope(&caller, update.network_id)?;
        let mut before = Before::from([(host.id, (from, Summary::from(&host)))]);
        let mut hosts = vec![host];
        match to {
            Target::Same => {}
            Target::Other(record) => {
                let host: Host = decode(&record)?;
                before.insert(host.id, (record, Summary::from(&host)));
                hosts.push(host);
            }
            Target::Unknown => return Err(reference_invalid(Entity::Host, "host_id")),
        }
        let port = put_port(&mut hosts, id, update, now)?;
        let puts = hosts.into_iter().map(|host| {
            let bytes = before.get(&host.id).map_or(0, |(record, _)| record.body.len());
            encoder.of_stored(bytes).encode(host)
        });
        let puts = puts.collect::<Result<_, _>>()?;
        Ok(Decided { port, puts, before })
    }
}

fn check_scope(caller: &Caller, network: Uuid) -> Result<(), Error> {
    if caller.scope().allows(network) {
        Ok(())
    } else {
        Err(ErrorKind::AccessDenied { entity: Entity::Network, id: network }.into())
    }
}

/// Moves a port from the first host to the last and updates it.
///
/// Both may be the same host.
fn put_port(hosts: &mut [Host], id: Uuid, update: PortUpdate, now: Timestamp) -> Result<Port, Error> {
    if hosts.last().is_some_and(|host| host.network_id != update.network_id) {
        return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
    }
    let [from, others @ ..] = hosts else { return Err(not_found(id)) };
    let index = from.ports.iter().position(|port| port.id == id).ok_or_else(|| not_found(id))?;
    let port = from.ports.remove(index);
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

fn not_found(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: Entity::Port, id }.into()
}

fn reference_invalid(entity: Entity, field: &str) -> Error {
    ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }.into()
}

/// Names a port by number and protocol: `443/Tcp`.
fn name(number: PortNumber, protocol: Protocol) -> String {
    format!("{number}/{protocol}")
}
