//! Updates of a key by its user, and rotation: replacing its plaintext.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, Inventory, Problem};
use toposcope::model::{
    NetworkId, OrganizationId, Permission, TagId, Timestamp, User, UserApiKey, UserApiKeyId, UserId,
};

use super::full_key;
use crate::support::{
    Fixture, LEVELS, NOW, access_denied, at_every_call, id, in_person, invalid, not_found, reference_invalid,
    refusal, through_a_key, time,
};

const LATER: &str = "2026-08-15T00:00:00Z";

/// New values of a key, as a client sends them. `None` leaves a field unchanged.
struct KeyUpdate {
    name: String,
    organization_id: OrganizationId,
    user_id: UserId,
    tags: Vec<TagId>,
    expires_at: Option<Option<Timestamp>>,
    is_enabled: Option<bool>,
    network_ids: Option<Vec<NetworkId>>,
    permissions: Option<Permission>,
}

impl KeyUpdate {
    fn new(
        organization_id: OrganizationId,
        user_id: UserId,
        name: impl Into<String>,
        tags: Vec<TagId>,
    ) -> Self {
        let (expires_at, is_enabled, network_ids, permissions) = (None, None, None, None);
        let name = name.into();
        Self { name, organization_id, user_id, tags, expires_at, is_enabled, network_ids, permissions }
    }

    async fn send(
        &self,
        inventory: &Inventory,
        caller: &Caller,
        id: UserApiKeyId,
    ) -> Result<UserApiKey, Error> {
        let change = |key: &mut UserApiKey| {
            *key = UserApiKey {
                name: self.name.clone(),
                organization_id: self.organization_id,
                user_id: self.user_id,
                tags: self.tags.clone(),
                expires_at: self.expires_at.unwrap_or(key.expires_at),
                is_enabled: self.is_enabled.unwrap_or(key.is_enabled),
                network_ids: self.network_ids.clone().unwrap_or_else(|| key.network_ids.clone()),
                permissions: self.permissions.unwrap_or(key.permissions),
                ..key.clone()
            };
            Ok(())
        };
        inventory.records().update(caller, id, change).await
    }
}

fn update_of(key: &UserApiKey) -> KeyUpdate {
    KeyUpdate::new(key.organization_id, key.user_id, key.name.clone(), key.tags.clone())
}

/// Updates a key with all fields. Asserts that the answer and a read show the expected key.
async fn assert_becomes(
    adapt: impl Fn(&Fixture, &mut KeyUpdate),
    apply_expected: impl Fn(&Fixture, &mut UserApiKey),
) {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    fixture.clock.set(time(LATER));
    let mut update = update_of(issued.record());
    adapt(&fixture, &mut update);
    let mut expected = issued.record().clone();
    apply_expected(&fixture, &mut expected);
    if expected != *issued.record() {
        expected.updated_at = time(LATER);
    }
    let id = expected.id;
    let changed = update.send(&fixture.inventory, &in_person(&owner), id).await.unwrap();
    assert_eq!(changed, expected);
    assert_eq!(fixture.inventory.user_api_keys().get(&fixture.system(), id).await.unwrap(), expected);
}

#[tokio::test]
async fn omitted_fields_of_an_update_keep_their_values() {
    assert_becomes(|_, _| {}, |_, _| {}).await;
}

#[tokio::test]
async fn update_of_one_field_changes_no_other() {
    assert_becomes(|_, update| update.name = " phone\n".to_owned(), |_, key| key.name = "phone".to_owned())
        .await;
    assert_becomes(|_, update| update.name = "🦀".repeat(100), |_, key| key.name = "🦀".repeat(100)).await;
    assert_becomes(|_, update| update.is_enabled = Some(false), |_, key| key.is_enabled = false).await;
    for level in [Permission::Viewer, Permission::Member, Permission::Admin] {
        assert_becomes(
            move |_, update| update.permissions = Some(level),
            move |_, key| key.permissions = level,
        )
        .await;
    }
}

