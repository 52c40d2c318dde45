use toposcope::model::{NodeId, Redaction, TopologyView};
use toposcope::topology::graph::{Graph, GraphOptions, Positions, Redactor, SensitiveValues, lay_out};
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, NETWORK};

const SERIAL: &str = "FOC1234X5678";
const MAC: &str = "00:1b:21:3c:4d:5e";

fn network() -> Fixture {
    let mut network = Fixture::default();
    let office = network.subnet("Confidential Office", "192.168.100.0/24");
    let servers = network.subnet("", "192.168.200.0/24");
    let names = [
        "core-switch-headquarters".to_owned(),
        format!("unit {SERIAL} rack"),
        format!("ap-{}", MAC.replace(':', "")),
        "192.168.100.113".to_owned(),
        String::new(),
    ];
    let mut hosts = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let (a, b) = (format!("192.168.100.{}", 101 + index), format!("192.168.200.{}", 101 + index));
        let addresses = [(a.as_str(), office), (b.as_str(), servers)];
        let count = 1 + index % 2;
        hosts.push(network.host(name, "Cisco Catalyst switch", &addresses[..count]));
        network.hosts.last_mut().unwrap().serial_number = Some(format!("{SERIAL}{}", index % 2));
    }
    network.hosts[1].serial_number = Some(SERIAL.to_owned());
    for pair in hosts.windows(2) {
        network.link((pair[0], "to core-switch-headquarters"), (pair[1], MAC), "Reported");
    }
    network
}

fn redacted(kinds: &[Redaction], key: u8, view: TopologyView) -> Graph {
    redacted_of(&network(), kinds, key, view)
}

fn redacted_of(network: &Fixture, kinds: &[Redaction], key: u8, view: TopologyView) -> Graph {
    let mut graph = network.graph_with(&GraphOptions::new(view));
    let mut values = SensitiveValues::of(&network.summaries(), kinds);
    if kinds.contains(&Redaction::Names) {
        network.subnets.iter().for_each(|subnet| values.insert(&subnet.name));
    }
    let keyed = move |input: &[u8]| digest(key, input);
    Redactor::new(keyed, kinds, &values).without_inspection().redact(&mut graph);
    lay_out(&mut graph, &Positions::default());
    graph
}

