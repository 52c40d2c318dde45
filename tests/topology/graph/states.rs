//! The states of links and nodes.

use std::collections::BTreeSet;

use serde_json::json;
use toposcope::model::{HostId, HostRole, Redaction, TopologyView};
use toposcope::topology::graph::{Graph, GraphOptions, Positions, Redactor, SensitiveValues, lay_out};
use toposcope::topology::links::LinkState::{self, Degraded, Disabled, Dormant, Down, Testing, Unknown, Up};
use toposcope::topology::links::VlanRange;
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, NETWORK, labels, node};

const ALL: [LinkState; 7] = [Unknown, Up, Dormant, Testing, Degraded, Down, Disabled];

/// Returns a switch with a server for each state, at a link of this state.
fn star() -> Fixture {
    let mut network = Fixture::default();
    let hub = network.host("hub", "switch", &[]);
    for (number, state) in ALL.into_iter().enumerate() {
        let server = network.host(&format!("server-{state}"), "Linux", &[]);
        network.link((hub, &format!("Gi0/{number}")), (server, "eth0"), "Confirmed");
        network.links.last_mut().unwrap().state = state;
    }
    network
}

fn laid_out(network: &Fixture) -> Graph {
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    graph
}

fn file(graph: &Graph, format: Format) -> String {
    Picture::new(graph, "Network").render(format).unwrap()
}

/// Connects two hosts by a link of a state.
fn link(network: &mut Fixture, one: (HostId, &str), other: (HostId, &str), state: LinkState) {
    network.link(one, other, "Confirmed");
    network.links.last_mut().unwrap().state = state;
}

#[test]
fn node_is_down_if_all_its_links_are_and_degraded_if_one_to_a_switch_is() {
    let mut network = Fixture::default();
    let [core, left, right] = ["core", "left", "right"].map(|name| network.host(name, "switch", &[]));
    let [off, on] = ["off", "on"].map(|name| network.host(name, "Windows", &[]));
    link(&mut network, (core, "1"), (left, "1"), Down);
    link(&mut network, (core, "2"), (right, "1"), Up);
    link(&mut network, (left, "2"), (right, "2"), Up);
    // Computers that are switched off say nothing about their switch.
    link(&mut network, (right, "3"), (off, "1"), Down);
    link(&mut network, (left, "3"), (on, "1"), Up);
    let lone = network.host("lone", "switch", &[]);
    let graph = network.graph(TopologyView::L2);
    let state = |host: HostId| graph.nodes.iter().find(|node| node.id == host.into()).unwrap().state;
    assert_eq!([core, left, right, off, on, lone].map(state), [Degraded, Degraded, Up, Down, Up, Unknown]);
}

#[test]
fn node_of_disabled_links_is_disabled_and_stale_links_do_not_count() {
    let mut network = Fixture::default();
    let [one, other, third] = ["a", "b", "c"].map(|name| network.host(name, "switch", &[]));
    link(&mut network, (one, "1"), (other, "1"), Disabled);
    link(&mut network, (other, "2"), (third, "1"), Up);
    network.links[1].stale = true;
    let graph = network.graph(TopologyView::L2);
    assert_eq!(["a", "b", "c"].map(|name| node(&graph, name).state), [Disabled, Disabled, Unknown]);
}

#[test]
fn parallel_links_of_which_some_are_down_are_degraded() {
    let states = |all: &[LinkState]| {
        let mut network = Fixture::default();
        let [one, other] = ["a", "b"].map(|name| network.host(name, "switch", &[]));
        for (number, state) in all.iter().enumerate() {
            let port = format!("Gi0/{number}");
            link(&mut network, (one, &port), (other, &port), *state);
        }
        let graph = network.graph(TopologyView::L2);
        let [edge] = graph.edges.as_slice() else { panic!("{:?}", graph.edges) };
        let members: Vec<LinkState> = edge.members.iter().map(|member| member.state).collect();
        assert_eq!(members, all);
        edge.state
    };
    assert_eq!(states(&[Up, Down, Up]), Degraded);
    assert_eq!(states(&[Down, Down]), Down);
    assert_eq!(states(&[Up, Unknown]), Up);
}

#[test]
fn folded_devices_have_the_states_of_all() {
    let mut network = Fixture::default();
    let hub = network.host("hub", "switch", &[]);
    for number in 10..1_000 {
        let host = network.host(&format!("pc{number}"), "Windows", &[]);
        link(&mut network, (hub, &number.to_string()), (host, "1"), if number < 20 { Up } else { Down });
    }
    let graph = network.graph(TopologyView::L2);
    let group = graph.nodes.iter().find(|node| node.collapsed > 0).unwrap();
    let edge = graph.edges.iter().find(|edge| [edge.source, edge.target].contains(&group.id)).unwrap();
    assert_eq!((group.state, edge.state), (Degraded, Degraded));
}

