//! Every method, over a store that fails and over one where every commit conflicts.

use std::pin::Pin;
use std::sync::Arc;

use toposcope::access::Caller;
use toposcope::inventory::{
    Entity, Error, ErrorKind, HostQuery, Inventory, IssuedKey, IssuedSession, NewDaemonApiKey, NewShare,
    NewUser, NewUserApiKey, PortUpdate,
};
use toposcope::model::{
    DaemonApiKey, Host, Network, NetworkId, Permission, PortId, Protocol, ShareId, Tag, TagId, User,
    UserApiKey, UserId,
};
#[cfg(feature = "topology")]
use toposcope::model::{NodePosition, TopologyLayout, TopologyView};
#[cfg(feature = "topology")]
use toposcope::topology::{Topologies, graph::GraphOptions};
use uuid::Uuid;

use crate::support::{Fault, Fixture, PASSWORD, Probe, bare_host, id, in_person, port, refusal, settle};

const PORT: PortId = PortId::from_u128(0x99);

/// Maximum number of attempts of a change.
const ATTEMPTS: usize = 64;

/// Maximum number of conditions of a batch in these tests.
const CONDITIONS: usize = 12;

/// Records of every kind, and an inventory over a store that fails on demand.
struct Populated {
    fixture: Fixture,
    probe: Arc<Probe>,
    inventory: Inventory,
    user: User,
    caller: Caller,
    system: Caller,
    key: IssuedKey<UserApiKey>,
    daemon_key: IssuedKey<DaemonApiKey>,
    session: IssuedSession,
    share: ShareId,
    host: Host,
    /// A network and a tag without references.
    free_network: NetworkId,
    free_tag: TagId,
    /// A disabled user.
    disabled: UserId,
}

type Pending<'p> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'p>>;

/// A call of a method that has not begun yet.
struct Method<'p> {
    name: &'static str,
    call: Pending<'p>,
}

/// A method that changes a record, and the entity that its `Conflict` names. The id is `None` if the record is new.
struct Change<'p> {
    method: Method<'p>,
    subject: (Entity, Option<Uuid>),
}

fn method<'p, T>(name: &'static str, call: impl Future<Output = Result<T, Error>> + 'p) -> Method<'p> {
    Method { name, call: Box::pin(async { call.await.map(drop) }) }
}

fn change<'p, T>(
    name: &'static str,
    subject: (Entity, Option<Uuid>),
    call: impl Future<Output = Result<T, Error>> + 'p,
) -> Change<'p> {
    Change { method: method(name, call), subject }
}

