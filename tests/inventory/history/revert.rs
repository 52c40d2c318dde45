//! Reverting records to what they were.

use fastrand::Rng;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, Problem};
use toposcope::model::{ChangeAction, ChangePosition, Cidr, Host, HostId, Permission, Subnet, Tag, UserId};

use super::changes_after;
use super::replay::{comparable, random_states};
use crate::backend::run;
use crate::support::{
    Fixture, already_exists, bare_host, id, invalid, not_found, owner_of, reference_invalid, refusal,
    rich_host,
};

async fn now(fixture: &Fixture) -> ChangePosition {
    changes_after(fixture, &owner_of(fixture.organization), None).await.1
}

fn caller(fixture: &Fixture, permission: Permission) -> Caller {
    Caller::new(fixture.organization, UserId::from_u128(7), permission, Scope::only([fixture.network]))
}

/// Returns a host without what an update or a creation sets, such as times of creation.
fn content(document: serde_json::Value) -> serde_json::Value {
    fn remove(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.retain(|name, _| name != "created_at" && name != "source" && name != "is_stale");
                members.values_mut().for_each(remove);
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(remove),
            _ => {}
        }
    }
    let mut document = comparable(document);
    remove(&mut document);
    document
}

#[test]
fn host_is_reverted_to_any_of_its_states() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let states = random_states(&fixture, 19, 60).await;
        let mut random = Rng::with_seed(20);
        for _ in 0..40 {
            let (position, hosts) = &states[random.usize(..states.len())];
            let host: HostId = id(1 + random.u128(..6));
            let reverted = fixture.inventory.hosts().revert(&owner, host, position).await;
            match hosts.get(&host.uuid()) {
                Some(then) => {
                    let [reverted, stored] = [reverted.unwrap(), fixture.host(host).await]
                        .map(|host| content(serde_json::to_value(host).unwrap()));
                    assert_eq!((&reverted, &stored), (&content(then.clone()), &content(then.clone())));
                }
                None => assert_eq!(refusal(reverted), not_found(Entity::Host, host)),
            }
        }
    });
}

#[test]
fn reversion_is_an_ordinary_change_by_its_caller() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut host = bare_host(id(1), fixture.network);
        fixture.put(&host).await;
        let before = now(&fixture).await;
        host.name = "renamed".to_owned();
        fixture.put(&host).await;
        let renamed = now(&fixture).await;
        fixture.inventory.hosts().revert(&owner, host.id, &before).await.unwrap();
        fixture.inventory.hosts().revert(&owner, host.id, &before).await.unwrap();
        let (changes, _) = changes_after(&fixture, &owner, Some(renamed)).await;
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!(change.action, ChangeAction::Updated);
        assert_eq!(change.actor.user_id(), Some(owner.user_id()));
        assert_eq!(change.fields.keys().collect::<Vec<_>>(), ["name"]);
    });
}

#[test]
fn reversion_needs_the_rights_of_an_update() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&bare_host(id(1), fixture.network)).await;
        fixture.put(&bare_host(id(2), fixture.other_network)).await;
        let position = now(&fixture).await;
        for host in [1, 2] {
            fixture.delete(id(host)).await.unwrap();
        }
        let (viewer, member) = (caller(&fixture, Permission::Viewer), caller(&fixture, Permission::Member));
        let hosts = fixture.inventory.hosts();
        let refused = fixture.refusal(hosts.revert(&viewer, id(1), &position)).await;
        assert_eq!(refused, ErrorKind::PermissionDenied);
        let refused = fixture.refusal(hosts.revert(&member, id(2), &position)).await;
        assert_eq!(refused, not_found(Entity::Host, HostId::from_u128(2)));
        assert_eq!(hosts.revert(&member, id(1), &position).await.unwrap().id, id(1));
        let tag = fixture.inventory.tags().get(&member, fixture.tags[0]).await.unwrap();
        let refused = fixture.refusal(fixture.inventory.tags().revert(&member, tag.id, &position)).await;
        assert_eq!(refused, ErrorKind::PermissionDenied);
    });
}

#[test]
fn position_of_another_organization_reverts_nothing() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        fixture.put(&bare_host(id(1), fixture.network)).await;
        let theirs = owner_of(foreign.organization);
        let hosts = fixture.inventory.hosts();
        let position = now(&fixture).await;
        let refused = refusal(hosts.revert(&theirs, id(1), &position).await);
        assert!(matches!(refused, ErrorKind::PositionGone { .. }));
        let (_, position) = changes_after(&fixture, &theirs, None).await;
        assert_eq!(
            refusal(hosts.revert(&theirs, id(1), &position).await),
            not_found(Entity::Host, HostId::from_u128(1))
        );
    });
}