#[tokio::test]
async fn update_may_move_the_end_of_a_key_into_the_past_or_remove_it() {
    for end in ["2026-08-14T00:00:00Z", LATER, "2026-08-15T00:00:00.000001Z", "9999-01-01T00:00:00Z"] {
        let end = Some(time(end));
        assert_becomes(move |_, update| update.expires_at = Some(end), move |_, key| key.expires_at = end)
            .await;
    }
    assert_becomes(|_, update| update.expires_at = Some(None), |_, key| key.expires_at = None).await;
}

#[tokio::test]
async fn update_replaces_tags_and_networks_without_duplicates() {
    assert_becomes(|_, update| update.tags.clear(), |_, key| key.tags.clear()).await;
    assert_becomes(|_, update| update.network_ids = Some(Vec::new()), |_, key| key.network_ids.clear()).await;
    assert_becomes(
        |fixture, update| {
            update.tags = vec![fixture.tags[1], fixture.tags[1]];
            update.network_ids = Some(vec![fixture.network, fixture.other_network, fixture.network]);
        },
        |fixture, key| {
            key.tags = vec![fixture.tags[1]];
            key.network_ids = vec![fixture.network, fixture.other_network];
        },
    )
    .await;
}

#[tokio::test]
async fn updated_key_applies_from_the_next_request_on() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    let (caller, id) = (in_person(&owner), issued.record().id);
    let authenticate = async || fixture.by_key(&issued).await;
    let mut update = update_of(issued.record());
    update.permissions = Some(Permission::Viewer);
    update.network_ids = Some(vec![fixture.network]);
    update.send(&fixture.inventory, &caller, id).await.unwrap();
    let present = authenticate().await.unwrap();
    assert_eq!(
        (present.permission(), present.scope()),
        (Permission::Viewer, &Scope::only([fixture.network]))
    );
    update.is_enabled = Some(false);
    update.send(&fixture.inventory, &caller, id).await.unwrap();
    assert_eq!(refusal(authenticate().await), ErrorKind::Disabled { entity: Entity::UserApiKey });
    update.is_enabled = Some(true);
    update.expires_at = Some(Some(time(NOW)));
    update.send(&fixture.inventory, &caller, id).await.unwrap();
    assert_eq!(refusal(authenticate().await), ErrorKind::Expired { entity: Entity::UserApiKey });
    update.expires_at = Some(None);
    update.send(&fixture.inventory, &caller, id).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    authenticate().await.unwrap();
}

#[tokio::test]
async fn users_of_every_level_may_update_their_own_keys() {
    for level in LEVELS {
        let fixture = Fixture::new().await;
        let user = fixture.user("a@example.net", level, &[fixture.network]).await;
        let issued = fixture.user_key(&user, |_| {}).await;
        let mut update = update_of(issued.record());
        update.network_ids = Some(vec![fixture.network]);
        update.permissions = Some(level);
        let by_session = in_person(&user);
        let by_host =
            Caller::new(user.organization_id, user.id, user.permissions, by_session.scope().clone());
        for caller in [by_session, by_host] {
            let id = issued.record().id;
            let changed = update.send(&fixture.inventory, &caller, id).await.unwrap();
            assert_eq!(changed.network_ids, [fixture.network]);
        }
    }
}

/// A user whose level was lowered may still rename an older key. The effective rights of the key are limited by the
/// user's rights.
#[tokio::test]
async fn key_above_the_current_level_of_its_user_may_keep_its_level() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    let lowered = fixture
        .inventory
        .users()
        .set_rights(&Caller::system(owner.organization_id), owner.id, Permission::Viewer, vec![])
        .await
        .unwrap();
    let mut update = update_of(issued.record());
    update.name = "renamed".to_owned();
    let id = issued.record().id;
    let changed = update.send(&fixture.inventory, &in_person(&lowered), id).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.permissions), ("renamed", Permission::Member));
    assert_eq!(changed.network_ids, issued.record().network_ids);
    let present = fixture.by_key(&issued).await.unwrap();
    assert_eq!((present.permission(), present.scope()), (Permission::Viewer, &Scope::only([])));
}

