//! Deletion of a network or a tag while a concurrent task refers to it.

use toposcope::inventory::{
    Entity, Error, ErrorKind, Inventory, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey, UserApiKeyUpdate,
};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, at_every_call, bare_host, id, in_person, not_found, refusal, service};

/// A record that refers to a network or a tag: a new one, or one that is changed to do so.
#[derive(Clone, Copy, Debug)]
enum Referrer {
    Host,
    Service,
    Share,
    DaemonKey,
    NewUser,
    User,
    NewUserKey,
    UserKey,
}

/// The records that can refer to a network or a tag, and the entity that prevents its deletion.
const OF_NETWORKS: [(Referrer, Option<Entity>); 7] = [
    (Referrer::Host, Some(Entity::Host)),
    (Referrer::DaemonKey, Some(Entity::DaemonApiKey)),
    (Referrer::Share, Some(Entity::Share)),
    (Referrer::NewUser, None),
    (Referrer::User, None),
    (Referrer::NewUserKey, None),
    (Referrer::UserKey, None),
];
const OF_TAGS: [(Referrer, Option<Entity>); 5] = [
    (Referrer::Host, Some(Entity::Host)),
    (Referrer::Service, Some(Entity::Service)),
    (Referrer::NewUserKey, Some(Entity::UserApiKey)),
    (Referrer::UserKey, Some(Entity::UserApiKey)),
    (Referrer::DaemonKey, Some(Entity::DaemonApiKey)),
];

/// A network or a tag without references, and the records that will refer to it.
struct Target {
    entity: Entity,
    id: Uuid,
    name: &'static str,
    organization: Uuid,
    network: Uuid,
    granted: Vec<Uuid>,
    tags: Vec<Uuid>,
    user: User,
    key: UserApiKey,
}

impl Target {
    async fn new(fixture: &Fixture, entity: Entity) -> Self {
        let user = fixture.user("a@example.net", Permission::Admin, &[]).await;
        let key = fixture.user_key(&user, |_| {}).await.record().clone();
        let organization = fixture.organization;
        if entity == Entity::Network {
            let network = fixture.other_network;
            let (granted, tags) = (vec![network], vec![]);
            Self { entity, id: network, name: "Laboratory", organization, network, granted, tags, user, key }
        } else {
            let (network, tag) = (fixture.network, fixture.tags[0]);
            let (granted, tags) = (vec![], vec![tag]);
            Self { entity, id: tag, name: "first", organization, network, granted, tags, user, key }
        }
    }

    async fn delete(&self, inventory: &Inventory) -> Result<(), Error> {
        match self.entity {
            Entity::Network => inventory.delete_network(self.id).await,
            _ => inventory.delete_tag(self.id).await,
        }
    }

    async fn refer(&self, inventory: &Inventory, referrer: Referrer) -> Result<(), Error> {
        let (tags, granted) = (self.tags.clone(), self.granted.clone());
        let mut host = bare_host(id(1), self.network);
        match referrer {
            Referrer::Host => {
                host.tags = tags;
                inventory.put_host(self.organization, host).await.map(drop)
            }
            Referrer::Service => {
                let mut service = service(&host, id(2), "dns", 0);
                service.tags = tags;
                host.services = vec![service];
                inventory.put_host(self.organization, host).await.map(drop)
            }
            Referrer::Share => {
                let mut new = NewShare::new(self.organization, "the laboratory");
                new.network_id = Some(self.network);
                inventory.create_share(new).await.map(drop)
            }
            Referrer::DaemonKey => {
                let mut new = NewDaemonApiKey::new(self.network, "scanner");
                new.tags = tags;
                inventory.create_daemon_api_key(new).await.map(drop)
            }
            Referrer::NewUser => {
                let mut new = NewUser::new(self.organization, "b@example.net", Permission::Viewer);
                new.network_ids = granted;
                inventory.create_user(new).await.map(drop)
            }
            Referrer::User => {
                inventory.set_user_rights(self.user.id, Permission::Viewer, granted).await.map(drop)
            }
            Referrer::NewUserKey => {
                let mut new = NewUserApiKey::new(self.user.id, "key", Permission::Viewer);
                (new.network_ids, new.tags) = (granted, tags);
                inventory.create_user_api_key(new).await.map(drop)
            }
            Referrer::UserKey => {
                let mut update = UserApiKeyUpdate::new(self.organization, self.user.id, "key", tags);
                update.network_ids = Some(granted);
                let caller = in_person(&self.user);
                inventory.update_user_api_key_as(&caller, self.key.id, &update).await.map(drop)
            }
        }
    }

    /// Removes the only reference of the target.
    async fn release(&self, fixture: &Fixture, referrer: Referrer) -> Result<(), Error> {
        let inventory = &fixture.inventory;
        match referrer {
            // The host moves to another network and has no tags any more.
            Referrer::Host => {
                let network = if self.network == fixture.network { self.network } else { fixture.network };
                inventory.put_host(self.organization, bare_host(id(1), network)).await.map(drop)
            }
            Referrer::Service => inventory.delete_host(self.organization, id(1)).await,
            Referrer::Share => {
                let shares = inventory.shares(self.organization).await?;
                let share = shares.iter().find(|share| share.network_id.is_some()).expect("it is there");
                inventory.delete_share(share.id).await
            }
            Referrer::DaemonKey => {
                let key = inventory.daemon_api_keys(self.organization).await?[0].id;
                inventory.delete_daemon_api_key(key).await
            }
            // Keys are deleted with their user.
            _ => inventory.delete_user(self.user.id).await,
        }
    }