#[test]
fn each_state_has_a_line_style_and_words_in_title_and_legend() {
    let picture = file(&laid_out(&star()), Format::Svg);
    let style = picture.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let mut patterns = BTreeSet::from(["", "9 4", "2 4", "9 3 2 3"]);
    for (state, words) in [
        (Dormant, "Dormant"),
        (Testing, "In test mode"),
        (Degraded, "Partly down"),
        (Down, "Down"),
        (Disabled, "Disabled"),
    ] {
        let class = format!("state-{}", state.as_str().to_lowercase());
        let rule = format!(".topology .{class} .line{{stroke-dasharray:");
        let dashes = style.split(&rule).nth(1).unwrap().split('}').next().unwrap();
        assert!(patterns.insert(dashes), "{state} looks like another state or confidence: {dashes}");
        assert!(style.contains(&format!(".topology .{class} .line{{stroke:#")), "{state} has no color");
        assert!(picture.contains(&format!(" {class}\" data-id=")), "{state}");
        assert!(picture.contains(&format!("data-state=\"{state}\" data-source")), "{state}");
        assert!(picture.contains(&format!(" \u{b7} {words}</title>")), "{state} has no word in a title");
        assert!(picture.contains(&format!(">{words}</text>")), "{state} has no word in the legend");
    }
    assert!(picture.contains(">Up, both ends agree</text>") && picture.contains(">State unknown</text>"));
    assert!(picture.contains("with-states"));
}

#[test]
fn legend_has_only_states_that_occur() {
    let mut network = star();
    network.links.retain(|link| [Unknown, Up, Down].contains(&link.state));
    let picture = file(&laid_out(&network), Format::Svg);
    let has = |words: &str| picture.contains(&format!(">{words}</text>"));
    assert!(has("Up, both ends agree") && !has("Both ends agree") && has("Down") && has("State unknown"));
    assert!(!["Dormant", "In test mode", "Partly down", "Disabled"].into_iter().any(has));
    network.links.retain(|link| link.state == Unknown);
    let picture = file(&laid_out(&network), Format::Svg);
    assert!(!picture.contains(">State unknown</text>") && !picture.contains("<g class=\"edges with-states"));
}

#[test]
fn legend_of_every_view_explains_the_marks_of_nodes() {
    let mut network = Fixture::default();
    let subnet = network.subnet("Office", "10.0.1.0/24");
    let switch = network.host("switch", "switch", &[("10.0.1.1", subnet)]);
    let server = network.host("server", "Linux", &[("10.0.1.2", subnet)]);
    link(&mut network, (switch, "1"), (server, "1"), Down);
    for view in [TopologyView::L2, TopologyView::L3] {
        let mut graph = network.graph(view);
        lay_out(&mut graph, &Positions::default());
        let picture = file(&graph, Format::Svg);
        assert!(picture.contains("<path class=\"mark\""), "{view}");
        assert!(picture.contains(">Device without a link that is up</text>"), "{view}");
    }
}

#[test]
fn every_format_says_which_links_and_nodes_are_down() {
    let mut network = Fixture::default();
    let [one, other, third] = ["a", "b", "c"].map(|name| network.host(name, "switch", &[]));
    link(&mut network, (one, "1"), (other, "1"), Up);
    link(&mut network, (other, "2"), (third, "1"), Up);
    let before = laid_out(&network);
    network.links[1].state = Down;
    let after = laid_out(&network);
    let marks = [
        (Format::Svg, "state-down\" data-id=", 2),
        (Format::Svg, "<path class=\"mark\"", 1),
        (Format::Dot, " state-down\"", 2),
        (Format::Dot, "label=\"1G, Down\"", 1),
        (Format::Mermaid, " stroke:#c1121f,stroke-dasharray:6 8", 1),
        (Format::Mermaid, "classDef state-down ", 1),
        (Format::DrawIo, "fixDash=1;dashPattern=6 8;strokeColor=#c1121f;", 1),
        (Format::DrawIo, "strokeColor=#c1121f;strokeWidth=3;", 1),
        (Format::DrawIo, "Device without a link that is up", 1),
        (Format::GraphMl, "<data key=\"edge_state\">down</data>", 1),
        (Format::GraphMl, "<data key=\"state\">down</data>", 1),
        (Format::Json, "\"state\":\"Down\"", 2),
    ];
    for (format, mark, least) in marks {
        assert!(!file(&before, format).contains(mark), "{format}: {mark}");
        assert!(file(&after, format).matches(mark).count() >= least, "{format}: {mark}");
    }
}