#[test]
fn reference_to_a_record_that_is_gone_is_refused_with_its_field() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        fixture.put(&rich_host(1, fixture.network, &fixture.tags)).await;
        let position = now(&fixture).await;
        fixture.inventory.tags().delete(&owner, fixture.tags[1]).await.unwrap();
        let hosts = fixture.inventory.hosts();
        assert_eq!(
            refusal(hosts.revert(&owner, id(1), &position).await),
            reference_invalid(Entity::Tag, "tags.1")
        );
        fixture.delete(id(1)).await.unwrap();
        assert_eq!(
            refusal(hosts.revert(&owner, id(1), &position).await),
            reference_invalid(Entity::Tag, "tags.1")
        );
        fixture.inventory.tags().revert(&owner, fixture.tags[1], &position).await.unwrap();
        let reverted = hosts.revert(&owner, id(1), &position).await.unwrap();
        assert_eq!(reverted.tags, fixture.tags);
        fixture.delete(id(1)).await.unwrap();
        fixture.inventory.networks().delete(&owner, fixture.network).await.unwrap();
        assert_eq!(
            refusal(hosts.revert(&owner, id(1), &position).await),
            reference_invalid(Entity::Network, "network_id")
        );
    });
}

#[test]
fn parts_get_their_ids_again_unless_other_hosts_have_them() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let host = rich_host(1, fixture.network, &fixture.tags);
        fixture.put(&host).await;
        let position = now(&fixture).await;
        fixture.delete(host.id).await.unwrap();
        let mut other = bare_host(id(2), fixture.network);
        other.interfaces = vec![crate::support::interface(&other, host.interfaces[0].id, "192.0.2.9", 0)];
        fixture.put(&other).await;
        let reverted = fixture.inventory.hosts().revert(&owner, host.id, &position).await.unwrap();
        assert_ne!(reverted.interfaces[0].id, host.interfaces[0].id);
        assert_eq!(reverted.services[0].id, host.services[0].id);
    });
}

#[test]
fn tag_is_reverted_under_the_rules_of_tags() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let tags = fixture.inventory.tags();
        let tag = tags.create(&owner, Tag::new("critical")).await.unwrap();
        let position = now(&fixture).await;
        let rename = |tag: &mut Tag| {
            tag.name = "important".to_owned();
            Ok(())
        };
        tags.update(&owner, tag.id, rename).await.unwrap();
        let other = tags.create(&owner, Tag::new("Critical")).await.unwrap();
        assert_eq!(
            refusal(tags.revert(&owner, tag.id, &position).await),
            already_exists(Entity::Tag, "critical")
        );
        tags.delete(&owner, other.id).await.unwrap();
        assert_eq!(tags.revert(&owner, tag.id, &position).await.unwrap().name, "critical");
        tags.delete(&owner, tag.id).await.unwrap();
        let again = tags.revert(&owner, tag.id, &position).await.unwrap();
        assert_eq!((again.id, again.name.as_str()), (tag.id, "critical"));
    });
}

#[test]
fn subnet_is_reverted_and_created_again() {
    run(async || {
        let fixture = Fixture::new().await;
        let member = caller(&fixture, Permission::Member);
        let subnets = fixture.inventory.subnets();
        let cidr: Cidr = "192.0.2.0/24".parse().unwrap();
        let subnet = subnets.create(&member, Subnet::new(fixture.network, "lan", cidr)).await.unwrap();
        let position = now(&fixture).await;
        let change = |subnet: &mut Subnet| {
            subnet.cidr = "198.51.100.0/24".parse().unwrap();
            Ok(())
        };
        subnets.update(&member, subnet.id, change).await.unwrap();
        assert_eq!(subnets.revert(&member, subnet.id, &position).await.unwrap().cidr, cidr);
        subnets.delete(&member, subnet.id).await.unwrap();
        let again = subnets.revert(&member, subnet.id, &position).await.unwrap();
        assert_eq!((again.id, again.cidr, again.name.as_str()), (subnet.id, cidr, "lan"));
    });
}

#[test]
fn check_sees_the_present_host_and_can_end_the_reversion() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let mut host = bare_host(id(1), fixture.network);
        fixture.put(&host).await;
        let position = now(&fixture).await;
        host.name = "renamed".to_owned();
        fixture.put(&host).await;
        let hosts = fixture.inventory.hosts();
        let refuse = |present: Option<&Host>, _: &Host| match present {
            Some(host) if host.name == "renamed" => Err(invalid("present", Problem::Required).into()),
            Some(_) => Ok(()),
            None => Err(invalid("gone", Problem::Required).into()),
        };
        let refused = fixture.refusal(hosts.revert_if(&owner, host.id, &position, refuse)).await;
        assert_eq!(refused, invalid("present", Problem::Required));
        fixture.delete(host.id).await.unwrap();
        let refused = fixture.refusal(hosts.revert_if(&owner, host.id, &position, refuse)).await;
        assert_eq!(refused, invalid("gone", Problem::Required));
    });
}
