use super::HostParts;
use crate::access::Caller;
use crate::inventory::Error;
use crate::model::{Port, PortId};
use crate::wire::PortUpdate;

impl HostParts<'_, Port> {
    /// Updates all fields of a port that the caller, a Member or above, can access.
    ///
    /// The port may move to another host, also on another network, that the caller can access. `updated_at` of the
    /// affected hosts changes as well. The same as [`HostParts::update`](crate::inventory::HostParts::update) with these values.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::{Inventory, PortUpdate};
    /// # use toposcope::model::{Host, Permission, Port, PortNumber, Protocol, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let mut host = Host::new(network.id, "printer");
    /// # host.ports.push(Port::new(&host, PortNumber::try_from(80)?, Protocol::Tcp));
    /// # inventory.hosts().put(&Caller::system(organization.id), host.clone()).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let port = host.ports[0].id;
    /// let update = PortUpdate::new(host.id, network.id, PortNumber::try_from(443)?, Protocol::Tcp);
    /// let port = inventory.parts().replace(&caller, port, update).await?;
    /// assert_eq!(port.kind(), "Https");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`HostParts::update`](crate::inventory::HostParts::update).
    pub async fn replace(self, caller: &Caller, id: PortId, update: PortUpdate) -> Result<Port, Error> {
        let PortUpdate { host_id, network_id, number, protocol } = update;
        let replace = |port: &mut Port| {
            *port = Port { host_id, network_id, number, protocol, ..*port };
            Ok(())
        };
        self.update(caller, id, replace).await
    }
}
