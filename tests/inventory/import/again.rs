//! Repeated imports of the same hosts.

use fastrand::Rng;

use crate::support::{Fixture, bare_host, documents, guest_of, id, jsonl, rich_host};

#[tokio::test]
async fn documents_of_the_list_are_imported_byte_for_byte() {
    let fixture = Fixture::new().await;
    let mut random = Rng::with_seed(3);
    for number in 1..=50 {
        let mut host = rich_host(number, fixture.network, &fixture.tags);
        host.description = Some((0..100).map(|_| char::from(random.u8(..))).collect());
        guest_of(&mut host, id(((number % 7 + 1) << 32) + 21));
        fixture.put(&host).await;
    }
    fixture.put(&bare_host(id(1000), fixture.other_network)).await;
    let first = fixture.documents().await;
    let lines = first.join(&b'\n');
    for round in 0..2 {
        let report = fixture.import(&lines).await;
        assert_eq!((report.imported, report.replaced, report.refused), (51, 51, 0), "{report}");
        assert!(report.alterations.is_empty(), "{report}");
        assert_eq!(fixture.documents().await, first, "round {round}");
    }
}

#[tokio::test]
async fn another_inventory_takes_the_documents_over_byte_for_byte() {
    let fixture = Fixture::new().await;
    for number in 1..=300 {
        fixture.put(&rich_host(number, fixture.network, &[])).await;
    }
    let first = fixture.documents().await;
    let other = Fixture::new().await;
    other.inventory.create_network_with_id(other.organization, id(5), "unrelated").await.unwrap();
    let import = toposcope::inventory::Import::new().create_networks(true);
    let report = other.import_with(first.join(&b'\n'), import).await;
    assert_eq!((report.imported, report.refused), (300, 0), "{report}");
    assert_eq!(documents(&other.inventory, other.organization).await, first);
}

#[tokio::test]
async fn what_put_host_was_given_and_what_was_imported_of_it_are_the_same_document() {
    let (put, imported) = (Fixture::new().await, Fixture::new().await);
    let hosts: Vec<_> = (1..=20).map(|number| rich_host(number, put.network, &put.tags)).collect();
    for host in &hosts {
        put.put(host).await;
    }
    // Both fixtures have the same records, ids included.
    assert_eq!(put.network, imported.network);
    imported.import(jsonl(&hosts)).await;
    assert_eq!(put.documents().await, imported.documents().await);
}
