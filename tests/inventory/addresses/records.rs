//! Reservations as records: their history, and what becomes of them with subnets, networks and organizations.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{AddressQuery, AddressState, ChangeQuery, Entity, ErrorKind, Inventory};
use toposcope::model::{ChangeAction, ChangedEntity, Permission, Subnet, UserId};
use toposcope::store::{Export, MemoryStore, Restore};

use super::{Window, host_at, ip, set_cidr, subnet};
use crate::backend::run_with;
use crate::support::{Fixture, Foreign, not_found, owner_of, refusal};

const RESERVED: AddressState = AddressState::Reserved;

#[test]
fn reservation_is_shown_and_stays_when_a_host_gets_the_address() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        let reserved = window.reserve(2).await.unwrap();
        assert_eq!(window.free(1).await, (vec!["198.51.100.3".to_owned()], 4));
        let known = window.known().await;
        assert_eq!((known[0].state, known[0].reserved_by.as_deref()), (RESERVED, Some("a rack")));
        fixture.put(&host_at(&fixture, 1, &[("198.51.100.1", None)])).await;
        let known = window.known().await;
        assert_eq!((known[0].state, known[0].reserved_by.as_deref()), (AddressState::Used, Some("a rack")));
        let released = window.release(&[reserved[1], reserved[0], reserved[1], ip("198.51.100.5")]).await;
        let states: Vec<_> = released.iter().map(|address| (address.ip, address.state)).collect();
        assert_eq!(states, [(reserved[0], AddressState::Used), (reserved[1], AddressState::Free)]);
        assert!(window.release(&reserved).await.is_empty());
        assert_eq!(window.free(1).await, (vec!["198.51.100.2".to_owned()], 5));
    });
}

#[test]
fn history_has_who_reserved_and_released_an_address() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        let reserved = window.reserve(2).await.unwrap();
        window.release(&reserved[..1]).await;
        let mut query = ChangeQuery::default();
        query.entity = Some(ChangedEntity::AddressReservation);
        let changes = window.inventory.changes(&window.caller, &query).await.unwrap().changes;
        let actions: Vec<ChangeAction> = changes.iter().map(|change| change.action).collect();
        let (created, deleted) = (ChangeAction::Created, ChangeAction::Deleted);
        assert_eq!(actions, [created, created, deleted]);
        for change in &changes {
            assert_eq!(change.actor.user_id(), Some(window.caller.user_id()));
            assert_eq!((change.name.as_str(), change.network_id), ("a rack", Some(fixture.network)));
        }
        assert_eq!(changes[0].fields["ip"].after, Some("198.51.100.1".into()));
        assert_eq!(changes[2].id, changes[0].id);
    });
}

#[test]
fn subnets_of_a_network_share_reservations_and_other_networks_do_not() {
    run_with(Fixture::new, async |fixture| {
        let large = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/8").await);
        let small = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/30").await);
        let other = Subnet::new(fixture.other_network, "other", "10.0.0.0/30".parse().unwrap());
        let other = fixture.inventory.subnets().create(&small.caller, other).await.unwrap();
        let other = Window { subnet: other.id, ..small.clone() };
        assert_eq!(small.reserve(2).await.unwrap(), [ip("10.0.0.1"), ip("10.0.0.2")]);
        // The broadcast address of the small one is not free in the large one.
        assert_eq!(large.reserve(1).await.unwrap(), [ip("10.0.0.4")]);
        assert_eq!(other.reserve(1).await.unwrap(), [ip("10.0.0.1")]);
        assert_eq!(large.release(&[ip("10.0.0.1")]).await[0].state, AddressState::Free);
        assert_eq!(small.reserve(1).await.unwrap(), [ip("10.0.0.1")]);
        assert_eq!(other.states().await.len(), 1);
    });
}

#[test]
fn subnet_keeps_its_reserved_addresses_when_it_moves() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/24").await);
        let reserved = window.reserve(3).await.unwrap();
        let refused = refusal(set_cidr(&fixture, window.subnet, "203.0.113.0/24").await);
        let (entity, name) = (Entity::Subnet, "198.51.100.0/24".to_owned());
        assert_eq!(refused, ErrorKind::InUse { entity, name, used_by: Entity::AddressReservation });
        set_cidr(&fixture, window.subnet, "198.51.100.0/25").await.unwrap();
        assert_eq!(window.states().await.len(), 3);
        window.release(&reserved).await;
        set_cidr(&fixture, window.subnet, "203.0.113.0/24").await.unwrap();
        assert_eq!(window.reserve(1).await.unwrap(), [ip("203.0.113.1")]);
    });
}

