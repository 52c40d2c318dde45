//! Deletion of networks and tags, and records that refer to them.

use toposcope::access::Caller;
use toposcope::inventory::{
    Entity, Error, ErrorKind, Inventory, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey,
};
use toposcope::model::{Network, NetworkId, OrganizationId, Permission, Tag, TagId, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, at_every_call, bare_host, id, in_person, not_found, refusal, service, time};

/// A record that refers to a network or a tag. It is either new, or an existing record that is changed to do so.
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

/// The records that can refer to a network, and the entity that prevents its deletion.
const OF_NETWORKS: [(Referrer, Option<Entity>); 7] = [
    (Referrer::Host, Some(Entity::Host)),
    (Referrer::DaemonKey, Some(Entity::DaemonApiKey)),
    (Referrer::Share, Some(Entity::Share)),
    (Referrer::NewUser, None),
    (Referrer::User, None),
    (Referrer::NewUserKey, None),
    (Referrer::UserKey, None),
];
/// The records that can have a tag, which its deletion removes from them.
const OF_TAGS: [Referrer; 5] =
    [Referrer::Host, Referrer::Service, Referrer::NewUserKey, Referrer::UserKey, Referrer::DaemonKey];

/// A network or a tag without references, and the records that will refer to it.
struct Target {
    entity: Entity,
    id: Uuid,
    name: &'static str,
    organization: OrganizationId,
    network: NetworkId,
    granted: Vec<NetworkId>,
    tags: Vec<TagId>,
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
            Self {
                entity,
                id: network.uuid(),
                name: "Laboratory",
                organization,
                network,
                granted,
                tags,
                user,
                key,
            }
        } else {
            let (network, tag) = (fixture.network, fixture.tags[0]);
            let (granted, tags) = (vec![], vec![tag]);
            Self { entity, id: tag.uuid(), name: "first", organization, network, granted, tags, user, key }
        }
    }

    async fn delete(&self, inventory: &Inventory) -> Result<(), Error> {
        match self.entity {
            Entity::Network => {
                inventory.networks().delete(&Caller::system(self.organization), self.id.into()).await
            }
            _ => inventory.tags().delete(&Caller::system(self.organization), self.id.into()).await,
        }
    }

    async fn refer(&self, inventory: &Inventory, referrer: Referrer) -> Result<(), Error> {
        let (tags, granted) = (self.tags.clone(), self.granted.clone());
        let mut host = bare_host(id(1), self.network);
        match referrer {
            Referrer::Host => {
                host.tags = tags;
                inventory.hosts().put(&Caller::system(self.organization), host).await.map(drop)
            }
            Referrer::Service => {
                let mut service = service(&host, id(2), "dns", 0);
                service.tags = tags;
                host.services = vec![service];
                inventory.hosts().put(&Caller::system(self.organization), host).await.map(drop)
            }
            Referrer::Share => {
                let mut new = NewShare::new("the laboratory");
                new.network_id = Some(self.network);
                inventory.shares().create(&Caller::system(self.organization), new).await.map(drop)
            }
            Referrer::DaemonKey => {
                let mut new = NewDaemonApiKey::new(self.network, "scanner");
                new.tags = tags;
                inventory.daemon_api_keys().create(&Caller::system(self.organization), new).await.map(drop)
            }
            Referrer::NewUser => {
                let mut new = NewUser::new("b@example.net", Permission::Viewer);
                new.network_ids = granted;
                inventory.users().create(&Caller::system(self.organization), new).await.map(drop)
            }
            Referrer::User => inventory
                .users()
                .set_rights(
                    &Caller::system(self.user.organization_id),
                    self.user.id,
                    Permission::Viewer,
                    granted,
                )
                .await
                .map(drop),
            Referrer::NewUserKey => {
                let mut new = NewUserApiKey::new(self.user.id, "key", Permission::Viewer);
                (new.network_ids, new.tags) = (granted, tags);
                inventory
                    .user_api_keys()
                    .create(&Caller::system(self.user.organization_id), new)
                    .await
                    .map(drop)
            }
            Referrer::UserKey => {
                let refer = |key: &mut UserApiKey| {
                    (key.network_ids, key.tags) = (granted.clone(), tags.clone());
                    Ok(())
                };
                inventory.records().update(&in_person(&self.user), self.key.id, refer).await.map(drop)
            }
        }
    }

    /// Removes the only reference of the network.
    async fn release(&self, fixture: &Fixture, referrer: Referrer) -> Result<(), Error> {
        let inventory = &fixture.inventory;
        match referrer {
            // The host moves to another network.
            Referrer::Host => inventory
                .hosts()
                .put(&Caller::system(self.organization), bare_host(id(1), fixture.network))
                .await
                .map(drop),
            Referrer::Share => {
                let shares = inventory.shares().all(&Caller::system(self.organization)).await?;
                let share = shares.iter().find(|share| share.network_id.is_some()).expect("it is there");
                inventory.shares().delete(&Caller::system(share.organization_id), share.id).await
            }
            Referrer::DaemonKey => {
                let key = inventory.daemon_api_keys().all(&Caller::system(self.organization)).await?[0].id;
                inventory.daemon_api_keys().delete(&fixture.system(), key).await
            }
            _ => panic!("{referrer:?} keeps no network"),
        }
    }

    /// Disables the share or the daemon's key that refers to the target.
    async fn disable(&self, inventory: &Inventory) -> Result<(), Error> {
        for share in inventory.shares().all(&Caller::system(self.organization)).await? {
            inventory.shares().disable(&Caller::system(share.organization_id), share.id).await?;
        }
        for key in inventory.daemon_api_keys().all(&Caller::system(self.organization)).await? {
            inventory.daemon_api_keys().disable(&Caller::system(self.organization), key.id).await?;
        }
        Ok(())
    }

    async fn exists(&self, inventory: &Inventory) -> bool {
        match self.entity {
            Entity::Network => {
                inventory.networks().get(&Caller::system(self.organization), self.id.into()).await.is_ok()
            }
            _ => inventory.tags().get(&Caller::system(self.organization), self.id.into()).await.is_ok(),
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
    networks.chain(OF_TAGS.into_iter().map(|referrer| (Entity::Tag, referrer, None)))
}

#[tokio::test]
async fn unknown_network_or_tag_is_neither_found_nor_deleted() {
    let fixture = Fixture::new().await;
    let (inventory, organization) = (&fixture.inventory, fixture.organization);
    for unknown in [id(7), organization.uuid().into(), fixture.tags[0].uuid().into()] {
        let expected = not_found(Entity::Network, unknown);
        assert_eq!(refusal(inventory.networks().get(&Caller::system(organization), unknown).await), expected);
        assert_eq!(
            fixture.refusal(inventory.networks().delete(&Caller::system(organization), unknown)).await,
            expected
        );
    }
    for unknown in [id(7), organization.uuid().into(), fixture.network.uuid().into()] {
        let expected = not_found(Entity::Tag, unknown);
        assert_eq!(refusal(inventory.tags().get(&Caller::system(organization), unknown).await), expected);
        assert_eq!(
            fixture.refusal(inventory.tags().delete(&Caller::system(organization), unknown)).await,
            expected
        );
    }
}

#[tokio::test]
async fn deletion_of_an_unused_network_or_tag_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let (inventory, organization) = (&fixture.inventory, fixture.organization);
    let mut host = bare_host(id(1), fixture.network);
    host.tags = fixture.tags.to_vec();
    fixture.put(&host).await;
    fixture.daemon_key(|_| {}).await;
    let before = fixture.contents().await;
    let network = inventory
        .networks()
        .create(&Caller::system(organization), Network::new("short-lived"))
        .await
        .unwrap()
        .id;
    let tag =
        inventory.tags().create(&Caller::system(organization), Tag::new("short-lived")).await.unwrap().id;
    inventory.networks().delete(&Caller::system(organization), network).await.unwrap();
    inventory.tags().delete(&Caller::system(organization), tag).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    assert_eq!(inventory.networks().all(&Caller::system(organization)).await.unwrap().len(), 2);
    assert_eq!(
        refusal(inventory.networks().get(&Caller::system(organization), network).await),
        not_found(Entity::Network, network)
    );
    assert_eq!(
        refusal(inventory.tags().get(&Caller::system(organization), tag).await),
        not_found(Entity::Tag, tag)
    );
    assert_eq!(
        refusal(inventory.networks().delete(&Caller::system(organization), network).await),
        not_found(Entity::Network, network)
    );
    assert_eq!(
        refusal(inventory.tags().delete(&Caller::system(organization), tag).await),
        not_found(Entity::Tag, tag)
    );
}

