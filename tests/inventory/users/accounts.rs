//! Creation and deletion of users, and their rights.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{
    Entity, Error, ErrorKind, Inventory, IssuedKey, IssuedSession, NewUser, NewUserApiKey, Problem,
};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{
    Fixture, LEVELS, PASSWORD, already_exists, at_every_call, concurrently, id, in_person, invalid,
    not_found, reference_invalid, refusal, settle, time, uuid,
};

impl Fixture {
    fn new_user(&self, email: &str) -> NewUser {
        NewUser::new(email, Permission::Member)
    }
}

#[tokio::test]
async fn new_user_has_the_address_in_lower_case() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let mut new = fixture.new_user(" Jürgen.MÜLLER@Example.NET\n");
    new.network_ids = vec![fixture.other_network, fixture.network];
    new.password = Some("correct horse".to_owned());
    let user = fixture.inventory.users().create(&fixture.system(), new).await.unwrap();
    assert_eq!(user.email, "jürgen.müller@example.net");
    assert_eq!(user.network_ids, [fixture.other_network, fixture.network]);
    assert_eq!((user.organization_id, user.permissions), (fixture.organization, Permission::Member));
    assert_eq!((user.created_at, user.updated_at), (now, now));
    assert_eq!(
        fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap(),
        user
    );
}

#[tokio::test]
async fn invalid_new_user_is_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let refused = async |adapt: &dyn Fn(&mut NewUser)| {
        let mut new = fixture.new_user("a@example.net");
        adapt(&mut new);
        fixture.refusal(fixture.inventory.users().create(&fixture.system(), new)).await
    };
    let too_long = format!("m@{}", "d".repeat(253));
    for (email, problem) in [
        ("", Problem::Empty),
        (" \t", Problem::Empty),
        ("a@", Problem::MinLength { min: 3 }),
        ("nobody", Problem::InvalidFormat),
        ("@example.net", Problem::InvalidFormat),
        ("nobody@", Problem::InvalidFormat),
        ("no body@example.net", Problem::InvalidFormat),
        ("nobody@example\u{a0}.net", Problem::InvalidFormat),
        (too_long.as_str(), Problem::MaxLength { max: 254 }),
    ] {
        let kind = refused(&|new| new.email = email.to_owned()).await;
        assert_eq!(kind, invalid("email", problem), "{email:?}");
    }
    // The length is counted in characters, not bytes.
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let kind = refused(&|new| new.password = Some("🦀".repeat(length))).await;
        assert_eq!(kind, invalid("password", problem), "{length}");
    }
    for bad in [foreign.network, id(7), fixture.organization.uuid().into()] {
        let kind = refused(&|new| new.network_ids = vec![fixture.network, bad]).await;
        assert_eq!(kind, reference_invalid(Entity::Network, "network_ids.1"));
    }
    let homeless = fixture.inventory.users();
    let homeless = homeless.create(&Caller::system(id(9)), fixture.new_user("a@example.net")).await;
    assert_eq!(refusal(homeless), not_found(Entity::Organization, uuid(9)));
    for (email, length) in [("a@example.net", 10), (&too_long[..254], 1000)] {
        let mut new = fixture.new_user(email);
        new.password = Some("🦀".repeat(length));
        fixture.inventory.users().create(&fixture.system(), new).await.unwrap();
    }
}

#[tokio::test]
async fn address_is_taken_in_every_case_variant_and_in_every_organization() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.users().create(&fixture.system(), fixture.new_user("Owner@Example.net")).await.unwrap();
    let commits = fixture.commits();
    for email in ["owner@example.net", "OWNER@EXAMPLE.NET", " oWnEr@eXaMpLe.NeT "] {
        for organization in [fixture.organization, foreign.organization] {
            let mut new = NewUser::new(email, Permission::Owner);
            new.password = Some("correct horse".to_owned());
            assert_eq!(
                refusal(fixture.inventory.users().create(&Caller::system(organization), new).await),
                already_exists(Entity::User, "owner@example.net")
            );
        }
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn one_of_many_concurrent_users_with_one_address_is_created() {
    let fixture = Fixture::new().await;
    let users = concurrently(&fixture, 16, |fixture, number| async move {
        let email = if number % 2 == 0 { "a@example.net" } else { "A@EXAMPLE.NET" };
        fixture.inventory.users().create(&fixture.system(), fixture.new_user(email)).await
    });
    let refused: Vec<_> = users.await.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 15);
    for error in refused {
        assert!(matches!(error.kind(), ErrorKind::AlreadyExists { .. }), "{error}");
    }
}

