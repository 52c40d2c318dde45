use std::collections::BTreeSet;

use toposcope::inventory::{ErrorKind, Import};
use uuid::Uuid;

use crate::support::{World, bare_host, documents, id, jsonl, refusal};

fn create() -> Import<'static> {
    Import::new().create_missing_networks()
}

#[tokio::test]
async fn hosts_of_unknown_networks_are_refused_and_no_network_is_made() {
    let world = World::new().await;
    let hosts = [bare_host(id(1), world.network), bare_host(id(2), id(0xa)), bare_host(id(3), world.network)];
    let report = world.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (2, 1), "{report}");
    assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
    assert_eq!(report.created_networks, 0);
    assert!(matches!(refusal(world.inventory.network(id(0xa)).await), ErrorKind::NotFound { .. }));
}

#[tokio::test]
async fn networks_that_hosts_name_are_created_when_wanted() {
    let world = World::new().await;
    let networks = [id(0xa), world.network, id(0xb), id(0xa), id(0xb)];
    let hosts: Vec<_> = (1..).zip(networks).map(|(number, network)| bare_host(id(number), network)).collect();
    let report = world.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.refused), (5, 0), "{report}");
    assert_eq!(report.created_networks, 2);
    let known = world.inventory.networks(world.organization).await.unwrap();
    let known: BTreeSet<_> = known.iter().map(|network| network.id).collect();
    assert_eq!(known, BTreeSet::from([world.network, world.other_network, id(0xa), id(0xb)]));
    for created in [id(0xa), id(0xb)] {
        let network = world.inventory.network(created).await.unwrap();
        assert_eq!((network.organization_id, network.name), (world.organization, created.to_string()));
    }
    assert_eq!(world.inventory.network(world.network).await.unwrap().name, "Office");
    let again = world.import_with(jsonl(&hosts), create()).await;
    assert_eq!(again.created_networks, 0);
}

#[tokio::test]
async fn a_network_of_another_organization_is_not_taken_over() {
    for import in [Import::new as fn() -> Import<'static>, create] {
        let world = World::new().await;
        let foreign = world.foreign().await;
        let before = world.inventory.network(foreign.network).await.unwrap();
        let hosts = [
            bare_host(id(1), world.network),
            bare_host(id(2), foreign.network),
            bare_host(id(3), world.network),
        ];
        let report = world.import_with(jsonl(&hosts), import()).await;
        assert_eq!((report.imported, report.refused), (2, 1), "{report}");
        assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
        assert_eq!(report.created_networks, 0);
        assert_eq!(world.inventory.network(foreign.network).await.unwrap(), before);
        assert!(documents(&world.inventory, foreign.organization).await.is_empty());
    }
}

#[tokio::test]
async fn lines_that_cannot_be_read_create_no_network() {
    let world = World::new().await;
    let mut line = serde_json::to_value(bare_host(id(1), id(0xa))).unwrap();
    line["name"] = serde_json::Value::Null;
    let report = world.import_with(line.to_string(), create()).await;
    assert_eq!((report.imported, report.refused), (0, 1));
    assert_eq!(report.created_networks, 0);
    assert!(world.inventory.network(id(0xa)).await.is_err());
}

#[tokio::test]
async fn into_an_unknown_organization_nothing_is_imported() {
    let world = World::new().await;
    let commits = world.store.commits();
    let lines = jsonl(&[bare_host(id(1), world.network), bare_host(id(2), id(0xa))]);
    for import in [Import::new(), create()] {
        match world.inventory.import_hosts(id(77), &lines[..], import).await {
            Ok(report) => assert_eq!((report.imported, report.refused), (0, 2), "{report}"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}"),
        }
    }
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn every_network_that_is_created_is_counted() {
    let world = World::new().await;
    let hosts: Vec<_> =
        (1..=1100).map(|number| bare_host(id(number), Uuid::from_u128(number << 64))).collect();
    let report = world.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.created_networks), (1100, 1100));
    assert!(report.to_string().contains("1100 networks created"), "{report}");
}

#[tokio::test]
async fn imports_that_create_the_same_networks_at_once_do_not_hinder_each_other() {
    let world = World::new().await;
    let tasks: Vec<_> = (0..8_u128)
        .map(|task| {
            let (inventory, organization) = (world.inventory.clone(), world.organization);
            let hosts: Vec<_> = (0..300)
                .map(|number| bare_host(id(1 + task * 1000 + number), id(0xa000 + number % 10)))
                .collect();
            tokio::spawn(
                async move { inventory.import_hosts(organization, &jsonl(&hosts)[..], create()).await },
            )
        })
        .collect();
    let mut created = 0;
    for task in tasks {
        let report = task.await.unwrap().unwrap();
        assert_eq!((report.imported, report.refused), (300, 0), "{report}");
        created += report.created_networks;
    }
    assert_eq!(created, 10, "each is created once");
    assert_eq!(world.documents().await.len(), 2400);
}
