//! Names of ports by rules of the host application, and neighbors that were found by other rules.

use toposcope::access::Caller;
use toposcope::discovery::reconcile::PortNames;
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, Inventory};
use toposcope::model::{Host, HostId, IfEntry, LldpPortId, LldpPortIdSubtype, Neighbor, OrganizationId};
use toposcope::store::{Key, Name};
use uuid::Uuid;

use super::support::{FIRST, SECOND, discover, discover_one, neighbors, report_of, switch, switch_seeing};
use crate::backend::run;
use crate::support::{Fault, Fixture, at_every_call, owner_of};

fn names() -> PortNames {
    PortNames::new().with_kind("10GE", "xge").unwrap().with_kind("XGigabitEthernet", "xge").unwrap()
}

/// Discovers a switch with a neighbor, which names the port of the other one in its own way. Returns their ids.
async fn pair(fixture: &Fixture) -> [HostId; 2] {
    let mut first = switch_seeing(1, 2);
    let value = "XGigabitEthernet1/0/2".to_owned();
    first.tables.lldp.as_mut().unwrap().rows[0].port_id =
        Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value });
    let mut second = switch(2);
    let port = &mut second.tables.if_entries.as_mut().unwrap().rows[1];
    (port.if_name, port.if_descr) = (Some("10GE1/0/2".to_owned()), Some("uplink".to_owned()));
    let report = discover(fixture, vec![first, second], FIRST).await;
    [0, 1].map(|index| report.hosts[index].id.unwrap())
}

/// Returns the neighbor of the first port if it is the port that the device names.
async fn port_of(fixture: &Fixture, [_, second]: [HostId; 2]) -> Option<Neighbor> {
    let host = fixture.host(second).await;
    let port = host.if_entries.iter().find(|entry| entry.if_name.as_deref() == Some("10GE1/0/2")).unwrap();
    Some(Neighbor::IfEntry(port.id))
}

async fn neighbor(fixture: &Fixture, [first, _]: [HostId; 2]) -> Option<Neighbor> {
    neighbors(fixture, first).await[0].1
}

#[test]
fn upgrade_finds_neighbors_again_that_an_earlier_version_has_stored() {
    run(async || {
        let fixture = Fixture::new().await;
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
        pair(&fixture).await;
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
        let key = Key::new(Name::new("host_facets"), Uuid::nil());
        let form = fixture.contents().await.into_iter().find(|stored| stored.record.key == key).unwrap();
        let mut body: serde_json::Value = serde_json::from_slice(&form.record.body).unwrap();
        assert!(body.as_object_mut().unwrap().remove("neighbors").is_some());
        fixture.overwrite(key, form.facets, serde_json::to_vec(&body).unwrap()).await;
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 2);
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
    });
}

#[test]
fn upgrade_finds_neighbors_again_when_the_rules_have_changed() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
        let hosts = pair(&fixture).await;
        let alone = Host::new(foreign.network, "without claims");
        fixture.inventory.hosts().put(&Caller::system(foreign.organization), alone).await.unwrap();
        let to_host = Some(Neighbor::Host(hosts[1]));
        assert_eq!(neighbor(&fixture, hosts).await, to_host);
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);

        let with_names = fixture.second_inventory().with_port_names(names());
        assert_eq!(neighbor(&fixture, hosts).await, to_host, "nothing changes before the upgrade");
        assert_eq!(with_names.upgrade().await.unwrap(), 2);
        assert_eq!(neighbor(&fixture, hosts).await, port_of(&fixture, hosts).await);
        assert_eq!(with_names.upgrade().await.unwrap(), 0);
        let same = PortNames::new().with_kind("xgigabitethernet", "XGE").unwrap();
        let same = same.with_kind(" 10ge ", "xge").unwrap();
        assert_eq!(fixture.second_inventory().with_port_names(same).upgrade().await.unwrap(), 0);

        let other = names().with_kind("a", "b").unwrap();
        assert_eq!(fixture.second_inventory().with_port_names(other).upgrade().await.unwrap(), 2);
        assert_eq!(neighbor(&fixture, hosts).await, port_of(&fixture, hosts).await);
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 2);
        assert_eq!(neighbor(&fixture, hosts).await, to_host);
        assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
    });
}

#[test]
fn reports_and_changes_are_matched_by_the_rules() {
    run(async || {
        let mut fixture = Fixture::new().await;
        fixture.inventory = fixture.inventory.with_port_names(names());
        let hosts = pair(&fixture).await;
        assert_eq!(neighbor(&fixture, hosts).await, port_of(&fixture, hosts).await);
        let caller = owner_of(fixture.organization);
        let rename = |name: &'static str| {
            move |host: &mut Host| {
                host.if_entries[1].if_name = Some(name.to_owned());
                Ok(())
            }
        };
        fixture.inventory.hosts().update(&caller, hosts[1], rename("25GE1/0/2")).await.unwrap();
        assert_eq!(neighbor(&fixture, hosts).await, Some(Neighbor::Host(hosts[1])));
        fixture.inventory.hosts().update(&caller, hosts[1], rename("10GE1/0/2")).await.unwrap();
        assert_eq!(neighbor(&fixture, hosts).await, port_of(&fixture, hosts).await);
    });
}