#[tokio::test]
async fn users_are_listed_by_age_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut users = Vec::new();
    for email in ["z@example.net", "a@example.net", "m@example.net"] {
        fixture.clock.advance(Duration::from_micros(1));
        users.push(fixture.user(email, Permission::Viewer, &[]).await);
    }
    let theirs = NewUser::new("theirs@example.net", Permission::Owner);
    let theirs = fixture.inventory.users().create(&foreign.system(), theirs).await.unwrap();
    assert_eq!(fixture.inventory.users().all(&fixture.system()).await.unwrap(), users);
    assert_eq!(fixture.inventory.users().all(&foreign.system()).await.unwrap(), [theirs]);
    let homeless = fixture.inventory.users().all(&Caller::system(id(9))).await;
    assert_eq!(refusal(homeless), not_found(Entity::Organization, uuid(9)));
    fixture.inventory.users().delete(&Caller::system(users[1].organization_id), users[1].id).await.unwrap();
    users.remove(1);
    assert_eq!(fixture.inventory.users().all(&fixture.system()).await.unwrap(), users);
}

#[tokio::test]
async fn change_of_rights_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[fixture.network]).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for level in LEVELS {
        for networks in [vec![], vec![fixture.other_network], vec![fixture.other_network, fixture.network]] {
            let changed = fixture
                .inventory
                .users()
                .set_rights(&Caller::system(user.organization_id), user.id, level, networks.clone())
                .await
                .unwrap();
            let expected =
                User { permissions: level, network_ids: networks, updated_at: now, ..user.clone() };
            assert_eq!(changed, expected);
            assert_eq!(
                fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap(),
                expected
            );
        }
    }
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn network_that_is_granted_twice_is_granted_once() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[]).await;
    let networks = vec![fixture.other_network, fixture.network, fixture.other_network];
    let changed = fixture
        .inventory
        .users()
        .set_rights(&Caller::system(user.organization_id), user.id, Permission::Member, networks)
        .await
        .unwrap();
    assert_eq!(changed.network_ids, [fixture.other_network, fixture.network]);
}

#[tokio::test]
async fn changed_rights_apply_from_the_next_request_on() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Admin, &[]).await;
    let both = [fixture.network, fixture.other_network];
    let key = fixture.user_key(&user, |new| new.network_ids = both.to_vec()).await;
    let session = fixture.log_in(&user).await;
    for (level, networks) in [
        (Permission::Viewer, vec![fixture.network]),
        (Permission::Owner, vec![]),
        (Permission::Member, vec![]),
        (Permission::Member, vec![fixture.other_network]),
    ] {
        fixture
            .inventory
            .users()
            .set_rights(&Caller::system(user.organization_id), user.id, level, networks.clone())
            .await
            .unwrap();
        let present = fixture.by_session(&session).await.unwrap();
        let scope = Scope::granted(level, networks);
        assert_eq!((present.permission(), present.scope()), (level, &scope));
        let by_key = fixture.by_key(&key).await.unwrap();
        assert_eq!(by_key.permission(), level.min(Permission::Admin));
        assert_eq!(by_key.scope(), &scope.intersect(&Scope::only(both)));
    }
}

