use toposcope::discovery::report::{Capability, Reporter, StpRow};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{
    Host, HostRole, IfEntry, Interface, OperStatus, Service, ServiceDefinition, ServiceRoles, Timestamp,
    TopologyView,
};
use toposcope::topology::graph::{Positions, RoleSource, lay_out};

use super::support::{Fixture, node};

#[test]
fn description_reveals_the_role() {
    let cases = [
        ("Cisco IOS Software, C2960S Software (C2960S-UNIVERSALK9-M)", HostRole::Switch),
        ("Cisco IOS Software, C870 Software (C870-ADVIPSERVICESK9-M)", HostRole::Router),
        ("Cisco IOS Software, C2900 Software (C2900-UNIVERSALK9-M)", HostRole::Router),
        ("Cisco IOS Software, C3900 Software (C3900-UNIVERSALK9-M)", HostRole::Router),
        ("Cisco Internetwork Operating System, C2900XL Software (C2900XL-C3H2S-M)", HostRole::Switch),
        ("Palo Alto Networks PA-3000 series firewall", HostRole::Firewall),
        ("TiMOS-C-22.10.R11 Nokia 7250 IXR", HostRole::Router),
        ("UAP-nanoHD 5.43.36.12724", HostRole::AccessPoint),
        ("HP LaserJet 400 M401n", HostRole::Printer),
        ("AXIS Q6074; PTZ Dome Network Camera", HostRole::Camera),
        ("VMware ESXi 7.0.3 build-19193900", HostRole::Hypervisor),
        ("Linux NAS4100 Synology DiskStation", HostRole::Storage),
        ("Linux server 3.10.0-693.5.2.el7.x86_64", HostRole::Server),
        ("Microsoft Windows 10 Pro", HostRole::Workstation),
        ("APC Switched Rack PDU", HostRole::Ups),
        ("Cisco Wireless LAN Controller AIR-CT5520", HostRole::WirelessController),
        ("Siemens, SIMATIC S7, CPU 315-2 PN/DP", HostRole::IndustrialController),
        ("Google Chromecast Ultra", HostRole::Media),
        ("ESPHome sensor", HostRole::Iot),
        ("", HostRole::Unknown),
    ];
    for (description, role) in cases {
        let mut network = Fixture::default();
        network.host("x", description, &[]);
        assert_eq!(network.summaries()[0].role, role, "{description}");
    }
}

#[test]
fn role_set_by_a_user_wins() {
    let mut network = Fixture::default();
    let host = network.host("x", "Cisco Catalyst", &[]);
    network.hosts[0].role = Some(HostRole::Firewall);
    network.capabilities.push((host, Capability::Bridge));

    let graph = network.graph(TopologyView::L2);

    assert_eq!(node(&graph, "x").role, HostRole::Firewall);
    assert_eq!(node(&graph, "x").role_reason.as_ref().unwrap().source, RoleSource::Manual);
}

#[test]
fn announced_capability_decides_unless_the_description_is_specific() {
    let cases = [
        ("Linux", Capability::Bridge, HostRole::Switch),
        ("", Capability::Telephone, HostRole::Phone),
        ("VMware ESXi", Capability::Bridge, HostRole::Hypervisor),
    ];
    for (description, capability, role) in cases {
        let mut network = Fixture::default();
        let host = network.host("x", description, &[]);
        let other = network.host("y", "switch", &[]);
        network.link((host, "1"), (other, "1"), "Reported");
        network.capabilities.push((host, capability));
        assert_eq!(node(&network.graph(TopologyView::L2), "x").role, role, "{description}");
    }
}

/// Adds Ethernet ports that are up to the last host. The first `with_address` of them have addresses.
fn add_ports(network: &mut Fixture, count: i64, with_address: i64) {
    let host = network.hosts.last_mut().unwrap();
    for index in 1..=count {
        let entry = IfEntry {
            if_name: Some(format!("Gi0/{index}")),
            if_type: Some(6),
            oper_status: Some(OperStatus::Up),
            ..IfEntry::new(host, index)
        };
        host.if_entries.push(entry);
        if index <= with_address {
            add_address(host, &format!("10.0.{index}.1"));
        }
    }
}

/// Gives the last port of a host an address.
fn add_address(host: &mut Host, address: &str) {
    let interface = Interface::new(host, address.parse().unwrap());
    host.if_entries.last_mut().unwrap().interface_id = Some(interface.id);
    host.interfaces.push(interface);
}

