//! Merging of reports into a host, by table and by time.

use toposcope::discovery::reconcile::{HostState, MergeOutcome, Projection, STALE_AFTER, merge};
use toposcope::discovery::report::{CdpRow, LagRow, PortRange, PortRow, Table};
use toposcope::model::{
    BindingTarget, Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, LldpChassisIdSubtype as Subtype,
    Port, Protocol, Service, Source, Vlans,
};
use uuid::Uuid;

use super::support::{Record, addresses, at, device, entries, host, ip, lldp, mac, number, ports, switch};
use super::world::NETWORK;

#[test]
fn first_report_creates_a_discovered_host() {
    let projection = Projection::of_device(&switch(), NETWORK, HostId::from_u128(1), &[]);
    let created = merge(None, None, &projection, at(0), at(5));
    assert_eq!(created.outcome, MergeOutcome::Created);
    let host = &created.host;
    assert_eq!((host.name.as_str(), host.sys_location.as_deref()), ("access-1", Some("Rack 4")));
    assert!(matches!(host.source, Source::Discovery { .. }));
    assert_eq!((host.interfaces.len(), host.if_entries.len(), host.ports.len()), (2, 2, 2));
    assert_eq!((host.created_at, host.interfaces[0].created_at), (at(5), at(5)));
    assert_eq!(created.state.last_seen_at(), Some(at(0)));
    assert_eq!(created.state.baseline, created.host);
    assert!(created.changes.contains(&"sys_name".to_owned()), "{:?}", created.changes);
}

#[test]
fn tables_fill_the_fields_of_ports() {
    let mut reported = switch();
    let rows = &mut reported.tables.if_entries.as_deref_mut().unwrap().rows;
    rows[0].vlans = Some(Vlans { untagged: Some(1), tagged: vec![30, 20, 30], ..Vlans::default() });
    rows[1].if_type = Some(161);
    let address = &mut reported.tables.addresses.as_deref_mut().unwrap().rows[0];
    (address.if_index, address.mac_address) = (Some(1), Some(mac("00:1B:21:00:00:01")));
    reported.tables.lag = Some(Table::complete(vec![LagRow::new(1, 2)]));
    reported.tables.lldp = Some(Table::complete(vec![lldp(1, Subtype::LocallyAssigned, "core")]));
    let mut cdp = CdpRow::new("core-1");
    cdp.if_name = Some("Gi0/2".to_owned());
    reported.tables.cdp = Some(Table::complete(vec![cdp]));
    let record = Record::new(&reported);
    let (first, second) = (record.entry(1), record.entry(2));
    let interface = &record.host.interfaces.iter().find(|part| part.ip_address == ip("192.0.2.1")).unwrap();
    assert_eq!(first.vlans, Some(Vlans { untagged: Some(1), tagged: vec![20, 30], ..Vlans::default() }));
    assert_eq!((first.lag_id, first.interface_id), (Some(second.id), Some(interface.id)));
    assert_eq!(first.lldp_chassis_id.as_ref().map(|id| id.value.as_str()), Some("core"));
    assert_eq!(second.cdp_device_id.as_deref(), Some("core-1"));
    assert_eq!(interface.name.as_deref(), Some("Gi0/1"));
    assert_eq!(interface.mac_address, Some(mac("00:1B:21:00:00:01")));
}

#[test]
fn neighbor_on_an_unknown_port_adds_the_port_by_its_name() {
    let mut row = lldp(0, Subtype::LocallyAssigned, "core");
    (row.if_index, row.if_name) = (None, Some("eth0".to_owned()));
    let reported = device(|device| {
        device.sys_name = Some("server".to_owned());
        device.tables.lldp = Some(Table::complete(vec![row]));
    });
    let mut record = Record::new(&reported);
    assert_eq!(record.entry(0).if_name.as_deref(), Some("eth0"));
    let id = record.entry(0).id;
    let walk = device(|device| device.tables.if_entries = Some(entries(&[(2, "eth0")])));
    record.merge(&walk, 1);
    assert_eq!((record.entry(2).id, record.host.if_entries.len()), (id, 1));
    assert!(record.entry(2).lldp_chassis_id.is_some());
}

