use toposcope::model::TopologyView;
use toposcope::topology::graph::{Positions, lay_out};
use toposcope::topology::render::{Format, Picture};

use super::check::render_all;
use crate::graph::support::Fixture;

fn names() -> Vec<String> {
    [
        "</text></svg><script>alert(1)</script>",
        "\" onload=\"alert(1)",
        "'];end;subgraph x[\"y\"]",
        "a\nb\r\nc\td\u{85}e\u{2028}f",
        "\0\u{1}\u{8}\u{b}\u{1f}\u{7f}\u{9f}\u{fffe}\u{ffff}",
        "\u{202e}gnp.exe\u{200f}\u{2066}",
        "back\\slash \\N \\\" \\",
        "&amp; &lt; &#60; #lt; #quot;",
        "%%{init: {\"theme\": \"dark\"}}%%",
        "]]><![CDATA[",
        "```\n<!-- -->",
        "style x:#fff;",
        "graph { a -- b }",
        "👩‍👩‍👧‍👧 e\u{301}\u{301}",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["x".repeat(10_000), "\u{301}".repeat(10_000), "界".repeat(10_000), "\"".repeat(10_000)])
    .collect()
}

fn network(name: &str) -> Fixture {
    let mut network = Fixture::default();
    let subnet = network.subnet(name, "10.0.1.0/24");
    let other = network.subnet(name, "10.0.2.0/24");
    let switch = network.host(name, "switch", &[("10.0.1.1", subnet), ("10.0.2.1", other)]);
    for index in 0..12 {
        let address = format!("10.0.1.{}", index + 10);
        let host = network.host(&format!("{name}{index}"), "", &[(address.as_str(), subnet)]);
        network.link((switch, name), (host, name), "Reported");
    }
    let stub = network.stub(name);
    network.link_of(
        &serde_json::json!({"type": "host", "host_id": switch, "port": {"if_entry_id": null, "name": name}}),
        &serde_json::json!({"type": "stub", "id": stub, "port": {"if_entry_id": null, "name": name}}),
        "Conflicting",
    );
    network
}

#[test]
fn every_format_is_valid_with_hostile_names() {
    for name in names() {
        let network = network(&name);
        for view in [TopologyView::L2, TopologyView::L3, TopologyView::Workloads] {
            let mut graph = network.graph(view);
            lay_out(&mut graph, &Positions::default());
            render_all(&graph, &name);
        }
    }
}

#[test]
fn long_names_are_shortened_in_pictures() {
    let network = network(&"x".repeat(10_000));
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());

    let picture = Picture::new(&graph, "t").render(Format::Svg).unwrap();

    assert!(picture.contains("x\u{2026}x"));
    assert!(!picture.contains(&"x".repeat(400)));
    assert!(graph.nodes.iter().all(|node| node.width < 400.0));
}

#[test]
fn long_names_keep_their_last_words_which_often_differ() {
    for (name, shown) in [
        ("mumbai-datacentre-access-switch-building-17", "\u{2026}building-17</text>"),
        ("access switch of the second building, floor 3", "\u{2026}floor 3</text>"),
        ("mumbai_datacentre_access_x00000000000000000000017", "000017</text>"),
        ("mumbai-dc-access-17.campus-network.example.com", "mumbai-dc-access-17.camp\u{2026}</text>"),
        ("mumbai-datacentre-access-switch-17.campus.example.com", "switch-17</text>"),
    ] {
        let mut graph = network(name).graph(TopologyView::L2);
        lay_out(&mut graph, &Positions::default());
        let picture = Picture::new(&graph, "t").render(Format::Svg).unwrap();
        assert!(picture.contains(shown), "{name}: {picture}");
    }
}

#[test]
fn control_characters_become_replacement_characters() {
    let network = network("core\u{0}\u{1b}[31m");
    let graph = network.graph(TopologyView::L2);
    for format in [Format::Svg, Format::GraphMl, Format::DrawIo, Format::Dot] {
        let file = Picture::new(&graph, "t").render(format).unwrap();
        assert!(file.contains("core\u{fffd}\u{fffd}[31m"), "{format}");
    }
}

/// Graphviz decodes entities before it reads the escape sequences of labels.
#[test]
fn backslashes_are_escaped_twice_in_dot() {
    let network = network("rack\\new");
    let file = Picture::new(&network.graph(TopologyView::L2), "t").render(Format::Dot).unwrap();
    assert!(file.contains("label=\"rack&#92;&#92;new\\n"), "{file}");
}

/// Names could otherwise show the rest of a line in another order.
#[test]
fn directions_of_names_end_with_the_names() {
    let network = network("\u{202e}gnp.exe\u{2067} \u{5e9}\u{5e8}\u{5ea}");
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    for format in [Format::Svg, Format::GraphMl, Format::DrawIo, Format::Dot, Format::Mermaid] {
        let file = Picture::new(&graph, "\u{202e}t").render(format).unwrap();
        let is_control =
            |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}' | '\u{2067}');
        assert!(!file.contains(is_control), "{format}");
        assert_eq!(file.matches('\u{2068}').count(), file.matches('\u{2069}').count(), "{format}");
        if format != Format::GraphMl {
            assert!(
                file.contains("\u{2068}\u{fffd}gnp.exe\u{fffd} \u{5e9}\u{5e8}\u{5ea}"),
                "{format}: {file}"
            );
        }
    }
}
