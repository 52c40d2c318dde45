//! Updates of a user's key that are refused.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, Problem, UserApiKeyUpdate};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{
    Fixture, LEVELS, access_denied, id, in_person, invalid, not_found, reference_invalid, refusal,
    through_a_key,
};

/// A Member with the first network, and a key without any networks or rights.
struct Scene {
    fixture: Fixture,
    user: User,
    key: UserApiKey,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
        let key = fixture.user_key(&user, |_| {}).await.record().clone();
        Self { fixture, user, key }
    }

    fn update(&self) -> UserApiKeyUpdate {
        UserApiKeyUpdate::new(self.key.organization_id, self.key.user_id, "renamed", vec![])
    }

    /// Returns why a caller may not change the key like this.
    async fn refusal(&self, caller: &Caller, adapt: impl FnOnce(&mut UserApiKeyUpdate)) -> ErrorKind {
        let mut update = self.update();
        adapt(&mut update);
        let attempt = self.fixture.inventory.update_user_api_key_as(caller, self.key.id, &update);
        self.fixture.refusal(attempt).await
    }

    /// Returns why the key's own user may not.
    async fn refusal_of_own(&self, adapt: impl FnOnce(&mut UserApiKeyUpdate)) -> ErrorKind {
        self.refusal(&in_person(&self.user), adapt).await
    }
}

#[tokio::test]
async fn a_key_changes_no_key_whatever_is_asked_for() {
    let scene = Scene::new().await;
    let caller = through_a_key(&scene.user);
    assert_eq!(scene.refusal(&caller, |_| {}).await, ErrorKind::UserContextRequired);
    let refused = scene.refusal(&caller, |update| update.name.clear()).await;
    assert_eq!(refused, ErrorKind::UserContextRequired);
}

#[tokio::test]
async fn a_new_name_has_one_to_a_hundred_characters() {
    let scene = Scene::new().await;
    for (name, problem) in [
        (String::new(), Problem::Empty),
        (" \u{2003}\t".to_owned(), Problem::Empty),
        ("🦀".repeat(101), Problem::MaxLength { max: 100 }),
    ] {
        let refused = scene.refusal_of_own(|update| update.name = name).await;
        assert_eq!(refused, invalid("name", problem));
    }
}

#[tokio::test]
async fn a_key_that_is_not_the_callers_own_is_not_found() {
    let scene = Scene::new().await;
    let foreign = scene.fixture.foreign().await;
    let owner = scene.fixture.owner().await;
    let namesake = Caller::new(foreign.organization, scene.user.id, Permission::Owner, Scope::all());
    let expected = not_found(Entity::UserApiKey, scene.key.id);
    for caller in [in_person(&owner), namesake] {
        assert_eq!(scene.refusal(&caller, |_| {}).await, expected);
    }
    let daemons = scene.fixture.daemon_key(|_| {}).await;
    for unknown in [id(3), scene.user.id, daemons.record().id] {
        let caller = in_person(&scene.user);
        let update = scene.update();
        let attempt = scene.fixture.inventory.update_user_api_key_as(&caller, unknown, &update);
        assert_eq!(scene.fixture.refusal(attempt).await, not_found(Entity::UserApiKey, unknown));
    }
}

#[tokio::test]
async fn a_key_is_given_to_nobody_else() {
    let scene = Scene::new().await;
    let foreign = scene.fixture.foreign().await;
    let owner = scene.fixture.owner().await;
    let forbidden = ErrorKind::UpdateForbidden { entity: Entity::UserApiKey };
    for organization in [foreign.organization, id(9), Uuid::nil()] {
        let refused = scene.refusal_of_own(|update| update.organization_id = organization).await;
        assert_eq!(refused, forbidden);
    }
    for user in [owner.id, id(9), Uuid::nil()] {
        assert_eq!(scene.refusal_of_own(|update| update.user_id = user).await, forbidden);
    }
}

