//! Changes of users: the sessions that they end, and changes concurrent with others.

use async_trait::async_trait;
use toposcope::access::Caller;
use toposcope::inventory::{
    ApplicationCode, ApplicationError, Entity, ErrorKind, Policy, Problem, ProposedChange,
};
use toposcope::model::{Permission, User};

use super::Change;
use crate::support::{Fixture, PASSWORD, at_every_call, id, invalid, not_found, refusal, time};

const OTHER: &str = "battery staple";

#[tokio::test]
async fn unknown_user_is_not_changed() {
    let fixture = Fixture::new().await;
    for unknown in [id(3), fixture.organization] {
        let expected = not_found(Entity::User, unknown);
        for change in [
            Change::SetPassword(OTHER),
            Change::RemovePassword,
            Change::Disable,
            Change::Enable,
            Change::EndSessions,
            Change::SetRights,
            Change::Delete,
        ] {
            let attempt = change.apply(&fixture.inventory, fixture.organization, unknown.uuid().into());
            assert_eq!(fixture.refusal(attempt).await, expected, "{change:?}");
        }
        let system = Caller::system(fixture.organization);
        let users = fixture.inventory.users();
        let with_unknown_network =
            users.set_rights(&system, unknown.uuid().into(), Permission::Viewer, vec![id(7)]);
        assert_eq!(fixture.refusal(with_unknown_network).await, expected);
        assert_eq!(
            refusal(fixture.inventory.users().get(&fixture.system(), unknown.uuid().into()).await),
            expected
        );
    }
}