#[test]
fn services_are_named_after_the_software_of_a_port() {
    let mut row = PortRow::new(number(443), Protocol::Tcp);
    row.service = Some("https".to_owned());
    let scan = |row: &PortRow| {
        device(|device| {
            device.tables.addresses = Some(addresses(&["192.0.2.1"]));
            device.tables.ports = Some(Table::complete(vec![row.clone()]));
        })
    };
    let mut record = Record::new(&scan(&row));
    let id = record.host.services[0].id;
    assert_eq!(record.host.services[0].name, "https");
    row.product = Some("nginx".to_owned());
    record.merge(&scan(&row), 1);
    assert_eq!(record.host.services.len(), 1);
    assert_eq!((record.host.services[0].id, record.host.services[0].name.as_str()), (id, "nginx"));
    assert_eq!(record.host.services[0].bindings.len(), 1);
}

#[test]
fn equal_content_writes_nothing_at_the_same_time_and_only_state_later() {
    let mut record = Record::new(&switch());
    let before = record.clone();
    assert!(record.merge(&switch(), 0).writes_nothing());
    assert_eq!((&record.host, &record.state), (&before.host, &before.state));
    let later = record.merge(&switch(), 1);
    assert_eq!((later.outcome, later.changes_state), (MergeOutcome::Unchanged, true));
    assert_eq!(record.host, before.host);
    assert_eq!(record.state.last_seen_at(), Some(at(1)));
}

#[test]
fn newer_values_replace_and_older_ones_only_fill() {
    let mut record = Record::new(&switch());
    let named = |location: &str, contact: Option<&str>| {
        device(|device| {
            device.sys_location = Some(location.to_owned());
            device.sys_contact = contact.map(str::to_owned);
        })
    };
    let updated = record.merge(&named("Rack 5", None), 10);
    assert_eq!((updated.outcome, updated.changes), (MergeOutcome::Updated, vec!["sys_location".to_owned()]));
    assert_eq!(record.host.updated_at, at(10));
    let filled = record.merge(&named("Rack 3", Some("noc@example.net")), 5);
    assert_eq!(filled.changes, ["sys_contact"]);
    assert_eq!(record.host.sys_location.as_deref(), Some("Rack 5"));
    assert_eq!(record.state.last_seen_at(), Some(at(10)));
}

#[test]
fn missing_values_do_not_clear_fields_of_the_device() {
    let mut record = Record::new(&switch());
    let outcome = record.merge(&device(|device| device.sys_name = Some("access-1".to_owned())), 1).outcome;
    assert_eq!(outcome, MergeOutcome::Unchanged);
    assert_eq!(record.host.sys_location.as_deref(), Some("Rack 4"));
}

#[test]
fn complete_table_clears_neighbors_and_truncated_one_adds() {
    let mut reported = switch();
    let mut row = lldp(1, Subtype::LocallyAssigned, "core");
    row.port_desc = Some("to access-1".to_owned());
    reported.tables.lldp = Some(Table::complete(vec![row]));
    let mut record = Record::new(&reported);
    let table = |index| {
        device(|device| {
            device.tables.lldp = Some(Table::truncated(vec![lldp(index, Subtype::LocallyAssigned, "edge")]));
        })
    };
    record.merge(&table(2), 1);
    let chassis = |record: &Record, index| record.entry(index).lldp_chassis_id.clone().map(|id| id.value);
    assert_eq!(chassis(&record, 1).as_deref(), Some("core"));
    assert_eq!(chassis(&record, 2).as_deref(), Some("edge"));
    record.merge(&table(1), 2);
    assert_eq!(chassis(&record, 1).as_deref(), Some("edge"));
    assert_eq!(record.entry(1).lldp_port_desc, None, "fields of two neighbors are not mixed");
    let mut complete = table(1);
    complete.tables.lldp.as_deref_mut().unwrap().complete = true;
    record.merge(&complete, 3);
    assert_eq!(chassis(&record, 2), None);
}

