//! Concurrent changes of hosts.

use std::collections::BTreeSet;

use tokio::task::JoinSet;
use toposcope::inventory::{Entity, Error, ErrorKind, Written};
use toposcope::model::{Host, Protocol};

use crate::support::{SplitMix64, World, bare_host, id, port, rich_host};

fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict { entity: Entity::Host, .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn of_many_who_put_one_host_the_last_has_it_and_one_created_it() {
    let world = World::new().await;
    let mut tasks = JoinSet::new();
    let versions: Vec<Host> = (0..32)
        .map(|number| {
            let network = if number % 2 == 0 { world.network } else { world.other_network };
            let mut host = rich_host(1, network, &world.tags);
            host.name = format!("version {number}");
            host
        })
        .collect();
    for host in versions.clone() {
        let (inventory, organization) = (world.inventory.clone(), world.organization);
        tasks.spawn(async move { (inventory.put_host(organization, host.clone()).await, host) });
    }
    let mut stored = Vec::new();
    let mut created = 0;
    while let Some(result) = tasks.join_next().await {
        match result.unwrap() {
            (Ok(written), host) => {
                created += u32::from(written == Written::Created);
                stored.push(host);
            }
            (Err(error), _) => assert!(is_conflict(&error), "{error}"),
        }
    }
    assert_eq!(created, 1);
    assert!(stored.contains(&world.host(id(1)).await));
    assert_eq!(world.documents().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn who_puts_and_deletes_a_host_at_once_is_told_the_truth_and_leaves_it_whole() {
    let world = World::new().await;
    let mut tasks = JoinSet::new();
    for number in 0..64_u64 {
        let (inventory, organization) = (world.inventory.clone(), world.organization);
        let mut host = rich_host(1, world.network, &world.tags);
        host.name = format!("version {number}");
        tasks.spawn(async move {
            let mut random = SplitMix64(number);
            for _ in 0..20 {
                if random.below(3) == 0 {
                    match inventory.delete_host(organization, host.id).await {
                        Ok(()) => {}
                        Err(error) if is_conflict(&error) => {}
                        Err(error) => {
                            let not_found = ErrorKind::NotFound { entity: Entity::Host, id: host.id };
                            assert_eq!(*error.kind(), not_found);
                        }
                    }
                } else if let Err(error) = inventory.put_host(organization, host.clone()).await {
                    assert!(is_conflict(&error), "{error}");
                }
            }
        });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap();
    }
    let documents = world.documents().await;
    match world.inventory.host(world.organization, id(1)).await {
        Ok(host) => {
            assert_eq!(documents, [serde_json::to_vec(&host).unwrap()]);
            let number: u64 = host.name["version ".len()..].parse().unwrap();
            let mut written = rich_host(1, world.network, &world.tags);
            written.name = format!("version {number}");
            assert_eq!(host, written);
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
            assert!(documents.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn of_many_hosts_that_claim_one_port_one_gets_it() {
    let world = World::new().await;
    let mut tasks = JoinSet::new();
    for number in 1..=32 {
        let (inventory, organization) = (world.inventory.clone(), world.organization);
        let mut host = bare_host(id(number), world.network);
        host.ports = vec![port(&host, id(0x99), 443, Protocol::Tcp)];
        tasks.spawn(async move { (inventory.put_host(organization, host).await, number) });
    }
    let mut holders = BTreeSet::new();
    while let Some(result) = tasks.join_next().await {
        match result.unwrap() {
            (Ok(written), number) => {
                assert_eq!(written, Written::Created);
                holders.insert(number);
            }
            (Err(error), _) => {
                let name = id(0x99).to_string();
                assert_eq!(*error.kind(), ErrorKind::AlreadyExists { entity: Entity::Port, name });
            }
        }
    }
    assert_eq!(holders.len(), 1);
    assert_eq!(world.documents().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn organizations_that_claim_one_host_id_get_it_or_are_told_it_is_taken() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let mut tasks = JoinSet::new();
    for number in 0..32 {
        let inventory = world.inventory.clone();
        let (organization, network) = if number % 2 == 0 {
            (world.organization, world.network)
        } else {
            (foreign.organization, foreign.network)
        };
        tasks.spawn(async move {
            (inventory.put_host(organization, bare_host(id(1), network)).await, organization)
        });
    }
    let mut holders = BTreeSet::new();
    while let Some(result) = tasks.join_next().await {
        match result.unwrap() {
            (Ok(_), organization) => {
                holders.insert(organization);
            }
            (Err(error), _) => {
                let name = id(1).to_string();
                let taken = ErrorKind::AlreadyExists { entity: Entity::Host, name };
                assert!(is_conflict(&error) || *error.kind() == taken, "{error}");
            }
        }
    }
    assert_eq!(holders.len(), 1, "it never changes hands");
    let holder = holders.into_iter().next().unwrap();
    assert_eq!(world.inventory.host(holder, id(1)).await.unwrap().id, id(1));
}
