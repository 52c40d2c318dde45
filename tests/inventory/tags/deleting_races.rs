//! Deleting a tag while a concurrent task assigns it.

use toposcope::inventory::{
    Entity, Error, ErrorKind, Inventory, NewDaemonApiKey, NewUserApiKey, UserApiKeyUpdate,
};
use toposcope::model::{Host, Permission, Service, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, at_every_call, bare_host, id, in_person, not_found, refusal, service};

const BEARERS: [Bearer; 5] =
    [Bearer::Host, Bearer::Service, Bearer::NewUserKey, Bearer::UserKey, Bearer::DaemonKey];

#[derive(Clone, Copy, Debug)]
enum Bearer {
    Host,
    Service,
    NewUserKey,
    UserKey,
    DaemonKey,
}

impl Bearer {
    const fn entity(self) -> Entity {
        match self {
            Self::Host => Entity::Host,
            Self::Service => Entity::Service,
            Self::NewUserKey | Self::UserKey => Entity::UserApiKey,
            Self::DaemonKey => Entity::DaemonApiKey,
        }
    }
}

#[derive(Clone)]
struct Scene {
    organization: Uuid,
    network: Uuid,
    tag: Uuid,
    user: User,
    key: UserApiKey,
}

impl Scene {
    async fn new(fixture: &Fixture) -> Self {
        let user = fixture.owner().await;
        let key = fixture.user_key(&user, |_| {}).await.record().clone();
        let (organization, network) = (fixture.organization, fixture.network);
        Self { organization, network, tag: fixture.tags[0], user, key }
    }

    async fn put_tag_on(&self, inventory: &Inventory, bearer: Bearer) -> Result<(), Error> {
        let tags = vec![self.tag];
        match bearer {
            Bearer::Host => {
                let mut host = bare_host(id(1), self.network);
                host.tags = tags;
                inventory.put_host(self.organization, host).await.map(drop)
            }
            Bearer::Service => {
                let mut host = bare_host(id(1), self.network);
                let mut service = service(&host, id(2), "dns", 0);
                service.tags = tags;
                host.services = vec![service];
                inventory.put_host(self.organization, host).await.map(drop)
            }
            Bearer::NewUserKey => {
                let mut new = NewUserApiKey::new(self.user.id, "key", Permission::Viewer);
                new.tags = tags;
                inventory.create_user_api_key(new).await.map(drop)
            }
            Bearer::UserKey => {
                let update = UserApiKeyUpdate::new(self.organization, self.user.id, "key", tags);
                let caller = in_person(&self.user);
                inventory.update_user_api_key_as(&caller, self.key.id, &update).await.map(drop)
            }
            Bearer::DaemonKey => {
                let mut new = NewDaemonApiKey::new(self.network, "scanner");
                new.tags = tags;
                inventory.create_daemon_api_key(new).await.map(drop)
            }
        }
    }
}

#[tokio::test]
async fn a_tag_that_is_put_on_something_while_it_is_deleted_stays() {
    for bearer in BEARERS {
        at_every_call(
            async |fixture: &Fixture| Scene::new(fixture).await,
            async |inventory, scene| scene.put_tag_on(&inventory, bearer).await.unwrap(),
            async |inventory, scene| inventory.delete_tag(scene.tag).await,
            async |fixture, scene, result| {
                let (name, used_by) = ("first".to_owned(), bearer.entity());
                let in_use = ErrorKind::InUse { entity: Entity::Tag, name, used_by };
                assert_eq!(refusal(result), in_use);
                fixture.inventory.tag(scene.tag).await.unwrap();
            },
        )
        .await;
    }
}

#[tokio::test]
async fn a_tag_that_is_deleted_meanwhile_is_put_on_nothing() {
    for bearer in BEARERS {
        at_every_call(
            async |fixture: &Fixture| Scene::new(fixture).await,
            async |inventory, scene| {
                let tag = scene.tag;
                // A later deletion finds it in use.
                inventory.delete_tag(tag).await.unwrap_or_default()
            },
            async |inventory, scene| scene.put_tag_on(&inventory, bearer).await,
            async |fixture, scene, result| {
                if fixture.inventory.tag(scene.tag).await.is_ok() {
                    return result.unwrap();
                }
                assert_eq!(fixture.mentioning(scene.tag).await, []);
                let kind = refusal(result);
                let is_told = matches!(kind, ErrorKind::ReferenceInvalid { entity: Entity::Tag, .. });
                assert!(is_told, "{bearer:?}: {kind:?}");
            },
        )
        .await;
    }
}

#[tokio::test]
async fn of_two_who_delete_a_tag_at_once_one_finds_it_gone() {
    at_every_call(
        async |fixture: &Fixture| fixture.tags[0],
        async |inventory, tag| inventory.delete_tag(*tag).await.unwrap(),
        async |inventory, tag| inventory.delete_tag(*tag).await,
        async |fixture, tag, result| {
            assert_eq!(refusal(result), not_found(Entity::Tag, *tag));
            assert_eq!(fixture.mentioning(*tag).await, []);
        },
    )
    .await;
}