#[test]
fn files_tell_an_aggregate_from_parallel_links() {
    let mut network = Fixture::default();
    let [one, other, third] = ["a", "b", "c"].map(|name| network.host(name, "switch", &[]));
    network.link((one, "Po1"), (other, "Po1"), "Confirmed");
    let members =
        json!([{"source_port": null, "target_port": null}, {"source_port": null, "target_port": null}]);
    network.links[0].members = serde_json::from_value(members).unwrap();
    for number in 1..=2 {
        network.link((other, &format!("Eth{number}")), (third, &format!("Eth{number}")), "Confirmed");
    }
    let graph = laid_out(&network);
    let marks = [
        (Format::Dot, " LAG\"", "\u{d7}1G parallel\""),
        (Format::Dot, " state-unknown lag\"", " state-unknown parallel\""),
        (Format::Dot, ":invis:", "penwidth=3"),
        (Format::Mermaid, " LAG", "\u{d7}1G parallel"),
        (Format::DrawIo, "shape=link;width=4;exit", "strokeWidth=5;exit"),
        (Format::GraphMl, "<data key=\"lag\">true</data>", "<data key=\"lag\">false</data>"),
    ];
    for (format, aggregate, parallel) in marks {
        let file = file(&graph, format);
        assert_eq!(
            (file.matches(aggregate).count(), file.matches(parallel).count()),
            (1, 1),
            "{format}: {file}"
        );
    }
}

#[test]
fn share_without_inspection_shows_no_states_and_no_vlans() {
    let mut network = star();
    for link in &mut network.links {
        link.vlans = Some(vec![VlanRange { first: 7, last: 9 }]);
        (link.untagged_vlan, link.blocked) = (Some(7), Some(true));
    }
    network.hosts[0].sys_location = Some("Basement".to_owned());
    network.hosts[0].manufacturer = Some("Acme".to_owned());
    network.hosts[0].model = Some("Switch 9000".to_owned());
    let redacted = |kinds: &[Redaction], is_inspected: bool| {
        let mut graph = network.graph(TopologyView::L2);
        let values = SensitiveValues::of(&network.summaries(), kinds);
        let redactor = Redactor::new(|_| [7; 32], kinds, &values);
        let redactor = if is_inspected { redactor } else { redactor.without_inspection() };
        redactor.redact(&mut graph);
        serde_json::to_string(&graph).unwrap()
    };
    let [whole, concealed, closed] =
        [redacted(&[], true), redacted(&[Redaction::Macs], true), redacted(&[], false)];
    let of_place = [
        "\"location\":\"Basement\"",
        "\"vendor\":\"Acme\"",
        "\"model\":\"Switch 9000\"",
        "\"vlans\":",
        "\"vlan\":7",
    ];
    let of_state = ["\"state\":\"Down\"", "\"blocked\":true"];
    for text in of_place.iter().chain(&of_state) {
        assert!(whole.contains(text), "{text}");
        assert!(!closed.contains(text), "{text}");
    }
    assert!(of_place.iter().all(|text| !concealed.contains(text)), "{concealed}");
    assert!(of_state.iter().all(|text| concealed.contains(text)), "{concealed}");
}

#[test]
fn vlan_filter_keeps_the_links_that_carry_it_and_what_they_connect() {
    let mut network = Fixture::default();
    let [core, left, right] = ["core", "left", "right"].map(|name| network.host(name, "switch", &[]));
    let pc = network.host("pc", "Windows", &[]);
    for (one, other, vlans) in [
        (core, left, Some((1, 4_094))),
        (core, right, Some((1, 9))),
        (left, pc, Some((20, 20))),
        (right, pc, None),
    ] {
        network.link((one, "x"), (other, "y"), "Confirmed");
        network.links.last_mut().unwrap().vlans = vlans.map(|(first, last)| vec![VlanRange { first, last }]);
    }
    network.links[2].untagged_vlan = Some(20);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.vlan = Some(20);
    let graph = network.graph_with(&options);
    assert_eq!(labels(&graph), ["core", "left", "pc"]);
    assert_eq!(graph.edges.len(), 2);
    assert_eq!((node(&graph, "pc").vlan, node(&graph, "left").vlan), (Some(20), None));
    options.vlan = Some(4_000);
    assert_eq!(labels(&network.graph_with(&options)), ["core", "left"]);
}

#[test]
fn role_filter_keeps_hosts_and_stubs_of_these_roles() {
    let mut network = star();
    let stub = network.stub("phone");
    network.stubs[0].capabilities = serde_json::from_value(json!(["Telephone"])).unwrap();
    let hub = network.hosts[0].id;
    network.link_of(
        &json!({"type": "host", "host_id": hub, "port": null}),
        &json!({"type": "stub", "id": stub, "port": null}),
        "Reported",
    );
    let mut options = GraphOptions::new(TopologyView::L2);
    options.roles = BTreeSet::from([HostRole::Switch]);
    assert_eq!(labels(&network.graph_with(&options)), ["hub"]);
    options.roles.insert(HostRole::Phone);
    assert_eq!(labels(&network.graph_with(&options)), ["hub", "phone"]);
    assert_eq!(network.graph_with(&options).network_id, Some(NETWORK));
}
