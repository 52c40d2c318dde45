use std::collections::BTreeSet;

use toposcope::inventory::{ErrorKind, Import};
use uuid::Uuid;

use crate::support::{Fixture, bare_host, documents, id, jsonl, refusal};

fn create() -> Import<'static> {
    Import::new().create_networks(true)
}

#[tokio::test]
async fn hosts_of_unknown_networks_are_refused_and_no_network_is_made() {
    let fixture = Fixture::new().await;
    let hosts =
        [bare_host(id(1), fixture.network), bare_host(id(2), id(0xa)), bare_host(id(3), fixture.network)];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (2, 1), "{report}");
    assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
    assert_eq!(report.created_networks, 0);
    assert!(matches!(refusal(fixture.inventory.network(id(0xa)).await), ErrorKind::NotFound { .. }));
}

#[tokio::test]
async fn networks_that_hosts_name_are_created_when_wanted() {
    let fixture = Fixture::new().await;
    let networks = [id(0xa), fixture.network, id(0xb), id(0xa), id(0xb)];
    let hosts: Vec<_> = (1..).zip(networks).map(|(number, network)| bare_host(id(number), network)).collect();
    let report = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.refused), (5, 0), "{report}");
    assert_eq!(report.created_networks, 2);
    let known = fixture.inventory.networks(fixture.organization).await.unwrap();
    let known: BTreeSet<_> = known.iter().map(|network| network.id).collect();
    assert_eq!(known, BTreeSet::from([fixture.network, fixture.other_network, id(0xa), id(0xb)]));
    for created in [id(0xa), id(0xb)] {
        let network = fixture.inventory.network(created).await.unwrap();
        assert_eq!((network.organization_id, network.name), (fixture.organization, created.to_string()));
    }
    assert_eq!(fixture.inventory.network(fixture.network).await.unwrap().name, "Office");
    let again = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!(again.created_networks, 0);
}

#[tokio::test]
async fn a_network_of_another_organization_is_not_taken_over() {
    for is_creating in [false, true] {
        let fixture = Fixture::new().await;
        let foreign = fixture.foreign().await;
        let before = fixture.inventory.network(foreign.network).await.unwrap();
        let hosts = [
            bare_host(id(1), fixture.network),
            bare_host(id(2), foreign.network),
            bare_host(id(3), fixture.network),
        ];
        let report = fixture.import_with(jsonl(&hosts), Import::new().create_networks(is_creating)).await;
        assert_eq!((report.imported, report.refused), (2, 1), "{report}");
        assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
        assert_eq!(report.created_networks, 0);
        assert_eq!(fixture.inventory.network(foreign.network).await.unwrap(), before);
        assert!(documents(&fixture.inventory, foreign.organization).await.is_empty());
    }
}

#[tokio::test]
async fn lines_that_cannot_be_read_create_no_network() {
    let fixture = Fixture::new().await;
    let mut line = serde_json::to_value(bare_host(id(1), id(0xa))).unwrap();
    line["name"] = serde_json::Value::Null;
    let report = fixture.import_with(line.to_string(), create()).await;
    assert_eq!((report.imported, report.refused), (0, 1));
    assert_eq!(report.created_networks, 0);
    assert!(fixture.inventory.network(id(0xa)).await.is_err());
}

#[tokio::test]
async fn into_an_unknown_organization_nothing_is_imported() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    let lines = jsonl(&[bare_host(id(1), fixture.network), bare_host(id(2), id(0xa))]);
    for import in [Import::new(), create()] {
        match fixture.inventory.import_hosts(id(77), &lines[..], import).await {
            Ok(report) => assert_eq!((report.imported, report.refused), (0, 2), "{report}"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}"),
        }
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn every_network_that_is_created_is_counted() {
    let fixture = Fixture::new().await;
    let hosts: Vec<_> =
        (1..=1100).map(|number| bare_host(id(number), Uuid::from_u128(number << 64))).collect();
    let report = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.created_networks), (1100, 1100));
    assert!(report.to_string().contains("1100 networks created"), "{report}");
}

#[tokio::test]
async fn imports_that_create_the_same_networks_at_once_do_not_hinder_each_other() {
    let fixture = Fixture::new().await;
    let tasks: Vec<_> = (0..8_u128)
        .map(|task| {
            let (inventory, organization) = (fixture.inventory.clone(), fixture.organization);
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
    assert_eq!(fixture.documents().await.len(), 2400);
}
