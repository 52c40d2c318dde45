//! Logins, passwords and keys in the history, and what is never in it.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::ChangeQuery;
use toposcope::model::{
    Change, ChangeAction, ChangeActor, ChangedEntity, Host, HostId, Permission, Tag, UserId,
};
use toposcope::store::{Name, Query, Store};

use super::changes_after;
use crate::backend::run;
use crate::support::{Fixture, PASSWORD, bare_host, owner_of};

fn actions(changes: &[Change]) -> Vec<(ChangedEntity, ChangeAction)> {
    changes.iter().map(|change| (change.entity, change.action)).collect()
}

#[test]
fn sessions_passwords_and_keys_are_security_events_of_their_users() {
    run(async || {
        let (fixture, owner) = Fixture::with_owner().await;
        let system = fixture.system();
        let inventory = &fixture.inventory;
        let (_, start) = changes_after(&fixture, &system, None).await;
        let session = inventory.log_in(&owner.email, PASSWORD.to_owned()).await.unwrap();
        inventory.log_out(session.plaintext()).await.unwrap();
        inventory.users().set_password(&system, owner.id, Some("another password".to_owned())).await.unwrap();
        let (changes, _) = changes_after(&fixture, &system, Some(start)).await;
        assert_eq!(
            actions(&changes),
            [
                (ChangedEntity::Session, ChangeAction::Login),
                (ChangedEntity::Session, ChangeAction::Logout),
                (ChangedEntity::User, ChangeAction::PasswordChanged),
            ]
        );
        for change in &changes {
            assert_eq!((change.id, change.network_id, change.fields.len()), (owner.id.uuid(), None, 0));
        }
        assert!(matches!(&changes[0].actor, ChangeActor::User { id, email, .. }
            if *id == owner.id && email.as_ref() == Some(&owner.email)));
        assert_eq!(changes[0].name, owner.email);
        let other = Caller::new(fixture.organization, UserId::from_u128(7), Permission::Member, Scope::all());
        let (seen, _) = changes_after(&fixture, &other, None).await;
        assert!(seen.iter().all(|change| change.id != owner.id.uuid()));
        let own = Caller::new(fixture.organization, owner.id, Permission::Viewer, Scope::all());
        let (seen, _) = changes_after(&fixture, &own, None).await;
        assert!(seen.iter().any(|change| change.action == ChangeAction::Login));
    });
}

#[test]
fn failed_logins_are_counted_and_recorded_a_second_later() {
    run(async || {
        let (fixture, owner) = Fixture::with_owner().await;
        let (_, start) = changes_after(&fixture, &fixture.system(), None).await;
        let mut watch = fixture.inventory.watch(&fixture.system(), Some(start));
        for _ in 0..3 {
            assert!(fixture.inventory.log_in(&owner.email, "a wrong password".to_owned()).await.is_err());
        }
        assert!(fixture.inventory.log_in("nobody@example.net", "a wrong password".to_owned()).await.is_err());
        let mut count = 0;
        while count < 3 {
            let change = tokio::time::timeout(Duration::from_secs(120), watch.next()).await.unwrap().unwrap();
            assert_eq!(
                actions(std::slice::from_ref(&change)),
                [(ChangedEntity::Session, ChangeAction::LoginFailed)]
            );
            assert_eq!((change.id, &change.name), (owner.id.uuid(), &owner.email));
            count += change.fields["count"].after.as_ref().and_then(serde_json::Value::as_u64).unwrap();
        }
        assert_eq!(count, 3);
    });
}

