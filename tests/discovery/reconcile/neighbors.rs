//! The neighbors of ports, by the rules for hosts and for ports.

use toposcope::discovery::reconcile::{Candidate, Identity, PortNames, named_by, resolve};
use toposcope::discovery::report::{CdpRow, LldpRow};
use toposcope::model::{
    Host, IfEntry, IfEntryId, LldpChassisIdSubtype as Chassis, LldpPortId, LldpPortIdSubtype as Subtype,
    Neighbor,
};

use super::support::{add_address, add_port, chassis, host, ip, lldp};

const A: &str = "00:1B:21:00:00:0A";
const B: &str = "00:1B:21:00:00:0B";

/// Returns the host with the tables: two ports, without a name or an address.
fn local() -> Host {
    host(1, |host| {
        host.chassis_id = Some(chassis(Chassis::MacAddress, "00:1B:21:00:00:01"));
        add_port(host, 1, "Gi0/1", None);
        add_port(host, 2, "Gi0/2", None);
    })
}

fn switch(id: u128, address: &str, name: &str) -> Host {
    host(id, |host| {
        host.chassis_id = Some(chassis(Chassis::MacAddress, address));
        host.sys_name = Some(name.to_owned());
        for (index, port) in [(10, "GigabitEthernet0/10"), (11, "GigabitEthernet0/11"), (12, "12")] {
            add_port(host, index, port, None);
        }
    })
}

fn with_port(mut row: LldpRow, subtype: Subtype, value: &str) -> LldpRow {
    row.port_id = Some(LldpPortId { subtype, value: value.to_owned() });
    row
}

fn cdp(if_index: i64, device_id: &str, port_id: &str) -> CdpRow {
    let mut row = CdpRow::new(device_id);
    (row.if_index, row.port_id) = (Some(if_index), Some(port_id.to_owned()));
    row
}

/// Returns the neighbor of the first port.
#[track_caller]
fn neighbor(lldp: &[LldpRow], cdp: &[CdpRow], hosts: &[Host]) -> Option<Neighbor> {
    let local = local();
    let found = |lldp: &[LldpRow], cdp: &[CdpRow], hosts: &mut dyn Iterator<Item = &Host>| {
        let candidates: Vec<Candidate<'_>> = hosts.map(|host| Candidate::new(host, &[])).collect();
        resolve(&local, lldp, cdp, &candidates, &PortNames::new())
    };
    let neighbors = found(lldp, cdp, &mut hosts.iter());
    let reversed: (Vec<_>, Vec<_>) =
        (lldp.iter().rev().cloned().collect(), cdp.iter().rev().cloned().collect());
    assert_eq!(
        found(&reversed.0, &reversed.1, &mut hosts.iter().rev()),
        neighbors,
        "the order of rows matters"
    );
    neighbors[&local.if_entries[0].id]
}

fn is_port(host: &Host, index: i64) -> Option<Neighbor> {
    let entry = host.if_entries.iter().find(|entry| entry.if_index == index).unwrap();
    Some(Neighbor::IfEntry(entry.id))
}

fn is_host(host: &Host) -> Option<Neighbor> {
    Some(Neighbor::Host(host.id))
}

#[test]
fn chassis_id_is_found_as_chassis_id_or_address_of_the_host() {
    let by_chassis = switch(2, A, "a");
    let by_port = host(3, |host| add_port(host, 1, "eth0", Some(B)));
    let by_ip = host(4, |host| add_address(host, "192.0.2.4", None));
    let by_text = host(5, |host| host.chassis_id = Some(chassis(Chassis::LocallyAssigned, "node-5")));
    let hosts = [by_chassis, by_port, by_ip, by_text];
    let rows = [
        (Chassis::MacAddress, A),
        (Chassis::MacAddress, B),
        (Chassis::NetworkAddress, "192.0.2.4"),
        (Chassis::LocallyAssigned, "node-5"),
    ];
    for ((subtype, value), host) in rows.into_iter().zip(&hosts) {
        assert_eq!(neighbor(&[lldp(1, subtype, value)], &[], &hosts), is_host(host), "{value}");
    }
    assert_eq!(
        neighbor(&[lldp(1, Chassis::LocallyAssigned, "00-1b-21-00-00-0a")], &[], &hosts),
        is_host(&hosts[0])
    );
    assert_eq!(neighbor(&[lldp(1, Chassis::MacAddress, "00:1B:21:00:00:0C")], &[], &hosts), None);
}