#[tokio::test]
async fn concurrent_updates_of_a_key_both_take_effect() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .disable(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap()
        },
        async |inventory, (owner, issued)| {
            let mut update = update_of(issued.record());
            update.name = "renamed".to_owned();
            update.send(inventory, &in_person(owner), issued.record().id).await
        },
        async |fixture, (_, issued), result| {
            assert_eq!(result.unwrap().name, "renamed");
            let found = fixture
                .inventory
                .user_api_keys()
                .get(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap();
            assert_eq!((found.name.as_str(), found.is_enabled), ("renamed", false));
        },
    )
    .await;
}

#[tokio::test]
async fn key_that_is_deleted_during_its_update_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .delete(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap();
        },
        async |inventory, (owner, issued)| {
            let update = update_of(issued.record());
            update.send(inventory, &in_person(owner), issued.record().id).await
        },
        async |fixture, (_, issued), result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::UserApiKey, issued.record().id));
            }
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}

/// A Member with the first network, and a key without any networks or rights.
struct OwnKey {
    fixture: Fixture,
    user: User,
    key: UserApiKey,
}

impl OwnKey {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
        let key = fixture.user_key(&user, |_| {}).await.record().clone();
        Self { fixture, user, key }
    }

    fn update(&self) -> KeyUpdate {
        KeyUpdate::new(self.key.organization_id, self.key.user_id, "renamed", vec![])
    }

    /// Returns why a caller may not change the key like this.
    async fn refusal(&self, caller: &Caller, adapt: impl FnOnce(&mut KeyUpdate)) -> ErrorKind {
        let mut update = self.update();
        adapt(&mut update);
        let attempt = update.send(&self.fixture.inventory, caller, self.key.id);
        self.fixture.refusal(attempt).await
    }
}

#[tokio::test]
async fn invalid_update_is_refused() {
    let own_key = OwnKey::new().await;
    let OwnKey { fixture, user, .. } = &own_key;
    let (foreign, owner, own) = (fixture.foreign().await, fixture.owner().await, in_person(user));
    for (name, problem) in [
        (String::new(), Problem::Empty),
        (" \u{2003}\t".to_owned(), Problem::Empty),
        ("🦀".repeat(101), Problem::MaxLength { max: 100 }),
    ] {
        assert_eq!(own_key.refusal(&own, |update| update.name = name).await, invalid("name", problem));
    }
    let forbidden = ErrorKind::UpdateForbidden { entity: Entity::UserApiKey };
    for organization in [foreign.organization, id(9), OrganizationId::nil()] {
        let refused = own_key.refusal(&own, |update| update.organization_id = organization).await;
        assert_eq!(refused, forbidden);
    }
    for user in [owner.id, id(9), UserId::nil()] {
        assert_eq!(own_key.refusal(&own, |update| update.user_id = user).await, forbidden);
    }
    for level in LEVELS.into_iter().filter(|level| *level > user.permissions) {
        let refused = own_key.refusal(&own, |update| update.permissions = Some(level)).await;
        assert_eq!(refused, ErrorKind::PermissionDenied);
    }
    let (network, other_network) = (fixture.network, fixture.other_network);
    for (networks, expected) in [
        (vec![network, other_network], access_denied(other_network)),
        (vec![network, foreign.network], reference_invalid(Entity::Network, "network_ids.1")),
        (vec![network, network, id(7)], reference_invalid(Entity::Network, "network_ids.2")),
        // A missing network is reported before an inaccessible one.
        (vec![other_network, id(7)], reference_invalid(Entity::Network, "network_ids.1")),
        (vec![fixture.organization.uuid().into()], reference_invalid(Entity::Network, "network_ids.0")),
    ] {
        assert_eq!(own_key.refusal(&own, |update| update.network_ids = Some(networks)).await, expected);
    }
    for (tags, field) in [
        (vec![foreign.tag], "tags.0"),
        (vec![fixture.tags[0], fixture.tags[0], id(7)], "tags.2"),
        (vec![fixture.tags[0], network.uuid().into()], "tags.1"),
    ] {
        let refused = own_key.refusal(&own, |update| update.tags = tags).await;
        assert_eq!(refused, reference_invalid(Entity::Tag, field));
    }
}

