//! Every host of a network is drawn, folded, or counted in a note that the picture shows.

use std::path::{Path, PathBuf};

use toposcope::model::{Host, HostId, TopologyView};
use toposcope::topology::graph::{
    Detail, Graph, GraphInput, GraphOptions, HostSummary, NodeKind, Positions, Redactor, SensitiveValues,
    build, lay_out,
};
use toposcope::topology::links::{Confidence, Device, Links};
use toposcope::topology::render::{Format, Picture, notes};

use super::scenes::read::{Roles, scenes};
use super::support::{Fixture, NETWORK, node};
use crate::links::labs::labs;

const VIEWS: [TopologyView; 3] = [TopologyView::L2, TopologyView::L3, TopologyView::Workloads];

/// Returns the number of devices that a graph draws or folds.
fn devices(graph: &Graph) -> usize {
    let drawn = graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Host | NodeKind::Stub));
    let folded = graph.nodes.iter().flat_map(|node| &node.folded).map(|of| of.count as usize);
    drawn.count() + folded.sum::<usize>()
}

/// Panics unless a network of this many hosts shows all of them in each view.
pub(crate) fn assert_nothing_vanishes(name: &str, hosts: usize, draw: &dyn Fn(GraphOptions) -> Graph) {
    for view in VIEWS {
        let mut options = GraphOptions::new(view);
        options.collapse = false;
        let open = draw(options.clone());
        options.collapse = true;
        options.detail = Some(Detail::Overview);
        let overview = draw(options.clone());
        options.detail = None;
        let mut folded = draw(options);
        let name = format!("{name}, {view}");
        let stood_for = |graph: &Graph| {
            let nodes = graph.nodes.iter();
            nodes
                .map(|node| if node.kind == NodeKind::Group { node.collapsed as usize } else { 1 })
                .sum::<usize>()
        };
        assert_eq!(stood_for(&open), stood_for(&folded), "{name}");
        for graph in [&folded, &overview] {
            assert_eq!(devices(&open), devices(graph), "{name}");
            assert_eq!(open.warnings, graph.warnings, "{name}");
        }
        let drawn = open.nodes.iter().filter(|node| node.kind == NodeKind::Host).count();
        let noted: usize = open
            .warnings
            .iter()
            .filter(|warning| warning.code.starts_with("hosts_without_"))
            .map(|warning| warning.params["count"].parse::<usize>().unwrap())
            .sum();
        assert_eq!(drawn + noted, hosts, "{name}: {:?}", open.warnings);
        assert_eq!(open.unplaced.len(), noted.min(1_000), "{name}");
        lay_out(&mut folded, &Positions::default());
        let picture = Picture::new(&folded, "Network").render(Format::Svg).unwrap();
        assert_eq!(
            noted > 0,
            picture.contains("<g class=\"notes\">") && !notes(&folded).is_empty() && noted > 0
        );
        for note in notes(&folded).iter().filter(|note| note.contains("hosts without")) {
            assert!(picture.contains(note), "{name}: {note}");
        }
    }
}

fn drawn(hosts: &[Host], options: &GraphOptions) -> Graph {
    let links = Links::new(hosts.iter().map(|host| Device::of(host, &[])), &[]);
    let summaries: Vec<HostSummary> = hosts.iter().map(|host| HostSummary::of(host, &[])).collect();
    let mut input = GraphInput::new(NETWORK, options);
    input.hosts = summaries.iter().collect();
    input.links = links.links().collect();
    input.stubs = links.stubs().collect();
    input.segments = links.segments().collect();
    input.warnings = links.warnings();
    build(&input)
}

#[test]
fn hosts_of_scenes_are_drawn_folded_or_noted() {
    let folder = std::env::var_os("TOPOSCOPE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    if !folder.join("scenes").is_dir() {
        println!("skipped: no folder scenes in {}", folder.display());
        return;
    }
    for scene in scenes(&folder) {
        let mut hosts = scene.hosts(Roles::Half, false);
        // Some hosts lose their cables.
        for host in hosts.iter_mut().rev().take(3) {
            host.if_entries.clear();
        }
        assert_nothing_vanishes(&scene.name, hosts.len(), &|options| drawn(&hosts, &options));
    }
}

