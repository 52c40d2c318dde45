//! Keys as callers see, change and rotate them.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{
    Entity, ErrorKind, ListOrderField, ListQuery, NewDaemonApiKey, NewUserApiKey, Problem,
};
use toposcope::model::{
    DaemonApiKey, NetworkId, OrganizationId, Permission, UserApiKey, UserApiKeyId, UserId,
};

use crate::backend::run_on_threads as run;
use crate::support::{
    Fixture, LEVELS, NOW, access_denied, id, in_person, invalid, not_found, reference_invalid, refusal,
    through_a_key, time,
};

const LATER: &str = "2026-08-15T00:00:00Z";

/// Returns a Member of the organization without a stored record.
fn member(fixture: &Fixture, networks: &[NetworkId]) -> Caller {
    let scope = Scope::only(networks.iter().copied());
    Caller::new(fixture.organization, id(1), Permission::Member, scope)
}

#[test]
fn users_see_and_change_their_own_keys_only() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let owner = fixture.owner().await;
        let user = fixture.user("a@example.net", Permission::Viewer, &[]).await;
        let own = fixture.user_key(&user, |new| new.name = "own".to_owned()).await.record().clone();
        let other = fixture.user_key(&owner, |_| {}).await.record().clone();
        let namesake = Caller::new(foreign.organization, user.id, Permission::Owner, Scope::all());
        for caller in [in_person(&user), through_a_key(&user)] {
            let page = fixture.inventory.user_api_keys().list(&caller, &ListQuery::default()).await.unwrap();
            assert_eq!((page.records, page.total), (vec![own.clone()], 1));
            assert_eq!(fixture.inventory.user_api_keys().get(&caller, own.id).await.unwrap(), own);
        }
        let rename = |key: &mut UserApiKey| {
            key.name.push('!');
            Ok(())
        };
        for (caller, key) in [(in_person(&owner), &own), (in_person(&user), &other), (namesake, &own)] {
            let (inventory, expected) = (&fixture.inventory, not_found(Entity::UserApiKey, key.id));
            let page = inventory.user_api_keys().list(&caller, &ListQuery::default()).await.unwrap();
            assert!(!page.records.contains(key));
            assert_eq!(refusal(inventory.user_api_keys().get(&caller, key.id).await), expected);
            assert_eq!(fixture.refusal(inventory.records().update(&caller, key.id, rename)).await, expected);
            assert_eq!(fixture.refusal(inventory.user_api_keys().rotate(&caller, key.id)).await, expected);
            let deletion = inventory.user_api_keys().delete(&caller, key.id);
            assert_eq!(fixture.refusal(deletion).await, expected);
            assert_eq!(inventory.user_api_keys().delete_many(&caller, &[key.id]).await.unwrap(), 0);
        }
    });
}

#[test]
fn key_writes_no_keys_of_its_user() {
    run(async || {
        let (fixture, issued) = Fixture::with_key().await;
        let (inventory, id) = (&fixture.inventory, issued.record().id);
        let caller = fixture.by_key(&issued).await.unwrap();
        fixture.until_used(id).await;
        let new = NewUserApiKey::new(caller.user_id(), "new", Permission::Viewer);
        for refused in [
            fixture.refusal(inventory.user_api_keys().create(&caller, new)).await,
            fixture.refusal(inventory.user_api_keys().update(&caller, id, |_| Ok(()))).await,
            fixture.refusal(inventory.user_api_keys().rotate(&caller, id)).await,
            fixture.refusal(inventory.user_api_keys().delete(&caller, id)).await,
            fixture.refusal(inventory.user_api_keys().delete_many(&caller, &[id])).await,
        ] {
            assert_eq!(refused, ErrorKind::SessionRequired);
        }
    });
}