#[tokio::test]
async fn network_is_not_deleted_until_the_last_reference_is_removed() {
    for (entity, referrer, holder) in cases() {
        let Some(used_by) = holder else { continue };
        let fixture = Fixture::new().await;
        let target = Target::new(&fixture, entity).await;
        target.refer(&fixture.inventory, referrer).await.unwrap();
        fixture.inventory.shares().create(&fixture.system(), NewShare::new("everything")).await.unwrap();
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
async fn network_or_tag_that_is_referred_to_during_its_deletion_stays_or_the_reference_is_removed() {
    for (entity, referrer, holder) in cases() {
        at_every_call(
            async |fixture: &Fixture| Target::new(fixture, entity).await,
            // A tag cannot be used once its deletion has begun.
            async |inventory, target| {
                let referred = target.refer(inventory, referrer).await;
                assert!(entity == Entity::Tag || referred.is_ok());
            },
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
async fn two_concurrent_deletions_delete_a_network_or_tag_once() {
    for entity in [Entity::Network, Entity::Tag] {
        at_every_call(
            async |fixture: &Fixture| Target::new(fixture, entity).await,
            async |inventory, target| target.delete(inventory).await.unwrap(),
            async |inventory, target| target.delete(inventory).await,
            async |fixture, target, result| {
                // The second deletion of a tag may have completed the first one.
                if entity == Entity::Network || result.is_err() {
                    assert_eq!(refusal(result), not_found(entity, target.id));
                }
                assert_eq!(fixture.mentioning(target.id).await, []);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn deletion_of_a_network_withdraws_it_from_users_and_keys() {
    let fixture = Fixture::new().await;
    let third =
        fixture.inventory.networks().create(&fixture.system(), Network::new("third")).await.unwrap().id;
    let networks = [fixture.network, third, fixture.other_network];
    let mut people: Vec<(User, UserApiKey)> = Vec::new();
    for level in [Permission::Viewer, Permission::Member, Permission::Owner] {
        let user = fixture.user(&format!("{level}@example.net"), level, &networks).await;
        let issued = fixture.user_key(&user, |new| {
            new.network_ids = networks.to_vec();
            new.tags = fixture.tags.to_vec();
        });
        let key = issued.await.record().clone();
        people.push((user, key));
    }
    let other = fixture.user("other@example.net", Permission::Viewer, &[fixture.network]).await;
    let others = fixture.user_key(&other, |new| new.network_ids = vec![fixture.network]).await;
    let updated_at = time("2026-08-15T00:00:00Z");
    fixture.clock.set(updated_at);
    fixture.inventory.networks().delete(&fixture.system(), third).await.unwrap();
    assert_eq!(fixture.mentioning(third).await, []);
    assert_eq!(
        fixture.inventory.users().get(&Caller::system(other.organization_id), other.id).await.unwrap(),
        other
    );
    assert_eq!(
        &fixture
            .inventory
            .user_api_keys()
            .get(&Caller::system(others.record().organization_id), others.record().id)
            .await
            .unwrap(),
        others.record()
    );
    for (user, key) in people {
        let network_ids = vec![fixture.network, fixture.other_network];
        let found =
            fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap();
        assert_eq!(found, User { network_ids: network_ids.clone(), updated_at, ..user });
        let found = fixture
            .inventory
            .user_api_keys()
            .get(&Caller::system(key.organization_id), key.id)
            .await
            .unwrap();
        assert_eq!(found, UserApiKey { network_ids, updated_at, ..key });
    }
}

#[tokio::test]
async fn withdrawn_grant_leaves_users_keys_and_sessions_otherwise_unchanged() {
    let fixture = Fixture::new().await;
    let third =
        fixture.inventory.networks().create(&fixture.system(), Network::new("third")).await.unwrap().id;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network, third]).await;
    let disabled = fixture.user("b@example.net", Permission::Member, &[third]).await;
    fixture.inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    let key = fixture.user_key(&user, |new| new.network_ids = vec![third, fixture.network]).await;
    let switched_off = fixture.user_key(&user, |new| new.network_ids = vec![third]).await;
    fixture
        .inventory
        .user_api_keys()
        .disable(&Caller::system(switched_off.record().organization_id), switched_off.record().id)
        .await
        .unwrap();
    let session = fixture.log_in(&user).await;
    fixture.inventory.networks().delete(&fixture.system(), third).await.unwrap();
    let by_key = fixture.by_key(&key).await.unwrap();
    assert_eq!(by_key.scope().networks(), Some(&[fixture.network][..]));
    let in_person = fixture.by_session(&session).await.unwrap();
    assert_eq!(in_person.scope().networks(), Some(&[fixture.network][..]));
    let refused = fixture.by_key(&switched_off).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
    fixture.try_log_in(&disabled.email).await.unwrap_err();
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn empty_network_is_deleted_whatever_other_networks_contain() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.hosts().put(&foreign.system(), bare_host(id(1), foreign.network)).await.unwrap();
    fixture.put(&bare_host(id(2), fixture.network)).await;
    fixture.inventory.networks().delete(&fixture.system(), fixture.other_network).await.unwrap();
    assert!(fixture.inventory.networks().delete(&foreign.system(), foreign.network).await.is_err());
}
