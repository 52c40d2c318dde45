//! Deletion of organizations with everything that belongs to them.

use std::sync::Arc;
use std::time::Duration;

use toposcope::access::Caller;
use toposcope::inventory::{Atomicity, Entity, ErrorKind, NewOrganization, NewShare, NewUser};
use toposcope::model::{Network, OrganizationId, Permission, Subnet, Tag};
use toposcope::store::{Batch, Facets, Key, Name, Precondition, Query};
use toposcope::uuid::Uuid;
use toposcope::{Inventory, MemoryStore, Store};

use crate::support::{
    Fault, Fixture, PASSWORD, already_exists, bare_host, id, in_person, not_found, owner_of, refusal, settle,
    with_interference_at_every_call,
};

/// Fills the organization of a fixture with records of many kinds.
pub(super) async fn fill(fixture: &Fixture) {
    let (inventory, system) = (&fixture.inventory, fixture.system());
    let owner = fixture.owner().await;
    let key = fixture.user_key(&owner, |new| new.network_ids = vec![fixture.network]).await;
    fixture.by_key(&key).await.unwrap();
    fixture.until_used(key.record().id).await;
    fixture.daemon_key(|_| {}).await;
    fixture.log_in(&owner).await;
    // The first login begins to purge, which would complete deletions.
    settle().await;
    inventory.users().submit_referral(&in_person(&owner), "reddit", None).await.unwrap();
    let external = NewUser::external(fixture.organization, "host-user", Permission::Viewer);
    inventory.users().create(&system, external).await.unwrap();
    let mut share = NewShare::new("share");
    (share.network_id, share.password) = (Some(fixture.network), Some(PASSWORD.to_owned()));
    inventory.shares().create(&system, share).await.unwrap();
    let subnet = Subnet::new(fixture.network, "subnet", "192.0.2.0/24".parse().unwrap());
    inventory.subnets().create(&system, subnet).await.unwrap();
    fixture.put(&bare_host(id(1), fixture.network)).await;
}

#[tokio::test]
async fn everything_of_a_deleted_organization_is_gone_and_nothing_of_others() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let organizations = fixture.inventory.organizations();
    let theirs = fixture.mentioning(foreign.organization).await;
    fill(&fixture).await;
    organizations.delete(fixture.organization).await.unwrap();
    assert_eq!(fixture.mentioning(fixture.organization).await, []);
    let left: Vec<_> = fixture.contents().await.into_iter().map(|stored| stored.record.key).collect();
    assert_eq!(left, theirs);
    let gone = not_found(Entity::Organization, fixture.organization);
    assert_eq!(refusal(organizations.delete(fixture.organization).await), gone);
    assert_eq!(refusal(organizations.get(fixture.organization).await), gone);
}

#[tokio::test]
async fn credentials_of_a_deleted_organization_are_refused_at_once() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let (session, key) = (fixture.log_in(&owner).await, fixture.user_key(&owner, |_| {}).await);
    settle().await;
    let daemon = fixture.daemon_key(|_| {}).await;
    let mut share = NewShare::new("share");
    share.password = Some("a long password".to_owned());
    let share = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap().id;
    let (inventory, probe) = fixture.probed();
    // Interrupted after the first step, when all other records are still there.
    probe.set(Fault::UnavailableAfterCommits(1));
    let interrupted = refusal(inventory.organizations().delete(fixture.organization).await);
    assert_eq!(interrupted, ErrorKind::StoreUnavailable);
    assert!(fixture.contents().await.len() > 10);
    assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
    assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::NotAuthenticated);
    let daemon = fixture.inventory.authenticate_daemon_key(daemon.plaintext()).await;
    assert_eq!(refusal(daemon), ErrorKind::NotAuthenticated);
    assert_eq!(refusal(fixture.try_log_in(&owner.email).await), ErrorKind::InvalidCredentials);
    let missing = not_found(Entity::Share, share);
    assert_eq!(refusal(fixture.inventory.shares().metadata(share).await), missing);
    let verified = fixture.inventory.shares().verify_password(share, "a long password".to_owned()).await;
    assert_eq!(refusal(verified), missing);
}