#[test]
fn users_issue_keys_within_their_own_rights() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
        let (owner, caller) = (fixture.owner().await, in_person(&user));
        // The user of the input does not matter.
        let mut new = NewUserApiKey::new(owner.id, " laptop ", Permission::Member);
        new.network_ids = vec![fixture.network, fixture.network];
        new.tags = vec![fixture.tags[1], fixture.tags[1]];
        new.expires_at = Some(time(LATER));
        let issued = fixture.inventory.user_api_keys().create(&caller, new.clone()).await.unwrap();
        let key = issued.record();
        assert_eq!(
            (key.user_id, key.organization_id, key.name.as_str()),
            (user.id, fixture.organization, "laptop")
        );
        assert_eq!((&key.network_ids, &key.tags), (&vec![fixture.network], &vec![fixture.tags[1]]));
        assert_eq!(fixture.by_key(&issued).await.unwrap().user_id(), user.id);
        fixture.until_used(key.id).await;
        type Alter<'a> = &'a dyn Fn(&mut NewUserApiKey);
        let now = time(NOW);
        let rows: [(Alter<'_>, ErrorKind); 6] = [
            (&|new| new.name.clear(), invalid("name", Problem::Empty)),
            (&|new| new.expires_at = Some(now), invalid("expires_at", Problem::NotInFuture { now })),
            (&|new| new.permissions = Permission::Admin, ErrorKind::PermissionDenied),
            (&|new| new.network_ids[1] = fixture.other_network, access_denied(fixture.other_network)),
            (
                &|new| new.network_ids[1] = foreign.network,
                reference_invalid(Entity::Network, "network_ids.1"),
            ),
            (&|new| new.tags.push(foreign.tag), reference_invalid(Entity::Tag, "tags.2")),
        ];
        for (alter, expected) in rows {
            let mut bad = new.clone();
            alter(&mut bad);
            let attempt = fixture.inventory.user_api_keys().create(&caller, bad);
            assert_eq!(fixture.refusal(attempt).await, expected);
        }
        let elsewhere = Caller::new(foreign.organization, user.id, Permission::Owner, Scope::all());
        let attempt = fixture.inventory.user_api_keys().create(&elsewhere, new);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, user.id));
    });
}

#[test]
fn update_of_a_user_key_changes_what_its_user_may_change() {
    run(async || {
        let fixture = Fixture::new().await;
        let (user, issued) = super::full_key(&fixture).await;
        fixture.by_key(&issued).await.unwrap();
        fixture.until_used(issued.record().id).await;
        let (caller, id) = (in_person(&user), issued.record().id);
        let before = fixture.inventory.user_api_keys().get(&caller, id).await.unwrap();
        assert!(before.last_used.is_some());
        fixture.clock.set(time(LATER));
        let fixed = |key: &mut UserApiKey| {
            (key.id, key.last_used, key.created_at) = (UserApiKeyId::nil(), None, time(LATER));
            key.key = "another".to_owned();
            key.tags.extend(key.tags.clone());
            Ok(())
        };
        assert_eq!(
            fixture.inventory.records().update(&caller, id, fixed).await.unwrap(),
            before,
            "nothing changed"
        );
        let change = |key: &mut UserApiKey| {
            fixed(key)?;
            (key.expires_at, key.is_enabled, key.permissions) = (Some(time(NOW)), false, Permission::Admin);
            Ok(())
        };
        let (expires_at, updated_at, permissions) = (Some(time(NOW)), time(LATER), Permission::Admin);
        let expected = UserApiKey { expires_at, updated_at, permissions, is_enabled: false, ..before };
        assert_eq!(fixture.inventory.records().update(&caller, id, change).await.unwrap(), expected);
        assert_eq!(fixture.inventory.user_api_keys().get(&fixture.system(), id).await.unwrap(), expected);
        for change in [
            |key: &mut UserApiKey| key.organization_id = OrganizationId::nil(),
            |key: &mut UserApiKey| key.user_id = UserId::nil(),
        ] {
            let change = |key: &mut UserApiKey| {
                change(key);
                Ok(())
            };
            let refused = fixture.refusal(fixture.inventory.records().update(&caller, id, change)).await;
            assert_eq!(refused, ErrorKind::UpdateForbidden { entity: Entity::UserApiKey });
        }
        // Rights that a key already has may stay, but not be added.
        let user = fixture
            .inventory
            .users()
            .set_rights(&Caller::system(user.organization_id), user.id, Permission::Viewer, vec![])
            .await
            .unwrap();
        let rename = |key: &mut UserApiKey| {
            key.name = "renamed".to_owned();
            Ok(())
        };
        fixture.inventory.records().update(&in_person(&user), id, rename).await.unwrap();
        let raise = |key: &mut UserApiKey| {
            key.permissions = Permission::Member;
            Ok(())
        };
        let refused = fixture.refusal(fixture.inventory.records().update(&in_person(&user), id, raise)).await;
        assert_eq!(refused, ErrorKind::PermissionDenied);
    });
}

#[test]
fn rotation_by_a_caller_replaces_the_plaintext_only() {
    run(async || {
        let (fixture, old) = Fixture::with_key().await;
        let daemons = fixture.daemon_key(|_| {}).await;
        let caller = fixture.by_key(&old).await.unwrap().through_session();
        fixture.until_used(old.record().id).await;
        fixture.clock.set(time(LATER));
        let before = fixture
            .inventory
            .user_api_keys()
            .get(&Caller::system(old.record().organization_id), old.record().id)
            .await
            .unwrap();
        let new = fixture.inventory.user_api_keys().rotate(&caller, before.id).await.unwrap();
        let masked = |kind: &str, text: &str| format!("topo_{kind}_…{}", &text[text.len() - 4..]);
        let expected = UserApiKey { key: masked("u", new.plaintext()), updated_at: time(LATER), ..before };
        assert_eq!(*new.record(), expected);
        assert_eq!(refusal(fixture.by_key(&old).await), ErrorKind::NotAuthenticated);
        assert_eq!(fixture.by_key(&new).await.unwrap().user_id(), caller.user_id());

        let caller = member(&fixture, &[fixture.network]);
        let new = fixture.inventory.daemon_api_keys().rotate(&caller, daemons.record().id).await.unwrap();
        let (key, updated_at) = (masked("d", new.plaintext()), time(LATER));
        assert_eq!(*new.record(), DaemonApiKey { key, updated_at, ..daemons.record().clone() });
        let authenticate = async |text| fixture.inventory.authenticate_daemon_key(text).await;
        assert_eq!(refusal(authenticate(daemons.plaintext()).await), ErrorKind::NotAuthenticated);
        assert_eq!(authenticate(new.plaintext()).await.unwrap().network_id, fixture.network);
    });
}