fn add_vlan(network: &mut Fixture, number: i64) {
    let host = network.hosts.last_mut().unwrap();
    let entry = IfEntry {
        if_name: Some(format!("Vl{number}")),
        if_type: Some(53),
        ..IfEntry::new(host, 1000 + number)
    };
    host.if_entries.push(entry);
    add_address(host, &format!("10.1.{number}.1"));
}

/// Lets ports of the last host take part in the spanning tree.
fn add_bridge(network: &mut Fixture, ports: i64) {
    let rows = ClaimRows::Stp((1..=ports).map(StpRow::new).collect());
    let host = network.hosts.last().unwrap();
    network.claims.push(Claim::new(host, Reporter::new("test"), Timestamp::UNIX_EPOCH, rows));
}

/// Returns the role of the last host, with its source and reason. The host announces these capabilities.
fn announced(mut network: Fixture, capabilities: &[Capability]) -> (HostRole, RoleSource, String) {
    let host = network.hosts.last().unwrap().clone();
    let other = network.host("neighbor", "switch", &[]);
    network.link((host.id, "Gi0/1"), (other, "1"), "Reported");
    network.capabilities.extend(capabilities.iter().map(|capability| (host.id, *capability)));
    let graph = network.graph(TopologyView::L2);
    let found = node(&graph, &host.name);
    let reason = found.role_reason.as_ref().unwrap();
    (found.role, reason.source, reason.value.to_string())
}

fn described(description: &str) -> Fixture {
    let mut network = Fixture::default();
    network.host("x", description, &[]);
    network
}

#[test]
fn role_by_a_service_definition_precedes_what_the_device_announces() {
    for role in ["server", "guest", "unknown"].map(|role| role.parse::<HostRole>().unwrap()) {
        let mut network = described("Cisco IOS Software");
        let host = network.hosts.last_mut().unwrap();
        let definition = ServiceDefinition::new("Example ERP").unwrap();
        host.services.push(Service::new(&*host, "ERP", definition.clone()));
        network.service_roles = ServiceRoles::new().with_role(definition, role);
        let expected = (role, RoleSource::ServiceDefinition, "Example ERP".to_owned());
        assert_eq!(announced(network, &[Capability::Bridge]), expected);
    }
}

const BOTH: [Capability; 2] = [Capability::Bridge, Capability::Router];

#[test]
fn device_that_announces_both_is_a_router_where_most_ports_have_addresses() {
    let mut network = described("");
    add_ports(&mut network, 4, 3);
    let expected = (HostRole::Router, RoleSource::Interfaces, "routed".to_owned());
    assert_eq!(announced(network, &BOTH), expected);
}

#[test]
fn subinterface_with_an_address_makes_its_port_a_routed_one() {
    let mut network = described("");
    add_ports(&mut network, 2, 1);
    let host = network.hosts.last_mut().unwrap();
    let entry =
        IfEntry { if_name: Some("Gi0/2.100".to_owned()), if_type: Some(135), ..IfEntry::new(host, 9) };
    host.if_entries.push(entry);
    add_address(host, "10.2.0.1");
    assert_eq!(announced(network, &BOTH).0, HostRole::Router);
}

#[test]
fn switch_that_routes_between_vlans_stays_a_switch() {
    let expected = (HostRole::Switch, RoleSource::Capability, "Bridge".to_owned());
    for bridged in [0, 24] {
        let mut network = described("");
        add_ports(&mut network, 28, 2);
        add_vlan(&mut network, 10);
        add_vlan(&mut network, 20);
        add_bridge(&mut network, bridged);
        assert_eq!(announced(network, &BOTH), expected);
    }
    let mut network = described("");
    add_ports(&mut network, 2, 2);
    add_vlan(&mut network, 10);
    assert_eq!(announced(network, &BOTH), expected);
}

#[test]
fn device_that_announces_both_and_whose_ports_are_unknown_is_a_switch() {
    assert_eq!(announced(described(""), &BOTH).0, HostRole::Switch);
}

#[test]
fn system_of_routers_and_switches_is_a_router_unless_it_bridges() {
    let ios = "Cisco IOS Software, Version 15.1(4)M4";
    let by_description = (HostRole::Router, RoleSource::Description, "cisco ios".to_owned());
    assert_eq!(announced(described(ios), &BOTH), by_description);
    assert_eq!(announced(described(ios), &[]), by_description);

    let mut network = described(ios);
    add_ports(&mut network, 4, 1);
    add_bridge(&mut network, 3);
    assert_eq!(announced(network, &BOTH), by_description);

    let mut network = described(ios);
    add_ports(&mut network, 24, 0);
    add_bridge(&mut network, 24);
    assert_eq!(announced(network, &BOTH).0, HostRole::Switch);

    let mut network = described(ios);
    add_ports(&mut network, 24, 0);
    add_bridge(&mut network, 24);
    assert_eq!(announced(network, &[]), (HostRole::Switch, RoleSource::Interfaces, "ports".to_owned()));

    let bridge = (HostRole::Switch, RoleSource::Capability, "Bridge".to_owned());
    assert_eq!(announced(described(ios), &[Capability::Bridge]), bridge);
}

