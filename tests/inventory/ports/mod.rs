//! Updates of ports by users.

mod queueing;
mod races;
mod updates;

use toposcope::inventory::PortUpdate;
use toposcope::model::{BindingTarget, Host, OrganizationId, Port, PortId, Protocol};

use crate::support::{Fixture, binding, id, port, rich_host, service};

/// Two hosts on each of two networks, with every kind of content. The first has the port 443/Tcp without a
/// binding, and the port 22/Tcp with a service bound to it.
pub(crate) struct Hosts {
    pub(crate) organization: OrganizationId,
    pub(crate) first: Host,
    pub(crate) neighbour: Host,
    pub(crate) elsewhere: Host,
}

pub(crate) const FREE: PortId = PortId::from_u128(0xf4ee);
pub(crate) const BOUND: PortId = PortId::from_u128(0xb04d);

impl Hosts {
    pub(crate) async fn new() -> (Fixture, Self) {
        let fixture = Fixture::new().await;
        let hosts = Self::put(&fixture).await;
        (fixture, hosts)
    }

    pub(crate) async fn put(fixture: &Fixture) -> Self {
        let mut first = rich_host(1, fixture.network, &fixture.tags);
        first.ports.push(port(&first, FREE, 443, Protocol::Tcp));
        first.ports.push(port(&first, BOUND, 22, Protocol::Tcp));
        let mut ssh = service(&first, id(0x55), "ssh", 0);
        let target = BindingTarget::Port { port_id: BOUND, interface_id: None };
        ssh.bindings = vec![binding(&ssh, id(0x56), target)];
        first.services.push(ssh);
        let neighbour = rich_host(2, fixture.network, &fixture.tags);
        let elsewhere = rich_host(3, fixture.other_network, &fixture.tags);
        for host in [&first, &neighbour, &elsewhere] {
            fixture.put(host).await;
        }
        // As they are stored: with ordered lists.
        let first = fixture.host(first.id).await;
        Self { organization: fixture.organization, first, neighbour, elsewhere }
    }

    pub(crate) fn port(&self, id: PortId) -> Port {
        self.first.ports.iter().find(|port| port.id == id).expect("it is there").clone()
    }
}

/// An update of a port of this host.
pub(crate) fn on(host: &Host, number: u16, protocol: Protocol) -> PortUpdate {
    PortUpdate::new(host.id, host.network_id, number.try_into().unwrap(), protocol)
}