#[test]
fn reservations_are_deleted_with_their_subnet_and_with_their_organization() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/16").await);
        let kept = Window::new(&fixture, &subnet(&fixture, "10.1.0.0/16").await);
        for _ in 0..5 {
            window.reserve(256).await.unwrap();
        }
        kept.reserve(1).await.unwrap();
        fixture.inventory.subnets().delete(&window.caller, window.subnet).await.unwrap();
        let missing = window.inventory.addresses().reserve(&window.caller, window.subnet, 1, "x").await;
        assert_eq!(refusal(missing), not_found(Entity::Subnet, window.subnet));
        assert!(fixture.mentioning(window.subnet).await.is_empty());
        // The same addresses are free in a new subnet.
        let again = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/16").await);
        assert_eq!(again.free(1).await.1, 65_534);
        assert_eq!(kept.states().await, [("10.1.0.1".to_owned(), RESERVED)]);
        fixture.inventory.organizations().delete(fixture.organization).await.unwrap();
        assert!(fixture.mentioning(fixture.organization).await.is_empty());
    });
}

#[test]
fn restored_organization_has_its_reservations_and_gives_no_address_again() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "10.0.0.0/16").await);
        for _ in 0..50 {
            window.reserve(1).await.unwrap();
        }
        let mut file = Vec::new();
        let organizations = fixture.inventory.organizations();
        organizations.export(fixture.organization, Export::new(), &mut file).await.unwrap();
        let (first, second) = {
            let store = std::sync::Arc::new(MemoryStore::new());
            let [first, second] = [0, 1].map(|_| Inventory::new(std::sync::Arc::clone(&store)));
            first.organizations().restore(Restore::new(), &file[..]).await.unwrap();
            (Window { inventory: first, ..window.clone() }, Window { inventory: second, ..window.clone() })
        };
        // Both instances learn what the other one reserves and releases, although the keys are those of the other store.
        assert_eq!(first.states().await, window.states().await);
        for number in 0..20 {
            let (one, other) = if number % 2 == 0 { (&first, &second) } else { (&second, &first) };
            let reserved = one.reserve(2).await.unwrap();
            assert_eq!(other.states().await.len(), 52 + number);
            other.release(&reserved[..1]).await;
            assert_eq!(one.states().await.len(), 51 + number);
        }
    });
}

#[test]
fn other_tenants_and_callers_without_the_network_see_and_change_nothing() {
    run_with(Fixture::with_foreign, async |(fixture, foreign): (Fixture, Foreign)| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        let reserved = window.reserve(2).await.unwrap();
        // The other organization has a subnet with the same addresses, which are its own.
        let own = Subnet::new(foreign.network, "own", "198.51.100.0/29".parse().unwrap());
        let stranger = owner_of(foreign.organization);
        let own = fixture.inventory.subnets().create(&stranger, own).await.unwrap();
        let own = Window { caller: stranger, subnet: own.id, ..window.clone() };
        assert_eq!(own.free(1).await, (vec!["198.51.100.1".to_owned()], 6));
        assert_eq!(own.reserve(1).await.unwrap(), [ip("198.51.100.1")]);
        assert!(own.release(&[reserved[1]]).await.is_empty());

        let elsewhere = Caller::new(
            fixture.organization,
            UserId::nil(),
            Permission::Member,
            Scope::only([fixture.other_network]),
        );
        let viewer = Caller::new(fixture.organization, UserId::nil(), Permission::Viewer, Scope::all());
        let denied = ErrorKind::AccessDenied { entity: Entity::Network, id: fixture.network.uuid() };
        let missing = not_found(Entity::Subnet, window.subnet);
        let addresses = window.inventory.addresses();
        for (caller, expected) in [(&own.caller, missing), (&elsewhere, denied)] {
            let listed = addresses.list(caller, window.subnet, AddressQuery::new()).await;
            assert_eq!(refusal(listed), expected);
            let reserve = addresses.reserve(caller, window.subnet, 1, "x").await;
            let release = addresses.release(caller, window.subnet, &reserved).await;
            assert_eq!([refusal(reserve), refusal(release)], [expected.clone(), expected]);
        }
        assert_eq!(
            addresses.list(&viewer, window.subnet, AddressQuery::new()).await.unwrap().addresses_total,
            2
        );
        for refused in [
            addresses.reserve(&viewer, window.subnet, 1, "x").await,
            addresses.release(&viewer, window.subnet, &reserved).await,
        ] {
            assert_eq!(refusal(refused), ErrorKind::PermissionDenied);
        }
        assert_eq!(window.states().await.len(), 2);
    });
}