#[test]
fn hosts_of_labs_are_drawn_folded_or_noted() {
    for lab in labs() {
        let links = lab.links();
        let summaries: Vec<HostSummary> =
            lab.hosts.values().map(|(host, claims)| HostSummary::of(host, claims)).collect();
        assert_nothing_vanishes(&lab.name, summaries.len(), &|options| {
            let mut input = GraphInput::new(NETWORK, &options);
            input.hosts = summaries.iter().collect();
            input.links = links.links().collect();
            input.stubs = links.stubs().collect();
            input.segments = links.segments().collect();
            build(&input)
        });
    }
}

/// Returns a network of hosts without links, of which two are in a subnet.
fn unlinked() -> Fixture {
    let mut network = Fixture::default();
    let office = network.subnet("Office", "10.0.1.0/24");
    network.host("pc10", "", &[("10.0.1.10", office)]);
    network.host("pc9", "", &[("10.0.1.9", office)]);
    network.host("alone", "", &[]);
    network
}

#[test]
fn hosts_without_a_link_are_counted_in_the_picture_and_listed_by_subnet() {
    let network = unlinked();
    let mut graph = network.graph(TopologyView::L2);
    let listed: Vec<(&str, Option<&str>)> =
        graph.unplaced.iter().map(|host| (host.label.as_str(), host.subnet.as_deref())).collect();
    assert_eq!(listed, [("pc9", Some("Office")), ("pc10", Some("Office")), ("alone", None)]);
    assert_eq!(
        notes(&graph),
        ["3 hosts without a known link", "No link is known. The view l3 shows 2 hosts in their subnets"]
    );
    lay_out(&mut graph, &Positions::default());
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains("<text class=\"note\""));
    assert!(picture.contains(">3 hosts without a known link</text>"), "{picture}");
    assert!(network.graph(TopologyView::L3).unplaced.len() == 1);
}

#[test]
fn picture_of_an_empty_network_has_a_note() {
    for view in VIEWS {
        let mut graph = Fixture::default().graph(view);
        assert_eq!(notes(&graph), ["No hosts to show"], "{view}");
        lay_out(&mut graph, &Positions::default());
        let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
        assert!(picture.contains(">No hosts to show</text>"), "{picture}");
    }
}

#[test]
fn hosts_whose_links_a_filter_leaves_out_are_not_without_a_known_link() {
    let mut network = unlinked();
    let [one, other] = [network.hosts[0].id, network.hosts[1].id];
    network.link((one, "1"), (other, "1"), "Inferred");
    let mut options = GraphOptions::new(TopologyView::L2);
    assert_eq!(notes(&network.graph_with(&options)), ["1 host without a known link"]);
    options.min_confidence = Confidence::Confirmed;
    assert_eq!(
        notes(&network.graph_with(&options)),
        ["1 host without a known link", "2 hosts whose links are not shown"]
    );
    // A link to a host of another role is known, too.
    network.hosts[1].sys_descr = Some("Linux".to_owned());
    let mut options = GraphOptions::new(TopologyView::L2);
    options.roles.insert(node(&network.graph(TopologyView::L2), "pc9").role);
    assert_eq!(notes(&network.graph_with(&options)), ["1 host whose links are not shown"]);
}

#[test]
fn share_counts_hosts_without_a_link_and_lists_none() {
    let mut graph = unlinked().graph(TopologyView::L2);
    Redactor::new(|_| [7; 32], &[], &SensitiveValues::default()).redact(&mut graph);
    assert!(graph.unplaced.is_empty());
    assert_eq!(notes(&graph), ["3 hosts without a known link", "No link is known"]);
}

#[test]
fn list_of_hosts_without_a_link_is_bounded() {
    let mut network = Fixture::default();
    for number in 0..1_200 {
        network.host(&format!("pc{number}"), "", &[]);
    }
    let graph = network.graph(TopologyView::L2);
    assert_eq!(graph.unplaced.len(), 1_000);
    assert_eq!(notes(&graph), ["1200 hosts without a known link"]);
}

#[test]
fn notes_name_hosts_as_data() {
    let mut network = Fixture::default();
    let hub = network.host("<b>\u{202E}hub", "switch", &[]);
    let kind = toposcope::discovery::report::TableKind::Lldp;
    for host_id in [hub, HostId::from_u128(77)] {
        network.warnings.push(toposcope::topology::links::LinkWarning::TruncatedTable { host_id, kind });
    }
    let graph = network.graph(TopologyView::L2);
    assert_eq!(notes(&graph), ["1 table that may lack rows (<b>\u{FFFD}hub)"]);
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains("(&lt;b&gt;\u{FFFD}hub)") && !picture.contains("<b>"), "{picture}");
}
