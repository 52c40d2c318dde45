//! Users as callers see and change them.

use std::cell::Cell;
use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, ListOrderField, ListQuery, NewUser, Problem};
use toposcope::model::{Permission, User, UserId};

use crate::backend::run_on_threads as run;
use crate::support::{
    Fixture, LEVELS, PASSWORD, access_denied, already_exists, at_every_call, id, in_person, invalid,
    not_found, reference_invalid, refusal, through_a_key, time,
};

/// One user of each level, ascending.
async fn one_of_each(fixture: &Fixture) -> Vec<User> {
    let mut users = Vec::new();
    for level in LEVELS {
        fixture.clock.advance(Duration::from_micros(1));
        users.push(fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await);
    }
    users
}

fn last_owner(user: &User) -> ErrorKind {
    let used_by = Entity::Organization;
    ErrorKind::InUse { entity: Entity::User, name: user.email.clone(), used_by }
}

type Change = fn(&mut User);

const DEMOTE: Change = |user| user.permissions = Permission::Admin;
const DISABLE: Change = |user| user.is_enabled = false;

#[test]
fn admins_see_all_users_of_the_organization_and_others_themselves() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let theirs = NewUser::new("theirs@example.net", Permission::Owner);
        let theirs = fixture.inventory.users().create(&foreign.system(), theirs).await.unwrap();
        let users = one_of_each(&fixture).await;
        for user in &users {
            for caller in [in_person(user), through_a_key(user)] {
                let sees_all = user.permissions >= Permission::Admin;
                let visible: Vec<_> = users.iter().filter(|other| sees_all || *other == user).collect();
                let page = fixture.inventory.users().list(&caller, &ListQuery::default()).await.unwrap();
                assert_eq!(page.records.iter().collect::<Vec<_>>(), visible);
                let mut query = ListQuery::default();
                query.ids = Some(vec![users[0].id.uuid(), users[3].id.uuid(), theirs.id.uuid()]);
                let page = fixture.inventory.users().list(&caller, &query).await.unwrap();
                let asked = [&users[0], &users[3]].into_iter().filter(|user| visible.contains(user));
                assert_eq!(page.total, asked.count() as u64);
                for other in users.iter().chain([&theirs]) {
                    let found = fixture.inventory.users().get(&caller, other.id).await;
                    if visible.contains(&other) {
                        assert_eq!(found.unwrap(), *other);
                    } else {
                        assert_eq!(refusal(found), not_found(Entity::User, other.id));
                    }
                }
            }
        }
    });
}

#[test]
fn users_are_ordered_by_address_and_by_change_and_paged_by_cursor() {
    run(async || {
        let fixture = Fixture::new().await;
        let users = one_of_each(&fixture).await;
        let caller = in_person(&users[3]);
        fixture.clock.set(time("2026-08-15T00:00:00Z"));
        let change = |user: &mut User| {
            user.network_ids.clear();
            Ok(())
        };
        fixture.inventory.records().update(&caller, users[0].id, change).await.unwrap();
        for (order, expected) in
            [(ListOrderField::Name, [2, 1, 3, 0]), (ListOrderField::UpdatedAt, [1, 2, 3, 0])]
        {
            let mut query = ListQuery::default();
            (query.order_by, query.limit) = (order, Some(1));
            for index in expected {
                let page = fixture.inventory.users().list(&caller, &query).await.unwrap();
                assert_eq!((page.records[0].id, page.total), (users[index].id, 4), "{order}");
                query.cursor = page.next;
            }
            assert_eq!(query.cursor, None);
        }
    });
}

#[test]
fn user_is_created_by_admins_up_to_their_own_level() {
    run(async || {
        let fixture = Fixture::new().await;
        let users = one_of_each(&fixture).await;
        for caller in &users {
            for level in LEVELS {
                let email = format!("{level}.of.{}@example.net", caller.permissions);
                let mut new = NewUser::new(email, level);
                (new.password, new.network_ids) = (Some(PASSWORD.to_owned()), vec![fixture.network]);
                let (by_key, by_session) = (through_a_key(caller), in_person(caller));
                let by_key = fixture.inventory.users().create(&by_key, new.clone());
                assert_eq!(fixture.refusal(by_key).await, ErrorKind::SessionRequired);
                let created = fixture.inventory.users().create(&by_session, new);
                if caller.permissions < Permission::Admin || level > caller.permissions {
                    assert_eq!(fixture.refusal(created).await, ErrorKind::PermissionDenied);
                } else {
                    let user = created.await.unwrap();
                    assert_eq!((user.organization_id, user.permissions), (fixture.organization, level));
                    fixture.log_in(&user).await;
                }
            }
        }
    });
}