#[tokio::test]
async fn network_of_another_organization_is_not_granted_to_an_existing_user() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[fixture.network]).await;
    for bad in [foreign.network, id(7), fixture.organization.uuid().into(), user.id.uuid().into()] {
        // An Owner needs no grants, but a foreign network is refused for an Owner too.
        for level in LEVELS {
            let networks = vec![fixture.other_network, fixture.other_network, bad];
            let system = Caller::system(user.organization_id);
            let attempt = fixture.inventory.users().set_rights(&system, user.id, level, networks);
            assert_eq!(fixture.refusal(attempt).await, reference_invalid(Entity::Network, "network_ids.2"));
        }
    }
}

#[tokio::test]
async fn change_of_rights_leaves_a_disabled_user_disabled() {
    let (fixture, user) = Fixture::with_owner().await;
    let key = fixture.user_key(&user, |_| {}).await;
    fixture.inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
    fixture
        .inventory
        .users()
        .set_rights(&Caller::system(user.organization_id), user.id, Permission::Admin, vec![])
        .await
        .unwrap();
    assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::Disabled { entity: Entity::User });
    assert!(
        !fixture
            .inventory
            .users()
            .get(&Caller::system(user.organization_id), user.id)
            .await
            .unwrap()
            .is_enabled
    );
}

/// A user with every kind of record that a user can have.
async fn busy_user(fixture: &Fixture) -> (User, Vec<IssuedKey<UserApiKey>>, Vec<IssuedSession>) {
    let both = [fixture.network, fixture.other_network];
    let user = fixture.user("a@example.net", Permission::Member, &both).await;
    let mut keys = Vec::new();
    let mut sessions = Vec::new();
    for number in 0..3 {
        let issued = fixture.user_key(&user, |new| {
            new.name = format!("key {number}");
            new.network_ids = both.to_vec();
            new.tags = fixture.tags.to_vec();
        });
        keys.push(issued.await);
        sessions.push(fixture.log_in(&user).await);
    }
    for key in &keys {
        fixture.by_key(key).await.unwrap();
    }
    settle().await;
    fixture.inventory.users().submit_referral(&in_person(&user), "reddit", Some("r/homelab")).await.unwrap();
    (user, keys, sessions)
}

#[tokio::test]
async fn system_has_no_answer_of_its_own_to_give() {
    let (fixture, _) = Fixture::with_owner().await;
    let system = fixture.system();
    let refused = fixture.inventory.users().submit_referral(&system, "reddit", None).await;
    assert_eq!(refusal(refused), ErrorKind::SessionRequired);
    assert_eq!(fixture.inventory.users().referrals(&system).await.unwrap(), []);
}

#[tokio::test]
async fn deletion_of_a_user_removes_all_records_of_the_user_and_no_others() {
    let (fixture, other) = Fixture::with_owner().await;
    fixture.user_key(&other, |new| new.tags = fixture.tags.to_vec()).await;
    fixture.log_in(&other).await;
    fixture.inventory.users().submit_referral(&in_person(&other), "other", None).await.unwrap();
    let before = fixture.contents().await;
    let (user, keys, sessions) = busy_user(&fixture).await;
    // The user, the password, the referral; each key with its secret and its use, and each session.
    assert_eq!(fixture.contents().await.len(), before.len() + 3 + 3 * (3 + 1));
    fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    for gone in keys.iter().map(|key| key.record().id.uuid()).chain([user.id.uuid()]) {
        assert_eq!(fixture.mentioning(gone).await, []);
    }
    for key in &keys {
        assert_eq!(refusal(fixture.by_key(key).await), ErrorKind::NotAuthenticated);
        let refused = fixture
            .inventory
            .user_api_keys()
            .get(&Caller::system(key.record().organization_id), key.record().id)
            .await;
        assert_eq!(refusal(refused), not_found(Entity::UserApiKey, key.record().id));
    }
    for session in &sessions {
        assert_eq!(refusal(fixture.by_session(session).await), ErrorKind::NotAuthenticated);
    }
}

