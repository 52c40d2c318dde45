//! Hosts whose ports are changed, and the background activity during the changes.
//!
//! Meanwhile hosts are moved and deleted, lists are read, and grants and keys change.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toposcope::access::Caller;

use fastrand::Rng;
use tokio::task::{JoinSet, yield_now};
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{
    Binding, BindingId, BindingTarget, Host, HostId, NetworkId, Permission, PortId, Timestamp,
};

use super::{Fixture, Wrap, join_all, succeeded_or, tcp_port};
use crate::common::{LAB, OFFICE, Reply, VAULT, host, key_for, service};
use crate::isolation::oracle::values::not_authenticated;
use crate::requests::Choose;

/// Number of tasks that change ports. Each of them also has a port of its own.
pub(super) const WRITERS: usize = 64;
/// Number of ports that every task changes.
pub(super) const SHARED: usize = 4;
/// Hosts of which only the ports change, each with its network.
pub(super) const LASTING: [(HostId, NetworkId); 3] = [
    (HostId::from_u128(0x1000), OFFICE),
    (HostId::from_u128(0x1001), LAB),
    (HostId::from_u128(0x1002), VAULT),
];
/// Hosts that are moved, deleted and put back.
pub(super) const FLEETING: [HostId; 4] = [
    HostId::from_u128(0x2000),
    HostId::from_u128(0x2001),
    HostId::from_u128(0x2002),
    HostId::from_u128(0x2003),
];

/// The port of a writer.
pub(super) const fn own_port(writer: usize) -> PortId {
    PortId::from_u128(0x5000 + writer as u128)
}

pub(super) const fn shared_port(number: usize) -> PortId {
    PortId::from_u128(0x6000 + number as u128)
}

/// One of the two ports of a fleeting host.
pub(super) const fn fleeting_port(host: usize, number: usize) -> PortId {
    PortId::from_u128(0x7000 + 2 * host as u128 + number as u128)
}

/// Returns whether a service is bound to the port of a writer. Such a port cannot leave its host.
pub(super) const fn is_bound(writer: usize) -> bool {
    writer.is_multiple_of(8)
}

/// Creates the hosts whose ports are changed. All ports of writers are on the first one.
pub(super) async fn fixture_with_ports(wrap: Wrap) -> Fixture {
    let fixture = Fixture::new(wrap).await;
    let now = fixture.tick();
    let mut lasting = LASTING.map(|(id, network)| Host { updated_at: now, ..host(id.as_u128(), network) });
    let first = &mut lasting[0];
    let own = (0..WRITERS).map(|number| (own_port(number), 10_000 + number));
    let shared = (0..SHARED).map(|number| (shared_port(number), 20_000 + number));
    first.ports = own.chain(shared).map(|(id, number)| tcp_port(id, first, number, now)).collect();
    let mut bound = service(0x9000, first, "a service");
    let bindings = (0..WRITERS).filter(|number| is_bound(*number)).map(|number| Binding {
        id: BindingId::from_u128(0x8000 + number as u128),
        service_id: bound.id,
        network_id: first.network_id,
        target: BindingTarget::Port { port_id: own_port(number), interface_id: None },
        created_at: first.created_at,
        updated_at: first.updated_at,
    });
    bound.bindings = bindings.collect();
    first.services = vec![bound];
    fixture.common.put(lasting).await;
    fixture.common.put((0..FLEETING.len()).map(|number| fleeting(number, OFFICE, now))).await;
    fixture
}

/// Returns a fleeting host to put, wherever its ports are now.
fn fleeting(number: usize, network: NetworkId, now: Timestamp) -> Host {
    let mut host = host(FLEETING[number].as_u128(), network);
    let port = |place| tcp_port(fleeting_port(number, place), &host, 30_000 + place, now);
    host.ports = vec![port(0), port(1)];
    host.updated_at = now;
    host
}

/// The activity that a background task repeats.
#[derive(Clone, Copy)]
enum Activity {
    ReadAll,
    ReadAsMember,
    MoveHost,
    ChangeRights,
    UseUpKey,
}

const ACTIVITIES: [Activity; 8] = [
    Activity::ReadAll,
    Activity::ReadAsMember,
    Activity::MoveHost,
    Activity::MoveHost,
    Activity::MoveHost,
    Activity::MoveHost,
    Activity::ChangeRights,
    Activity::UseUpKey,
];

/// The tasks in the background.
pub(super) struct Background {
    tasks: JoinSet<()>,
    is_over: Arc<AtomicBool>,
}

impl Background {
    pub(super) fn spawn(fixture: &Arc<Fixture>) -> Self {
        let mut tasks = JoinSet::new();
        let is_over = Arc::new(AtomicBool::new(false));
        for (seed, activity) in ACTIVITIES.into_iter().enumerate() {
            let (fixture, is_over) = (fixture.clone(), is_over.clone());
            let mut random = Rng::with_seed(seed as u64);
            tasks.spawn(async move {
                while !is_over.load(Ordering::SeqCst) {
                    activity.act(&fixture, &mut random).await;
                    yield_now().await;
                }
            });
        }
        Self { tasks, is_over }
    }