#[tokio::test]
async fn change_of_password_or_disabling_ends_all_sessions_of_the_user_only() {
    for change in [
        Change::SetPassword(OTHER),
        Change::SetPassword(PASSWORD),
        Change::RemovePassword,
        Change::Disable,
        Change::EndSessions,
    ] {
        let (fixture, user) = Fixture::with_owner().await;
        let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
        let key = fixture.user_key(&user, |_| {}).await;
        let others = fixture.log_in(&other).await;
        let before = fixture.contents().await;
        let sessions =
            [fixture.log_in(&user).await, fixture.log_in(&user).await, fixture.log_in(&user).await];
        // Ending sessions that no longer exist is not an error.
        for _ in 0..2 {
            change.apply(&fixture.inventory, user.organization_id, user.id).await.unwrap();
            for session in &sessions {
                let ended = refusal(fixture.by_session(session).await);
                assert_eq!(ended, ErrorKind::NotAuthenticated, "{change:?}");
                assert_eq!(fixture.mentioning(session.session().id).await, []);
            }
        }
        fixture.by_session(&others).await.unwrap();
        match change {
            Change::Disable => {
                let refused = refusal(fixture.by_key(&key).await);
                assert_eq!(refused, ErrorKind::Disabled { entity: Entity::User });
                fixture
                    .inventory
                    .users()
                    .enable(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap();
                for session in &sessions {
                    assert_eq!(refusal(fixture.by_session(session).await), ErrorKind::NotAuthenticated);
                }
            }
            Change::EndSessions => {
                assert_eq!(fixture.contents().await, before);
                fixture.by_key(&key).await.unwrap();
                fixture.log_in(&user).await;
            }
            _ => drop(fixture.by_key(&key).await.unwrap()),
        }
    }
}

#[tokio::test]
async fn session_that_begins_during_a_change_that_ends_sessions_ends_as_well() {
    for change in [Change::SetPassword(OTHER), Change::RemovePassword, Change::Disable, Change::EndSessions] {
        at_every_call(
            async |fixture: &Fixture| {
                let user = fixture.owner().await;
                fixture.log_in(&user).await;
                user
            },
            // Once the user is disabled, the login is refused.
            async |inventory, user| {
                let login = inventory.log_in(&user.email, PASSWORD.to_owned()).await;
                assert!(login.is_ok() || change == Change::Disable, "{change:?}");
            },
            async |inventory, user| change.apply(inventory, user.organization_id, user.id).await,
            async |fixture, user, result| {
                result.unwrap();
                assert_eq!(fixture.sessions_of(user.id).await, 0, "{change:?}");
                let login = fixture.try_log_in(&user.email).await;
                assert_eq!(login.is_ok(), change == Change::EndSessions, "{change:?}");
            },
        )
        .await;
    }
}

#[tokio::test]
async fn user_who_is_deleted_during_a_change_leaves_nothing() {
    for change in [Change::SetPassword(OTHER), Change::RemovePassword, Change::SetRights] {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| {
                inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
            },
            async |inventory, user| change.apply(inventory, user.organization_id, user.id).await,
            async |fixture, user, result| {
                assert_eq!(refusal(result), not_found(Entity::User, user.id), "{change:?}");
                assert_eq!(fixture.mentioning(user.id).await, []);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn concurrent_changes_of_a_user_both_take_effect() {
    for other in [Change::Disable, Change::SetPassword(OTHER)] {
        at_every_call(
            async |fixture: &Fixture| fixture.user("a@example.net", Permission::Viewer, &[]).await,
            async |inventory, user| other.apply(inventory, user.organization_id, user.id).await.unwrap(),
            async |inventory, user| {
                inventory
                    .users()
                    .set_rights(&Caller::system(user.organization_id), user.id, Permission::Admin, vec![])
                    .await
            },
            async |fixture, user, result| {
                assert_eq!(result.unwrap().permissions, Permission::Admin);
                let inventory = &fixture.inventory;
                assert_eq!(
                    inventory
                        .users()
                        .get(&Caller::system(user.organization_id), user.id)
                        .await
                        .unwrap()
                        .permissions,
                    Permission::Admin
                );
                if other == Change::Disable {
                    assert!(
                        !inventory
                            .users()
                            .get(&Caller::system(user.organization_id), user.id)
                            .await
                            .unwrap()
                            .is_enabled
                    );
                } else {
                    inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
                }
            },
        )
        .await;
    }
}

#[tokio::test]
async fn later_of_two_concurrent_passwords_is_the_users() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| {
            Change::SetPassword("the earlier one")
                .apply(inventory, user.organization_id, user.id)
                .await
                .unwrap();
        },
        async |inventory, user| {
            Change::SetPassword(OTHER).apply(inventory, user.organization_id, user.id).await
        },
        async |fixture, user, result| {
            result.unwrap();
            fixture.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
            let earlier = fixture.inventory.log_in(&user.email, "the earlier one".to_owned()).await;
            assert_eq!(refusal(earlier), ErrorKind::InvalidCredentials);
        },
    )
    .await;
}

#[tokio::test]
async fn only_the_latest_password_is_the_users() {
    let (fixture, user) = Fixture::with_owner().await;
    let log_in = async |password: &str| fixture.inventory.log_in(&user.email, password.to_owned()).await;
    fixture
        .inventory
        .users()
        .set_password(&Caller::system(user.organization_id), user.id, Some(OTHER.to_owned()))
        .await
        .unwrap();
    assert_eq!(refusal(log_in(PASSWORD).await), ErrorKind::InvalidCredentials);
    log_in(OTHER).await.unwrap();
    assert_eq!(
        fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap(),
        user,
        "the password is no part of the user"
    );
    // Removing a password that does not exist is not an error.
    for password in [OTHER, ""] {
        fixture
            .inventory
            .users()
            .set_password(&Caller::system(user.organization_id), user.id, None)
            .await
            .unwrap();
        assert_eq!(refusal(log_in(password).await), ErrorKind::InvalidCredentials);
    }
    fixture
        .inventory
        .users()
        .set_password(&Caller::system(user.organization_id), user.id, Some(OTHER.to_owned()))
        .await
        .unwrap();
    log_in(OTHER).await.unwrap();
}

#[tokio::test]
async fn enabling_and_disabling_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
    assert!(user.is_enabled);
    let key = fixture.user_key(&user, |_| {}).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for is_enabled in [false, false, true, true] {
        let expected = User { is_enabled, updated_at: now, ..user.clone() };
        assert_eq!(
            if is_enabled {
                fixture
                    .inventory
                    .users()
                    .enable(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap()
            } else {
                fixture
                    .inventory
                    .users()
                    .disable(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap()
            },
            expected
        );
        assert_eq!(
            fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap(),
            expected
        );
        let users = fixture.inventory.users().all(&fixture.system()).await.unwrap();
        assert_eq!(users, std::slice::from_ref(&expected));
        let login = fixture.inventory.log_in(&user.email, PASSWORD.to_owned());
        if is_enabled {
            fixture.by_key(&key).await.unwrap();
            login.await.unwrap();
        } else {
            let refused = refusal(fixture.by_key(&key).await);
            assert_eq!(refused, ErrorKind::Disabled { entity: Entity::User });
            assert_eq!(fixture.refusal(login).await, ErrorKind::InvalidCredentials);
        }
    }
    // Enabling an already enabled user keeps the existing sessions.
    let session = fixture.log_in(&user).await;
    fixture.inventory.users().enable(&Caller::system(user.organization_id), user.id).await.unwrap();
    fixture.by_session(&session).await.unwrap();
}

#[tokio::test]
async fn invalid_password_is_refused_and_changes_nothing() {
    let (fixture, user) = Fixture::with_owner().await;
    let session = fixture.log_in(&user).await;
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let (system, password) = (Caller::system(user.organization_id), Some("ü".repeat(length)));
        let attempt = fixture.inventory.users().set_password(&system, user.id, password);
        assert_eq!(fixture.refusal(attempt).await, invalid("password", problem));
    }
    fixture.by_session(&session).await.unwrap();
    fixture.log_in(&user).await;
    for length in [10, 1000] {
        let password = "ü".repeat(length);
        fixture
            .inventory
            .users()
            .set_password(&Caller::system(user.organization_id), user.id, Some(password.clone()))
            .await
            .unwrap();
        fixture.inventory.log_in(&user.email, password).await.unwrap();
    }
}

/// A user disabled during a request is refused. The error depends on the records that still exist at that moment.
#[tokio::test]
async fn user_who_is_disabled_during_authentication_is_refused() {
    at_every_call(
        async |fixture: &Fixture| {
            let user = fixture.owner().await;
            (fixture.user_key(&user, |_| {}).await, fixture.log_in(&user).await)
        },
        async |inventory, (key, _)| {
            inventory
                .users()
                .disable(&Caller::system(key.record().organization_id), key.record().user_id)
                .await
                .unwrap()
        },
        async |inventory, (_, session)| inventory.authenticate_session(session.plaintext()).await,
        async |fixture, (key, _), result| {
            let refused = refusal(result);
            let expected = [ErrorKind::NotAuthenticated, ErrorKind::Disabled { entity: Entity::User }];
            assert!(expected.contains(&refused), "{refused:?}");
            assert_eq!(refusal(fixture.by_key(key).await), expected[1]);
        },
    )
    .await;
}

/// Refuses everything.
struct Frozen;

#[async_trait]
impl Policy for Frozen {
    async fn check(&self, _change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        Err(ApplicationError::new(ApplicationCode::new("policy.frozen", 422), "The inventory is frozen."))
    }
}

#[tokio::test]
async fn refused_change_of_a_user_has_written_nothing() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.log_in(&user).await;
    let frozen = fixture.inventory.clone().with_policy(Frozen);
    let assert_unchanged = async |change: Change| {
        let before = fixture.contents().await;
        let refused = refusal(change.apply(&frozen, user.organization_id, user.id).await);
        assert!(matches!(refused, ErrorKind::Refused { .. }), "{change:?}: {refused:?}");
        assert_eq!(fixture.contents().await, before, "{change:?}");
    };
    for change in [
        Change::SetPassword(OTHER),
        Change::RemovePassword,
        Change::Disable,
        Change::SetRights,
        Change::Delete,
    ] {
        assert_unchanged(change).await;
    }
    // As if the server had stopped after the user was disabled, and before the sessions were deleted.
    fixture
        .alter(|body| body["email"] == user.email.as_str(), |body| body["is_enabled"] = false.into())
        .await;
    assert_eq!(fixture.sessions_of(user.id).await, 1);
    assert_unchanged(Change::Enable).await;
    Change::Enable.apply(&fixture.inventory, user.organization_id, user.id).await.unwrap();
    assert_eq!(fixture.sessions_of(user.id).await, 0);
}