#[tokio::test]
async fn key_may_not_update_keys() {
    let own_key = OwnKey::new().await;
    let caller = through_a_key(&own_key.user);
    assert_eq!(own_key.refusal(&caller, |_| {}).await, ErrorKind::SessionRequired);
    let refused = own_key.refusal(&caller, |update| update.name.clear()).await;
    assert_eq!(refused, ErrorKind::SessionRequired);
}

#[tokio::test]
async fn key_of_another_user_is_not_found() {
    let own_key = OwnKey::new().await;
    let foreign = own_key.fixture.foreign().await;
    let owner = own_key.fixture.owner().await;
    let namesake = Caller::new(foreign.organization, own_key.user.id, Permission::Owner, Scope::all());
    let expected = not_found(Entity::UserApiKey, own_key.key.id);
    for caller in [in_person(&owner), namesake] {
        assert_eq!(own_key.refusal(&caller, |_| {}).await, expected);
    }
    let daemons = own_key.fixture.daemon_key(|_| {}).await;
    for unknown in [id(3), own_key.user.id.uuid().into(), daemons.record().id.uuid().into()] {
        let caller = in_person(&own_key.user);
        let update = own_key.update();
        let attempt = update.send(&own_key.fixture.inventory, &caller, unknown);
        assert_eq!(own_key.fixture.refusal(attempt).await, not_found(Entity::UserApiKey, unknown));
    }
}

/// All fields are invalid at first. They are corrected in the order in which errors are reported.
#[tokio::test]
async fn first_error_of_an_update_is_reported() {
    let own_key = OwnKey::new().await;
    let (fixture, owner) = (&own_key.fixture, own_key.fixture.owner().await);
    let mut update = KeyUpdate::new(id(9), id(9), "", vec![id(7)]);
    update.permissions = Some(Permission::Owner);
    update.network_ids = Some(vec![fixture.other_network, id(7)]);
    let own = in_person(&own_key.user);
    let first_error = async |caller: &Caller, update: &KeyUpdate| {
        fixture.refusal(update.send(&fixture.inventory, caller, own_key.key.id)).await
    };
    assert_eq!(first_error(&through_a_key(&owner), &update).await, ErrorKind::SessionRequired);
    assert_eq!(first_error(&in_person(&owner), &update).await, not_found(Entity::UserApiKey, own_key.key.id));
    assert_eq!(first_error(&own, &update).await, ErrorKind::UpdateForbidden { entity: Entity::UserApiKey });
    (update.organization_id, update.user_id) = (own_key.key.organization_id, own_key.key.user_id);
    assert_eq!(first_error(&own, &update).await, invalid("name", Problem::Empty));
    update.name = "renamed".to_owned();
    assert_eq!(first_error(&own, &update).await, reference_invalid(Entity::Network, "network_ids.1"));
    update.network_ids = Some(vec![fixture.other_network]);
    assert_eq!(first_error(&own, &update).await, reference_invalid(Entity::Tag, "tags.0"));
    update.tags = vec![fixture.tags[0]];
    assert_eq!(first_error(&own, &update).await, access_denied(fixture.other_network));
    update.network_ids = Some(vec![fixture.network]);
    assert_eq!(first_error(&own, &update).await, ErrorKind::PermissionDenied);
    update.permissions = Some(Permission::Member);
    update.send(&fixture.inventory, &own, own_key.key.id).await.unwrap();
}
