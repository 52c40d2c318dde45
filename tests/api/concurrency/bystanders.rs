//! Activity during port updates: hosts move and are deleted, lists are read, grants and keys change.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{JoinSet, yield_now};
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{BindingTarget, Host, Permission};
use uuid::Uuid;

use super::join_all;
use super::outcome::not_authenticated;
use super::stage::{FLEETING, LASTING, SHARED, Stage, WRITERS, fleeting, own_port, shared_port};
use crate::common::{LAB, OFFICE, Reply, SplitMix64, VAULT, key_for};

#[derive(Clone, Copy)]
enum Part {
    ReadAll,
    ReadAsMember,
    MoveHost,
    ChangeRights,
    UseUpKey,
}

const CAST: [Part; 8] = [
    Part::ReadAll,
    Part::ReadAsMember,
    Part::MoveHost,
    Part::MoveHost,
    Part::MoveHost,
    Part::MoveHost,
    Part::ChangeRights,
    Part::UseUpKey,
];

pub(super) struct Bystanders {
    tasks: JoinSet<()>,
    is_over: Arc<AtomicBool>,
}

/// Starts the tasks.
pub(super) fn spawn(stage: &Arc<Stage>) -> Bystanders {
    let mut tasks = JoinSet::new();
    let is_over = Arc::new(AtomicBool::new(false));
    for (seed, part) in CAST.into_iter().enumerate() {
        let (stage, is_over) = (stage.clone(), is_over.clone());
        let mut random = SplitMix64(seed as u64);
        tasks.spawn(async move {
            while !is_over.load(Ordering::SeqCst) {
                part.act(&stage, &mut random).await;
                yield_now().await;
            }
        });
    }
    Bystanders { tasks, is_over }
}

impl Bystanders {
    pub(super) async fn stop(self) {
        self.is_over.store(true, Ordering::SeqCst);
        join_all(self.tasks).await;
    }
}

impl Part {
    async fn act(self, stage: &Stage, random: &mut SplitMix64) {
        match self {
            Self::ReadAll => {
                let order = random.choose(&["", "&order_by=updated_at", "&group_by=network_id"]);
                let target = format!("/api/v1/hosts?limit=0{order}");
                check_whole(&check_page(&stage.server.get_with(&stage.world.key, &target).await));
            }
            Self::ReadAsMember => {
                let reply = stage.server.get_with(&stage.member_key, "/api/v1/hosts?limit=0").await;
                check_scope(&check_page(&reply));
            }
            Self::MoveHost => move_host(stage, random).await,
            Self::ChangeRights => {
                let networks = [OFFICE, LAB, VAULT][..2 + random.below(2)].to_vec();
                let level = random.choose(&[Permission::Member, Permission::Member, Permission::Viewer]);
                stage.inventory.set_user_rights(stage.member.id, level, networks).await.unwrap();
            }
            Self::UseUpKey => {
                let key = key_for(&stage.member, Permission::Viewer, &[OFFICE]);
                let key = stage.inventory.create_user_api_key(key).await.unwrap();
                let read = async || stage.server.get_with(key.plaintext(), "/api/v1/hosts?limit=1").await;
                assert_eq!(read().await.status, 200);
                stage.inventory.delete_user_api_key(key.record().id).await.unwrap();
                let (status, code, _) = not_authenticated();
                read().await.refuses(status, code);
            }
        }
    }
}

/// Puts a fleeting host, with its ports wherever they are now, on any network, or deletes it.
async fn move_host(stage: &Stage, random: &mut SplitMix64) {
    let number = random.below(FLEETING.len());
    let id = FLEETING[number];
    let result = if random.once_in(3) {
        stage.inventory.delete_host(stage.organization(), id).await
    } else {
        let host = fleeting(number, random.choose(&[OFFICE, LAB, VAULT]), stage.tick());
        stage.inventory.put_host(stage.organization(), host).await.map(drop)
    };
    let Err(error) = result else { return };
    let is_fine = match error.kind() {
        ErrorKind::NotFound { entity: Entity::Host, id: missing } => *missing == id,
        ErrorKind::Conflict { entity: Entity::Host, id: contended } => *contended == id,
        ErrorKind::AlreadyExists { entity: Entity::Port, .. } => true,
        _ => false,
    };
    assert!(is_fine, "{error}");
}

/// Returns the hosts of a page, and asserts that it is consistent: every part belongs to its host, and no
/// port appears twice.
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
            assert!(host.ports.iter().any(|port| port.id == port_id), "bound to what is elsewhere");
        }
    }
    hosts
}

/// Asserts that every host and port that is never deleted is present.
pub(super) fn check_whole(hosts: &[Host]) {
    let lasting = hosts.iter().filter(|host| !FLEETING.contains(&host.id));
    let found: BTreeSet<(Uuid, Uuid)> = lasting.clone().map(|host| (host.id, host.network_id)).collect();
    assert_eq!(found, BTreeSet::from(LASTING));
    let ports: BTreeSet<Uuid> = lasting.flat_map(|host| &host.ports).map(|port| port.id).collect();
    let expected = (0..WRITERS).map(own_port).chain((0..SHARED).map(shared_port)).collect();
    assert_eq!(ports, expected);
}

/// Asserts that a Member sees the networks granted now or a moment ago: all of them or all but one.
fn check_scope(hosts: &[Host]) {
    let has = |id: Uuid| hosts.iter().any(|host| host.id == id);
    let [office, lab, vault] = LASTING.map(|(id, _)| has(id));
    assert!(office && lab);
    assert_eq!(vault, hosts.iter().any(|host| host.network_id == VAULT));
}
