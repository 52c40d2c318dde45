//! Graphs as GraphML.

use std::fmt::Write;

use super::Picture;
use super::changes::{former_place, moments};
use super::file::File;
use super::scene::Scene;
use super::theme::Look;
use super::widths::LineWidths;
use super::words::{confidence, edge_kind, node_kind, role_class, state_class};
use super::words::{list_vlans, number};
use super::xml::escape;
use super::yed;
use crate::model::HostRole;
use crate::topology::graph::{Edge, Node, port_names};

/// The attributes: id, element, type.
const KEYS: &[(&str, &str, &str)] = &[
    ("label", "node", "string"),
    ("detail", "node", "string"),
    ("kind", "node", "string"),
    ("role", "node", "string"),
    ("parent", "node", "string"),
    ("collapsed", "node", "int"),
    ("stale", "node", "boolean"),
    ("state", "node", "string"),
    ("location", "node", "string"),
    ("vendor", "node", "string"),
    ("model", "node", "string"),
    ("vlan", "node", "int"),
    ("implied", "node", "boolean"),
    ("change", "node", "string"),
    ("moved_from", "node", "string"),
    ("x", "node", "double"),
    ("y", "node", "double"),
    ("width", "node", "double"),
    ("height", "node", "double"),
    ("edge_kind", "edge", "string"),
    ("source_port", "edge", "string"),
    ("target_port", "edge", "string"),
    ("speed_bps", "edge", "long"),
    ("members", "edge", "int"),
    ("lag", "edge", "boolean"),
    ("bundled", "edge", "int"),
    ("confidence", "edge", "string"),
    ("edge_stale", "edge", "boolean"),
    ("edge_state", "edge", "string"),
    ("since", "edge", "string"),
    ("vlans", "edge", "string"),
    ("blocked", "edge", "boolean"),
    ("edge_change", "edge", "string"),
    ("edge_moved_from", "edge", "string"),
];

/// Writes a flat graph. Containers are the attribute `parent`, which more programs read than nested graphs.
///
/// Beside the attributes, which any program reads, nodes and edges have the shapes, places and labels of yEd.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let (scene, look) = (Scene::new(picture.graph), picture.theme.look());
    let widths = LineWidths::of(&scene);
    out.push_str(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:y=\"http://www.yworks.com/xml/graphml\">\n",
    );
    let moments = moments(picture.graph).map(|moments| format!(" ({moments})")).unwrap_or_default();
    let _ = writeln!(out, "<desc>{}{}</desc>", escape(picture.title), escape(&moments));
    for (id, domain, kind) in KEYS {
        // Ids are unique among nodes and edges, and names are not.
        let name = id.strip_prefix("edge_").unwrap_or(id);
        let _ =
            writeln!(out, "<key id=\"{id}\" for=\"{domain}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    out.push_str(yed::KEYS);
    out.push_str("<graph id=\"topology\" edgedefault=\"undirected\">\n");
    for node in &picture.graph.nodes {
        write_node(out, &scene, look, node);
    }
    for edge in scene.edges() {
        write_edge(out, &scene, look, &widths, edge);
    }
    out.push_str("</graph>\n</graphml>\n");
}

fn write_node(out: &mut File, scene: &Scene<'_>, look: &Look, node: &Node) {
    let _ = write!(out, "<node id=\"{}\">", node.id);
    data(out, "label", &node.label);
    if let Some(detail) = &node.detail {
        data(out, "detail", detail);
    }
    data(out, "kind", node_kind(node.kind));
    match &node.role {
        HostRole::Other(role) => data(out, "role", role.as_str()),
        known => data(out, "role", role_class(*known)),
    }
    if let Some(parent) = node.parent_id {
        data(out, "parent", &parent.to_string());
    }
    data(out, "collapsed", &node.collapsed.to_string());
    data(out, "stale", if node.stale { "true" } else { "false" });
    data(out, "state", state_class(node.state));
    let texts = [("location", &node.location), ("vendor", &node.vendor), ("model", &node.model)];
    for (key, value) in texts.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
        data(out, key, value);
    }
    if node.implied {
        data(out, "implied", "true");
    }
    if let Some(vlan) = node.vlan {
        data(out, "vlan", &vlan.to_string());
    }
    if let Some(change) = node.change {
        data(out, "change", change.as_str());
    }
    if let Some(from) = &node.moved_from {
        data(out, "moved_from", from);
    }
    for (key, value) in [("x", node.x), ("y", node.y), ("width", node.width), ("height", node.height)] {
        data(out, key, &number(value));
    }
    yed::write_node(out, scene, look, node);
    out.push_str("</node>\n");
}

fn write_edge(out: &mut File, scene: &Scene<'_>, look: &Look, widths: &LineWidths, edge: &Edge) {
    let _ = write!(out, "<edge id=\"{}\" source=\"{}\" target=\"{}\">", edge.id, edge.source, edge.target);
    data(out, "edge_kind", edge_kind(edge.kind));
    let ports = [&edge.source_port, &edge.target_port];
    for ((key, port), names) in ["source_port", "target_port"].into_iter().zip(ports).zip(port_names(edge)) {
        if let Some(name) = port.as_ref().map(|port| port.name.clone()).or(names) {
            data(out, key, &name);
        }
    }
    if let Some(speed) = edge.speed_bps {
        // The type is a signed number of 64 bits.
        data(out, "speed_bps", &i64::try_from(speed).unwrap_or(i64::MAX).to_string());
    }
    data(out, "members", &edge.members.len().to_string());
    data(out, "lag", if edge.lag { "true" } else { "false" });
    if edge.bundled > 0 {
        data(out, "bundled", &edge.bundled.to_string());
    }
    data(out, "confidence", confidence(edge.confidence));
    data(out, "edge_stale", if edge.stale { "true" } else { "false" });
    data(out, "edge_state", state_class(edge.state));
    if let Some(since) = edge.since {
        data(out, "since", &since.to_string());
    }
    if let Some(vlans) = &edge.vlans {
        data(out, "vlans", &list_vlans(vlans));
    }
    if let Some(blocked) = edge.blocked {
        data(out, "blocked", if blocked { "true" } else { "false" });
    }
    if let Some(change) = edge.change {
        data(out, "edge_change", change.as_str());
    }
    if let Some(from) = former_place(edge) {
        data(out, "edge_moved_from", &from);
    }
    yed::write_edge(out, scene, look, widths, edge);
    out.push_str("</edge>\n");
}

fn data(out: &mut File, key: &str, value: &str) {
    let _ = write!(out, "<data key=\"{key}\">{}</data>", escape(value));
}