#[test]
fn names_of_interfaces_do_not_identify_a_neighbor() {
    let other = host(2, |host| host.chassis_id = Some(chassis(Chassis::InterfaceName, "eth0")));
    for subtype in [Chassis::InterfaceName, Chassis::InterfaceAlias, Chassis::PortComponent] {
        assert_eq!(neighbor(&[lldp(1, subtype, "eth0")], &[], std::slice::from_ref(&other)), None);
    }
}

#[test]
fn system_name_and_then_management_address_count_where_the_chassis_is_unknown() {
    let named = host(2, |host| host.sys_name = Some("core.example.net".to_owned()));
    let addressed = host(3, |host| add_address(host, "192.0.2.3", None));
    let hosts = [named, addressed];
    let mut row = lldp(1, Chassis::InterfaceName, "eth0");
    row.mgmt_addrs = vec!["fe80::1".to_owned(), "no address".to_owned(), "192.0.2.3".to_owned()];
    assert_eq!(neighbor(std::slice::from_ref(&row), &[], &hosts), is_host(&hosts[1]));
    for name in ["core.example.net", "CORE"] {
        row.sys_name = Some(name.to_owned());
        assert_eq!(neighbor(std::slice::from_ref(&row), &[], &hosts), is_host(&hosts[0]), "{name}");
    }
}

#[test]
fn name_does_not_lead_to_a_host_with_another_chassis_id() {
    let other = switch(2, A, "switch");
    let mut row = lldp(1, Chassis::MacAddress, B);
    row.sys_name = Some("switch".to_owned());
    assert_eq!(neighbor(&[row], &[], &[other]), None);
}

#[test]
fn hosts_with_one_chassis_id_are_told_apart_by_their_names_or_not_at_all() {
    let hosts = [switch(2, A, "one"), switch(3, A, "two")];
    let mut row = lldp(1, Chassis::MacAddress, A);
    assert_eq!(neighbor(std::slice::from_ref(&row), &[], &hosts), None);
    row.sys_name = Some("two".to_owned());
    assert_eq!(neighbor(&[row], &[], &hosts), is_host(&hosts[1]));
}

#[test]
fn names_of_two_hosts_lead_to_none() {
    let hosts = [2, 3].map(|id| host(id, |host| host.sys_name = Some("core".to_owned())));
    assert_eq!(neighbor(&[], &[cdp(1, "core", "Gi0/1")], &hosts), None);
}

#[test]
fn port_is_found_by_name_abbreviation_index_alias_or_description() {
    let mut remote = switch(2, A, "a");
    remote.if_entries[1].if_alias = Some("to access".to_owned());
    remote.if_entries[1].if_descr = "Slot 0 Port 11".to_owned();
    let row = || lldp(1, Chassis::MacAddress, A);
    let cases = [
        (Subtype::InterfaceName, "GigabitEthernet0/10", 10),
        (Subtype::InterfaceName, "Gi0/10", 10),
        (Subtype::InterfaceName, "gig 0/10", 10),
        (Subtype::InterfaceName, "Slot 0 Port 11", 11),
        (Subtype::InterfaceAlias, "to access", 11),
        (Subtype::LocallyAssigned, "10", 10),
        (Subtype::LocallyAssigned, "12", 12),
        (Subtype::LocallyAssigned, "Gi0/11", 11),
        (Subtype::PortComponent, "Gi0/11", 11),
    ];
    for (subtype, value, index) in cases {
        let row = with_port(row(), subtype, value);
        assert_eq!(neighbor(&[row], &[], std::slice::from_ref(&remote)), is_port(&remote, index), "{value}");
    }
    let mut described = with_port(row(), Subtype::AgentCircuitId, "?");
    described.port_desc = Some("to access".to_owned());
    assert_eq!(neighbor(&[described], &[], std::slice::from_ref(&remote)), is_port(&remote, 11));
    let unknown = with_port(row(), Subtype::InterfaceName, "Te0/10");
    assert_eq!(neighbor(&[unknown], &[], std::slice::from_ref(&remote)), is_host(&remote));
}

