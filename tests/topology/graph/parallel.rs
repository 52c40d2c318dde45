//! Parallel links of two devices.

use toposcope::model::{HostId, TopologyView};
use toposcope::topology::graph::{Graph, Positions, lay_out};
use toposcope::topology::links::{Confidence, End};
use toposcope::topology::render::{Format, Picture};

use super::support::Fixture;

/// Returns two switches and this many links between them, every other one given in the other direction.
fn switches(links: usize) -> (Fixture, [HostId; 2]) {
    let mut network = Fixture::default();
    let [one, other] = ["sw-a", "sw-b"].map(|name| network.host(name, "switch", &[]));
    for number in 1..=links {
        let (near, far) = (format!("Ethernet{number}"), format!("Gi0/{number}"));
        if number % 2 == 0 {
            network.link((one, &near), (other, &far), "Confirmed");
        } else {
            network.link((other, &far), (one, &near), "Confirmed");
        }
    }
    (network, [one, other])
}

fn laid_out(network: &Fixture) -> Graph {
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    graph
}

#[test]
fn parallel_links_are_one_edge_with_all_ports() {
    let (network, [one, _]) = switches(8);
    let graph = laid_out(&network);
    let [edge] = graph.edges.as_slice() else { panic!("{:?}", graph.edges) };
    assert!(network.links.iter().any(|link| link.id == edge.id));
    assert!(!edge.lag && edge.members.len() == 8);
    assert_eq!(edge.speed_bps, Some(8_000_000_000));
    assert_eq!((&edge.source_port, &edge.target_port), (&None, &None));
    let is_source = edge.source == one.into();
    for (number, member) in (1..).zip(&edge.members) {
        let ports = [&member.source_port, &member.target_port].map(|port| port.clone().unwrap().name);
        let [near, far] = [format!("Ethernet{number}"), format!("Gi0/{number}")];
        assert_eq!(ports, if is_source { [near, far] } else { [far, near] });
    }
    for format in [Format::Svg, Format::Dot, Format::Mermaid, Format::DrawIo, Format::GraphMl] {
        let picture = Picture::new(&graph, "Network").render(format).unwrap();
        let texts = ["Eth1\u{2013}8", "Gi0/1\u{2013}8", "8\u{d7}1G"];
        // GraphML has the speed as a number.
        let texts = if format == Format::GraphMl { &texts[..2] } else { &texts[..] };
        assert!(texts.iter().all(|text| picture.contains(text)), "{format}: {picture}");
    }
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains(">Parallel links<") && !picture.contains(">Link aggregation<"));
}

#[test]
fn parallel_links_are_blocked_if_each_of_them_is() {
    let of = |blocked: &[Option<bool>]| {
        let (mut network, _) = switches(blocked.len());
        for (link, blocked) in network.links.iter_mut().zip(blocked) {
            link.blocked = *blocked;
        }
        let graph = laid_out(&network);
        let [edge] = graph.edges.as_slice() else { panic!("{:?}", graph.edges) };
        let members: Vec<Option<bool>> = edge.members.iter().map(|member| member.blocked).collect();
        assert_eq!(members, blocked);
        let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
        let words = picture.split(" \u{b7} ").map(|part| part.split('<').next().unwrap().to_owned());
        (edge.blocked, words.filter(|words| words.contains("blocked")).collect::<Vec<String>>())
    };
    let [all, one] = ["blocked by the spanning tree", "1 of 2 blocked by the spanning tree"];
    assert_eq!(of(&[Some(true), Some(false)]), (Some(false), vec![one.to_owned()]));
    assert_eq!(of(&[Some(true), Some(true)]), (Some(true), vec![all.to_owned()]));
    assert_eq!(of(&[Some(true), None]), (None, vec![one.to_owned()]));
    assert_eq!(of(&[Some(false), None]), (Some(false), Vec::new()));
    assert_eq!(of(&[None, None]), (None, Vec::new()));
}

#[test]
fn links_that_differ_stay_apart() {
    let (mut network, _) = switches(4);
    network.links[0].speed_bps = Some(10_000_000_000);
    network.links[1].speed_bps = None;
    let graph = laid_out(&network);
    let mut members: Vec<usize> = graph.edges.iter().map(|edge| edge.members.len()).collect();
    members.sort_unstable();
    assert_eq!(members, [0, 0, 2]);
}

#[test]
fn aggregation_group_stays_beside_parallel_links() {
    let (mut network, _) = switches(3);
    let members = serde_json::json!([{"source_port": null, "target_port": null}, {"source_port": null, "target_port": null}]);
    network.links[0].members = serde_json::from_value(members).unwrap();
    let graph = laid_out(&network);
    let bundles: Vec<(bool, usize)> = graph.edges.iter().map(|edge| (edge.lag, edge.members.len())).collect();
    assert!(bundles == [(true, 2), (false, 2)] || bundles == [(false, 2), (true, 2)], "{bundles:?}");
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains(">Parallel links<") && picture.contains(">Link aggregation<"));
}

#[test]
fn links_that_contradict_each_other_are_no_parallel_links() {
    let (mut network, _) = switches(2);
    for link in &mut network.links {
        link.confidence = Confidence::Conflicting;
    }
    let graph = laid_out(&network);
    assert!(graph.edges.len() == 2 && graph.edges.iter().all(|edge| edge.members.is_empty()));
}

#[test]
fn ports_that_are_not_known_are_a_question_mark() {
    let (mut network, [one, _]) = switches(3);
    let ends = network.links.iter_mut().flat_map(|link| [&mut link.source, &mut link.target]);
    for end in ends {
        let End::Host { host_id, port } = end else { continue };
        if *host_id != one && port.as_ref().is_some_and(|port| port.name != "Gi0/3") {
            *port = None;
        }
    }
    let graph = laid_out(&network);
    for format in [Format::Svg, Format::GraphMl] {
        let picture = Picture::new(&graph, "Network").render(format).unwrap();
        assert!(picture.contains("Eth1\u{2013}3") && picture.contains("Gi0/3, ?"), "{format}: {picture}");
    }
}
