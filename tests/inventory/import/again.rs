//! Repeated imports of the same hosts.

use crate::support::{SplitMix64, World, bare_host, documents, guest_of, id, jsonl, rich_host};

#[tokio::test]
async fn documents_of_the_list_are_imported_byte_for_byte() {
    let world = World::new().await;
    let mut random = SplitMix64(3);
    for number in 1..=50 {
        let mut host = rich_host(number, world.network, &world.tags);
        host.description = Some((0..100).map(|_| char::from(random.next().to_le_bytes()[0])).collect());
        guest_of(&mut host, id(((number % 7 + 1) << 32) + 21));
        world.put(&host).await;
    }
    world.put(&bare_host(id(1000), world.other_network)).await;
    let first = world.documents().await;
    let lines = first.join(&b'\n');
    for round in 0..2 {
        let report = world.import(&lines).await;
        assert_eq!((report.imported, report.replaced, report.refused), (51, 51, 0), "{report}");
        assert!(report.alterations.is_empty(), "{report}");
        assert_eq!(world.documents().await, first, "round {round}");
    }
}

#[tokio::test]
async fn another_inventory_takes_the_documents_over_byte_for_byte() {
    let world = World::new().await;
    for number in 1..=300 {
        world.put(&rich_host(number, world.network, &[])).await;
    }
    let first = world.documents().await;
    let other = World::new().await;
    other.inventory.create_network_with_id(other.organization, id(5), "unrelated").await.unwrap();
    let import = toposcope::inventory::Import::new().create_missing_networks();
    let report = other.import_with(first.join(&b'\n'), import).await;
    assert_eq!((report.imported, report.refused), (300, 0), "{report}");
    assert_eq!(documents(&other.inventory, other.organization).await, first);
}

#[tokio::test]
async fn what_put_host_was_given_and_what_was_imported_of_it_are_the_same_document() {
    let (put, imported) = (World::new().await, World::new().await);
    let hosts: Vec<_> = (1..=20).map(|number| rich_host(number, put.network, &put.tags)).collect();
    for host in &hosts {
        put.put(host).await;
    }
    // Both worlds have the same records, ids included.
    assert_eq!(put.network, imported.network);
    imported.import(jsonl(&hosts)).await;
    assert_eq!(put.documents().await, imported.documents().await);
}