    /// Disables the share or the daemon's key that refers to the target.
    async fn disable(&self, inventory: &Inventory) -> Result<(), Error> {
        for share in inventory.shares(self.organization).await? {
            inventory.set_share_enabled(share.id, false).await?;
        }
        for key in inventory.daemon_api_keys(self.organization).await? {
            inventory.set_daemon_api_key_enabled(key.id, false).await?;
        }
        Ok(())
    }

    async fn exists(&self, inventory: &Inventory) -> bool {
        match self.entity {
            Entity::Network => inventory.network(self.id).await.is_ok(),
            _ => inventory.tag(self.id).await.is_ok(),
        }
    }

    /// Asserts that the target exists or is not referred to.
    async fn assert_no_dangling_reference(&self, fixture: &Fixture) {
        if !self.exists(&fixture.inventory).await {
            assert_eq!(fixture.mentioning(self.id).await, []);
        }
    }
}

fn cases() -> impl Iterator<Item = (Entity, Referrer, Option<Entity>)> {
    let networks = OF_NETWORKS.into_iter().map(|(referrer, holder)| (Entity::Network, referrer, holder));
    networks.chain(OF_TAGS.into_iter().map(|(referrer, holder)| (Entity::Tag, referrer, holder)))
}

#[tokio::test]
async fn network_or_tag_is_not_deleted_until_the_last_reference_is_removed() {
    for (entity, referrer, holder) in cases() {
        let Some(used_by) = holder else { continue };
        let fixture = Fixture::new().await;
        let target = Target::new(&fixture, entity).await;
        target.refer(&fixture.inventory, referrer).await.unwrap();
        fixture.inventory.create_share(NewShare::new(fixture.organization, "everything")).await.unwrap();
        let in_use = ErrorKind::InUse { entity, name: target.name.to_owned(), used_by };
        for _ in 0..2 {
            let refused = fixture.refusal(target.delete(&fixture.inventory)).await;
            assert_eq!(refused, in_use, "{entity:?}, {referrer:?}");
            target.disable(&fixture.inventory).await.unwrap();
        }
        target.release(&fixture, referrer).await.unwrap();
        target.delete(&fixture.inventory).await.unwrap();
        assert_eq!(fixture.mentioning(target.id).await, []);
    }
}

#[tokio::test]
async fn network_or_tag_that_is_referred_to_during_its_deletion_stays_or_its_grants_are_withdrawn() {
    for (entity, referrer, holder) in cases() {
        at_every_call(
            async |fixture: &Fixture| Target::new(fixture, entity).await,
            async |inventory, target| target.refer(inventory, referrer).await.unwrap(),
            async |inventory, target| target.delete(inventory).await,
            async |fixture, target, result| {
                target.assert_no_dangling_reference(fixture).await;
                let refused = result.err().map(|error| error.kind().clone());
                let name = target.name.to_owned();
                let in_use = holder.map(|used_by| ErrorKind::InUse { entity, name, used_by });
                assert_eq!(refused, in_use, "{entity:?}, {referrer:?}");
                assert_eq!(target.exists(&fixture.inventory).await, holder.is_some());
            },
        )
        .await;
    }
}

#[tokio::test]
async fn network_or_tag_that_is_deleted_while_being_referred_to_leaves_no_reference() {
    for (entity, referrer, holder) in cases() {
        at_every_call(
            async |fixture: &Fixture| Target::new(fixture, entity).await,
            // A later deletion finds it in use.
            async |inventory, target| target.delete(inventory).await.unwrap_or_default(),
            async |inventory, target| target.refer(inventory, referrer).await,
            async |fixture, target, result| {
                target.assert_no_dangling_reference(fixture).await;
                if target.exists(&fixture.inventory).await {
                    return result.unwrap();
                }
                // Grants are withdrawn if they were committed before the deletion.
                if holder.is_none() && result.is_ok() {
                    return;
                }
                let kind = refusal(result);
                if matches!((entity, referrer), (Entity::Network, Referrer::DaemonKey)) {
                    return assert_eq!(kind, not_found(entity, target.id));
                }
                let is_reported = match &kind {
                    ErrorKind::ReferenceInvalid { entity: missing, .. } => *missing == entity,
                    ErrorKind::NotFound { entity: missing, .. } => [entity, *missing] == [Entity::Network; 2],
                    _ => false,
                };
                assert!(is_reported, "{entity:?}, {referrer:?}: {kind:?}");
            },
        )
        .await;
    }
}

#[tokio::test]
async fn second_of_two_concurrent_deletions_finds_no_network_or_tag() {
    for entity in [Entity::Network, Entity::Tag] {
        at_every_call(
            async |fixture: &Fixture| Target::new(fixture, entity).await,
            async |inventory, target| target.delete(inventory).await.unwrap(),
            async |inventory, target| target.delete(inventory).await,
            async |fixture, target, result| {
                assert_eq!(refusal(result), not_found(entity, target.id));
                assert_eq!(fixture.mentioning(target.id).await, []);
            },
        )
        .await;
    }
}