#[test]
fn older_table_does_not_bring_back_what_a_complete_one_lacks() {
    let mut reported = switch();
    reported.tables.lldp = Some(Table::complete(vec![]));
    let mut record = Record::new(&reported);
    record.merge(&reported, 10);
    let mut older = switch();
    older.tables.ports = Some(ports(&[22, 443, 8080]));
    older.tables.addresses = Some(addresses(&["192.0.2.77"]));
    older.tables.lldp = Some(Table::complete(vec![lldp(1, Subtype::LocallyAssigned, "core")]));
    let merged = record.merge(&older, 5);
    assert_eq!(merged.changes, Vec::<String>::new());
    assert!(merged.writes_nothing());
}

#[test]
fn parts_that_three_complete_tables_lack_are_stale() {
    let mut record = Record::new(&switch());
    let mut reported = switch();
    reported.tables.addresses = Some(addresses(&["192.0.2.1"]));
    reported.tables.ports = Some(ports(&[22]));
    reported.tables.if_entries = Some(entries(&[(1, "Gi0/1")]));
    for minutes in 1..=i64::from(STALE_AFTER) {
        assert_eq!(record.state.stale().count(), 0);
        record.merge(&reported, minutes);
        record.merge(&reported, minutes);
    }
    assert_eq!(record.state.stale().count(), 3);
    assert_eq!((record.host.interfaces.len(), record.host.ports.len()), (2, 2), "stale parts are kept");
    record.merge(&switch(), 10);
    assert_eq!(record.state.stale().count(), 0);
}

#[test]
fn truncated_tables_and_ports_outside_the_scan_are_not_missed() {
    let mut record = Record::new(&switch());
    let mut reported = switch();
    reported.tables.addresses = Some(Table::truncated(vec![]));
    reported.tables.ports = Some(ports(&[]));
    let range = PortRange::new(Protocol::Tcp, number(1), number(100));
    let projection = Projection::of_device(&reported, NETWORK, record.host.id, &[range]);
    for minutes in 1..=3 {
        let merged = merge(Some(&record.host), Some(&record.state), &projection, at(minutes), at(minutes));
        record = Record { host: merged.host, state: merged.state };
    }
    let stale: Vec<Uuid> = record.state.stale().collect();
    let ssh = record.host.ports.iter().find(|port| port.number == number(22)).unwrap();
    assert_eq!(stale, [ssh.id.uuid()]);
}

#[test]
fn port_that_keeps_its_name_keeps_its_id_when_indexes_change() {
    let mut record = Record::new(&switch());
    let ids = [record.entry(1).id, record.entry(2).id];
    let renumbered = device(|device| {
        device.tables.if_entries = Some(entries(&[(1, "Gi0/2"), (2, "Gi0/1"), (3, "Gi0/3")]));
    });
    record.merge(&renumbered, 1);
    assert_eq!([record.entry(2).id, record.entry(1).id], ids);
    let moved = device(|device| {
        device.tables.if_entries = Some(entries(&[(5, "Gi0/2"), (2, "Gi0/1"), (3, "Gi0/3"), (1, "Te1/1")]));
    });
    record.merge(&moved, 2);
    let mut all: Vec<IfEntryId> = record.host.if_entries.iter().map(|entry| entry.id).collect();
    all.sort();
    all.dedup();
    assert_eq!((all.len(), record.entry(5).id), (4, ids[1]));
}

#[test]
fn index_that_another_port_has_now_is_withdrawn_from_a_port_that_is_gone() {
    let mut record = Record::new(&switch());
    let gone = record.entry(1).id;
    record.merge(&device(|device| device.tables.if_entries = Some(entries(&[(1, "Gi0/2")]))), 1);
    let gone = record.host.if_entries.iter().find(|entry| entry.id == gone).unwrap();
    assert_eq!((gone.if_index, gone.if_name.as_deref()), (0, Some("Gi0/1")));
    assert_eq!(record.entry(1).if_name.as_deref(), Some("Gi0/2"));
}

