//! Tags: their lookup and their deletion.

use std::time::Duration;

use toposcope::inventory::Entity;
use uuid::Uuid;

use crate::support::{Fixture, bare_host, id, not_found, refusal};

#[tokio::test]
async fn tag_is_found_as_created() {
    let fixture = Fixture::new().await;
    fixture.clock.advance(Duration::from_secs(1));
    let tag = fixture.inventory.create_tag(fixture.organization, "third").await.unwrap();
    assert_eq!(fixture.inventory.tag(tag.id).await.unwrap(), tag);
}

#[tokio::test]
async fn tags_are_listed_by_name_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
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
async fn unknown_tag_is_neither_found_nor_deleted() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.network] {
        assert_eq!(refusal(fixture.inventory.tag(unknown).await), not_found(Entity::Tag, unknown));
        let attempt = fixture.inventory.delete_tag(unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Tag, unknown));
    }
}

#[tokio::test]
async fn deletion_of_an_unused_tag_changes_nothing_else() {
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
