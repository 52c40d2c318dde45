use toposcope::model::TopologyView;
use toposcope::topology::graph::{Graph, Positions, lay_out};
use toposcope::topology::render::{ColorScheme, Format, Picture, Theme};

use crate::graph::support::Fixture;

fn graph() -> Graph {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    let access = network.host("access", "switch", &[]);
    let server = network.host("server", "Linux", &[]);
    network.link((core, "TenGigabitEthernet1/1"), (access, "TenGigabitEthernet0/1"), "Confirmed");
    network.link((access, "Gi0/2"), (server, "eth0"), "Reported");
    let members = serde_json::json!([{"source_port": null, "target_port": null}, {"source_port": null, "target_port": null}]);
    network.links[0].members = serde_json::from_value(members).unwrap();
    network.links[0].speed_bps = Some(20_000_000_000);
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    graph
}

#[test]
fn same_picture_gives_the_same_bytes() {
    for format in Format::ALL {
        let first = Picture::new(&graph(), "Network").render(*format).unwrap();
        assert_eq!(first, Picture::new(&graph(), "Network").render(*format).unwrap());
    }
}

#[test]
fn picture_is_accessible_and_has_no_inline_styles() {
    let picture = Picture::new(&graph(), "Network").render(Format::Svg).unwrap();
    assert!(picture.contains("role=\"img\"") && picture.contains("<title") && picture.contains("<desc"));
    assert!(!picture.contains(" style="));
    assert_eq!(picture.matches("<style>").count(), 1);
    assert!(picture.contains("data-source="));
}

#[test]
fn description_says_what_the_picture_shows_and_what_it_leaves_out() {
    let mut graph = graph();
    graph.hidden.leaves = 1;
    graph.hidden.stale = 2;
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    let expected = "Layer 2: 3 hosts, 2 links, 1 device drawn in groups, 2 devices left out as stale.</desc>";
    assert!(picture.contains(expected), "{picture}");
}

#[test]
fn aggregation_group_says_number_and_speed_of_its_links() {
    let graph = graph();
    for format in [Format::Svg, Format::Dot, Format::DrawIo] {
        assert!(Picture::new(&graph, "Network").render(format).unwrap().contains("2\u{d7}10G"), "{format}");
    }
}

#[test]
fn nodes_have_positions_in_dot() {
    let graph = graph();
    let file = Picture::new(&graph, "Network").render(Format::Dot).unwrap();
    let node = &graph.nodes[0];
    let line = file.lines().find(|line| line.contains(&format!("\"{}\" [", node.id))).unwrap();
    let position = line.split("pos=\"").nth(1).unwrap().split('"').next().unwrap();
    let [x, y] = [0, 1].map(|part| position.split(',').nth(part).unwrap().parse::<f64>().unwrap());
    assert!((x - node.x - node.width / 2.0).abs() < 0.01, "{line}");
    assert!((y + node.y + node.height / 2.0).abs() < 0.01, "{line}");
    assert_eq!(file.matches(" pos=").count(), graph.nodes.len());
}

#[test]
fn style_source_is_the_digest_of_the_style_element() {
    use base64ct::{Base64, Encoding};
    use sha2::{Digest, Sha256};
    for scheme in ColorScheme::ALL {
        let graph = graph();
        let mut picture = Picture::new(&graph, "Network");
        picture.scheme = *scheme;
        let svg = picture.render(Format::Svg).unwrap();
        let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        let digest = Base64::encode_string(&Sha256::digest(style));
        assert!(Theme::default().style_source(*scheme).contains(&digest), "{scheme}");
    }
}

#[test]
fn stale_link_is_faded_and_explained() {
    let mut current = graph();
    let pictures = |graph: &Graph| {
        Format::ALL
            .iter()
            .map(|format| Picture::new(graph, "Network").render(*format).unwrap())
            .collect::<Vec<_>>()
    };
    let before = pictures(&current);
    assert!(before.iter().all(|picture| !picture.contains("not seen recently")));
    current.edges[1].stale = true;
    let after = pictures(&current);
    let marks = [
        (Format::Svg, " stale\" data-id="),
        (Format::Svg, "Link not seen recently"),
        (Format::Svg, "\u{b7} not seen recently</title>"),
        (Format::Dot, "color=gray60"),
        (Format::GraphMl, "<data key=\"edge_stale\">true</data>"),
        (Format::DrawIo, "opacity=60;"),
        (Format::Json, "\"stale\":true"),
    ];
    for (format, mark) in marks {
        let place = Format::ALL.iter().position(|other| *other == format).unwrap();
        assert!(!before[place].contains(mark), "{format}: {mark}");
        assert!(after[place].contains(mark), "{format}: {mark}");
    }
}

#[test]
fn formats_and_color_schemes_are_found_by_name() {
    for format in Format::ALL {
        assert_eq!(format.as_str().parse(), Ok(*format));
    }
    for scheme in ColorScheme::ALL {
        assert_eq!(scheme.as_str().parse(), Ok(*scheme));
    }
    assert!("png".parse::<Format>().is_err() && "sepia".parse::<ColorScheme>().is_err());
}

#[test]
fn graph_without_nodes_gives_a_picture() {
    let graph = Fixture::default().graph(TopologyView::L2);
    for format in Format::ALL {
        assert!(!Picture::new(&graph, "Empty").render(*format).unwrap().is_empty());
    }
}

/// Returns the widths of the lines at a fabric whose first link is slower than the others.
fn widths_of_fabric(spines: usize, leaves: usize) -> Vec<f64> {
    let mut network = Fixture::default();
    let spines: Vec<_> =
        (0..spines).map(|spine| network.host(&format!("spine-{spine}"), "switch", &[])).collect();
    for leaf in 0..leaves {
        let host = network.host(&format!("leaf-{leaf}"), "switch", &[]);
        for (number, spine) in spines.iter().enumerate() {
            network.link((*spine, &format!("Eth{leaf}")), (host, &format!("Eth{number}")), "Confirmed");
        }
    }
    for (number, link) in network.links.iter_mut().enumerate() {
        link.speed_bps = Some(if number == 0 { 10_000_000_000 } else { 100_000_000_000 });
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let picture = Picture::new(&graph, "Fabric").render(Format::Svg).unwrap();
    let (edges, legend) = picture.split_once("class=\"legend\"").unwrap();
    let widths = |part: &str| -> Vec<f64> {
        let lines = part.split("class=\"line\" stroke-width=\"").skip(1);
        lines.map(|line| line.split_once('"').unwrap().0.parse().unwrap()).collect()
    };
    let (mut widths, in_legend) = (widths(edges), widths(legend));
    widths.sort_by(f64::total_cmp);
    widths.dedup();
    assert!(widths.iter().all(|width| in_legend.contains(width)), "{widths:?} {in_legend:?}");
    widths
}

#[test]
fn lines_are_thinner_where_they_crowd_and_keep_the_order_of_their_speeds() {
    assert_eq!(widths_of_fabric(2, 4), [3.75, 4.5]);
    let [slow, fast] = widths_of_fabric(6, 24)[..] else { panic!("the lines do not have two widths") };
    assert!(slow < fast && fast < 2.5, "{slow} {fast}");
}
