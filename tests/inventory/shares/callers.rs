//! Shares as callers see and change them.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, ListOrderField, ListQuery, NewShare, PasswordChange, Problem};
use toposcope::model::{NetworkId, Permission, Redaction, Share, TopologyView};

use crate::backend::run_on_threads as run;
use crate::support::{
    Fixture, NOW, PASSWORD, access_denied, id, invalid, not_found, owner_of, reference_invalid, refusal, time,
};

const LATER: &str = "2026-08-15T00:00:00Z";

/// Returns a Member with the first network.
fn member(fixture: &Fixture) -> Caller {
    Caller::new(fixture.organization, id(1), Permission::Member, Scope::only([fixture.network]))
}

fn on(network: NetworkId) -> NewShare {
    let mut new = NewShare::new("the office");
    new.network_id = Some(network);
    new
}

fn set(password: &str) -> PasswordChange {
    PasswordChange::Set(password.to_owned())
}

#[test]
fn member_creates_a_share_of_an_own_network() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let caller = member(&fixture);
        let mut new = on(fixture.network);
        (new.view, new.redact) = (TopologyView::L3, vec![Redaction::Macs, Redaction::Macs]);
        new.password = Some(PASSWORD.to_owned());
        let share = fixture.inventory.shares().create(&caller, new).await.unwrap();
        assert_eq!(share.organization_id, fixture.organization);
        assert_eq!((share.view, share.redact.as_slice()), (TopologyView::L3, [Redaction::Macs].as_slice()));
        assert!(fixture.inventory.shares().verify_password(share.id, PASSWORD.to_owned()).await.unwrap());
        type Alter<'a> = &'a dyn Fn(&mut NewShare);
        let now = time(NOW);
        let rows: [(Alter<'_>, ErrorKind); 7] = [
            (&|new| new.network_id = None, invalid("network_id", Problem::Required)),
            (&|new| new.name = " ".to_owned(), invalid("name", Problem::Empty)),
            (&|new| new.expires_at = Some(now), invalid("expires_at", Problem::NotInFuture { now })),
            (
                &|new| new.password = Some("short".to_owned()),
                invalid("password", Problem::MinLength { min: 10 }),
            ),
            (&|new| new.network_id = Some(foreign.network), reference_invalid(Entity::Network, "network_id")),
            (&|new| new.network_id = Some(id(7)), reference_invalid(Entity::Network, "network_id")),
            (&|new| new.network_id = Some(fixture.other_network), access_denied(fixture.other_network)),
        ];
        for (alter, expected) in rows {
            let mut new = on(fixture.network);
            alter(&mut new);
            assert_eq!(fixture.refusal(fixture.inventory.shares().create(&caller, new)).await, expected);
        }
        let viewer = Caller::new(fixture.organization, id(1), Permission::Viewer, Scope::all());
        let attempt = fixture.inventory.shares().create(&viewer, on(fixture.network));
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::PermissionDenied);
    });
}

#[test]
fn shares_are_visible_within_the_networks_of_the_caller() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let inventory = &fixture.inventory;
        let near = fixture.share(|new| new.network_id = Some(fixture.network)).await;
        let far = fixture.share(|new| new.network_id = Some(fixture.other_network)).await;
        let everywhere = fixture.share(|_| {}).await;
        let theirs = NewShare::new("theirs");
        let theirs = inventory.shares().create(&foreign.system(), theirs).await.unwrap();
        let hidden = |share: &Share| not_found(Entity::Share, share.id);
        let rename = |share: &mut Share| {
            share.name.push('!');
            Ok(())
        };
        let caller = member(&fixture);
        let list = async |caller: &Caller, query: &ListQuery| {
            inventory.shares().list(caller, query).await.unwrap().records
        };
        assert_eq!(list(&caller, &ListQuery::default()).await, std::slice::from_ref(&near));
        for (share, expected) in [
            (&far, access_denied(fixture.other_network)),
            (&everywhere, hidden(&everywhere)),
            (&theirs, hidden(&theirs)),
        ] {
            assert_eq!(refusal(inventory.shares().get(&caller, share.id).await), expected);
            assert_eq!(
                fixture.refusal(inventory.records().update(&caller, share.id, rename)).await,
                expected
            );
            let attempt = inventory.shares().update_with_password(&caller, share.id, set(PASSWORD), rename);
            assert_eq!(fixture.refusal(attempt).await, expected);
            let attempt = inventory.shares().delete(&caller, share.id);
            assert_eq!(fixture.refusal(attempt).await, expected);
        }
        let ids = [near.id, far.id, everywhere.id, theirs.id];
        assert_eq!(inventory.shares().delete_many(&caller, &ids).await.unwrap(), 1);
        let owner = owner_of(fixture.organization);
        let renamed = inventory.records().update(&owner, far.id, rename).await.unwrap();
        let mut query = ListQuery::default();
        query.order_by = ListOrderField::Name;
        assert_eq!(list(&owner, &query).await, [everywhere.clone(), renamed.clone()]);
        query.network_id = Some(fixture.other_network);
        assert_eq!(list(&owner, &query).await, [renamed]);
        assert_eq!(inventory.shares().get(&owner, everywhere.id).await.unwrap(), everywhere);
        let viewer = Caller::new(fixture.organization, id(1), Permission::Viewer, Scope::all());
        for refused in [
            refusal(inventory.shares().list(&viewer, &query).await),
            fixture.refusal(inventory.records().update(&viewer, far.id, rename)).await,
            fixture.refusal(inventory.shares().delete_many(&viewer, &ids)).await,
        ] {
            assert_eq!(refused, ErrorKind::PermissionDenied);
        }
    });
}