/// In place of an HMAC: FNV-1a, 32 times with another beginning.
fn digest(key: u8, input: &[u8]) -> [u8; 32] {
    let mut result = [0; 32];
    for (index, byte) in (0_u8..).zip(result.iter_mut()) {
        let start = [key, index].into_iter();
        let hash = start.chain(input.iter().copied()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        *byte = (hash >> 56) as u8;
    }
    result
}

/// Returns all files of all views.
fn files(kinds: &[Redaction], key: u8) -> Vec<String> {
    let views = [TopologyView::L2, TopologyView::L3, TopologyView::Workloads];
    let graphs = views.map(|view| redacted(kinds, key, view));
    let all = |graph: &Graph| {
        Format::ALL.iter().map(|format| Picture::new(graph, "Share").render(*format).unwrap()).collect()
    };
    graphs.iter().flat_map(|graph| -> Vec<String> { all(graph) }).collect()
}

fn assert_absent(files: &[String], value: &str) {
    for file in files {
        assert!(!file.to_lowercase().contains(&value.to_lowercase()), "{value} occurs in {file}");
    }
}

#[test]
fn redacted_values_occur_nowhere() {
    let fixture = network();
    let names = files(&[Redaction::Names], 1);
    for host in fixture.hosts.iter().filter(|host| !host.name.is_empty()) {
        assert_absent(&names, &host.name);
    }
    assert_absent(&names, "Confidential Office");
    let addresses = files(&[Redaction::Addresses], 1);
    for host in &fixture.hosts {
        for interface in &host.interfaces {
            assert_absent(&addresses, &interface.ip_address.to_string());
        }
    }
    assert_absent(&addresses, "192.168.100.113");
    assert_absent(&addresses, "192.168.200.0/24");
    assert_absent(&files(&[Redaction::Serials], 1), SERIAL);
    let macs = files(&[Redaction::Macs], 1);
    assert_absent(&macs, MAC);
    assert_absent(&macs, &MAC.replace(':', ""));
}

#[test]
fn ids_of_records_occur_in_no_share() {
    let fixture = network();
    let files = files(&[], 1);
    let hosts = fixture.hosts.iter().map(|host| host.id.uuid());
    let subnets = fixture.subnets.iter().map(|subnet| subnet.id.uuid());
    let links = fixture.links.iter().map(|link| link.id.uuid());
    for id in hosts.chain(subnets).chain(links).chain([NETWORK.uuid()]) {
        assert_absent(&files, &id.to_string());
    }
    assert!(files.iter().any(|file| file.contains("core-switch-headquarters")), "nothing else is redacted");
}

#[test]
fn pseudonyms_are_stable_within_a_share_and_differ_between_shares() {
    let kinds = [Redaction::Names, Redaction::Addresses];
    assert_eq!(files(&kinds, 1), files(&kinds, 1));
    let labels = |key| -> Vec<(NodeId, String)> {
        redacted(&kinds, key, TopologyView::L2).nodes.into_iter().map(|node| (node.id, node.label)).collect()
    };
    for (id, label) in labels(1) {
        assert!(labels(2).iter().all(|(other, text)| *other != id && *text != label), "{label}");
    }
}

/// Returns whether a device is drawn above the core that it hangs at.
fn is_gateway_above(address: &str, kinds: &[Redaction]) -> bool {
    let mut network = Fixture::default();
    let subnet = network.subnet("all", "0.0.0.0/0");
    let core = network.host("core", "Cisco Catalyst switch", &[("10.0.0.1", subnet)]);
    let gateway = network.host("uplink", "", &[(address, subnet)]);
    network.link((core, "uplink"), (gateway, "core"), "Reported");
    for switch in 0..3 {
        let access = network.host("access", "Cisco Catalyst switch", &[("10.0.1.1", subnet)]);
        network.link((core, &format!("access {switch}")), (access, "core"), "Reported");
        for device in 0..3 {
            let end = network.host("device", "", &[("10.0.2.1", subnet)]);
            network.link((access, &format!("device {device}")), (end, "eth0"), "Reported");
        }
    }
    let graph = redacted_of(&network, kinds, 1, TopologyView::L2);
    let height = |label: &str| graph.nodes.iter().find(|node| node.label == label).unwrap().y;
    height("uplink") < height("core")
}

#[test]
fn place_of_a_device_tells_nothing_of_a_concealed_address() {
    let (private, public) = ("10.0.0.2", "203.0.113.1");
    assert!(is_gateway_above(public, &[]) && !is_gateway_above(private, &[]));
    let concealed = [Redaction::Addresses];
    assert_eq!(is_gateway_above(public, &concealed), is_gateway_above(private, &concealed));
}

#[test]
fn addresses_of_laboratories_are_not_public() {
    for address in ["198.18.0.1", "198.19.255.1", "100.64.0.1", "240.0.0.1", "fd00::1"] {
        assert!(!is_gateway_above(address, &[]), "{address}");
    }
}

#[test]
fn extent_of_a_redacted_node_follows_its_pseudonym() {
    let graph = redacted(&[Redaction::Names, Redaction::Addresses], 1, TopologyView::L2);
    let widths: Vec<f64> = graph.nodes.iter().map(|node| node.width).collect();
    let (least, most) =
        widths.iter().fold((f64::MAX, 0.0_f64), |(least, most), width| (least.min(*width), most.max(*width)));
    assert!(most - least < 25.0, "{widths:?}");
}

/// Returns the labels of a network of hosts with these names, addresses and serial numbers.
fn labels_of(hosts: &[(&str, &str, &str)], kinds: &[Redaction]) -> Vec<String> {
    let mut network = Fixture::default();
    let subnet = network.subnet("", "10.0.0.0/8");
    for (name, address, serial) in hosts {
        network.host(name, "switch", &[(address, subnet)]);
        network.hosts.last_mut().unwrap().serial_number = Some((*serial).to_owned());
    }
    let mut graph = network.graph(TopologyView::L2);
    let values = SensitiveValues::of(&network.summaries(), kinds);
    let labels: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
    let redactor = Redactor::new(|input| digest(1, input), kinds, &values);
    redactor.redact(&mut graph);
    let host = |id: NodeId| network.hosts.iter().position(|host| NodeId::from(host.id) == id);
    let mut named: Vec<(Option<usize>, String)> = Vec::new();
    for id in labels {
        let shown = graph.nodes.iter().find(|node| node.id == redactor.id(id)).unwrap();
        named.push((host(id), shown.label.clone()));
    }
    named.sort();
    named.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn short_serial_numbers_are_concealed_where_they_are_words() {
    let hosts = [("rack x7 top", "10.0.0.1", "X7"), ("x7", "10.0.0.2", "A"), ("box7 unit", "10.0.0.3", "")];
    let labels = labels_of(&hosts, &[Redaction::Serials]);
    assert!(labels[0].starts_with("switch-") && labels[1].starts_with("switch-"), "{labels:?}");
    assert_eq!(labels[2], "box7 unit", "part of a word is no serial number");
}

#[test]
fn addresses_in_hexadecimal_are_concealed() {
    let names = ["node-c0a86471", "c0:a8:64:71", "0xC0.0xA8.0x64.0x71", "C0-A8-64-71.example", "deadbeef"];
    let hosts: Vec<_> = names.iter().map(|name| (*name, "192.168.100.113", "")).collect();
    let labels = labels_of(&hosts, &[Redaction::Addresses]);
    assert!(labels[..4].iter().all(|label| label.starts_with("switch-")), "{labels:?}");
    assert_eq!(labels[4], "deadbeef", "other numbers stay");
}

#[test]
fn text_that_is_cut_is_concealed_because_a_value_may_be_where_it_was_cut() {
    let name = format!("{}{SERIAL}", "x".repeat(250));
    let labels = labels_of(&[(&name, "10.0.0.1", SERIAL)], &[Redaction::Serials]);
    assert!(labels[0].starts_with("switch-"), "{labels:?}");
}

/// Comparing each text with each value took minutes.
#[test]
fn long_texts_that_begin_alike_are_redacted_in_linear_time() {
    let names: Vec<String> = (0..400).map(|number| format!("{}{number}", "a".repeat(60_000))).collect();
    let hosts: Vec<_> = names.iter().map(|name| (name.as_str(), "10.0.0.1", name.as_str())).collect();
    let labels = labels_of(&hosts, &[Redaction::Serials]);
    assert!(labels.iter().all(|label| label.starts_with("switch-")));
}

#[test]
fn name_of_a_service_is_concealed_wherever_it_stands() {
    let mut network = Fixture::default();
    let subnet = network.subnet("", "192.0.2.0/24");
    let host = network.host("core", "switch", &[("192.0.2.7", subnet)]);
    network.host("edge", "switch", &[("192.0.2.8", subnet)]);
    network.service(host, "192.0.2.8");
    let kinds = [Redaction::Names];
    let values = SensitiveValues::of(&network.summaries(), &kinds);
    let mut graph = network.graph(TopologyView::L2);
    Redactor::new(|input| digest(1, input), &kinds, &values).redact(&mut graph);
    let details: Vec<&str> = graph.nodes.iter().filter_map(|node| node.detail.as_deref()).collect();
    assert!(details.contains(&"192.0.2.7"), "{details:?}");
    assert!(!details.contains(&"192.0.2.8"), "{details:?}");
}