#[tokio::test]
async fn id_is_free_once_the_last_step_of_the_deletion_is_done() {
    let fixture = Fixture::new().await;
    fill(&fixture).await;
    let organizations = fixture.inventory.organizations();
    let again = || NewOrganization::new("Again").id(fixture.organization);
    let (inventory, probe) = fixture.probed();
    for commits in 1.. {
        probe.set(Fault::UnavailableAfterCommits(commits));
        if inventory.organizations().delete(fixture.organization).await.is_ok() {
            assert!(commits > 2, "{commits}");
            break;
        }
        let taken = already_exists(Entity::Organization, &fixture.organization);
        assert_eq!(refusal(organizations.create(again()).await), taken);
        let ensured = refusal(organizations.ensure(again()).await);
        assert!(matches!(ensured, ErrorKind::Conflict { entity: Entity::Organization, .. }), "{ensured:?}");
        let missing = not_found(Entity::Organization, fixture.organization);
        let put = fixture.inventory.tags().create(&fixture.system(), Tag::new("late")).await;
        assert_eq!(refusal(put), missing);
    }
    let created = organizations.create(again()).await.unwrap();
    assert_eq!(fixture.mentioning(created.id).await.len(), 1);
}

/// The call with each number fails in turn; the next deletion continues.
#[tokio::test]
async fn deletion_that_is_interrupted_anywhere_continues() {
    for failing in 0.. {
        let fixture = Fixture::new().await;
        fill(&fixture).await;
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::UnavailableAt(failing));
        let first = inventory.organizations().delete(fixture.organization).await;
        let Err(error) = first else {
            assert!(failing > 20, "{failing}");
            break;
        };
        assert_eq!(*error.kind(), ErrorKind::StoreUnavailable);
        probe.set(Fault::None);
        inventory.organizations().delete(fixture.organization).await.unwrap();
        assert_eq!(fixture.contents().await, []);
    }
}

#[tokio::test]
async fn interrupted_deletion_is_completed_with_the_hourly_purge() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fill(&fixture).await;
    let mut user = NewUser::new("theirs@example.net", Permission::Owner);
    user.password = Some(PASSWORD.to_owned());
    let user = fixture.inventory.users().create(&foreign.system(), user).await.unwrap();
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::UnavailableAfterCommits(2));
    refusal(inventory.organizations().delete(fixture.organization).await);
    assert_ne!(fixture.mentioning(fixture.organization).await, []);
    fixture.clock.advance(Duration::from_secs(3_601));
    fixture.log_in(&user).await;
    settle().await;
    assert_eq!(fixture.mentioning(fixture.organization).await, []);
}

#[tokio::test]
async fn nothing_is_added_to_an_organization_while_it_is_deleted() {
    let calls = with_interference_at_every_call(
        async |fixture| {
            fixture.put(&bare_host(id(1), fixture.network)).await;
            (fixture.organization, fixture.network)
        },
        async |inventory, (organization, network)| {
            let (system, user) = (Caller::system(*organization), owner_of(*organization));
            let host = inventory.hosts().put(&user, bare_host(id(2), *network)).await.is_ok();
            let tag = inventory.tags().create(&system, Tag::new("late")).await.is_ok();
            let network = inventory.networks().create(&system, Network::new("late")).await.is_ok();
            (host, tag, network)
        },
        async |inventory, (organization, _)| inventory.organizations().delete(*organization).await,
        async |fixture, (organization, _), deleted| {
            deleted.unwrap();
            assert_eq!(fixture.mentioning(*organization).await, []);
        },
    )
    .await;
    assert!(calls > 5);
}

