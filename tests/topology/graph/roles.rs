use toposcope::discovery::report::Capability;
use toposcope::model::{HostRole, TopologyView};
use toposcope::topology::graph::RoleSource;

use super::support::{Fixture, node};

#[test]
fn description_reveals_the_role() {
    let cases = [
        ("Cisco IOS Software, C2960S Software (C2960S-UNIVERSALK9-M)", HostRole::Switch),
        ("Cisco IOS Software, C870 Software (C870-ADVIPSERVICESK9-M)", HostRole::Router),
        ("Palo Alto Networks PA-3000 series firewall", HostRole::Firewall),
        ("TiMOS-C-22.10.R11 Nokia 7250 IXR", HostRole::Router),
        ("UAP-nanoHD 5.43.36.12724", HostRole::AccessPoint),
        ("HP LaserJet 400 M401n", HostRole::Printer),
        ("AXIS Q6074; PTZ Dome Network Camera", HostRole::Camera),
        ("VMware ESXi 7.0.3 build-19193900", HostRole::Hypervisor),
        ("Linux NAS4100 Synology DiskStation", HostRole::Storage),
        ("Linux server 3.10.0-693.5.2.el7.x86_64", HostRole::Server),
        ("Microsoft Windows 10 Pro", HostRole::Workstation),
        ("APC Switched Rack PDU", HostRole::Unknown),
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
