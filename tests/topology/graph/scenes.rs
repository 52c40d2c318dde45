//! The engineer's drawings: networks with known tiers, in the folder `scenes` of the test data.
//!
//! The test data is in `TOPOSCOPE_DATA`, or in `../shared/data` beside the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toposcope::model::{Host, TopologyView};
use toposcope::topology::graph::{
    Graph, GraphInput, GraphOptions, HostSummary, Node, Positions, build, lay_out,
};
use toposcope::topology::links::{Device, Links};

use self::read::{Roles, Scene};
use super::support::NETWORK;

#[allow(dead_code, reason = "the benchmark also draws the large networks")]
#[path = "../../../benches/layout/scenes/generated.rs"]
pub(crate) mod generated;
#[allow(dead_code, reason = "the benchmark also reads what kinds of networks these are")]
#[path = "../../../benches/layout/scenes/read.rs"]
pub(crate) mod read;

/// Returns the networks that have tiers.
fn scenes() -> Vec<Scene> {
    let kinds = ["fabric", "campus", "tree", "wan"];
    all_scenes().into_iter().filter(|scene| kinds.contains(&scene.kind.as_str())).collect()
}

pub(crate) fn all_scenes() -> Vec<Scene> {
    let folder = std::env::var_os("TOPOSCOPE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    if !folder.join("scenes").is_dir() {
        println!("skipped: no folder scenes in {}", folder.display());
        return Vec::new();
    }
    let scenes = read::scenes(&folder);
    assert!(!scenes.is_empty(), "{} holds no scenes", folder.display());
    scenes
}

pub(crate) fn drawn(hosts: &[Host]) -> Graph {
    let links = Links::new(hosts.iter().map(|host| Device::of(host, &[])), &[]);
    let summaries: Vec<HostSummary> = hosts.iter().map(|host| HostSummary::of(host, &[])).collect();
    let options = GraphOptions::new(TopologyView::L2);
    let mut input = GraphInput::new(NETWORK, &options);
    input.hosts = summaries.iter().collect();
    input.links = links.links().collect();
    input.stubs = links.stubs().collect();
    input.segments = links.segments().collect();
    let mut graph = build(&input);
    lay_out(&mut graph, &Positions::default());
    graph
}

fn height(node: &Node) -> i64 {
    (node.y + node.height / 2.0).round() as i64
}

#[test]
fn scenes_are_drawn_in_their_tiers_with_any_roles() {
    for scene in scenes() {
        for roles in [Roles::All, Roles::Half, Roles::None] {
            let graph = drawn(&scene.hosts(roles, false));
            let nodes: BTreeMap<&str, &Node> =
                graph.nodes.iter().map(|node| (node.label.as_str(), node)).collect();
            let mut heights: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
            for (name, tier) in &scene.tiers {
                let is_switch =
                    scene.role(name).is_none_or(|role| ["router", "firewall", "switch"].contains(&role));
                if let Some(node) = nodes.get(name.as_str()).filter(|_| is_switch) {
                    heights.entry(*tier).or_default().insert(height(node));
                }
            }
            let name = format!("{}, {} roles", scene.name, roles.text());
            // In a wide network, every other switch of a tier is lower.
            assert!(heights.values().all(|heights| heights.len() <= 2), "{name}: {heights:?}");
            assert!(heights.values().flatten().is_sorted(), "{name}: {heights:?}");
        }
    }
}