    pub(super) async fn stop(self) {
        self.is_over.store(true, Ordering::SeqCst);
        join_all(self.tasks).await;
    }
}

impl Activity {
    async fn act(self, fixture: &Fixture, random: &mut Rng) {
        match self {
            Self::ReadAll => {
                let order = random.choose(&["", "&order_by=updated_at", "&group_by=network_id"]);
                let target = format!("/api/v1/hosts?limit=0{order}");
                check_whole(&check_page(&fixture.server.get_with(&fixture.common.key, &target).await));
            }
            Self::ReadAsMember => {
                let reply = fixture.server.get_with(&fixture.member_key, "/api/v1/hosts?limit=0").await;
                check_scope(&check_page(&reply));
            }
            Self::MoveHost => move_host(fixture, random).await,
            Self::ChangeRights => {
                let networks = [OFFICE, LAB, VAULT][..2 + random.usize(..2)].to_vec();
                let level = random.choose(&[Permission::Member, Permission::Member, Permission::Viewer]);
                fixture
                    .inventory
                    .users()
                    .set_rights(
                        &Caller::system(fixture.member.organization_id),
                        fixture.member.id,
                        level,
                        networks,
                    )
                    .await
                    .unwrap();
            }
            Self::UseUpKey => {
                let key = key_for(&fixture.member, Permission::Viewer, &[OFFICE]);
                let key = fixture
                    .inventory
                    .user_api_keys()
                    .create(&Caller::system(fixture.organization()), key)
                    .await
                    .unwrap();
                let read = async || fixture.server.get_with(key.plaintext(), "/api/v1/hosts?limit=1").await;
                assert_eq!(read().await.status, 200);
                fixture
                    .inventory
                    .user_api_keys()
                    .delete(&Caller::system(key.record().organization_id), key.record().id)
                    .await
                    .unwrap();
                assert!(!succeeded_or(&read().await, &[not_authenticated()]), "a deleted key works");
            }
        }
    }
}

/// Puts a fleeting host on any network, or deletes it. Its ports may be on any host before.
async fn move_host(fixture: &Fixture, random: &mut Rng) {
    let number = random.usize(..FLEETING.len());
    let id = FLEETING[number];
    let result = if random.once_in(3) {
        fixture.inventory.hosts().delete(&Caller::system(fixture.organization()), id).await
    } else {
        let host = fleeting(number, random.choose(&[OFFICE, LAB, VAULT]), fixture.tick());
        fixture.inventory.hosts().put(&Caller::system(fixture.organization()), host).await.map(drop)
    };
    let Err(error) = result else { return };
    let is_fine = match error.kind() {
        ErrorKind::NotFound { entity: Entity::Host, id: missing } => *missing == id.uuid(),
        ErrorKind::Conflict { entity: Entity::Host, id: contended } => *contended == id.uuid(),
        ErrorKind::AlreadyExists { entity: Entity::Port, .. } => true,
        _ => false,
    };
    assert!(is_fine, "{error}");
}

/// Returns the hosts of a page, and asserts that the page is consistent. Every part must belong to its host, and no
/// port may appear twice.
pub(super) fn check_page(reply: &Reply) -> Vec<Host> {
    let hosts: Vec<Host> = serde_json::from_value(reply.data().clone()).unwrap();
    let mut ids = HashSet::new();
    for host in &hosts {
        let mut numbers = HashSet::new();
        for port in &host.ports {
            assert_eq!((port.host_id, port.network_id), (host.id, host.network_id));
            assert!(numbers.insert((port.number, port.protocol)), "{}/{} twice", port.number, port.protocol);
            assert!(ids.insert(port.id), "the port {} twice", port.id);
            assert!(host.updated_at >= port.updated_at);
        }
        for binding in host.services.iter().flat_map(|service| &service.bindings) {
            let BindingTarget::Port { port_id, .. } = binding.target else { continue };
            assert!(host.ports.iter().any(|port| port.id == port_id), "bound to a port of another host");
        }
    }
    hosts
}

/// Asserts that every host and port that is never deleted is present.
pub(super) fn check_whole(hosts: &[Host]) {
    let lasting = hosts.iter().filter(|host| !FLEETING.contains(&host.id));
    let found: BTreeSet<(HostId, NetworkId)> =
        lasting.clone().map(|host| (host.id, host.network_id)).collect();
    assert_eq!(found, BTreeSet::from(LASTING));
    let ports: BTreeSet<PortId> = lasting.flat_map(|host| &host.ports).map(|port| port.id).collect();
    let expected = (0..WRITERS).map(own_port).chain((0..SHARED).map(shared_port)).collect();
    assert_eq!(ports, expected);
}

/// Asserts that a Member sees the networks granted now or a moment ago. These are all networks, or all but the vault.
fn check_scope(hosts: &[Host]) {
    let has = |id: HostId| hosts.iter().any(|host| host.id == id);
    let [office, lab, vault] = LASTING.map(|(id, _)| has(id));
    assert!(office && lab);
    assert_eq!(vault, hosts.iter().any(|host| host.network_id == VAULT));
}
