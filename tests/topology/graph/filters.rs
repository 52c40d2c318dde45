use serde_json::json;
use toposcope::model::{HostId, TagId, TopologyView};
use toposcope::topology::graph::{GraphOptions, GroupBy, NodeKind, Positions, build, lay_out};
use toposcope::topology::links::Confidence;

use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, labels, node};

const TAG: TagId = TagId::from_u128(0x7a9);

fn tag(network: &mut Fixture, host: HostId) {
    network.hosts.iter_mut().find(|candidate| candidate.id == host).unwrap().tags.push(TAG);
}

fn of_tag(view: TopologyView) -> GraphOptions {
    let mut options = GraphOptions::new(view);
    options.tag_ids.insert(TAG);
    options
}

#[test]
fn tags_keep_hosts_with_one_of_them_and_what_connects_these() {
    let mut network = Fixture::default();
    let [a, b, c] = ["a", "b", "c"].map(|name| network.host(name, "switch", &[]));
    let stub = network.stub("unknown");
    let kept = network.link((a, "1"), (b, "1"), "Confirmed");
    network.link((b, "2"), (c, "1"), "Confirmed");
    let end = |host: HostId| json!({"type": "host", "host_id": host, "port": null});
    let unknown = json!({"type": "stub", "id": stub, "port": null});
    let to_stub = network.link_of(&end(a), &unknown, "Reported");
    network.link_of(&end(c), &unknown, "Reported");
    tag(&mut network, a);
    tag(&mut network, b);

    let graph = network.graph_with(&of_tag(TopologyView::L2));

    assert_eq!(labels(&graph), ["a", "b", "unknown"]);
    assert_eq!(graph.edges.iter().map(|edge| edge.id).collect::<Vec<_>>(), [kept, to_stub]);
}

#[test]
fn stub_that_only_hosts_without_the_tag_name_is_left_out() {
    let mut network = Fixture::default();
    let (a, b) = (network.host("a", "switch", &[]), network.host("b", "switch", &[]));
    let stub = network.stub("unknown");
    network.link_of(
        &json!({"type": "host", "host_id": b, "port": null}),
        &json!({"type": "stub", "id": stub, "port": null}),
        "Reported",
    );
    tag(&mut network, a);
    assert_eq!(labels(&network.graph_with(&of_tag(TopologyView::L2))), ["a"]);
}

#[test]
fn tags_apply_to_every_view() {
    let mut network = Fixture::default();
    let subnet = network.subnet("Office", "10.0.1.0/24");
    let a = network.host("a", "Linux", &[("10.0.1.1", subnet)]);
    network.host("b", "Linux", &[("10.0.1.2", subnet)]);
    tag(&mut network, a);
    assert_eq!(labels(&network.graph_with(&of_tag(TopologyView::L3))), ["Office", "a"]);

    let mut network = Fixture::default();
    for name in ["a", "b"] {
        let hypervisor = network.host(name, "VMware ESXi", &[]);
        let guest = network.host(&format!("guest of {name}"), "Linux", &[]);
        let service = network.service(hypervisor, "VMware ESXi");
        network.virtualize(guest, service);
        if name == "a" {
            tag(&mut network, hypervisor);
            tag(&mut network, guest);
        }
    }
    assert_eq!(labels(&network.graph_with(&of_tag(TopologyView::Workloads))), ["a", "guest of a"]);
}

#[test]
fn each_least_confidence_leaves_out_what_is_less_certain() {
    let mut network = Fixture::default();
    let [a, b] = ["a", "b"].map(|name| network.host(name, "switch", &[]));
    let names = ["Inferred", "Reported", "Confirmed", "Conflicting"];
    for (port, confidence) in names.iter().enumerate() {
        network.link((a, &port.to_string()), (b, &port.to_string()), confidence);
    }
    let shown = |least| {
        let mut options = GraphOptions::new(TopologyView::L2);
        options.min_confidence = least;
        let edges = network.graph_with(&options).edges;
        edges.iter().map(|edge| format!("{:?}", edge.confidence)).collect::<Vec<_>>()
    };
    assert_eq!(shown(Confidence::Inferred), names);
    assert_eq!(shown(Confidence::Reported), names[1..]);
    assert_eq!(shown(Confidence::Confirmed), names[2..]);
}