#[test]
fn invalid_new_user_is_refused() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let theirs = NewUser::new("theirs@example.net", Permission::Owner);
        fixture.inventory.users().create(&foreign.system(), theirs).await.unwrap();
        let owner = fixture.owner().await;
        let narrow =
            Caller::new(fixture.organization, owner.id, Permission::Admin, Scope::only([fixture.network]));
        type Alter<'a> = &'a dyn Fn(&mut NewUser);
        let rows: [(Alter<'_>, ErrorKind); 7] = [
            (&|new| new.email = "no address".to_owned(), invalid("email", Problem::InvalidFormat)),
            (
                &|new| new.email = "THEIRS@example.net".to_owned(),
                already_exists(Entity::User, "theirs@example.net"),
            ),
            (&|new| new.email = owner.email.clone(), already_exists(Entity::User, &owner.email)),
            (
                &|new| new.password = Some("short".to_owned()),
                invalid("password", Problem::MinLength { min: 10 }),
            ),
            (
                &|new| new.network_ids = vec![fixture.network, foreign.network],
                reference_invalid(Entity::Network, "network_ids.1"),
            ),
            (
                &|new| new.network_ids = vec![fixture.network, fixture.network, id(7)],
                reference_invalid(Entity::Network, "network_ids.2"),
            ),
            (&|new| new.network_ids = vec![fixture.other_network], access_denied(fixture.other_network)),
        ];
        for (alter, expected) in rows {
            let mut new = NewUser::new("new@example.net", Permission::Viewer);
            alter(&mut new);
            assert_eq!(fixture.refusal(fixture.inventory.users().create(&narrow, new)).await, expected);
        }
    });
}

#[test]
fn user_is_changed_and_deleted_by_admins_of_at_least_the_present_and_the_new_level() {
    run(async || {
        let fixture = Fixture::new().await;
        let callers = one_of_each(&fixture).await;
        for caller in &callers {
            for (present, new) in LEVELS.iter().flat_map(|present| LEVELS.map(|new| (*present, new))) {
                let user = fixture.user("target@example.net", present, &[]).await;
                let change = |user: &mut User| {
                    user.permissions = new;
                    Ok(())
                };
                let (by_key, own) = (through_a_key(caller), in_person(caller));
                let by_key = fixture.inventory.records().update(&by_key, user.id, change);
                assert_eq!(fixture.refusal(by_key).await, ErrorKind::SessionRequired);
                let changed = fixture.inventory.records().update(&own, user.id, change);
                if caller.permissions < Permission::Admin || present.max(new) > caller.permissions {
                    assert_eq!(fixture.refusal(changed).await, ErrorKind::PermissionDenied);
                } else {
                    assert_eq!(changed.await.unwrap().permissions, new);
                }
                let present = fixture
                    .inventory
                    .users()
                    .get(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap()
                    .permissions;
                let deleted = fixture.inventory.users().delete(&own, user.id);
                if caller.permissions < Permission::Admin || present > caller.permissions {
                    assert_eq!(fixture.refusal(deleted).await, ErrorKind::PermissionDenied);
                    fixture
                        .inventory
                        .users()
                        .delete(&Caller::system(user.organization_id), user.id)
                        .await
                        .unwrap();
                } else {
                    deleted.await.unwrap();
                    let again = fixture.inventory.users().delete(&own, user.id);
                    assert_eq!(fixture.refusal(again).await, not_found(Entity::User, user.id));
                }
            }
        }
    });
}

#[test]
fn update_changes_nothing_but_rights_and_enabling() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let owner = in_person(&fixture.owner().await);
        let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
        let later = time("2026-08-15T00:00:00Z");
        fixture.clock.set(later);
        let unchanged = |changed: &mut User| {
            let (id, time) = (foreign.organization, time("2000-01-01T00:00:00Z"));
            let rights = (changed.permissions, changed.network_ids.clone(), changed.is_enabled);
            let (permissions, network_ids, is_enabled) = rights;
            let email = "other@example.net".to_owned();
            let (created_at, updated_at, organization_id) = (time, time, id);
            *changed = User {
                id: id.uuid().into(),
                email,
                external_id: Some("of another user".to_owned()),
                organization_id,
                permissions,
                network_ids,
                is_enabled,
                created_at,
                updated_at,
            };
            Ok(())
        };
        assert_eq!(fixture.inventory.records().update(&owner, user.id, unchanged).await.unwrap(), user);
        let networks = vec![fixture.other_network, fixture.network, fixture.other_network];
        let change = |changed: &mut User| {
            unchanged(changed)?;
            (changed.permissions, changed.is_enabled) = (Permission::Viewer, false);
            changed.network_ids.clone_from(&networks);
            Ok(())
        };
        let network_ids = networks[..2].to_vec();
        let expected = User {
            permissions: Permission::Viewer,
            network_ids,
            is_enabled: false,
            updated_at: later,
            ..user.clone()
        };
        assert_eq!(fixture.inventory.records().update(&owner, user.id, change).await.unwrap(), expected);
        assert_eq!(
            fixture.inventory.users().get(&Caller::system(user.organization_id), user.id).await.unwrap(),
            expected
        );
        for (networks, field) in
            [([foreign.network, id(7)], "network_ids.0"), ([fixture.network, id(7)], "network_ids.1")]
        {
            let change = |user: &mut User| {
                user.network_ids = networks.to_vec();
                Ok(())
            };
            let refused = fixture.refusal(fixture.inventory.records().update(&owner, user.id, change)).await;
            assert_eq!(refused, reference_invalid(Entity::Network, field));
        }
    });
}