#[test]
fn mac_address_names_a_port_only_if_no_other_port_has_it() {
    let mut remote = switch(2, A, "a");
    remote.if_entries[0].mac_address = Some(B.parse().unwrap());
    let row = with_port(lldp(1, Chassis::MacAddress, A), Subtype::MacAddress, B);
    assert_eq!(
        neighbor(std::slice::from_ref(&row), &[], std::slice::from_ref(&remote)),
        is_port(&remote, 10)
    );
    remote.if_entries[1].mac_address = Some(B.parse().unwrap());
    assert_eq!(neighbor(std::slice::from_ref(&row), &[], std::slice::from_ref(&remote)), is_host(&remote));
}

#[test]
fn address_names_the_port_that_has_it() {
    let mut remote = switch(2, A, "a");
    add_address(&mut remote, "192.0.2.2", None);
    remote.if_entries[2].interface_id = Some(remote.interfaces[0].id);
    assert_eq!(remote.interfaces[0].ip_address, ip("192.0.2.2"));
    let row = with_port(lldp(1, Chassis::MacAddress, A), Subtype::NetworkAddress, "192.0.2.2");
    assert_eq!(neighbor(&[row], &[], std::slice::from_ref(&remote)), is_port(&remote, 12));
}

#[test]
fn locally_assigned_port_is_first_the_one_that_the_neighbor_announces_so() {
    let remote = switch(2, A, "a");
    let mut announced = lldp(11, Chassis::LocallyAssigned, "somebody");
    announced.local_port_id = Some(LldpPortId { subtype: Subtype::LocallyAssigned, value: "10".to_owned() });
    let local = local();
    let row = with_port(lldp(1, Chassis::MacAddress, A), Subtype::LocallyAssigned, "10");
    let neighbors = resolve(&local, &[row], &[], &[Candidate::new(&remote, &[announced])], &PortNames::new());
    assert_eq!(neighbors[&local.if_entries[0].id], is_port(&remote, 11));
}

#[test]
fn ports_that_name_each_other_once_are_bound_and_several_are_not() {
    let (local, remote) = (local(), switch(2, A, "a"));
    let own = "00:1B:21:00:00:01";
    let resolved = |here: &[LldpRow], there: &[LldpRow]| {
        let neighbors = resolve(&local, here, &[], &[Candidate::new(&remote, there)], &PortNames::new());
        neighbors[&local.if_entries[0].id]
    };
    let here = [lldp(1, Chassis::MacAddress, A)];
    let there = [lldp(11, Chassis::MacAddress, own), lldp(12, Chassis::LocallyAssigned, "somebody")];
    assert_eq!(resolved(&here, &there), is_port(&remote, 11));
    let twice = [lldp(11, Chassis::MacAddress, own), lldp(12, Chassis::MacAddress, own)];
    assert_eq!(resolved(&here, &twice), is_host(&remote));
    let two_ports = [lldp(1, Chassis::MacAddress, A), lldp(2, Chassis::MacAddress, A)];
    assert_eq!(resolved(&two_ports, &there), is_host(&remote));
}

#[test]
fn links_to_the_host_itself_are_dropped() {
    let remote = switch(2, A, "a");
    let own = lldp(1, Chassis::MacAddress, "00:1B:21:00:00:01");
    assert_eq!(neighbor(std::slice::from_ref(&own), &[], &[]), None);
    let rows = [own, lldp(1, Chassis::MacAddress, A)];
    assert_eq!(neighbor(&rows, &[], std::slice::from_ref(&remote)), is_host(&remote));
}

#[test]
fn port_with_several_neighbors_has_none() {
    let hosts = [switch(2, A, "a"), switch(3, B, "b")];
    let (first, second) = (lldp(1, Chassis::MacAddress, A), lldp(1, Chassis::MacAddress, B));
    let unknown = lldp(1, Chassis::MacAddress, "00:1B:21:00:00:0C");
    assert_eq!(neighbor(&[first.clone(), second], &[], &hosts), None);
    assert_eq!(neighbor(&[first.clone(), unknown], &[], &hosts), None);
    assert_eq!(neighbor(std::slice::from_ref(&first), &[cdp(1, "b", "Gi0/10")], &hosts), None);
    assert_eq!(
        neighbor(std::slice::from_ref(&first), &[cdp(1, "a", "Gi0/10")], &hosts),
        is_port(&hosts[0], 10)
    );
    assert_eq!(neighbor(&[first.clone(), first], &[], &hosts), is_host(&hosts[0]));
}