#[test]
fn entries_have_neither_keys_nor_passwords() {
    run(async || {
        let (fixture, issued) = Fixture::with_key().await;
        let records = fixture.store.list(&Query::new(Name::new("change"))).await.unwrap().records;
        let ending = &issued.record().key[issued.record().key.len() - 4..];
        assert!(!records.is_empty());
        for record in records {
            let text = String::from_utf8_lossy(&record.body);
            assert!(!text.contains(&format!("{ending}\"")), "{text}");
            assert!(!text.contains("argon2") && !text.contains(PASSWORD), "{text}");
        }
        let (changes, _) = changes_after(&fixture, &fixture.system(), None).await;
        let created = changes.iter().find(|change| change.entity == ChangedEntity::UserApiKey).unwrap();
        assert!(created.fields.contains_key("name") && !created.fields.contains_key("key"));
    });
}

#[test]
fn host_that_moves_goes_from_one_network_and_comes_to_the_other() {
    run(async || {
        let fixture = Fixture::new().await;
        let system = fixture.system();
        let host: Host = bare_host(HostId::from_u128(1), fixture.network);
        fixture.put(&host).await;
        let (_, start) = changes_after(&fixture, &system, None).await;
        let moved = Host { network_id: fixture.other_network, ..fixture.host(host.id).await };
        fixture.put(&moved).await;
        let (changes, _) = changes_after(&fixture, &system, Some(start)).await;
        let seen: Vec<_> = changes.iter().map(|change| (change.action, change.network_id)).collect();
        assert_eq!(
            seen,
            [
                (ChangeAction::Deleted, Some(fixture.network)),
                (ChangeAction::Created, Some(fixture.other_network)),
            ]
        );
    });
}

#[test]
fn erased_record_leaves_its_entries_without_what_they_said() {
    run(async || {
        let (fixture, owner) = Fixture::with_owner().await;
        let caller = owner_of(fixture.organization);
        let own = Caller::new(fixture.organization, owner.id, Permission::Owner, Scope::all());
        let tag = fixture.inventory.tags().create(&own, Tag::new("secret name")).await.unwrap();
        let host = bare_host(HostId::from_u128(1), fixture.network);
        fixture.put(&host).await;
        fixture.inventory.tags().delete(&own, tag.id).await.unwrap();
        let (before, _) = changes_after(&fixture, &caller, None).await;
        let inventory = &fixture.inventory;
        let viewer = Caller::new(fixture.organization, owner.id, Permission::Admin, Scope::all());
        assert!(inventory.erase_history(&viewer, ChangedEntity::Tag, tag.id.uuid()).await.is_err());
        let erased = inventory.erase_history(&caller, ChangedEntity::Tag, tag.id.uuid()).await.unwrap();
        assert_eq!(erased, 2);
        assert_eq!(inventory.erase_history(&caller, ChangedEntity::Tag, tag.id.uuid()).await.unwrap(), 0);
        inventory.erase_history(&caller, ChangedEntity::User, owner.id.uuid()).await.unwrap();
        let (after, _) = changes_after(&fixture, &caller, None).await;
        assert_eq!(after.len(), before.len());
        for (before, after) in before.iter().zip(&after) {
            let is_erased = [tag.id.uuid(), owner.id.uuid()].contains(&before.id);
            assert_eq!((&after.position, after.at, after.id), (&before.position, before.at, before.id));
            assert_eq!(after.is_erased, is_erased);
            if is_erased {
                assert!(after.name.is_empty() && after.fields.is_empty());
            } else {
                assert_eq!((&after.name, &after.fields), (&before.name, &before.fields));
            }
        }
        let mut query = ChangeQuery::default();
        query.id = Some(tag.id.uuid());
        let page = inventory.changes(&caller, &query).await.unwrap();
        assert!(page.changes.iter().all(|change| {
            matches!(&change.actor, ChangeActor::User { email: None, id, .. } if *id == owner.id)
        }));
        for kind in ["change", "change_run"] {
            for record in fixture.store.list(&Query::new(Name::parse(kind).unwrap())).await.unwrap().records {
                let text = String::from_utf8_lossy(&record.body);
                assert!(!text.contains("secret name") && !text.contains(&owner.email), "{text}");
            }
        }
    });
}