impl Populated {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let (inventory, probe) = fixture.probed();
        let user = fixture.owner().await;
        let caller = in_person(&user);
        let key = fixture.user_key(&user, |new| new.network_ids = vec![fixture.network]).await;
        let daemon_key = fixture.daemon_key(|_| {}).await;
        let session = fixture.log_in(&user).await;
        fixture.by_key(&key).await.unwrap();
        settle().await;
        fixture.inventory.users().submit_referral(&caller, "reddit", None).await.unwrap();
        let mut share = NewShare::new("the office");
        share.password = Some(PASSWORD.to_owned());
        let share = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap().id;
        let mut host = bare_host(id(1), fixture.network);
        host.ports = vec![port(&host, PORT, 443, Protocol::Tcp)];
        fixture.put(&host).await;
        let free_network =
            fixture.inventory.networks().create(&fixture.system(), Network::new("free")).await.unwrap().id;
        fixture.user("grantee@example.net", Permission::Viewer, &[free_network]).await;
        let free_tag = fixture.tags[1];
        let system = Caller::system(fixture.organization);
        let disabled = fixture.user("disabled@example.net", Permission::Viewer, &[]).await.id;
        fixture.inventory.users().disable(&system, disabled).await.unwrap();
        Self {
            fixture,
            probe,
            inventory,
            user,
            caller,
            system,
            key,
            daemon_key,
            session,
            share,
            host,
            free_network,
            free_tag,
            disabled,
        }
    }

    /// The methods that change a record after reading it, or several records at once.
    fn changes(&self) -> Vec<Change<'_>> {
        let Self {
            fixture, inventory, user, caller, system, share, free_network, free_tag, disabled, ..
        } = self;
        let (organization, network, tags) = (fixture.organization, fixture.network, fixture.tags.to_vec());
        let (key, daemon_key) = (self.key.record(), self.daemon_key.record().id);
        let (of_user, of_key) =
            ((Entity::User, Some(user.id.uuid())), (Entity::UserApiKey, Some(key.id.uuid())));
        let of_daemon_key = (Entity::DaemonApiKey, Some(daemon_key.uuid()));
        let of_share = (Entity::Share, Some(share.uuid()));
        let password = || PASSWORD.to_owned();
        let new_daemon_key = || {
            let mut new = NewDaemonApiKey::new(network, "scanner");
            new.tags = tags.clone();
            new
        };
        let mut new_user = NewUser::new("b@example.net", Permission::Viewer);
        new_user.password = Some(password());
        new_user.network_ids = vec![network];
        let mut new_key = NewUserApiKey::new(user.id, "key", Permission::Viewer);
        new_key.network_ids = vec![network];
        new_key.tags = tags.clone();
        let mut new_share = NewShare::new("the office");
        new_share.network_id = Some(network);
        new_share.password = Some(password());
        let renumbered = PortUpdate::new(id(1), network, 8443.try_into().unwrap(), Protocol::Tcp);
        let rights = inventory.users().set_rights(system, user.id, Permission::Viewer, vec![network]);
        let rename = |key: &mut UserApiKey| {
            key.name.push('!');
            Ok(())
        };
        let as_user = inventory.daemon_api_keys().create(caller, new_daemon_key());
        #[cfg_attr(not(feature = "topology"), allow(unused_mut, reason = "there are no further changes"))]
        let mut changes = vec![
            change(
                "set_api_access",
                (Entity::Organization, Some(organization.uuid())),
                inventory.organizations().enable_api_access(organization),
            ),
            change(
                "delete_network",
                (Entity::Network, Some(free_network.uuid())),
                inventory.networks().delete(system, *free_network),
            ),
            change(
                "delete_tag",
                (Entity::Tag, Some(free_tag.uuid())),
                inventory.tags().delete(system, *free_tag),
            ),
            change("set_user_rights", of_user, rights),
            change(
                "enable user",
                (Entity::User, Some(disabled.uuid())),
                inventory.users().enable(system, *disabled),
            ),
            change("disable user", of_user, inventory.users().disable(system, user.id)),
            change(
                "set password",
                of_user,
                inventory.users().set_password(system, user.id, Some(password())),
            ),
            change("remove password", of_user, inventory.users().set_password(system, user.id, None)),
            change("end_sessions", of_user, inventory.users().end_sessions(system, user.id)),
            change("create_user", (Entity::User, None), inventory.users().create(system, new_user)),
            change("delete_user", of_user, inventory.users().delete(system, user.id)),
            change(
                "create_user_api_key",
                (Entity::UserApiKey, None),
                inventory.user_api_keys().create(system, new_key),
            ),
            change("disable key", of_key, inventory.user_api_keys().disable(system, key.id)),
            change("rotate_user_api_key", of_key, inventory.user_api_keys().rotate(system, key.id)),
            change("delete_user_api_key", of_key, inventory.user_api_keys().delete(system, key.id)),
            change("delete own key", of_key, inventory.user_api_keys().delete(caller, key.id)),
            change("update own key", of_key, inventory.records().update(caller, key.id, rename)),
            change(
                "create daemon key",
                (Entity::DaemonApiKey, None),
                inventory.daemon_api_keys().create(system, new_daemon_key()),
            ),
            change("create_daemon_api_key_as", (Entity::DaemonApiKey, None), as_user),
            change(
                "disable daemon key",
                of_daemon_key,
                inventory.daemon_api_keys().disable(system, daemon_key),
            ),
            change(
                "delete daemon key",
                of_daemon_key,
                inventory.daemon_api_keys().delete(system, daemon_key),
            ),
            change("create_share", (Entity::Share, None), inventory.shares().create(system, new_share)),
            change("disable share", of_share, inventory.shares().disable(system, *share)),
            change("delete_share", of_share, inventory.shares().delete(system, *share)),
            change("log_in", of_user, inventory.log_in(&user.email, password())),
            change("submit_referral", of_user, inventory.users().submit_referral(caller, "other", None)),
            change(
                "update_port",
                (Entity::Port, Some(PORT.uuid())),
                inventory.parts().replace(caller, PORT, renumbered),
            ),
        ];
        #[cfg(feature = "topology")]
        changes.push(change(
            "put_topology_layout_as",
            (Entity::TopologyLayout, Some(network.uuid())),
            inventory.topology().put_layout(caller, layout(network), |_| Ok(())),
        ));
        changes
    }

    /// All methods.
    fn methods(&self) -> Vec<Method<'_>> {
        let Self { fixture, inventory, user, share, host, .. } = self;
        let (organization, system) = (fixture.organization, &self.system);
        let (key, daemon_key) = (&self.key, &self.daemon_key);
        let other_name = || "another".to_owned();
        let as_daemon = async {
            match inventory.authenticate_user_key(daemon_key.plaintext()).await {
                Err(error) if *error.kind() == ErrorKind::UserContextRequired => Ok(()),
                other => other.map(drop),
            }
        };
        let hosts = async { inventory.hosts().list(&self.caller, &HostQuery::default()).await };
        let mut methods = vec![
            method("organization", inventory.organizations().get(organization)),
            method("organizations", inventory.organizations().all()),
            method("network", inventory.networks().get(system, fixture.network)),
            method("networks", inventory.networks().all(system)),
            method("tag", inventory.tags().get(system, fixture.tags[0])),
            method("tags", inventory.tags().all(system)),
            method("user", inventory.users().get(system, user.id)),
            method("users", inventory.users().all(system)),
            method("user_api_key", inventory.user_api_keys().get(system, key.record().id)),
            method("user_api_keys", inventory.user_api_keys().of_user(system, user.id)),
            method("daemon_api_key", inventory.daemon_api_keys().get(system, daemon_key.record().id)),
            method("daemon_api_keys", inventory.daemon_api_keys().all(system)),
            method("share", inventory.shares().get(system, *share)),
            method("shares", inventory.shares().all(system)),
            method("share_metadata", inventory.shares().metadata(*share)),
            method("verify_share_password", inventory.shares().verify_password(*share, PASSWORD.to_owned())),
            method("referrals", inventory.users().referrals(system)),
            method("host", inventory.hosts().get(system, host.id)),
            method("list_hosts", hosts),
            method("authenticate_user_key", inventory.authenticate_user_key(key.plaintext())),
            method("authenticate_daemon_key", inventory.authenticate_daemon_key(daemon_key.plaintext())),
            method("authenticate_session", inventory.authenticate_session(self.session.plaintext())),
            method("authenticate_user_key, of a daemon", as_daemon),
            method("purge_expired", inventory.purge_expired()),
            method("create_organization", inventory.organizations().create(other_name())),
            method("create_network", async move {
                inventory.networks().create(system, Network::new("another")).await
            }),
            method("create_tag", async move { inventory.tags().create(system, Tag::new("another")).await }),
            method("put_host", inventory.hosts().put(system, host.clone())),
            method("delete_host", inventory.hosts().delete(system, host.id)),
            method("log_out", inventory.log_out(self.session.plaintext())),
        ];
        methods.extend(self.changes().into_iter().map(|change| change.method));
        #[cfg(feature = "topology")]
        methods.extend(self.topology_methods());
        methods
    }

    #[cfg(feature = "topology")]
    fn topology_methods(&self) -> [Method<'_>; 3] {
        let (view, network) = (TopologyView::L2, self.fixture.network);
        let topologies = Topologies::new(self.inventory.clone());
        let spots = topologies.clone();
        let graph = async move { topologies.graph(&self.caller, network, GraphOptions::new(view)).await };
        [
            method("topology_layout_as", self.inventory.topology().layout(&self.caller, network, view)),
            method("graph", graph),
            method("blind_spots", async move { spots.blind_spots(&self.caller, network).await }),
        ]
    }
}