#[test]
fn last_enabled_owner_is_neither_demoted_nor_disabled_nor_deleted() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let theirs = NewUser::new("theirs@example.net", Permission::Owner);
        fixture.inventory.users().create(&foreign.system(), theirs).await.unwrap();
        let owner = fixture.owner().await;
        let caller = in_person(&owner);
        fixture.user("admin@example.net", Permission::Admin, &[]).await;
        let disabled = fixture.user("disabled@example.net", Permission::Owner, &[]).await;
        fixture
            .inventory
            .users()
            .disable(&Caller::system(disabled.organization_id), disabled.id)
            .await
            .unwrap();
        for change in [DEMOTE, DISABLE] {
            let attempt = fixture.inventory.records().update(&caller, owner.id, |user| {
                change(user);
                Ok(())
            });
            assert_eq!(fixture.refusal(attempt).await, last_owner(&owner));
        }
        let attempt = fixture.inventory.users().delete(&caller, owner.id);
        assert_eq!(fixture.refusal(attempt).await, last_owner(&owner));
        // The disabled Owner is not the last one.
        fixture.inventory.users().delete(&caller, disabled.id).await.unwrap();
        fixture.user("second@example.net", Permission::Owner, &[]).await;
        fixture.inventory.users().delete(&caller, owner.id).await.unwrap();
    });
}

/// Removes a user as an Owner in one of three ways.
async fn remove(fixture: &Fixture, way: usize, caller: &Caller, user: UserId) -> Result<(), ErrorKind> {
    let change = |user: &mut User| {
        [DEMOTE, DISABLE][way % 2](user);
        Ok(())
    };
    let removed = match way {
        0 | 1 => fixture.inventory.records().update(caller, user, change).await.map(drop),
        _ => fixture.inventory.users().delete(caller, user).await,
    };
    removed.map_err(|error| error.kind().clone())
}

#[test]
fn two_owners_who_remove_each_other_at_once_leave_one() {
    run(async || {
        let fixture = Fixture::new().await;
        for round in 0..60 {
            let a = fixture.user("a@example.net", Permission::Owner, &[]).await;
            let b = fixture.user("b@example.net", Permission::Owner, &[]).await;
            let [first, second] = [(&a, &b), (&b, &a)].map(|(caller, user)| {
                let (fixture, caller, user) = (fixture.clone(), in_person(caller), user.id);
                tokio::spawn(async move { remove(&fixture, round % 3, &caller, user).await })
            });
            let outcomes = [(first.await.unwrap(), &b), (second.await.unwrap(), &a)];
            assert_eq!(outcomes.iter().filter(|(outcome, _)| outcome.is_ok()).count(), 1, "{outcomes:?}");
            for (outcome, user) in outcomes {
                assert!(outcome.is_ok() || outcome == Err(last_owner(user)), "{outcome:?}");
            }
            for user in [a, b] {
                let _ =
                    fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id).await;
            }
        }
    });
}