#[tokio::test]
async fn slow_deletion_never_deletes_records_of_a_later_organization_with_the_id() {
    with_interference_at_every_call(
        async |fixture| {
            fixture.put(&bare_host(id(1), fixture.network)).await;
            fixture.organization
        },
        async |inventory, organization: &OrganizationId| {
            let organizations = inventory.organizations();
            organizations.delete(*organization).await.unwrap();
            organizations.create(NewOrganization::new("Later").id(*organization)).await.unwrap();
            inventory.tags().create(&Caller::system(*organization), Tag::new("later")).await.unwrap()
        },
        async |inventory, organization| inventory.organizations().delete(*organization).await,
        async |fixture, organization, deleted| {
            let later = fixture.inventory.organizations().get(*organization).await;
            match later {
                // The call had done nothing yet, and deletes the later organization as a whole.
                Err(_) => assert_eq!(fixture.mentioning(*organization).await, []),
                Ok(_) => {
                    let tags = fixture.inventory.tags().all(&fixture.system()).await.unwrap();
                    assert_eq!(tags.len(), 1, "{deleted:?}");
                }
            }
        },
    )
    .await;
}

#[tokio::test]
async fn many_records_are_deleted_in_commits_of_bounded_size() {
    let fixture = Fixture::new().await;
    for first in [0, 1_000, 2_000] {
        let hosts = (first..first + 1_000).map(|number| bare_host(id(1 + number), fixture.network));
        let hosts = hosts.map(Into::into).collect();
        fixture.inventory.hosts().bulk_put(&fixture.system(), hosts, Atomicity::AllOrNothing).await.unwrap();
    }
    let before = fixture.store.hook().sizes_of_commits().len();
    fixture.inventory.organizations().delete(fixture.organization).await.unwrap();
    let sizes = fixture.store.hook().sizes_of_commits().split_off(before);
    assert_eq!(sizes.iter().filter(|size| **size == 1_000).count(), 3, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= 1_000), "{sizes:?}");
    assert_eq!(fixture.contents().await, []);
}

const EVENT: Name = Name::new("x.event");

/// Adds a record to the store as a wrapper does.
async fn add_event(store: &MemoryStore, number: u128, facets: Facets) {
    let mut batch = Batch::new();
    batch.put(Key::new(EVENT, Uuid::from_u128(number)), Precondition::Absent, facets, "event");
    store.commit(batch).await.unwrap();
}

async fn events(store: &MemoryStore) -> Vec<u128> {
    let page = store.list(&Query::new(EVENT)).await.unwrap();
    page.records.iter().map(|record| record.key.id.as_u128()).collect()
}

#[tokio::test]
async fn records_of_declared_kinds_end_with_their_organization() {
    let store = Arc::new(MemoryStore::new());
    let inventory = Inventory::new(Arc::clone(&store)).with_wrapper_kinds([EVENT, Name::new("host")]);
    let [own, other] = ["Own", "Other"].map(|name| inventory.organizations().create(name));
    let (own, other) = (own.await.unwrap(), other.await.unwrap());
    for number in 1..=1_001 {
        add_event(&store, number, Facets::default().with_organization(own.id.uuid())).await;
    }
    add_event(&store, 2_001, Facets::default().with_organization(other.id.uuid())).await;
    add_event(&store, 2_002, Facets::default()).await;
    inventory.organizations().delete(own.id).await.unwrap();
    assert_eq!(events(&store).await, [2_001, 2_002]);
}

#[tokio::test]
async fn records_of_declared_kinds_end_with_their_network_and_others_keep_it() {
    let store = Arc::new(MemoryStore::new());
    let inventory = Inventory::new(Arc::clone(&store));
    let organization = inventory.organizations().create("Example").await.unwrap();
    let system = Caller::system(organization.id);
    let network = inventory.networks().create(&system, Network::new("Office")).await.unwrap().id;
    let facets = Facets::default().with_organization(organization.id.uuid()).with_network(network.uuid());
    add_event(&store, 1, facets).await;
    assert!(inventory.networks().delete(&system, network).await.is_err());
    // No declaration reaches records of the crate.
    let inventory = inventory.with_wrapper_kinds([EVENT, Name::new("host")]);
    inventory.hosts().put(&system, bare_host(id(1), network)).await.unwrap();
    assert!(inventory.networks().delete(&system, network).await.is_err());
    inventory.hosts().delete(&system, id(1)).await.unwrap();
    inventory.networks().delete(&system, network).await.unwrap();
    assert_eq!(events(&store).await, []);
}
