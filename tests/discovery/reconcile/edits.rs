//! The edits of users, which reports never overwrite.

use std::collections::BTreeMap;

use toposcope::discovery::reconcile::{
    HostState, MergeOutcome, Projection, merge, set_neighbors, set_subnets,
};
use toposcope::discovery::report::PortRow;
use toposcope::model::{Host, HostId, IfEntryId, Interface, Neighbor, Protocol, Source, SubnetId};

use super::support::{Record, addresses, at, host, ip, mac, number, switch};
use super::world::NETWORK;

#[test]
fn edited_fields_are_never_overwritten() {
    let mut record = Record::new(&switch());
    record.host.sys_location = Some("Basement".to_owned());
    record.host.name = "My switch".to_owned();
    record.entry_mut(1).if_alias = Some("uplink".to_owned());
    let id = record.entry(1).id;
    let mut reported = switch();
    reported.sys_name = Some("access-2".to_owned());
    reported.sys_location = Some("Rack 9".to_owned());
    reported.tables.if_entries.as_deref_mut().unwrap().rows[0].if_alias = Some("from device".to_owned());
    reported.tables.if_entries.as_deref_mut().unwrap().rows[1].if_alias = Some("from device".to_owned());
    for minutes in [1, 2] {
        record.merge(&reported, minutes);
        assert_eq!(record.host.sys_location.as_deref(), Some("Basement"));
        assert_eq!(
            (record.host.name.as_str(), record.host.sys_name.as_deref()),
            ("My switch", Some("access-2"))
        );
        assert_eq!(record.entry(1).if_alias.as_deref(), Some("uplink"));
        assert_eq!(record.entry(2).if_alias.as_deref(), Some("from device"));
    }
    let edited: Vec<&str> = record.state.edited.iter().map(String::as_str).collect();
    assert_eq!(edited, [&format!("if_entries.{id}.if_alias"), "name", "sys_location"]);
}

#[test]
fn cleared_fields_stay_cleared() {
    let mut record = Record::new(&switch());
    record.host.sys_location = None;
    record.merge(&switch(), 1);
    assert_eq!(record.host.sys_location, None);
}

#[test]
fn equal_value_is_no_edit() {
    let mut record = Record::new(&switch());
    record.host.updated_at = at(1);
    record.merge(&switch(), 2);
    assert!(record.state.edited.is_empty());
}