#[test]
fn cdp_device_id_is_a_name_with_domain_or_serial_number_or_a_mac_address() {
    let remote = switch(2, A, "core");
    let hosts = std::slice::from_ref(&remote);
    let ids = ["core", "CORE.example.net", "core(FOC1234)", "core\0", A, "Switch(001b21-00000a)"];
    for id in ids {
        assert_eq!(neighbor(&[], &[cdp(1, id, "Gi0/10")], hosts), is_port(&remote, 10), "{id}");
    }
    let ports = ["GigabitEthernet0/10", "gi0/10\0", "GigabitEthernet0/10\r\n"];
    for port in ports {
        assert_eq!(neighbor(&[], &[cdp(1, "core", port)], hosts), is_port(&remote, 10), "{port}");
    }
    let serial = host(3, |host| host.serial_number = Some("FOC1234".to_owned()));
    assert_eq!(
        neighbor(&[], &[cdp(1, "unnamed(FOC1234)", "x")], std::slice::from_ref(&serial)),
        is_host(&serial)
    );
    let mut addressed = cdp(1, "unknown", "12");
    addressed.address = Some("192.0.2.9".to_owned());
    let by_address = host(4, |host| add_address(host, "192.0.2.9", None));
    assert_eq!(neighbor(&[], &[addressed], std::slice::from_ref(&by_address)), is_host(&by_address));
}

#[test]
fn rows_on_unknown_ports_are_left_out() {
    let remote = switch(2, A, "a");
    let mut row = lldp(99, Chassis::MacAddress, A);
    assert_eq!(neighbor(std::slice::from_ref(&row), &[], std::slice::from_ref(&remote)), None);
    (row.if_index, row.if_name) = (None, Some("gi0/1".to_owned()));
    assert_eq!(neighbor(&[row], &[], std::slice::from_ref(&remote)), is_host(&remote));
}

#[test]
fn every_port_has_an_entry_in_the_result() {
    let local = local();
    let ids: Vec<IfEntryId> = resolve(&local, &[], &[], &[], &PortNames::new()).into_keys().collect();
    let mut expected: Vec<IfEntryId> = local.if_entries.iter().map(|entry: &IfEntry| entry.id).collect();
    expected.sort();
    assert_eq!(ids, expected);
}

#[test]
fn rows_name_the_identities_by_which_hosts_are_indexed() {
    let hosts = [
        host(2, |host| host.chassis_id = Some(chassis(Chassis::MacAddress, A))),
        host(3, |host| add_port(host, 1, "eth0", Some(A))),
        host(4, |host| host.sys_name = Some("core".to_owned())),
        host(5, |host| add_address(host, "192.0.2.5", None)),
        host(6, |host| host.serial_number = Some("FOC1234".to_owned())),
    ];
    let mut row = lldp(1, Chassis::MacAddress, A);
    row.mgmt_addrs = vec!["192.0.2.5".to_owned()];
    let named = named_by(&[row], &[CdpRow::new("core.example.net(FOC1234)")]);
    for host in &hosts {
        let identities = Identity::of_host(host);
        assert!(identities.iter().any(|identity| named.contains(identity)), "{:?}", host.id);
    }
}

#[test]
fn name_of_another_domain_is_that_of_another_device() {
    let switch_of = |id, name: &str| {
        host(id, |host| {
            host.sys_name = Some(name.to_owned());
            add_port(host, 9, "Gi0/9", None);
        })
    };
    let [first, second, short] =
        [(2, "sw1.a.example"), (3, "sw1.b.example"), (4, "sw1")].map(|(id, name)| switch_of(id, name));
    let row = |name| cdp(1, name, "GigabitEthernet0/9");
    let both = [first.clone(), second.clone()];
    assert_eq!(neighbor(&[], &[row("sw1.b.example")], &both), is_port(&second, 9));
    assert_eq!(neighbor(&[], &[row("sw1")], &both), None, "the name is ambiguous");
    let only = [first.clone()];
    assert_eq!(neighbor(&[], &[row("sw1.b.example")], &only), None);
    assert_eq!(neighbor(&[], &[row("sw1")], &only), is_port(&first, 9));
    let shorter = [short.clone()];
    assert_eq!(neighbor(&[], &[row("sw1.b.example")], &shorter), is_port(&short, 9));
    // The name leads to the row when a host of either form is added.
    let named = named_by(&[], &[row("sw1.b.example")]);
    for host in [&second, &short] {
        assert!(Identity::of_host(host).iter().any(|identity| named.contains(identity)));
    }
}