#[test]
fn parts_with_equal_keys_are_not_added_again() {
    let mut record = Record::new(&switch());
    for id in [71, 72] {
        let entry = IfEntry { id: IfEntryId::from_u128(id), ..IfEntry::new(&record.host, 9) };
        record.host.if_entries.push(entry);
    }
    let reported = device(|device| device.tables.if_entries = Some(entries(&[(9, "Gi0/9")])));
    record.merge(&reported, 1);
    let changes = record.merge(&reported, 2).changes;
    assert_eq!((record.host.if_entries.len(), changes), (4, vec![]));
}

#[test]
fn daemon_payload_with_bindings_is_merged_like_a_report() {
    let payload = |number_of_port: u16| {
        let mut host = host(9, |host| host.name = "web".to_owned());
        let port = Port::new(&host, number(number_of_port), Protocol::Tcp);
        host.interfaces.push(Interface::new(&host, ip("192.0.2.1")));
        let service = Service::new(&host, "Web", "Web Service".to_owned().try_into().unwrap());
        let target = BindingTarget::Port { port_id: port.id, interface_id: Some(host.interfaces[0].id) };
        host.services.push(service.bound_to(target));
        host.ports.push(port);
        host
    };
    let stored = host(1, |host| {
        host.interfaces
            .push(Interface { id: InterfaceId::from_u128(5), ..Interface::new(host, ip("192.0.2.1")) });
    });
    let merged = merge(Some(&stored), None, &Projection::of_host(payload(80)), at(1), at(1));
    assert_eq!(merged.outcome, MergeOutcome::Updated);
    let host = &merged.host;
    assert_eq!((host.interfaces.len(), host.interfaces[0].id), (1, InterfaceId::from_u128(5)));
    assert_eq!((host.services[0].host_id, host.ports[0].host_id), (stored.id, stored.id));
    let target = host.services[0].bindings[0].target;
    let expected =
        BindingTarget::Port { port_id: host.ports[0].id, interface_id: Some(InterfaceId::from_u128(5)) };
    assert_eq!(target, expected);
    let again = merge(Some(host), Some(&merged.state), &Projection::of_host(payload(80)), at(2), at(2));
    assert_eq!((again.outcome, again.changes), (MergeOutcome::Unchanged, vec![]));
}

#[test]
fn state_is_stored_as_json() {
    let mut record = Record::new(&switch());
    record.host.sys_location = None;
    record.merge(&switch(), 1);
    let json = serde_json::to_string(&record.state).unwrap();
    assert_eq!(serde_json::from_str::<HostState>(&json).unwrap(), record.state);
}

#[test]
fn device_with_a_link_local_address_alone_is_recognized_by_its_mac_address() {
    use toposcope::discovery::reconcile::{MatchedBy, Merging, Recognition, recognize};
    use toposcope::discovery::report::AddressRow;

    let address = "fe80::21b:21ff:fe00:102";
    let scanned = |other: Option<&str>| {
        device(|device| {
            let row = |address| {
                let mut row = AddressRow::new(ip(address));
                row.mac_address = Some(mac("00:1B:21:00:01:02"));
                row
            };
            device.tables.addresses =
                Some(Table::truncated([Some(address), other].into_iter().flatten().map(row).collect()));
        })
    };
    let addresses_of = |host: &Host| host.interfaces.iter().map(|one| one.ip_address).collect::<Vec<_>>();
    let record = Record::new(&scanned(None));
    assert_eq!((record.host.name.as_str(), addresses_of(&record.host)), (address, vec![ip(address)]));
    let again = recognize(&scanned(None), std::slice::from_ref(&record.host), Merging::Allowed);
    let known = Recognition::Known { id: record.host.id, matched_by: MatchedBy::Mac, merged: Vec::new() };
    assert_eq!(again, known);
    // Beside an address that others can reach, it is no address of the host.
    assert_eq!(addresses_of(&Record::new(&scanned(Some("192.0.2.7"))).host), [ip("192.0.2.7")]);
}