#[test]
fn deleted_parts_are_not_created_again() {
    let mut reported = switch();
    let mut row = PortRow::new(number(80), Protocol::Tcp);
    row.service = Some("http".to_owned());
    reported.tables.ports.as_deref_mut().unwrap().rows.push(row);
    let mut record = Record::new(&reported);
    record.host.interfaces.remove(0);
    record.host.ports.retain(|port| port.number != number(443));
    record.host.services.clear();
    record.host.if_entries.retain(|entry| entry.if_index != 2);
    for minutes in 1..4 {
        record.merge(&reported, minutes);
        let host = &record.host;
        assert_eq!((host.interfaces.len(), host.ports.len()), (1, 2));
        assert_eq!((host.services.len(), host.if_entries.len()), (0, 1));
    }
    let expected = ["if_entries.Gi0/2", "interfaces.192.0.2.1", "ports.443/Tcp", "services.80/Tcp"];
    assert_eq!(record.state.deleted.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn parts_that_users_add_are_kept_and_their_values_count_as_edits() {
    let mut record = Record::new(&switch());
    let added =
        Interface { name: Some("management".to_owned()), ..Interface::new(&record.host, ip("192.0.2.9")) };
    record.host.interfaces.push(added.clone());
    record.merge(&switch(), 1);
    assert_eq!(record.host.interfaces.len(), 3);
    let mut reported = switch();
    reported.tables.addresses = Some(addresses(&["192.0.2.1", "192.0.2.2", "192.0.2.9"]));
    let row = &mut reported.tables.addresses.as_deref_mut().unwrap().rows[2];
    (row.if_index, row.mac_address) = (Some(1), Some(mac("00:1B:21:00:00:09")));
    record.merge(&reported, 2);
    let found = record.host.interfaces.iter().find(|part| part.id == added.id).unwrap();
    assert_eq!(found.name.as_deref(), Some("management"));
    assert_eq!(found.mac_address, Some(mac("00:1B:21:00:00:09")));
    assert_eq!(record.host.interfaces.len(), 3);
}

#[test]
fn list_that_is_replaced_with_new_ids_keeps_its_edits() {
    let mut record = Record::new(&switch());
    record.entry_mut(1).if_alias = Some("uplink".to_owned());
    record.merge(&switch(), 1);
    record.entry_mut(1).id = IfEntryId::from_u128(77);
    let mut reported = switch();
    reported.tables.if_entries.as_deref_mut().unwrap().rows[0].if_alias = Some("from device".to_owned());
    record.merge(&reported, 2);
    assert_eq!(record.entry(1).if_alias.as_deref(), Some("uplink"));
    assert_eq!((record.entry(1).id, record.host.if_entries.len()), (IfEntryId::from_u128(77), 2));
}

#[test]
fn address_that_a_user_corrects_is_not_added_again() {
    let mut record = Record::new(&switch());
    record.host.interfaces[0].ip_address = ip("198.51.100.1");
    record.merge(&switch(), 1);
    let found: Vec<_> = record.host.interfaces.iter().map(|part| part.ip_address).collect();
    assert_eq!(found, [ip("198.51.100.1"), ip("192.0.2.2")]);
}

#[test]
fn what_a_user_sets_in_a_manual_host_stays_and_reports_fill_the_rest() {
    let mut stored = Host {
        source: Source::Manual,
        sys_location: Some("Rack 1".to_owned()),
        ..host(1, |host| host.name = "core".to_owned())
    };
    stored
        .interfaces
        .push(Interface { name: Some("uplink".to_owned()), ..Interface::new(&stored, ip("192.0.2.1")) });
    let projection = Projection::of_device(&switch(), NETWORK, stored.id, &[]);
    let merged = merge(Some(&stored), None, &projection, at(1), at(1));
    assert_eq!(merged.outcome, MergeOutcome::Updated);
    let host = &merged.host;
    assert_eq!((host.name.as_str(), &host.source), ("core", &Source::Manual));
    assert_eq!(host.sys_location.as_deref(), Some("Rack 1"));
    assert_eq!(host.sys_name, projection.host().sys_name);
    let named = host.interfaces.iter().find(|part| part.ip_address == ip("192.0.2.1")).unwrap();
    assert_eq!((named.id, named.name.as_deref()), (stored.interfaces[0].id, Some("uplink")));
    assert_eq!(host.interfaces.len(), 2);
    let again = merge(Some(host), Some(&merged.state), &projection, at(2), at(2));
    assert_eq!((again.outcome, &again.host), (MergeOutcome::Unchanged, host));
}

#[test]
fn state_that_no_report_has_reached_does_not_undo_the_marks_of_a_manual_host() {
    let unknown = host(1, |host| host.name = "core".to_owned());
    let unmarked = HostState::of_host(&Host { source: Source::Unknown, ..unknown.clone() });
    let stored = Host { source: Source::Manual, ..unknown };
    let projection = Projection::of_device(&switch(), NETWORK, stored.id, &[]);
    let merged = merge(Some(&stored), Some(&unmarked), &projection, at(1), at(1));
    assert_eq!(merged.host.name, "core");
    assert!(merged.state.is_edited("name"));
}

#[test]
fn hosts_of_other_origin_take_discovered_values_and_keep_their_display_name() {
    let stored = Host {
        source: Source::Unknown,
        sys_location: Some("Rack 1".to_owned()),
        ..host(1, |host| host.name = "Core switch".to_owned())
    };
    let projection = Projection::of_device(&switch(), NETWORK, stored.id, &[]);
    let merged = merge(Some(&stored), None, &projection, at(1), at(1));
    assert_eq!(merged.outcome, MergeOutcome::Updated);
    assert_eq!((merged.host.name.as_str(), merged.host.source), ("Core switch", Source::Unknown));
    assert_eq!(merged.host.sys_location.as_deref(), Some("Rack 4"));
    assert_eq!(merged.host.interfaces.len(), 2);
}

#[test]
fn derived_neighbors_and_subnets_are_no_edits_and_those_of_users_stay() {
    let mut record = Record::new(&switch());
    let neighbor = Some(Neighbor::Host(HostId::from_u128(3)));
    let all = |record: &Record| -> BTreeMap<_, _> {
        record.host.if_entries.iter().map(|entry| (entry.id, neighbor)).collect()
    };
    let neighbors = all(&record);
    assert_eq!(set_neighbors(&mut record.host, &mut record.state, &neighbors, at(1)).len(), 2);
    assert_eq!(set_neighbors(&mut record.host, &mut record.state, &neighbors, at(2)).len(), 0);
    let subnet = SubnetId::from_u128(4);
    assert_eq!(set_subnets(&mut record.host, &mut record.state, |_| Some(subnet), at(1)).len(), 2);
    record.merge(&switch(), 3);
    assert!(record.state.edited.is_empty());

    let own = Some(Neighbor::Host(HostId::from_u128(6)));
    record.entry_mut(1).neighbor = own;
    record.host.interfaces[0].subnet_id = Some(SubnetId::from_u128(7));
    let none = neighbors.keys().map(|id| (*id, None)).collect();
    assert_eq!(set_neighbors(&mut record.host, &mut record.state, &none, at(4)).len(), 1);
    assert_eq!(set_subnets(&mut record.host, &mut record.state, |_| None, at(4)).len(), 1);
    record.merge(&switch(), 5);
    assert_eq!(set_neighbors(&mut record.host, &mut record.state, &none, at(6)).len(), 0);
    assert_eq!(
        (record.entry(1).neighbor, record.host.interfaces[0].subnet_id),
        (own, Some(SubnetId::from_u128(7)))
    );
    record.host.interfaces[1].subnet_id = None;
    record.merge(&switch(), 7);
    assert_eq!(set_subnets(&mut record.host, &mut record.state, |_| Some(subnet), at(8)).len(), 1);
}