#[test]
fn key_in_use_is_accepted_until_it_is_rotated_and_never_after() {
    run(async || {
        let (fixture, mut key) = Fixture::with_key().await;
        let caller = fixture.by_key(&key).await.unwrap().through_session();
        for _ in 0..20 {
            let uses: Vec<_> = (0..4)
                .map(|_| {
                    let (inventory, text) = (fixture.inventory.clone(), key.plaintext().to_owned());
                    tokio::spawn(async move {
                        while inventory.authenticate_user_key(&text).await.is_ok() {
                            tokio::task::yield_now().await;
                        }
                        refusal(inventory.authenticate_user_key(&text).await)
                    })
                })
                .collect();
            key = fixture.inventory.user_api_keys().rotate(&caller, key.record().id).await.unwrap();
            fixture.by_key(&key).await.unwrap();
            for used in uses {
                assert_eq!(used.await.unwrap(), ErrorKind::NotAuthenticated);
            }
        }
    });
}

#[test]
fn deleted_key_leaves_nothing() {
    run(async || {
        let (fixture, first) = Fixture::with_key().await;
        let user = fixture.by_key(&first).await.unwrap().user_id();
        let user = fixture.inventory.users().get(&fixture.system(), user).await.unwrap();
        let caller = in_person(&user);
        let second = fixture.user_key(&user, |_| {}).await;
        fixture.by_key(&second).await.unwrap();
        let daemons = fixture.daemon_key(|_| {}).await;
        fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
        for key in [first.record().id, second.record().id, daemons.record().id.uuid().into()] {
            fixture.until_used(key).await;
        }
        let [first_id, second_id] = [&first, &second].map(|key| key.record().id);
        fixture.inventory.user_api_keys().delete(&caller, first_id).await.unwrap();
        let ids = [second_id, first_id, second_id, id(3)];
        assert_eq!(fixture.inventory.user_api_keys().delete_many(&caller, &ids).await.unwrap(), 1);
        fixture.inventory.daemon_api_keys().delete(&caller, daemons.record().id).await.unwrap();
        for key in [&first, &second] {
            assert_eq!(refusal(fixture.by_key(key).await), ErrorKind::NotAuthenticated);
        }
        for gone in [first_id, second_id, daemons.record().id.uuid().into()] {
            assert_eq!(fixture.mentioning(gone).await, []);
        }
    });
}

#[test]
fn daemon_keys_are_for_members_within_their_networks() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let key = async |organization, network, name: &str| {
            let (system, new) = (Caller::system(organization), NewDaemonApiKey::new(network, name));
            fixture.inventory.daemon_api_keys().create(&system, new).await.unwrap().record().clone()
        };
        let near = key(fixture.organization, fixture.network, "near").await;
        let far = key(fixture.organization, fixture.other_network, "far").await;
        let theirs = key(foreign.organization, foreign.network, "theirs").await;
        let inventory = &fixture.inventory;
        let rename = |key: &mut DaemonApiKey| {
            key.name.push('!');
            Ok(())
        };
        let caller = member(&fixture, &[fixture.network]);
        for caller in
            [caller.clone(), caller.clone().through_key(id(2), Permission::Owner, [fixture.network])]
        {
            let mut query = ListQuery::default();
            query.order_by = ListOrderField::Name;
            let page = inventory.daemon_api_keys().list(&caller, &query).await.unwrap();
            assert_eq!((page.records, page.total), (vec![near.clone()], 1));
            assert_eq!(inventory.daemon_api_keys().get(&caller, near.id).await.unwrap(), near);
            for (key, expected) in [
                (&far, access_denied(fixture.other_network)),
                (&theirs, not_found(Entity::DaemonApiKey, theirs.id)),
            ] {
                assert_eq!(refusal(inventory.daemon_api_keys().get(&caller, key.id).await), expected);
                assert_eq!(
                    fixture.refusal(inventory.records().update(&caller, key.id, rename)).await,
                    expected
                );
                let rotation = inventory.daemon_api_keys().rotate(&caller, key.id);
                assert_eq!(fixture.refusal(rotation).await, expected);
                let deletion = inventory.daemon_api_keys().delete(&caller, key.id);
                assert_eq!(fixture.refusal(deletion).await, expected);
            }
        }
        let viewer = Caller::new(fixture.organization, id(1), Permission::Viewer, Scope::all());
        for refused in [
            refusal(inventory.daemon_api_keys().list(&viewer, &ListQuery::default()).await),
            fixture.refusal(inventory.records().update(&viewer, near.id, rename)).await,
            fixture.refusal(inventory.daemon_api_keys().rotate(&viewer, near.id)).await,
            fixture.refusal(inventory.daemon_api_keys().delete_many(&viewer, &[near.id])).await,
        ] {
            assert_eq!(refused, ErrorKind::PermissionDenied);
        }
        let ids = [near.id, far.id, theirs.id];
        assert_eq!(inventory.daemon_api_keys().delete_many(&caller, &ids).await.unwrap(), 1);
        assert_eq!(inventory.daemon_api_keys().all(&fixture.system()).await.unwrap(), [far]);
    });
}

