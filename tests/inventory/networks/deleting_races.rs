//! Deleting a network while a concurrent task puts something on it or grants it.

use toposcope::inventory::{
    Entity, Error, ErrorKind, Inventory, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey, UserApiKeyUpdate,
};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, at_every_call, bare_host, id, in_person, not_found, refusal};

/// A concurrent operation that refers to the network.
#[derive(Clone, Copy, Debug)]
enum Deed {
    PutHost,
    CreateDaemonKey,
    CreateShare,
    CreateUser,
    GrantUser,
    CreateUserKey,
    GrantUserKey,
}

const DEEDS: [Deed; 7] = [
    Deed::PutHost,
    Deed::CreateDaemonKey,
    Deed::CreateShare,
    Deed::CreateUser,
    Deed::GrantUser,
    Deed::CreateUserKey,
    Deed::GrantUserKey,
];

/// An organization with a network that is not referred to yet.
#[derive(Clone)]
struct Scene {
    organization: Uuid,
    network: Uuid,
    user: User,
    key: UserApiKey,
}

impl Scene {
    async fn new(fixture: &Fixture) -> Self {
        let user = fixture.user("a@example.net", Permission::Admin, &[]).await;
        let key = fixture.user_key(&user, |_| {}).await.record().clone();
        Self { organization: fixture.organization, network: fixture.other_network, user, key }
    }

    async fn carry_out(&self, inventory: &Inventory, deed: Deed) -> Result<(), Error> {
        let network = self.network;
        match deed {
            Deed::PutHost => inventory.put_host(self.organization, bare_host(id(2), network)).await.map(drop),
            Deed::CreateDaemonKey => {
                inventory.create_daemon_api_key(NewDaemonApiKey::new(network, "scanner")).await.map(drop)
            }
            Deed::CreateShare => {
                let mut new = NewShare::new(self.organization, "the laboratory");
                new.network_id = Some(network);
                inventory.create_share(new).await.map(drop)
            }
            Deed::CreateUser => {
                let mut new = NewUser::new(self.organization, "b@example.net", Permission::Viewer);
                new.network_ids = vec![network];
                inventory.create_user(new).await.map(drop)
            }
            Deed::GrantUser => {
                let networks = vec![network];
                inventory.set_user_rights(self.user.id, Permission::Viewer, networks).await.map(drop)
            }
            Deed::CreateUserKey => {
                let mut new = NewUserApiKey::new(self.user.id, "key", Permission::Viewer);
                new.network_ids = vec![network];
                inventory.create_user_api_key(new).await.map(drop)
            }
            Deed::GrantUserKey => {
                let mut update = UserApiKeyUpdate::new(self.organization, self.user.id, "key", vec![]);
                update.network_ids = Some(vec![network]);
                let caller = in_person(&self.user);
                inventory.update_user_api_key_as(&caller, self.key.id, &update).await.map(drop)
            }
        }
    }

    /// Asserts that the network exists or is not referred to.
    async fn assert_is_whole(&self, fixture: &Fixture) {
        if fixture.inventory.network(self.network).await.is_err() {
            assert_eq!(fixture.mentioning(self.network).await, []);
        }
    }
}

#[tokio::test]
async fn a_network_that_comes_into_use_while_it_is_deleted_stays_or_is_withdrawn() {
    for deed in DEEDS {
        at_every_call(
            async |fixture: &Fixture| Scene::new(fixture).await,
            async |inventory, scene| scene.carry_out(&inventory, deed).await.unwrap(),
            async |inventory, scene| inventory.delete_network(scene.network).await,
            async |fixture, scene, result| {
                scene.assert_is_whole(fixture).await;
                let occupant = match deed {
                    Deed::PutHost => Some(Entity::Host),
                    Deed::CreateDaemonKey => Some(Entity::DaemonApiKey),
                    Deed::CreateShare => Some(Entity::Share),
                    _ => None,
                };
                let name = "Laboratory".to_owned();
                let refused = result.err().map(|error| error.kind().clone());
                let expected =
                    occupant.map(|used_by| ErrorKind::InUse { entity: Entity::Network, name, used_by });
                assert_eq!(refused, expected, "{deed:?}");
            },
        )
        .await;
    }
}

#[tokio::test]
async fn whoever_refers_to_a_network_that_is_deleted_meanwhile_is_refused_or_loses_it() {
    for deed in DEEDS {
        at_every_call(
            async |fixture: &Fixture| Scene::new(fixture).await,
            async |inventory, scene| {
                let network = scene.network;
                // A later deletion finds it in use.
                inventory.delete_network(network).await.unwrap_or_default()
            },
            async |inventory, scene| scene.carry_out(&inventory, deed).await,
            async |fixture, scene, result| {
                scene.assert_is_whole(fixture).await;
                if let Err(error) = result {
                    let is_told = matches!(
                        error.kind(),
                        ErrorKind::ReferenceInvalid { entity: Entity::Network, .. }
                            | ErrorKind::NotFound { entity: Entity::Network, .. }
                    );
                    assert!(is_told, "{deed:?}: {error}");
                }
            },
        )
        .await;
    }
}

#[tokio::test]
async fn of_two_who_delete_a_network_at_once_one_finds_it_gone() {
    at_every_call(
        async |fixture: &Fixture| Scene::new(fixture).await,
        async |inventory, scene| inventory.delete_network(scene.network).await.unwrap(),
        async |inventory, scene| inventory.delete_network(scene.network).await,
        async |fixture, scene, result| {
            assert_eq!(refusal(result), not_found(Entity::Network, scene.network));
            scene.assert_is_whole(fixture).await;
        },
    )
    .await;
}
