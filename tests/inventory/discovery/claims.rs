use std::sync::Arc;

use toposcope::discovery::report::{AddressFamily, ArpRow, Device, Table, TableKind};
use toposcope::inventory::{ClaimRows, Entity, Inventory};
use toposcope::model::{Host, HostId, Permission};
use toposcope::store::{Export, MemoryStore, Restore, Store};

use super::support::{FIRST, FOURTH, SECOND, THIRD, discover, discover_one, sees, switch, switch_seeing};
use crate::backend::run;
use crate::support::{Fixture, access_denied, in_person, not_found, owner_of, refusal};

async fn lldp_rows(fixture: &Fixture, host: HostId) -> (usize, bool) {
    let caller = owner_of(fixture.organization);
    let claims = fixture.inventory.discovery().claims(&caller, host, Some(TableKind::Lldp)).await.unwrap();
    let ClaimRows::Lldp(rows) = &claims[0].rows else { panic!("another kind") };
    (rows.len(), claims[0].complete)
}

fn switch_with(complete: bool, ports: &[u8]) -> Device {
    let mut device = switch(1);
    let rows = ports.iter().map(|port| sees(*port, 9, *port)).collect();
    device.tables.lldp = Some(if complete { Table::complete(rows) } else { Table::truncated(rows) });
    device
}

#[test]
fn truncated_table_adds_to_a_claim_and_a_complete_one_replaces_it() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch_with(true, &[1]), FIRST).await;
        discover_one(&fixture, switch_with(false, &[2]), SECOND).await;
        assert_eq!(lldp_rows(&fixture, host.id).await, (2, false));
        discover_one(&fixture, switch_with(true, &[2]), THIRD).await;
        assert_eq!(lldp_rows(&fixture, host.id).await, (1, true));
        discover_one(&fixture, switch_with(true, &[1, 2]), SECOND).await;
        assert_eq!(lldp_rows(&fixture, host.id).await, (1, true), "an older table does not return");
    });
}

/// Returns a switch whose neighbor cache has entries of one family of addresses.
fn switch_with_cache(addresses: &[&str], family: Option<AddressFamily>) -> Device {
    let mut device = switch(1);
    let row = |address: &&str| ArpRow::new(address.parse().unwrap(), "00:1B:21:09:00:01".parse().unwrap());
    let table = Table::complete(addresses.iter().map(row).collect());
    device.tables.arp = Some(table.limited_to(family));
    device
}

/// Describes a neighbor cache: its addresses, those that are missing with the number of tables that lack them, whether it is
/// complete, and its only family.
async fn cache(fixture: &Fixture, host: HostId) -> (Vec<String>, Vec<String>, bool, Option<AddressFamily>) {
    let caller = owner_of(fixture.organization);
    let claims = fixture.inventory.discovery().claims(&caller, host, Some(TableKind::Arp)).await.unwrap();
    let addresses = |rows: &ClaimRows| -> Vec<String> {
        let ClaimRows::Arp(rows) = rows else { panic!("another kind") };
        rows.iter().map(|row| row.ip_address.to_string()).collect()
    };
    let missing = claims[0].missing.iter().flat_map(|group| {
        addresses(&group.rows).into_iter().map(|address| format!("{address} {}", group.missed_scans))
    });
    (addresses(&claims[0].rows), missing.collect(), claims[0].complete, claims[0].family)
}

#[test]
fn complete_table_of_one_family_leaves_the_rows_of_the_other() {
    let (ipv4, ipv6) = (Some(AddressFamily::Ipv4), Some(AddressFamily::Ipv6));
    let reports = [
        (FIRST, switch_with_cache(&["192.0.2.7", "192.0.2.8"], ipv4)),
        (SECOND, switch_with_cache(&["2001:db8::7"], ipv6)),
        (THIRD, switch_with_cache(&["192.0.2.8"], ipv4)),
        (FOURTH, switch_with_cache(&["192.0.2.8"], ipv4)),
    ];
    run(async || {
        for order in [[0, 1, 2, 3], [1, 0, 2, 3], [0, 2, 3, 1]] {
            let fixture = Fixture::new().await;
            let mut host = None;
            for place in order {
                let (at, device) = &reports[place];
                host = Some(discover_one(&fixture, device.clone(), at).await.1.id);
            }
            let (rows, missing, is_complete, family) = cache(&fixture, host.unwrap()).await;
            assert_eq!(rows, ["192.0.2.8", "2001:db8::7"], "{order:?}");
            assert_eq!(missing, ["192.0.2.7 2"], "{order:?}");
            assert!(is_complete && family.is_none(), "{order:?}");
        }
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, reports[0].1.clone(), FIRST).await;
        assert_eq!(cache(&fixture, host.id).await.3, ipv4);
        // All rows of a table that is unchanged were seen again.
        discover_one(&fixture, reports[1].1.clone(), SECOND).await;
        let mut unchanged = switch(1);
        unchanged.tables.arp = Some(Table::unchanged(Vec::new()));
        discover_one(&fixture, unchanged, THIRD).await;
        discover_one(&fixture, reports[1].1.clone(), FOURTH).await;
        assert_eq!(cache(&fixture, host.id).await.0, ["192.0.2.7", "192.0.2.8", "2001:db8::7"]);
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, reports[0].1.clone(), FIRST).await;
        // A table of both families replaces all rows.
        discover_one(&fixture, reports[1].1.clone(), SECOND).await;
        discover_one(&fixture, switch_with_cache(&["192.0.2.9"], None), THIRD).await;
        assert_eq!(cache(&fixture, host.id).await.0, ["192.0.2.9"]);
    });
}

