//! Files that other programs arrange: the upper end of each link comes first, and tiers and classes are stated.

use std::collections::{BTreeMap, BTreeSet};

use toposcope::model::TopologyView;
use toposcope::topology::graph::{Graph, Positions, lay_out};
use toposcope::topology::links::LinkState;
use toposcope::topology::render::{Format, Picture};

use crate::graph::scenes::read::Roles;
use crate::graph::scenes::{drawn, generated};
use crate::graph::support::Fixture;

fn file(graph: &Graph, format: Format) -> String {
    Picture::new(graph, "Network").render(format).unwrap()
}

/// Returns height and horizontal place of the middles of the nodes.
fn places(graph: &Graph) -> BTreeMap<String, [i64; 2]> {
    let place = |start: f64, extent: f64| (start + extent / 2.0).round() as i64;
    let nodes = graph.nodes.iter();
    nodes.map(|node| (node.id.to_string(), [place(node.y, node.height), place(node.x, node.width)])).collect()
}

/// Returns the ends of the edges in DOT, in the order of the file.
fn edges_of_dot(file: &str) -> Vec<[String; 2]> {
    let lines = file.lines().filter(|line| line.contains(" -- "));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('"').collect();
            [parts[1].to_owned(), parts[3].to_owned()]
        })
        .collect()
}

/// Returns the ends of the links in Mermaid, in the order of the file.
fn edges_of_mermaid(file: &str, graph: &Graph) -> Vec<[String; 2]> {
    let id = |name: &str| {
        let number: usize = name.strip_prefix('n').unwrap().parse().unwrap();
        graph.nodes[number - 1].id.to_string()
    };
    let lines = file
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("---") || line.contains("-.-") || line.contains("==="));
    lines.map(|line| [id(line.split(' ').next().unwrap()), id(line.rsplit(' ').next().unwrap())]).collect()
}

#[test]
fn upper_end_of_each_link_comes_first() {
    for scene in generated::small() {
        for roles in [Roles::All, Roles::None] {
            let graph = drawn(&scene.hosts(roles, false));
            let places = places(&graph);
            for edges in [
                edges_of_dot(&file(&graph, Format::Dot)),
                edges_of_mermaid(&file(&graph, Format::Mermaid), &graph),
            ] {
                assert_eq!(edges.len(), graph.edges.len(), "{}", scene.name);
                for [upper, lower] in &edges {
                    assert!(places[upper] <= places[lower], "{}: {upper} {lower}", scene.name);
                }
                assert!(edges.is_sorted_by_key(|[upper, _]| places[upper]), "{}", scene.name);
            }
        }
    }
}

#[test]
fn ports_stay_at_their_ends_when_a_link_is_turned() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for number in 0..4 {
        let access = network.host(&format!("access-{number}"), "switch", &[]);
        // The lower end is the source.
        network.link((access, "up"), (core, &format!("down{number}")), "Confirmed");
        for leaf in 0..2 {
            let leaf = network.host(&format!("pc-{number}-{leaf}"), "Linux", &[]);
            network.link((access, &format!("p{leaf}")), (leaf, "eth0"), "Confirmed");
        }
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let dot = file(&graph, Format::Dot);
    let from_core = format!("\"{core}\" -- ");
    let lines: Vec<&str> = dot.lines().filter(|line| line.contains(&from_core)).collect();
    assert_eq!(lines.len(), 4, "{dot}");
    assert!(
        lines.iter().all(|line| line.contains("taillabel=\"down") && line.contains("headlabel=\"up\"")),
        "{dot}"
    );
    let mermaid = file(&graph, Format::Mermaid);
    assert_eq!(mermaid.matches("down").count(), 4);
    assert_eq!(mermaid.matches(" \u{2013} up").count(), 4, "{mermaid}");
}

#[test]
fn mermaid_has_short_names_for_nodes_whose_ids_begin_alike() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for number in 0..12 {
        let access = network.host(&format!("access-{number}"), "switch", &[]);
        network.link((core, &format!("p{number}")), (access, "up"), "Confirmed");
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let mermaid = file(&graph, Format::Mermaid);
    for (number, node) in (1..).zip(&graph.nodes) {
        assert!(mermaid.contains(&format!(" n{number}[\"{}", node.label)), "{mermaid}");
    }
}

#[test]
fn switches_of_a_tier_have_one_rank_in_dot() {
    for scene in generated::small() {
        let graph = drawn(&scene.hosts(Roles::All, false));
        let dot = file(&graph, Format::Dot);
        let ranks = dot.lines().filter_map(|line| line.trim().strip_prefix("{rank=same;"));
        let ranks: Vec<BTreeSet<&str>> =
            ranks.map(|line| line.split('"').skip(1).step_by(2).collect()).collect();
        let places = places(&graph);
        for rank in &ranks {
            let heights: BTreeSet<i64> = rank.iter().map(|id| places[*id][0]).collect();
            assert_eq!(heights.len(), 1, "{}: {rank:?}", scene.name);
        }
        let all: Vec<&str> = ranks.iter().flatten().copied().collect();
        assert_eq!(
            all.len(),
            all.iter().collect::<BTreeSet<_>>().len(),
            "{}: a node has two ranks",
            scene.name
        );
    }
}

#[test]
fn nodes_and_links_have_the_classes_of_their_roles_and_states() {
    let mut network = Fixture::default();
    let [core, access, server] = [("core", "switch"), ("access", "switch"), ("server", "Linux server")]
        .map(|(name, kind)| network.host(name, kind, &[]));
    network.link((core, "1"), (access, "1"), "Confirmed");
    network.link((access, "2"), (server, "eth0"), "Reported");
    network.links[1].state = LinkState::Down;
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let dot = file(&graph, Format::Dot);
    let line = |start: String| dot.lines().find(|line| line.trim().starts_with(&start)).unwrap();
    assert!(line(format!("\"{core}\" [")).contains("class=\"host switch state-"), "{dot}");
    assert!(line(format!("\"{server}\" [")).contains(" state-down\""), "{dot}");
    assert!(
        line(format!("\"{access}\" -- \"{server}\"")).contains("class=\"physical reported state-down\""),
        "{dot}"
    );
    let svg = file(&graph, Format::Svg);
    for class in ["node host switch state-", "edge physical reported state-down\""] {
        assert!(svg.contains(&format!("class=\"{class}")), "{class}: {svg}");
    }
    let mermaid = file(&graph, Format::Mermaid);
    assert!(mermaid.contains("classDef role-switch fill:#009e73,color:#000000,stroke:#009e73"), "{mermaid}");
    let [role, state] = ["class ", "state-down"].map(|text| mermaid.rfind(text).unwrap());
    assert!(role < state, "the border of a state wins: {mermaid}");
}

#[test]
fn nodes_and_links_of_a_picture_have_data_for_styles() {
    let mut network = Fixture::default();
    let [core, server] =
        [("core", "switch"), ("server", "Linux")].map(|(name, kind)| network.host(name, kind, &[]));
    network.link((core, "1"), (server, "eth0"), "Confirmed");
    network.links[0].speed_bps = Some(10_000_000_000);
    network.links[0].vlans =
        serde_json::from_str(r#"[{"first": 10, "last": 10}, {"first": 20, "last": 29}]"#).unwrap();
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let svg = file(&graph, Format::Svg);
    for data in [
        "data-role=\"switch\"",
        "data-state=\"Unknown\"",
        "data-speed=\"10000000000\"",
        "data-vlans=\"10,20-29\"",
    ] {
        assert!(svg.contains(data), "{data}: {svg}");
    }
}