#[test]
fn owner_who_is_removed_during_the_removal_of_the_other_is_the_only_one() {
    run(async || {
        for way in 0..3 {
            let is_removed_first = Cell::new(false);
            at_every_call(
                async |fixture: &Fixture| {
                    let a = fixture.user("a@example.net", Permission::Owner, &[]).await;
                    (a, fixture.user("b@example.net", Permission::Owner, &[]).await)
                },
                async |inventory, (a, b)| {
                    is_removed_first.set(
                        inventory.users().get(&Caller::system(b.organization_id), b.id).await.ok().as_ref()
                            != Some(b),
                    );
                    inventory.users().delete(&Caller::system(a.organization_id), a.id).await.unwrap();
                },
                async |inventory, (a, b)| {
                    let change = |user: &mut User| {
                        [DEMOTE, DISABLE][way % 2](user);
                        Ok(())
                    };
                    match way {
                        0 | 1 => inventory.records().update(&in_person(a), b.id, change).await.map(drop),
                        _ => inventory.users().delete(&in_person(a), b.id).await,
                    }
                },
                async |fixture, (_, b), result| {
                    // Only what follows the removal is left to do then.
                    if is_removed_first.get() {
                        return result.unwrap();
                    }
                    assert_eq!(refusal(result), last_owner(b));
                    assert_eq!(
                        fixture
                            .inventory
                            .users()
                            .get(&Caller::system(b.organization_id), b.id)
                            .await
                            .unwrap(),
                        *b
                    );
                },
            )
            .await;
        }
    });
}

#[test]
fn changed_rights_apply_at_the_next_request_and_disabling_ends_sessions_and_keys() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = in_person(&fixture.owner().await);
        let user = fixture.user("a@example.net", Permission::Admin, &[]).await;
        let key = fixture.user_key(&user, |new| new.network_ids = vec![fixture.network]).await;
        let session = fixture.log_in(&user).await;
        let update = async |change: &(dyn Fn(&mut User) + Sync)| {
            let change = |user: &mut User| {
                change(user);
                Ok(())
            };
            fixture.inventory.records().update(&owner, user.id, change).await.unwrap()
        };
        update(&|user| user.permissions = Permission::Viewer).await;
        for caller in [fixture.by_session(&session).await.unwrap(), fixture.by_key(&key).await.unwrap()] {
            assert_eq!((caller.permission(), caller.scope()), (Permission::Viewer, &Scope::only([])));
            let (caller, new) = (caller.through_session(), NewUser::new("b@example.net", Permission::Viewer));
            let attempt = fixture.inventory.users().create(&caller, new);
            assert_eq!(fixture.refusal(attempt).await, ErrorKind::PermissionDenied);
        }
        update(&|user| user.is_enabled = false).await;
        assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
        assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::Disabled { entity: Entity::User });
        update(&|user| user.is_enabled = true).await;
        assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
        fixture.by_key(&key).await.unwrap();
        fixture.log_in(&user).await;
        fixture.inventory.users().delete(&owner, user.id).await.unwrap();
        assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::NotAuthenticated);
        for gone in [user.id, key.record().id.uuid().into()] {
            assert_eq!(fixture.mentioning(gone).await, []);
        }
    });
}

#[test]
fn session_that_begins_while_its_user_is_disabled_ends() {
    run(async || {
        at_every_call(
            async |fixture: &Fixture| {
                let owner = fixture.owner().await;
                (owner, fixture.user("a@example.net", Permission::Viewer, &[]).await)
            },
            // Once the user is disabled, the login is refused.
            async |inventory, (_, user)| {
                let login = inventory.log_in(&user.email, PASSWORD.to_owned()).await;
                assert_eq!(
                    login.is_ok(),
                    inventory
                        .users()
                        .get(&Caller::system(user.organization_id), user.id)
                        .await
                        .unwrap()
                        .is_enabled
                );
            },
            async |inventory, (owner, user)| {
                let disable = |user: &mut User| {
                    user.is_enabled = false;
                    Ok(())
                };
                inventory.records().update(&in_person(owner), user.id, disable).await
            },
            async |fixture, (_, user), result| {
                result.unwrap();
                assert_eq!(fixture.sessions_of(user.id).await, 0);
            },
        )
        .await;
    });
}