#[tokio::test]
async fn deleted_user_is_not_found_and_the_address_is_free() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
    let unknown = not_found(Entity::User, user.id);
    assert_eq!(
        refusal(fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await),
        unknown
    );
    assert_eq!(
        refusal(
            fixture.inventory.user_api_keys().of_user(&Caller::system(user.organization_id), user.id).await
        ),
        unknown
    );
    assert_eq!(
        fixture
            .refusal(fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id))
            .await,
        unknown
    );
    let login = fixture.try_log_in(&user.email).await;
    assert_eq!(refusal(login), ErrorKind::InvalidCredentials);
    let successor = fixture.owner().await;
    assert_ne!(successor.id, user.id);
    fixture.log_in(&successor).await;
}

/// An action of a user who is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    LogIn,
    SetPassword,
    CreateKey,
    SubmitReferral,
    UseSession,
    UseKey,
}

type UserWithCredentials = (User, IssuedKey<UserApiKey>, IssuedSession);

impl Action {
    async fn take(self, inventory: &Inventory, credentials: &UserWithCredentials) -> Result<(), Error> {
        let (user, key, session) = credentials;
        match self {
            Self::LogIn => inventory.log_in(&user.email, PASSWORD.to_owned()).await.map(drop),
            Self::SetPassword => {
                inventory
                    .users()
                    .set_password(
                        &Caller::system(user.organization_id),
                        user.id,
                        Some("battery staple".to_owned()),
                    )
                    .await
            }
            Self::CreateKey => {
                let new = NewUserApiKey::new(user.id, "late", Permission::Viewer);
                inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await.map(drop)
            }
            Self::SubmitReferral => {
                inventory.users().submit_referral(&in_person(user), "reddit", None).await.map(drop)
            }
            Self::UseSession => inventory.authenticate_session(session.plaintext()).await.map(drop),
            Self::UseKey => inventory.authenticate_user_key(key.plaintext()).await.map(drop),
        }
    }
}

async fn with_credentials(fixture: &Fixture) -> UserWithCredentials {
    let user = fixture.owner().await;
    let (key, session) = (fixture.user_key(&user, |_| {}).await, fixture.log_in(&user).await);
    (user, key, session)
}

#[tokio::test]
async fn records_that_a_user_creates_during_the_deletion_are_deleted() {
    for action in [Action::LogIn, Action::SetPassword, Action::CreateKey, Action::SubmitReferral] {
        at_every_call(
            async |fixture: &Fixture| with_credentials(fixture).await,
            // Once the user is deleted, the action is refused.
            async |inventory, user| {
                let result = action.take(inventory, user).await;
                let is_deleted =
                    inventory.users().get(&Caller::system(user.0.organization_id), user.0.id).await.is_err();
                assert_eq!(result.is_err(), is_deleted, "{action:?}");
            },
            async |inventory, (user, ..)| {
                inventory.users().delete(&Caller::system(user.organization_id), user.id).await
            },
            async |fixture, (user, ..), result| {
                result.unwrap();
                assert_eq!(fixture.mentioning(user.id).await, [], "{action:?}");
                let contents = fixture.contents().await;
                let kinds: Vec<&str> = contents.iter().map(|stored| stored.kind()).collect();
                let of_users = ["user", "password", "user_api_key", "key_secret", "session", "referral"];
                assert!(!kinds.iter().any(|kind| of_users.contains(kind)), "{kinds:?}");
            },
        )
        .await;
    }
}

#[tokio::test]
async fn user_who_is_deleted_during_an_action_is_refused_and_leaves_nothing() {
    for action in [Action::CreateKey, Action::SubmitReferral, Action::UseSession, Action::UseKey] {
        at_every_call(
            async |fixture: &Fixture| with_credentials(fixture).await,
            async |inventory, (user, ..)| {
                inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
            },
            async |inventory, user| action.take(inventory, user).await,
            async |fixture, (user, key, _), result| {
                let expected = match action {
                    Action::CreateKey => not_found(Entity::User, user.id),
                    _ => ErrorKind::NotAuthenticated,
                };
                assert_eq!(refusal(result), expected, "{action:?}");
                settle().await;
                assert_eq!(fixture.mentioning(user.id).await, [], "{action:?}");
                assert_eq!(fixture.mentioning(key.record().id).await, [], "{action:?}");
            },
        )
        .await;
    }
}
