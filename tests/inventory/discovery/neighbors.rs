use toposcope::discovery::report::Table;
use toposcope::inventory::{DiscoveryOutcome, Import};
use toposcope::model::{Host, IfEntry, IfEntryId, Neighbor, Source};

use super::support::{
    FIRST, SECOND, THIRD, chassis, discover, discover_one, neighbors, sees, switch, switch_seeing,
};
use crate::backend::run;
use crate::support::{Fixture, id, jsonl, owner_of};

/// Returns the id of a host's entry with this index.
fn entry(host: &Host, index: i64) -> IfEntryId {
    host.if_entries.iter().find(|entry| entry.if_index == index).unwrap().id
}

/// Returns a host of a user with the identity and the ports of switch 2.
fn second_switch(fixture: &Fixture) -> Host {
    let mut host = Host::with_id(id(2), fixture.network, "by hand");
    (host.chassis_id, host.source) = (Some(chassis(2)), Source::Unknown);
    let mut port = IfEntry::new(&host, 2);
    port.if_name = Some("Gi0/2".to_owned());
    host.if_entries.push(port);
    host
}

#[test]
fn neighbor_is_set_when_its_host_appears_and_cleared_when_it_goes() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, first) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        assert_eq!(neighbors(&fixture, first.id).await, [(1, None), (2, None)]);
        let (_, second) = discover_one(&fixture, switch(2), FIRST).await;
        let to_port = Some(Neighbor::IfEntry(entry(&second, 2)));
        assert_eq!(neighbors(&fixture, first.id).await, [(1, to_port), (2, None)]);
        fixture.delete(second.id).await.unwrap();
        assert_eq!(neighbors(&fixture, first.id).await, [(1, None), (2, None)]);
        let (outcome, second) = discover_one(&fixture, switch(2), SECOND).await;
        assert_eq!(outcome, DiscoveryOutcome::Created);
        assert_eq!(neighbors(&fixture, first.id).await[0].1, Some(Neighbor::IfEntry(entry(&second, 2))));
    });
}

#[test]
fn neighbors_within_one_report_are_set_whatever_the_order() {
    run(async || {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let fixture = Fixture::new().await;
            let devices = [switch_seeing(1, 2), switch_seeing(2, 3), switch_seeing(3, 1)];
            let devices = order.map(|place| devices[place].clone()).to_vec();
            let answer = discover(&fixture, devices, FIRST).await;
            for host in answer.hosts.iter().filter_map(|host| host.id) {
                let found = neighbors(&fixture, host).await;
                assert!(matches!(found[0].1, Some(Neighbor::IfEntry(_))), "{found:?}");
            }
        }
    });
}

#[test]
fn neighbors_follow_changes_of_hosts_by_users() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, first) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        let neighbor = async || neighbors(&fixture, first.id).await[0].1;
        let second = second_switch(&fixture);
        fixture.put(&second).await;
        assert_eq!(neighbor().await, Some(Neighbor::IfEntry(second.if_entries[0].id)));
        // The port has another name: only the host is known.
        let rename = |entry: &mut IfEntry| {
            entry.if_name = Some("Te1/1".to_owned());
            Ok(())
        };
        fixture.inventory.parts().update(&caller, second.if_entries[0].id, rename).await.unwrap();
        assert_eq!(neighbor().await, Some(Neighbor::Host(second.id)));
        let forget = |host: &mut Host| {
            host.chassis_id = None;
            Ok(())
        };
        fixture.inventory.hosts().update(&caller, second.id, forget).await.unwrap();
        assert_eq!(neighbor().await, None);
        // Import and bulk deletion.
        fixture
            .inventory
            .hosts()
            .import(&fixture.system(), &jsonl([&second])[..], Import::new())
            .await
            .unwrap();
        assert_eq!(neighbor().await, Some(Neighbor::IfEntry(second.if_entries[0].id)));
        assert_eq!(fixture.inventory.hosts().delete_many(&caller, &[second.id]).await.unwrap(), 1);
        assert_eq!(neighbor().await, None);
        let created = fixture.inventory.hosts().create(&caller, second_switch(&fixture)).await.unwrap();
        assert_eq!(neighbor().await, Some(Neighbor::IfEntry(created.if_entries[0].id)));
    });
}

#[test]
fn neighbor_set_by_hand_stays() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, first) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        let by_hand = Some(Neighbor::Host(id(7)));
        let set = |entry: &mut IfEntry| {
            entry.neighbor = by_hand;
            Ok(())
        };
        fixture.inventory.parts().update(&caller, entry(&first, 1), set).await.unwrap();
        let (_, second) = discover_one(&fixture, switch(2), FIRST).await;
        discover_one(&fixture, switch_seeing(1, 2), SECOND).await;
        fixture.delete(second.id).await.unwrap();
        discover_one(&fixture, switch_seeing(1, 2), THIRD).await;
        assert_eq!(neighbors(&fixture, first.id).await[0].1, by_hand);
    });
}

#[test]
fn two_hosts_that_match_a_neighbor_are_none() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, first) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        let second = second_switch(&fixture);
        let mut twin = second.clone();
        (twin.id, twin.if_entries) = (id(3), Vec::new());
        fixture.put(&second).await;
        fixture.put(&twin).await;
        assert_eq!(neighbors(&fixture, first.id).await[0].1, None);
        fixture.delete(twin.id).await.unwrap();
        assert!(neighbors(&fixture, first.id).await[0].1.is_some());
    });
}

#[test]
fn neighbor_that_a_complete_table_lacks_is_cleared() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, first) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        discover_one(&fixture, switch(2), FIRST).await;
        let mut device = switch(1);
        device.tables.lldp = Some(Table::truncated(vec![sees(2, 2, 1)]));
        discover_one(&fixture, device.clone(), SECOND).await;
        let found = neighbors(&fixture, first.id).await;
        assert!(found.iter().all(|(_, neighbor)| neighbor.is_some()), "{found:?}");
        device.tables.lldp = Some(Table::complete(vec![sees(2, 2, 1)]));
        discover_one(&fixture, device, THIRD).await;
        let found = neighbors(&fixture, first.id).await;
        assert!(found[0].1.is_none() && found[1].1.is_some(), "{found:?}");
    });
}