#[tokio::test]
async fn a_key_gets_no_level_above_its_users() {
    let scene = Scene::new().await;
    for level in LEVELS.into_iter().filter(|level| *level > scene.user.permissions) {
        let refused = scene.refusal_of_own(|update| update.permissions = Some(level)).await;
        assert_eq!(refused, ErrorKind::PermissionDenied);
    }
}

#[tokio::test]
async fn a_key_gets_no_network_that_its_user_cannot_access_or_that_is_not_the_organizations() {
    let scene = Scene::new().await;
    let fixture = &scene.fixture;
    let foreign = fixture.foreign().await;
    for (networks, expected) in [
        (vec![fixture.network, fixture.other_network], access_denied(fixture.other_network)),
        (vec![fixture.network, foreign.network], reference_invalid(Entity::Network, "network_ids.1")),
        (vec![fixture.network, fixture.network, id(7)], reference_invalid(Entity::Network, "network_ids.2")),
        // A missing network is reported before an inaccessible one.
        (vec![fixture.other_network, id(7)], reference_invalid(Entity::Network, "network_ids.1")),
        (vec![fixture.organization], reference_invalid(Entity::Network, "network_ids.0")),
    ] {
        let refused = scene.refusal_of_own(|update| update.network_ids = Some(networks)).await;
        assert_eq!(refused, expected);
    }
}

#[tokio::test]
async fn a_key_gets_no_tag_that_is_not_the_organizations() {
    let scene = Scene::new().await;
    let fixture = &scene.fixture;
    let foreign = fixture.foreign().await;
    for (tags, field) in [
        (vec![foreign.tag], "tags.0"),
        (vec![fixture.tags[0], fixture.tags[0], id(7)], "tags.2"),
        (vec![fixture.tags[0], fixture.network], "tags.1"),
    ] {
        let refused = scene.refusal_of_own(|update| update.tags = tags).await;
        assert_eq!(refused, reference_invalid(Entity::Tag, field));
    }
}

/// Everything is invalid at first, and is corrected in the order in which errors are reported.
#[tokio::test]
async fn what_is_wrong_with_a_change_is_told_in_order() {
    let scene = Scene::new().await;
    let (fixture, owner) = (&scene.fixture, scene.fixture.owner().await);
    let mut update = UserApiKeyUpdate::new(id(9), id(9), "", vec![id(7)]);
    update.permissions = Some(Permission::Owner);
    update.network_ids = Some(vec![fixture.other_network, id(7)]);
    let own = in_person(&scene.user);
    let told = async |caller: &Caller, update: &UserApiKeyUpdate| {
        fixture.refusal(fixture.inventory.update_user_api_key_as(caller, scene.key.id, update)).await
    };
    assert_eq!(told(&through_a_key(&owner), &update).await, ErrorKind::UserContextRequired);
    assert_eq!(told(&in_person(&owner), &update).await, invalid("name", Problem::Empty));
    update.name = "renamed".to_owned();
    assert_eq!(told(&in_person(&owner), &update).await, not_found(Entity::UserApiKey, scene.key.id));
    assert_eq!(told(&own, &update).await, ErrorKind::UpdateForbidden { entity: Entity::UserApiKey });
    (update.organization_id, update.user_id) = (scene.key.organization_id, scene.key.user_id);
    assert_eq!(told(&own, &update).await, ErrorKind::PermissionDenied);
    update.permissions = Some(Permission::Member);
    assert_eq!(told(&own, &update).await, reference_invalid(Entity::Network, "network_ids.1"));
    update.network_ids = Some(vec![fixture.other_network]);
    assert_eq!(told(&own, &update).await, access_denied(fixture.other_network));
    update.network_ids = Some(vec![fixture.network]);
    assert_eq!(told(&own, &update).await, reference_invalid(Entity::Tag, "tags.0"));
    update.tags = vec![fixture.tags[0]];
    fixture.inventory.update_user_api_key_as(&own, scene.key.id, &update).await.unwrap();
}