#[test]
fn neighbors_reveal_the_role_of_a_device_that_is_not_scanned() {
    let cases: [(&[&str], Option<&str>, HostRole); 9] = [
        (&[], Some("AXIS P5655-E PTZ Dome Network Camera"), HostRole::Camera),
        (&["Bridge"], Some("AXIS P5655-E PTZ Dome Network Camera"), HostRole::Camera),
        (&["Telephone"], Some("Linux"), HostRole::Phone),
        (&["Bridge"], Some("cisco AIR-AP1141N-E-K9"), HostRole::AccessPoint),
        (&["Bridge", "Router"], Some("Cisco IOS Software"), HostRole::Switch),
        (&["StationOnly"], Some("Cisco IP Phone 7960"), HostRole::Phone),
        (&[], Some("Cisco 877"), HostRole::Router),
        (&[], Some("cisco WS-C2950-24"), HostRole::Switch),
        (&[], None, HostRole::Unknown),
    ];
    for (capabilities, description, role) in cases {
        let mut network = Fixture::default();
        let hub = network.host("hub", "switch", &[]);
        let stub = network.stub("device");
        network.stubs[0].capabilities = serde_json::from_value(serde_json::json!(capabilities)).unwrap();
        network.stubs[0].description = description.map(str::to_owned);
        network.link_of(
            &serde_json::json!({"type": "host", "host_id": hub, "port": null}),
            &serde_json::json!({"type": "stub", "id": stub, "port": null}),
            "Reported",
        );
        let graph = network.graph(TopologyView::L2);
        assert_eq!(node(&graph, "device").role, role, "{capabilities:?} {description:?}");
    }
}

#[test]
fn guest_of_which_nothing_else_is_known_is_a_virtual_machine() {
    let mut network = Fixture::default();
    let [server, plain, web] =
        [("hv", ""), ("vm", ""), ("web", "Linux")].map(|(name, text)| network.host(name, text, &[]));
    let platform = network.service(server, "Proxmox VE");
    for guest in [plain, web] {
        network.virtualize(guest, platform);
    }
    let graph = network.graph(TopologyView::Workloads);
    let role =
        |id: toposcope::model::HostId| graph.nodes.iter().find(|node| node.id == id.into()).unwrap().role;
    assert_eq!([server, plain, web].map(role), [HostRole::Hypervisor, HostRole::Guest, HostRole::Server]);
}

#[test]
fn internet_is_drawn_on_top() {
    let mut network = Fixture::default();
    let switch = network.host("switch", "switch", &[]);
    let cloud = network.host("cloud", "", &[]);
    network.hosts[1].role = Some(HostRole::Internet);
    let router = network.host("router", "router", &[]);
    network.link((switch, "1"), (router, "1"), "Confirmed");
    network.link((router, "2"), (cloud, "1"), "Confirmed");
    for number in 0..4 {
        let pc = network.host(&format!("pc{number}"), "Windows", &[]);
        network.link((switch, &format!("p{number}")), (pc, "1"), "Confirmed");
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    assert!(node(&graph, "cloud").y < node(&graph, "router").y);
    assert!(node(&graph, "router").y < node(&graph, "switch").y);
}

#[test]
fn name_of_a_device_without_a_role_is_a_hint_to_the_way_out() {
    for (name, is_above) in
        [("fw-1", true), ("edge.example.net", true), ("edge-sw-13", false), ("x13", false)]
    {
        let mut network = Fixture::default();
        let cores = ["core-a", "core-b"].map(|core| network.host(core, "Cisco Catalyst switch", &[]));
        network.link((cores[0], "1"), (cores[1], "1"), "Confirmed");
        let mut below: Vec<String> = (1..=12).map(|number| format!("x{number}")).collect();
        below.push(name.to_owned());
        for (device, port) in below.iter().zip(2..) {
            let host = network.host(device, "", &[]);
            for (core, uplink) in cores.into_iter().zip(["1", "2"]) {
                network.link((core, &format!("{port}")), (host, uplink), "Confirmed");
            }
        }

        let mut graph = network.graph(TopologyView::L2);
        lay_out(&mut graph, &Positions::default());

        assert_eq!(node(&graph, name).y < node(&graph, "core-a").y, is_above, "{name}");
    }
}
