//! Tags: their lookup and their deletion.

mod deleting_races;

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind};
use uuid::Uuid;

use crate::support::{World, bare_host, id, not_found, refusal, service_named};

fn in_use(used_by: Entity) -> ErrorKind {
    ErrorKind::InUse { entity: Entity::Tag, name: "first".to_owned(), used_by }
}

#[tokio::test]
async fn a_tag_is_found_as_created() {
    let world = World::new().await;
    world.clock.advance(Duration::from_secs(1));
    let tag = world.inventory.create_tag(world.organization, "third").await.unwrap();
    assert_eq!(world.inventory.tag(tag.id).await.unwrap(), tag);
}

#[tokio::test]
async fn tags_are_listed_by_name_for_their_organization_alone() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    for name in ["Zoo", "annex", "first", "\u{c4}"] {
        world.inventory.create_tag(world.organization, name).await.unwrap();
    }
    let list = async |organization| -> Vec<(String, Uuid)> {
        let tags = world.inventory.tags(organization).await.unwrap();
        tags.into_iter().map(|tag| (tag.name, tag.id)).collect()
    };
    let names: Vec<String> = list(world.organization).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Zoo", "annex", "first", "first", "second", "\u{c4}"]);
    assert!(list(world.organization).await.is_sorted(), "by code point, and by id where names are the same");
    assert_eq!(list(foreign.organization).await, [("theirs".to_owned(), foreign.tag)]);
    assert!(list(id(9)).await.is_empty());
}

#[tokio::test]
async fn an_unknown_tag_is_neither_found_nor_deleted() {
    let world = World::new().await;
    for unknown in [id(7), world.network] {
        assert_eq!(refusal(world.inventory.tag(unknown).await), not_found(Entity::Tag, unknown));
        let attempt = world.inventory.delete_tag(unknown);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::Tag, unknown));
    }
}

#[tokio::test]
async fn a_tag_that_nothing_bears_is_deleted_and_nothing_else() {
    let world = World::new().await;
    let mut host = bare_host(id(1), world.network);
    host.tags = world.tags.to_vec();
    world.put(&host).await;
    let before = world.store.contents().await;
    let tag = world.inventory.create_tag(world.organization, "first").await.unwrap().id;
    world.inventory.delete_tag(tag).await.unwrap();
    assert_eq!(world.store.contents().await, before);
    assert_eq!(refusal(world.inventory.tag(tag).await), not_found(Entity::Tag, tag));
    assert_eq!(world.refusal(world.inventory.delete_tag(tag)).await, not_found(Entity::Tag, tag));
}

#[tokio::test]
async fn a_tag_stays_while_a_host_or_a_service_of_one_bears_it() {
    let world = World::new().await;
    let tag = world.tags[0];
    let mut host = bare_host(id(1), world.network);
    host.tags = world.tags.to_vec();
    world.put(&host).await;
    assert_eq!(world.refusal(world.inventory.delete_tag(tag)).await, in_use(Entity::Host));
    host.tags = vec![world.tags[1]];
    let mut service = service_named(&host, id(2), "dns");
    service.tags = world.tags.to_vec();
    host.services = vec![service];
    world.put(&host).await;
    assert_eq!(world.refusal(world.inventory.delete_tag(tag)).await, in_use(Entity::Service));
    host.services[0].tags.remove(0);
    world.put(&host).await;
    world.inventory.delete_tag(tag).await.unwrap();
    world.inventory.delete_host(world.organization, host.id).await.unwrap();
    world.inventory.delete_tag(world.tags[1]).await.unwrap();
}

#[tokio::test]
async fn a_tag_stays_while_a_key_bears_it() {
    let world = World::new().await;
    let tag = world.tags[0];
    let owner = world.owner().await;
    let key = world.user_key(&owner, |new| new.tags = world.tags.to_vec()).await.record().id;
    assert_eq!(world.refusal(world.inventory.delete_tag(tag)).await, in_use(Entity::UserApiKey));
    world.inventory.delete_user_api_key(key).await.unwrap();
    let key = world.daemon_key(|new| new.tags = world.tags.to_vec()).await.record().id;
    assert_eq!(world.refusal(world.inventory.delete_tag(tag)).await, in_use(Entity::DaemonApiKey));
    world.inventory.delete_daemon_api_key(key).await.unwrap();
    world.inventory.delete_tag(tag).await.unwrap();
}

#[tokio::test]
async fn a_tag_is_free_when_the_user_is_gone_whose_key_bore_it() {
    let world = World::new().await;
    let owner = world.owner().await;
    world.user_key(&owner, |new| new.tags = world.tags.to_vec()).await;
    world.inventory.delete_user(owner.id).await.unwrap();
    for tag in world.tags {
        world.inventory.delete_tag(tag).await.unwrap();
        assert_eq!(world.store.mentioning(tag).await, []);
    }
}
