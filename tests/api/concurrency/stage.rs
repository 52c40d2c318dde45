use std::sync::Arc;
use std::time::Duration;

use toposcope::access::Clock as _;
use toposcope::inventory::Inventory;
use toposcope::model::{
    Binding, BindingTarget, Host, Permission, Port, PortNumber, Protocol, Timestamp, User,
};
use uuid::Uuid;

use super::Way;
use crate::common::{LAB, OFFICE, Server, VAULT, World, ample, cheap_passwords, host, key_for, service};

/// Number of tasks that change ports, each of them one of its own.
pub(super) const WRITERS: usize = 64;
/// Number of ports that every task changes.
pub(super) const SHARED: usize = 4;
/// Hosts of which only the ports change, each with its network.
pub(super) const LASTING: [(Uuid, Uuid); 3] =
    [(Uuid::from_u128(0x1000), OFFICE), (Uuid::from_u128(0x1001), LAB), (Uuid::from_u128(0x1002), VAULT)];
/// Hosts that are moved, deleted and put back.
pub(super) const FLEETING: [Uuid; 4] =
    [Uuid::from_u128(0x2000), Uuid::from_u128(0x2001), Uuid::from_u128(0x2002), Uuid::from_u128(0x2003)];

/// Hosts, and an Owner and a Member with keys.
pub(super) struct Stage {
    pub(super) world: World,
    /// The inventory on this stage's store.
    pub(super) inventory: Inventory,
    pub(super) server: Server,
    pub(super) member: User,
    pub(super) member_key: String,
}

impl Stage {
    pub(super) async fn new(store: Way) -> Self {
        let world = World::new().await;
        let inventory = Inventory::new(store(world.store.clone()))
            .with_clock(Arc::new(world.clock.clone()))
            .with_passwords(cheap_passwords());
        let server = Server::new(inventory.clone(), ample());
        let networks = [OFFICE, LAB, VAULT];
        let member = world.user(&world.home, Permission::Member, &networks).await;
        let member_key = world.issue(key_for(&member, Permission::Member, &networks)).await;
        Self { world, inventory, server, member, member_key }
    }

    /// Creates a stage with the hosts whose ports are changed.
    pub(super) async fn with_ports(store: Way) -> Self {
        let stage = Self::new(store).await;
        let now = stage.tick();
        let mut lasting =
            LASTING.map(|(id, network)| Host { updated_at: now, ..host(id.as_u128(), network) });
        for number in 0..WRITERS {
            lasting[0].ports.push(port(own_port(number), &lasting[0], 10_000 + number, now));
        }
        for number in 0..SHARED {
            lasting[0].ports.push(port(shared_port(number), &lasting[0], 20_000 + number, now));
        }
        let mut bound = service(0x9000, &lasting[0], "a service");
        bound.bindings = (0..WRITERS)
            .filter(|number| is_bound(*number))
            .map(|number| binding(&lasting[0], number))
            .collect();
        lasting[0].services = vec![bound];
        stage.world.put(lasting).await;
        stage.world.put((0..FLEETING.len()).map(|number| fleeting(number, OFFICE, now))).await;
        stage
    }

    /// Returns a time that is later than all before.
    pub(super) fn tick(&self) -> Timestamp {
        self.world.clock.advance(Duration::from_micros(1));
        self.world.clock.now()
    }

    pub(super) const fn organization(&self) -> Uuid {
        self.world.home.organization.id
    }
}

/// The port of a writer.
pub(super) const fn own_port(writer: usize) -> Uuid {
    Uuid::from_u128(0x5000 + writer as u128)
}

pub(super) const fn shared_port(number: usize) -> Uuid {
    Uuid::from_u128(0x6000 + number as u128)
}

/// One of the two ports of a fleeting host.
pub(super) const fn fleeting_port(host: usize, number: usize) -> Uuid {
    Uuid::from_u128(0x7000 + 2 * host as u128 + number as u128)
}

/// Returns whether a service is bound to the port of a writer, so that the port cannot leave its host.
pub(super) const fn is_bound(writer: usize) -> bool {
    writer.is_multiple_of(8)
}

/// A fleeting host as it is put, wherever its ports are now.
pub(super) fn fleeting(number: usize, network: Uuid, now: Timestamp) -> Host {
    let mut host = host(FLEETING[number].as_u128(), network);
    host.ports = [0, 1].map(|place| port(fleeting_port(number, place), &host, 30_000 + place, now)).into();
    host.updated_at = now;
    host
}

fn port(id: Uuid, host: &Host, number: usize, now: Timestamp) -> Port {
    Port {
        id,
        host_id: host.id,
        network_id: host.network_id,
        number: PortNumber::try_from(u16::try_from(number).unwrap()).unwrap(),
        protocol: Protocol::Tcp,
        created_at: now,
        updated_at: now,
    }
}

fn binding(host: &Host, writer: usize) -> Binding {
    Binding {
        id: Uuid::from_u128(0x8000 + writer as u128),
        service_id: Uuid::from_u128(0x9000),
        network_id: host.network_id,
        target: BindingTarget::Port { port_id: own_port(writer), interface_id: None },
        created_at: host.created_at,
        updated_at: host.updated_at,
    }
}