#[cfg(feature = "topology")]
fn layout(network_id: NetworkId) -> TopologyLayout {
    let positions = vec![NodePosition { id: id(1), x: 1.0, y: 2.0 }];
    TopologyLayout { network_id, view: TopologyView::L2, positions }
}

#[tokio::test]
async fn change_that_conflicts_at_every_attempt_reports_the_record_it_was_to_change() {
    let populated = Populated::new().await;
    let before = populated.fixture.contents().await;
    for index in 0..populated.changes().len() {
        for condition in 0..CONDITIONS {
            populated.probe.set(Fault::Unmet(condition));
            let Change { method, subject: (entity, id) } = populated.changes().swap_remove(index);
            let name = method.name;
            match refusal(method.call.await) {
                ErrorKind::Conflict { entity: found, id: found_id } => {
                    assert_eq!(found, entity, "{name}");
                    assert_eq!(found_id, id.unwrap_or(found_id), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
            assert!((1..=ATTEMPTS).contains(&populated.probe.commits()), "{name}");
        }
    }
    assert_eq!(populated.fixture.contents().await, before);
}

#[tokio::test]
async fn change_that_is_repeated_after_a_conflict_succeeds() {
    let count = Populated::new().await.changes().len();
    for index in 0..count {
        let populated = Populated::new().await;
        populated.probe.set(Fault::Unmet(0));
        refusal(populated.changes().swap_remove(index).method.call.await);
        populated.probe.set(Fault::None);
        populated.changes().swap_remove(index).method.call.await.unwrap();
    }
}

#[tokio::test]
async fn every_method_reports_an_unavailable_store_and_changes_nothing() {
    let populated = Populated::new().await;
    populated.probe.set(Fault::Unavailable);
    let before = populated.fixture.contents().await;
    for Method { name, call } in populated.methods() {
        assert_eq!(refusal(call.await), ErrorKind::StoreUnavailable, "{name}");
    }
    assert_eq!(populated.fixture.contents().await, before);
    populated.probe.set(Fault::None);
    populated.inventory.authenticate_session(populated.session.plaintext()).await.unwrap();
}

/// Each call of the store fails in turn, until the method makes no further call.
#[tokio::test]
async fn method_of_which_one_call_of_the_store_fails_changes_nothing() {
    let count = Populated::new().await.methods().len();
    for index in 0..count {
        let populated = Populated::new().await;
        let before = populated.fixture.contents().await;
        for failing in 0.. {
            populated.probe.set(Fault::UnavailableAt(failing));
            let Method { name, call } = populated.methods().swap_remove(index);
            let result = call.await;
            settle().await;
            let Err(error) = result else {
                assert!(failing > 0, "{name}");
                break;
            };
            assert_eq!(*error.kind(), ErrorKind::StoreUnavailable, "{name}");
            // A tag is deleted in several commits; the next attempt resumes the deletion.
            if name != "delete_tag" {
                assert_eq!(populated.fixture.contents().await, before, "{name}");
            }
        }
    }
}