#[test]
fn update_changes_all_but_network_organization_and_times() {
    run(async || {
        let fixture = Fixture::new().await;
        let (end, caller) = (time("2026-08-14T13:00:00Z"), owner_of(fixture.organization));
        let share = fixture.share(|new| {
            (new.network_id, new.expires_at) = (Some(fixture.network), Some(end));
        });
        let share = share.await;
        fixture.clock.set(time(LATER));
        let fixed = |share: &mut Share| {
            (share.id, share.organization_id, share.requires_password) = (id(3), id(9), true);
            (share.created_at, share.updated_at) = (time(NOW), time(NOW));
            Ok(())
        };
        let unchanged = fixture.inventory.records().update(&caller, share.id, fixed).await.unwrap();
        assert_eq!(unchanged, share, "a past end may stay");
        let change = |share: &mut Share| {
            fixed(share)?;
            (share.name, share.is_enabled, share.view) = (" lab ".to_owned(), false, TopologyView::Workloads);
            share.redact = vec![Redaction::Names, Redaction::Serials, Redaction::Names];
            share.options.show_minimap = false;
            share.expires_at = None;
            Ok(())
        };
        let mut expected =
            Share { name: "lab".to_owned(), is_enabled: false, expires_at: None, ..share.clone() };
        (expected.view, expected.updated_at) = (TopologyView::Workloads, time(LATER));
        expected.redact = vec![Redaction::Names, Redaction::Serials];
        expected.options.show_minimap = false;
        assert_eq!(fixture.inventory.records().update(&caller, share.id, change).await.unwrap(), expected);
        assert_eq!(
            fixture.inventory.shares().get(&Caller::system(share.organization_id), share.id).await.unwrap(),
            expected
        );
        type Alter<'a> = &'a (dyn Fn(&mut Share) + Sync);
        let (now, moved) = (time(LATER), ErrorKind::NetworkMismatch { entity: Entity::Share });
        let rows: [(Alter<'_>, ErrorKind); 4] = [
            (&|share| share.network_id = Some(fixture.other_network), moved.clone()),
            (&|share| share.network_id = None, moved),
            (&|share| share.expires_at = Some(now), invalid("expires_at", Problem::NotInFuture { now })),
            (&|share| share.name.clear(), invalid("name", Problem::Empty)),
        ];
        for (alter, expected) in rows {
            let change = |share: &mut Share| {
                alter(share);
                Ok(())
            };
            let attempt =
                fixture.inventory.shares().update_with_password(&caller, share.id, set(PASSWORD), change);
            assert_eq!(fixture.refusal(attempt).await, expected);
        }
    });
}

#[test]
fn password_of_a_share_is_set_kept_and_cleared() {
    run(async || {
        let fixture = Fixture::new().await;
        let (inventory, caller) = (&fixture.inventory, owner_of(fixture.organization));
        let share = fixture.share(|new| new.network_id = Some(fixture.network)).await.id;
        let records = fixture.contents().await.len();
        let other = "battery staple";
        for (change, password, is_changed) in [
            (PasswordChange::Clear, None, false),
            (set(PASSWORD), Some(PASSWORD), true),
            (PasswordChange::Keep, Some(PASSWORD), false),
            (set(other), Some(other), true),
            (set(other), Some(other), true),
            (PasswordChange::Clear, None, true),
        ] {
            let before = inventory.shares().get(&fixture.system(), share).await.unwrap();
            fixture.clock.advance(std::time::Duration::from_secs(1));
            let after =
                inventory.shares().update_with_password(&caller, share, change, |_| Ok(())).await.unwrap();
            assert_eq!(after.requires_password, password.is_some());
            assert_eq!(after.updated_at > before.updated_at, is_changed);
            assert_eq!(fixture.contents().await.len(), records + usize::from(password.is_some()));
            for text in [PASSWORD, other] {
                let verified = inventory.shares().verify_password(share, text.to_owned()).await.unwrap();
                assert_eq!(verified, password.is_none_or(|password| password == text));
            }
        }
        let attempt = inventory.shares().update_with_password(&caller, share, set("short"), |_| Ok(()));
        assert_eq!(fixture.refusal(attempt).await, invalid("password", Problem::MinLength { min: 10 }));
        inventory.shares().update_with_password(&caller, share, set(PASSWORD), |_| Ok(())).await.unwrap();
        inventory.shares().delete(&caller, share).await.unwrap();
        assert_eq!(fixture.mentioning(share).await, []);
        assert!(!format!("{:?}", set(PASSWORD)).contains(PASSWORD));
    });
}