#[test]
fn claims_are_shown_only_to_callers_who_can_access_the_host() {
    run(async || {
        let fixture = Fixture::new().await;
        let foreign = fixture.foreign().await;
        let (_, host) = discover_one(&fixture, switch_with(true, &[1]), FIRST).await;
        let inventory = &fixture.inventory;
        let claims =
            inventory.discovery().claims(&owner_of(fixture.organization), host.id, None).await.unwrap();
        let kinds: Vec<_> = claims.iter().map(|claim| claim.rows.kind()).collect();
        assert_eq!(kinds, [TableKind::IfEntries, TableKind::Addresses, TableKind::Lldp]);
        assert!(claims.iter().all(|claim| claim.reporter.name == "test" && claim.host_id == host.id));
        let refused = inventory.discovery().claims(&owner_of(foreign.organization), host.id, None).await;
        assert_eq!(refusal(refused), not_found(Entity::Host, host.id));
        let viewer = fixture.user("viewer@example.net", Permission::Viewer, &[fixture.other_network]).await;
        let refused = inventory.discovery().claims(&in_person(&viewer), host.id, None).await;
        assert_eq!(refusal(refused), access_denied(fixture.network));
    });
}

#[test]
fn deleting_a_host_deletes_its_claims_and_then_its_network_can_be_deleted() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let answer = discover(&fixture, vec![switch_seeing(1, 2), switch_seeing(2, 1)], FIRST).await;
        let ids: Vec<HostId> = answer.hosts.iter().map(|host| host.id.unwrap()).collect();
        fixture.delete(ids[0]).await.unwrap();
        assert!(fixture.mentioning(ids[0]).await.is_empty());
        assert!(fixture.inventory.networks().delete(&fixture.system(), fixture.network).await.is_err());
        assert_eq!(fixture.inventory.hosts().delete_many(&caller, &ids).await.unwrap(), 1);
        assert!(fixture.mentioning(ids[1]).await.is_empty());
        fixture.inventory.networks().delete(&fixture.system(), fixture.network).await.unwrap();
        assert!(fixture.mentioning(fixture.network).await.is_empty());
    });
}

#[test]
fn host_that_moves_to_another_network_loses_its_claims() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch_with(true, &[1]), FIRST).await;
        let moved = Host::with_id(host.id, fixture.other_network, "moved");
        fixture.put(&moved).await;
        let caller = owner_of(fixture.organization);
        assert!(fixture.inventory.discovery().claims(&caller, host.id, None).await.unwrap().is_empty());
        fixture.inventory.networks().delete(&fixture.system(), fixture.network).await.unwrap();
    });
}

#[test]
fn export_and_restore_keep_states_and_claims() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let answer = discover(&fixture, vec![switch_seeing(1, 2), switch_seeing(2, 1)], FIRST).await;
        let mut exported = Vec::new();
        Export::new().write(&*fixture.store, &mut exported).await.unwrap();
        let restored: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Restore::new().read(&*restored, exported.as_slice()).await.unwrap();
        let inventory = Inventory::new(restored);
        for host in answer.hosts.iter().filter_map(|host| host.id) {
            let claims = inventory.discovery().claims(&caller, host, None).await.unwrap();
            assert_eq!(claims, fixture.inventory.discovery().claims(&caller, host, None).await.unwrap());
            assert_eq!(claims.len(), 3);
        }
    });
}

#[test]
fn late_complete_table_with_equal_rows_still_replaces_earlier_ones() {
    let partial = |address: &str| {
        let mut device = switch_with_cache(&[address], None);
        device.tables.arp.as_mut().unwrap().complete = false;
        device
    };
    let reports = [
        (FIRST, partial("192.0.2.7")),
        (SECOND, switch_with_cache(&["192.0.2.8"], None)),
        (THIRD, partial("192.0.2.8")),
    ];
    run(async || {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let fixture = Fixture::new().await;
            let mut host = None;
            for place in order {
                let (at, device) = &reports[place];
                host = Some(discover_one(&fixture, device.clone(), at).await.1.id);
            }
            assert_eq!(cache(&fixture, host.unwrap()).await.0, ["192.0.2.8"], "{order:?}");
        }
    });
}