/// Returns two sites with a switch and computers each, a router between them, and an unknown device at one.
fn sites(computers: usize) -> Fixture {
    let mut network = Fixture::default();
    let router = network.host("router", "router", &[]);
    for site in ["North", "South"] {
        let switch = network.host(&format!("sw-{site}"), "switch", &[]);
        network.hosts.last_mut().unwrap().sys_location = Some(format!(" {site} "));
        network.link((router, site), (switch, "1"), "Confirmed");
        for number in 0..computers {
            let pc = network.host(&format!("pc-{site}-{number}"), "Windows", &[]);
            network.link((switch, &format!("p{number}")), (pc, "1"), "Confirmed");
        }
    }
    let stub = network.stub("phone");
    let north = network.hosts[1].id;
    network.link_of(
        &json!({"type": "host", "host_id": north, "port": null}),
        &json!({"type": "stub", "id": stub, "port": null}),
        "Reported",
    );
    network
}

#[test]
fn locations_are_containers_of_devices_and_of_what_hangs_there_alone() {
    let network = sites(900);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.group_by = Some(GroupBy::Location);
    for collapse in [true, false] {
        options.collapse = collapse;
        let mut graph = network.graph_with(&options);
        let area = |label: &str| {
            node(&graph, label).parent_id.map(|id| {
                let parent = graph.nodes.iter().find(|node| node.id == id).unwrap();
                assert_eq!(parent.kind, NodeKind::Area);
                parent.label.clone()
            })
        };
        assert_eq!(area("router"), None);
        assert_eq!(area("sw-North").as_deref(), Some("North"));
        assert_eq!(area("sw-South").as_deref(), Some("South"));
        let groups: Vec<_> = graph.nodes.iter().filter(|node| node.kind == NodeKind::Group).collect();
        assert_eq!(groups.len(), if collapse { 2 } else { 0 });
        assert!(groups.iter().all(|group| group.parent_id.is_some()));
        if !collapse {
            assert_eq!(area("phone").as_deref(), Some("North"));
            assert_eq!(area("pc-South-1").as_deref(), Some("South"));
        }
        lay_out(&mut graph, &Positions::default());
        for format in Format::ALL {
            assert!(Picture::new(&graph, "Sites").render(*format).unwrap().contains("North"), "{format}");
        }
    }
}

#[test]
fn containers_change_nothing_about_what_is_near_a_focus() {
    let network = sites(12);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.focus = Some(network.hosts[2].id.into());
    for (depth, count) in [(1, 2), (2, 15)] {
        (options.depth, options.collapse) = (depth, false);
        options.group_by = None;
        let plain = network.graph_with(&options);
        options.group_by = Some(GroupBy::Location);
        let mut grouped = network.graph_with(&options);
        grouped.nodes.retain(|node| node.kind != NodeKind::Area);
        assert_eq!(labels(&grouped), labels(&plain), "depth {depth}");
        assert_eq!(plain.nodes.len(), count, "depth {depth}");
    }
    // The surroundings of a container are its contents.
    let whole = network.graph_with(&options);
    options.focus = whole.nodes.iter().find(|node| node.label == "North").map(|node| node.id);
    options.depth = 1;
    assert_eq!(network.graph_with(&options).nodes.len(), 15);
}

#[test]
fn of_several_tags_the_first_by_name_is_the_container() {
    let mut network = sites(12);
    network.hosts[0].tags = vec![TagId::from_u128(2), TagId::from_u128(10)];
    let mut options = GraphOptions::new(TopologyView::L2);
    options.group_by = Some(GroupBy::Tag);
    let graph = network.with_input(&options, |input| {
        let mut input = input.clone();
        input.tag_names =
            [(2, "rack 10"), (10, "rack 9")].map(|(id, name)| (TagId::from_u128(id), name.to_owned())).into();
        build(&input)
    });
    let is_area = |node: &&toposcope::topology::graph::Node| node.kind == NodeKind::Area;
    let areas: Vec<&str> = graph.nodes.iter().filter(is_area).map(|node| node.label.as_str()).collect();
    assert_eq!(areas, ["rack 9"]);
}
