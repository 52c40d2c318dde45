//! Tags: their lookup and their deletion.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind};
use uuid::Uuid;

use crate::support::{Fixture, bare_host, id, not_found, refusal, service};

fn in_use(used_by: Entity) -> ErrorKind {
    ErrorKind::InUse { entity: Entity::Tag, name: "first".to_owned(), used_by }
}

#[tokio::test]
async fn a_tag_is_found_as_created() {
    let fixture = Fixture::new().await;
    fixture.clock.advance(Duration::from_secs(1));
    let tag = fixture.inventory.create_tag(fixture.organization, "third").await.unwrap();
    assert_eq!(fixture.inventory.tag(tag.id).await.unwrap(), tag);
}

#[tokio::test]
async fn tags_are_listed_by_name_for_their_organization_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    for name in ["Zoo", "annex", "first", "\u{c4}"] {
        fixture.inventory.create_tag(fixture.organization, name).await.unwrap();
    }
    let list = async |organization| -> Vec<(String, Uuid)> {
        let tags = fixture.inventory.tags(organization).await.unwrap();
        tags.into_iter().map(|tag| (tag.name, tag.id)).collect()
    };
    let names: Vec<String> = list(fixture.organization).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Zoo", "annex", "first", "first", "second", "\u{c4}"]);
    assert!(
        list(fixture.organization).await.is_sorted(),
        "by code point, and by id where names are the same"
    );
    assert_eq!(list(foreign.organization).await, [("theirs".to_owned(), foreign.tag)]);
    assert!(list(id(9)).await.is_empty());
}

#[tokio::test]
async fn an_unknown_tag_is_neither_found_nor_deleted() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.network] {
        assert_eq!(refusal(fixture.inventory.tag(unknown).await), not_found(Entity::Tag, unknown));
        let attempt = fixture.inventory.delete_tag(unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Tag, unknown));
    }
}

#[tokio::test]
async fn a_tag_that_nothing_bears_is_deleted_and_nothing_else() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.tags = fixture.tags.to_vec();
    fixture.put(&host).await;
    let before = fixture.contents().await;
    let tag = fixture.inventory.create_tag(fixture.organization, "first").await.unwrap().id;
    fixture.inventory.delete_tag(tag).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    assert_eq!(refusal(fixture.inventory.tag(tag).await), not_found(Entity::Tag, tag));
    assert_eq!(fixture.refusal(fixture.inventory.delete_tag(tag)).await, not_found(Entity::Tag, tag));
}

#[tokio::test]
async fn a_tag_stays_while_a_host_or_a_service_of_one_bears_it() {
    let fixture = Fixture::new().await;
    let tag = fixture.tags[0];
    let mut host = bare_host(id(1), fixture.network);
    host.tags = fixture.tags.to_vec();
    fixture.put(&host).await;
    assert_eq!(fixture.refusal(fixture.inventory.delete_tag(tag)).await, in_use(Entity::Host));
    host.tags = vec![fixture.tags[1]];
    let mut service = service(&host, id(2), "dns", 0);
    service.tags = fixture.tags.to_vec();
    host.services = vec![service];
    fixture.put(&host).await;
    assert_eq!(fixture.refusal(fixture.inventory.delete_tag(tag)).await, in_use(Entity::Service));
    host.services[0].tags.remove(0);
    fixture.put(&host).await;
    fixture.inventory.delete_tag(tag).await.unwrap();
    fixture.inventory.delete_host(fixture.organization, host.id).await.unwrap();
    fixture.inventory.delete_tag(fixture.tags[1]).await.unwrap();
}

#[tokio::test]
async fn a_tag_stays_while_a_key_bears_it() {
    let fixture = Fixture::new().await;
    let tag = fixture.tags[0];
    let owner = fixture.owner().await;
    let key = fixture.user_key(&owner, |new| new.tags = fixture.tags.to_vec()).await.record().id;
    assert_eq!(fixture.refusal(fixture.inventory.delete_tag(tag)).await, in_use(Entity::UserApiKey));
    fixture.inventory.delete_user_api_key(key).await.unwrap();
    let key = fixture.daemon_key(|new| new.tags = fixture.tags.to_vec()).await.record().id;
    assert_eq!(fixture.refusal(fixture.inventory.delete_tag(tag)).await, in_use(Entity::DaemonApiKey));
    fixture.inventory.delete_daemon_api_key(key).await.unwrap();
    fixture.inventory.delete_tag(tag).await.unwrap();
}

#[tokio::test]
async fn a_tag_is_free_when_the_user_is_gone_whose_key_bore_it() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    fixture.user_key(&owner, |new| new.tags = fixture.tags.to_vec()).await;
    fixture.inventory.delete_user(owner.id).await.unwrap();
    for tag in fixture.tags {
        fixture.inventory.delete_tag(tag).await.unwrap();
        assert_eq!(fixture.mentioning(tag).await, []);
    }
}
