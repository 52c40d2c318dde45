//! Concurrent changes of hosts.

use std::cell::Cell;
use std::collections::BTreeSet;
use toposcope::access::Caller;

use fastrand::Rng;
use toposcope::inventory::{Entity, Error, ErrorKind, Inventory, Written};
use toposcope::model::{Host, NetworkId, OrganizationId, Protocol};

use crate::support::{
    Fixture, Foreign, already_exists, at_every_call, bare_host, concurrently, id, not_found, port, refusal,
    rich_host, uuid, with_interference_at_every_call,
};

fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict { entity: Entity::Host, .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_many_concurrent_puts_creates_the_host_and_the_last_is_stored() {
    let fixture = Fixture::new().await;
    let puts = concurrently(&fixture, 32, |fixture, number| async move {
        let network = if number % 2 == 0 { fixture.network } else { fixture.other_network };
        let mut host = rich_host(1, network, &fixture.tags);
        host.name = format!("version {number}");
        (fixture.try_put(host.clone()).await, host)
    });
    let (mut stored, mut created) = (Vec::new(), 0);
    for put in puts.await {
        match put {
            (Ok(written), host) => {
                created += u32::from(written == Written::Created);
                stored.push(host);
            }
            (Err(error), _) => assert!(is_conflict(&error), "{error}"),
        }
    }
    assert_eq!(created, 1);
    assert!(stored.contains(&fixture.host(id(1)).await));
    assert_eq!(fixture.documents().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrent_puts_and_deletions_leave_a_consistent_host() {
    let fixture = Fixture::new().await;
    let version = |fixture: &Fixture, number: u64| Host {
        name: format!("version {number}"),
        ..rich_host(1, fixture.network, &fixture.tags)
    };
    let tasks = concurrently(&fixture, 64, |fixture, number| async move {
        let mut random = Rng::with_seed(number);
        let host = version(&fixture, number);
        for _ in 0..20 {
            if random.usize(0..3) == 0 {
                if let Err(error) = fixture.delete(host.id).await {
                    let is_gone = *error.kind() == not_found(Entity::Host, host.id);
                    assert!(is_gone || is_conflict(&error), "{error}");
                }
            } else if let Err(error) = fixture.try_put(host.clone()).await {
                assert!(is_conflict(&error), "{error}");
            }
        }
    });
    tasks.await;
    let documents = fixture.documents().await;
    match fixture.try_host(id(1)).await {
        Ok(host) => {
            assert_eq!(documents, [serde_json::to_vec(&host).unwrap()]);
            let number: u64 = host.name["version ".len()..].parse().unwrap();
            assert_eq!(host, version(&fixture, number));
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
            assert!(documents.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_many_concurrent_hosts_gets_the_port_that_all_claim() {
    let fixture = Fixture::new().await;
    let puts = concurrently(&fixture, 32, |fixture, number| async move {
        let mut host = bare_host(id(1 + u128::from(number)), fixture.network);
        host.ports = vec![port(&host, id(0x99), 443, Protocol::Tcp)];
        fixture.try_put(host).await
    });
    let mut holders = 0;
    for put in puts.await {
        match put {
            Ok(written) => {
                assert_eq!(written, Written::Created);
                holders += 1;
            }
            Err(error) => assert_eq!(*error.kind(), already_exists(Entity::Port, &uuid(0x99))),
        }
    }
    assert_eq!(holders, 1);
    assert_eq!(fixture.documents().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_two_organizations_gets_the_host_id_that_both_claim() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let claims = [(fixture.organization, fixture.network), (foreign.organization, foreign.network)];
    let puts = concurrently(&fixture, 32, |fixture, number| async move {
        let (organization, network) = claims[number as usize % 2];
        (
            fixture.inventory.hosts().put(&Caller::system(organization), bare_host(id(1), network)).await,
            organization,
        )
    });
    let mut holders = BTreeSet::new();
    for (put, organization) in puts.await {
        match put {
            Ok(_) => drop(holders.insert(organization)),
            Err(error) => {
                let is_taken = *error.kind() == already_exists(Entity::Host, &uuid(1));
                assert!(is_conflict(&error) || is_taken, "{error}");
            }
        }
    }
    assert_eq!(holders.len(), 1, "it never changes hands");
    let holder = holders.into_iter().next().unwrap();
    assert_eq!(fixture.inventory.hosts().get(&Caller::system(holder), id(1)).await.unwrap().id, id(1));
}

/// Deletes a host while a concurrent task interferes, in the presence of another organization.
async fn delete_at_every_call<I>(
    interfere: impl AsyncFn(&Inventory, &(OrganizationId, NetworkId, Foreign)) -> I,
    check: impl AsyncFn(&Fixture, &(OrganizationId, NetworkId, Foreign), Result<(), Error>),
) {
    at_every_call(
        async |fixture: &Fixture| {
            fixture.put(&bare_host(id(1), fixture.network)).await;
            (fixture.organization, fixture.network, fixture.foreign().await)
        },
        interfere,
        async |inventory, (organization, _, _)| {
            inventory.hosts().delete(&Caller::system(*organization), id(1)).await
        },
        check,
    )
    .await;
}

/// Returns the result of the second of two deletions. The interfering one is second if it came after the commit.
fn second(interfering: Option<Result<(), Error>>, result: Result<(), Error>) -> Result<(), Error> {
    match interfering.unwrap() {
        Ok(()) => result,
        Err(error) => result.and(Err(error)),
    }
}

#[tokio::test]
async fn second_of_two_concurrent_deletions_finds_no_host() {
    let other = Cell::new(None);
    delete_at_every_call(
        async |inventory, (organization, _, _)| {
            other.set(Some(inventory.hosts().delete(&Caller::system(*organization), id(1)).await));
        },
        async |fixture, _, result| {
            assert_eq!(refusal(second(other.take(), result)), not_found(Entity::Host, uuid(1)));
            assert!(fixture.documents().await.is_empty());
        },
    )
    .await;
}

#[tokio::test]
async fn host_that_is_replaced_during_its_deletion_is_deleted() {
    let written = Cell::new(None);
    delete_at_every_call(
        async |inventory, (organization, network, _)| {
            let host = rich_host(1, *network, &[]);
            written.set(Some(inventory.hosts().put(&Caller::system(*organization), host).await.unwrap()));
        },
        async |fixture, _, result| {
            result.unwrap();
            let is_new = written.take() == Some(Written::Created);
            assert_eq!(fixture.documents().await.len(), usize::from(is_new), "only a later host stays");
        },
    )
    .await;
}

/// A deletion must not delete a new host of another organization with the same id.
///
/// The id passes to the other organization when its host is deleted and a client there uses it for a new host. The
/// caller still means the old host.
#[tokio::test]
async fn host_that_has_become_another_organizations_is_not_deleted() {
    let other = Cell::new(None);
    delete_at_every_call(
        async |inventory, (organization, _, foreign)| {
            other.set(Some(inventory.hosts().delete(&Caller::system(*organization), id(1)).await));
            let theirs = bare_host(id(1), foreign.network);
            inventory.hosts().put(&foreign.system(), theirs).await.unwrap();
        },
        async |fixture, (_, _, foreign), result| {
            assert!(
                fixture.inventory.hosts().get(&foreign.system(), id(1)).await.is_ok(),
                "the host of another organization was deleted ({result:?})"
            );
            assert_eq!(refusal(second(other.take(), result)), not_found(Entity::Host, uuid(1)));
        },
    )
    .await;
}

#[tokio::test]
async fn host_that_leaves_a_network_which_is_then_deleted_is_never_missing() {
    for operation in ["read", "delete", "put"] {
        let calls = with_interference_at_every_call(
            async |fixture: &Fixture| {
                fixture.put(&bare_host(id(1), fixture.other_network)).await;
                (fixture.organization, fixture.network, fixture.other_network)
            },
            async |inventory, (organization, network, left)| {
                // If the host has just been deleted, it is created again here.
                inventory
                    .hosts()
                    .put(&Caller::system(*organization), bare_host(id(1), *network))
                    .await
                    .unwrap();
                inventory.networks().delete(&Caller::system(*organization), *left).await.unwrap();
            },
            async |inventory, (organization, network, _)| match operation {
                "read" => inventory.hosts().get(&Caller::system(*organization), id(1)).await.map(drop),
                "delete" => inventory.hosts().delete(&Caller::system(*organization), id(1)).await,
                _ => inventory
                    .hosts()
                    .put(&Caller::system(*organization), bare_host(id(1), *network))
                    .await
                    .map(drop),
            },
            async |_, _, result| {
                assert_eq!(result.map_err(|error| error.kind().clone()), Ok(()), "{operation}");
            },
        )
        .await;
        // A read is one call of the store; a change is at least two.
        assert!(calls >= if operation == "read" { 1 } else { 2 }, "{operation}: {calls}");
    }
}