#[test]
fn update_of_a_daemon_key_keeps_its_network_and_its_secret() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let issued = fixture.daemon_key(|_| {}).await;
        fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        fixture.until_used(issued.record().id).await;
        let caller = member(&fixture, &[fixture.network, fixture.other_network]);
        let id = issued.record().id;
        let before = fixture.inventory.daemon_api_keys().get(&fixture.system(), id).await.unwrap();
        fixture.clock.set(time(LATER));
        let (first, second) = (fixture.tags[0], fixture.tags[1]);
        let change = |key: &mut DaemonApiKey| {
            (key.name, key.key) = (" probe ".to_owned(), "another".to_owned());
            (key.expires_at, key.is_enabled, key.last_used) = (Some(time(NOW)), false, None);
            key.tags = vec![second, first, second];
            Ok(())
        };
        let (expires_at, updated_at) = (Some(time(NOW)), time(LATER));
        let (name, tags) = ("probe".to_owned(), vec![second, first]);
        let expected = DaemonApiKey { name, tags, expires_at, updated_at, is_enabled: false, ..before };
        assert_eq!(fixture.inventory.records().update(&caller, id, change).await.unwrap(), expected);
        assert_eq!(fixture.inventory.daemon_api_keys().get(&fixture.system(), id).await.unwrap(), expected);
        let refused = refusal(fixture.inventory.authenticate_daemon_key(issued.plaintext()).await);
        assert_eq!(refused, ErrorKind::Disabled { entity: Entity::DaemonApiKey });
        type Alter<'a> = &'a (dyn Fn(&mut DaemonApiKey) + Sync);
        let moved = ErrorKind::NetworkMismatch { entity: Entity::DaemonApiKey };
        let rows: [(Alter<'_>, ErrorKind); 4] = [
            (&|key| key.network_id = fixture.other_network, moved),
            (&|key| key.name = "🦀".repeat(101), invalid("name", Problem::MaxLength { max: 100 })),
            (&|key| key.tags = vec![second, second, foreign.tag], reference_invalid(Entity::Tag, "tags.2")),
            (&|key| key.name = " ".to_owned(), invalid("name", Problem::Empty)),
        ];
        for (alter, expected) in rows {
            let change = |key: &mut DaemonApiKey| {
                alter(key);
                Ok(())
            };
            assert_eq!(
                fixture.refusal(fixture.inventory.records().update(&caller, id, change)).await,
                expected
            );
        }
    });
}

#[test]
fn keys_of_every_level_of_user_are_listed_with_their_last_use() {
    run(async || {
        for level in LEVELS {
            let fixture = Fixture::new().await;
            let user = fixture.user("a@example.net", level, &[]).await;
            let used = fixture.user_key(&user, |new| new.name = "b".to_owned()).await;
            fixture
                .user_key(&user, |new| (new.name, new.tags) = ("a".to_owned(), fixture.tags.to_vec()))
                .await;
            fixture.by_key(&used).await.unwrap();
            fixture.until_used(used.record().id).await;
            let mut query = ListQuery::default();
            query.order_by = ListOrderField::Name;
            let list = async |query: &ListQuery| {
                let page = fixture.inventory.user_api_keys().list(&in_person(&user), query).await.unwrap();
                page.records.into_iter().map(|key| (key.name, key.last_used)).collect::<Vec<_>>()
            };
            let (a, b) = (("a".to_owned(), None), ("b".to_owned(), Some(time(NOW))));
            assert_eq!(list(&query).await, [a.clone(), b]);
            query.tag_ids = Some(vec![fixture.tags[1], id(3)]);
            assert_eq!(list(&query).await, [a]);
        }
    });
}