/// A port that is known only by a neighbor's name has no index.
#[test]
fn ports_of_a_report_are_paired_by_the_rules() {
    run(async || {
        for (names, count) in [(PortNames::new(), 3), (names(), 2)] {
            let mut fixture = Fixture::new().await;
            fixture.inventory = fixture.inventory.with_port_names(names);
            let (_, host) = discover_one(&fixture, switch(2), FIRST).await;
            let caller = owner_of(fixture.organization);
            let name = |host: &mut Host| {
                host.if_entries[1].if_name = Some("XGigabitEthernet1/0/2".to_owned());
                (host.if_entries[1].if_descr, host.if_entries[1].if_index) = (String::new(), 0);
                host.if_entries[1].mac_address = None;
                Ok(())
            };
            fixture.inventory.hosts().update(&caller, host.id, name).await.unwrap();
            let mut again = switch(2);
            let row = &mut again.tables.if_entries.as_mut().unwrap().rows[1];
            (row.if_name, row.if_descr) = (Some("10GE1/0/2".to_owned()), None);
            (row.if_index, row.mac_address) = (22, None);
            let (outcome, host) = discover_one(&fixture, again, SECOND).await;
            assert_ne!(outcome, DiscoveryOutcome::Ignored);
            assert_eq!(host.if_entries.len(), count, "{:?}", host.if_entries);
        }
    });
}

#[test]
fn neighbors_that_users_have_set_stay_in_an_upgrade() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.inventory.upgrade().await.unwrap();
        let hosts = pair(&fixture).await;
        let caller = owner_of(fixture.organization);
        let other = fixture.host(hosts[1]).await.if_entries[0].id;
        let set = |entry: &mut IfEntry| {
            entry.neighbor = Some(Neighbor::IfEntry(other));
            Ok(())
        };
        let port = fixture.host(hosts[0]).await.if_entries[0].id;
        fixture.inventory.parts().update(&caller, port, set).await.unwrap();
        assert_eq!(fixture.second_inventory().with_port_names(names()).upgrade().await.unwrap(), 2);
        assert_eq!(neighbor(&fixture, hosts).await, Some(Neighbor::IfEntry(other)));
    });
}

/// The upgrade ends at each of its calls of the store in turn, as if the process had stopped there, or fails there.
#[test]
fn interrupted_upgrade_is_completed_by_the_next_one() {
    run(async || {
        for number in 0.. {
            let fixture = Fixture::new().await;
            fixture.inventory.upgrade().await.unwrap();
            let hosts = pair(&fixture).await;
            let (inventory, probe) = fixture.probed();
            let inventory = inventory.with_port_names(names());
            probe.set(Fault::UnavailableAt(number));
            let outcome = inventory.upgrade().await;
            probe.set(Fault::None);
            let again = inventory.upgrade().await.unwrap();
            assert_eq!(neighbor(&fixture, hosts).await, port_of(&fixture, hosts).await, "{number}");
            if outcome.is_ok() {
                assert_eq!(again, 0, "{number}");
                assert!(number > 5, "{number}");
                return;
            }
            assert_eq!(again, 2, "{number}");
        }
    });
}

#[test]
fn report_during_an_upgrade_ends_with_the_present_neighbor() {
    run(async || {
        at_every_call(
            async |fixture: &Fixture| (pair(fixture).await, fixture.organization),
            async |inventory: &Inventory, (hosts, organization): &([HostId; 2], OrganizationId)| {
                // The second switch loses its port, and gets it again.
                let inventory = inventory.clone().with_port_names(names());
                let host = hosts[1];
                let caller = owner_of(*organization);
                for name in ["25GE1/0/2", "10GE1/0/2"] {
                    let rename = |host: &mut Host| {
                        host.if_entries[1].if_name = Some(name.to_owned());
                        Ok(())
                    };
                    inventory.hosts().update(&caller, host, rename).await.unwrap();
                }
            },
            async |inventory: &Inventory, _: &([HostId; 2], OrganizationId)| {
                inventory.clone().with_port_names(names()).upgrade().await.unwrap()
            },
            async |fixture: &Fixture, (hosts, _): &([HostId; 2], OrganizationId), _| {
                assert_eq!(neighbor(fixture, *hosts).await, port_of(fixture, *hosts).await);
            },
        )
        .await;
    });
}

#[test]
fn export_is_restored_by_inventories_with_the_same_rules_alone() {
    run(async || {
        use toposcope::store::{Export, MemoryStore, Restore, TransferErrorKind};

        let fixture = Fixture::new().await;
        pair(&fixture).await;
        let exporting = fixture.second_inventory().with_port_names(names());
        let mut file = Vec::new();
        exporting.organizations().export(fixture.organization, Export::new(), &mut file).await.unwrap();
        let usual = Inventory::new(MemoryStore::new());
        let refused = usual.organizations().restore(Restore::new(), &file[..]).await.unwrap_err();
        assert!(matches!(refused.kind(), TransferErrorKind::OtherForm));
        let same = Inventory::new(MemoryStore::new()).with_port_names(names());
        same.organizations().restore(Restore::new(), &file[..]).await.unwrap();
    });
}

/// Hosts whose claims are all of other devices have no neighbors.
#[test]
fn upgrade_reads_no_host_of_a_network_without_claims() {
    run(async || {
        let fixture = Fixture::new().await;
        fixture.put(&Host::new(fixture.network, "by hand")).await;
        fixture.inventory.upgrade().await.unwrap();
        let caller = owner_of(fixture.organization);
        let report = report_of(Vec::new(), FIRST);
        let options = DiscoverOptions::new(fixture.network);
        fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
        assert_eq!(fixture.second_inventory().with_port_names(names()).upgrade().await.unwrap(), 0);
    });
}
