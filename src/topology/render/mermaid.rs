//! Graphs as flowcharts of Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Picture;
use super::changes::{color, moments, signed};
use super::file::File;
use super::scene::Scene;
use super::theme::Look;
use super::tiers::{Downward, downward};
use super::words::{capacity_and_state, has_role_color, line_style, problem, role_class, state_class};
use super::xml::{isolated, visible};
use crate::model::{HostRole, NodeId};
use crate::topology::graph::{GraphChange, Node, NodeKind, shorten};
use crate::topology::links::{Confidence, LinkState};

/// Maximum number of levels that lines are indented by.
const MAX_INDENT: usize = 16;

/// Longest text in characters.
const MAX_TEXT: usize = 80;

/// Writes a flowchart. Mermaid draws it in the tiers of the picture, except for links within a tier: it has no means to put the
/// ends of a link side by side.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let (scene, look) = (Scene::new(picture.graph), picture.theme.look());
    let names = names(&scene);
    let _ = writeln!(out, "flowchart TB\n%% {}", comment(picture.title));
    if let Some(moments) = moments(picture.graph) {
        let _ = writeln!(out, "%% {}", comment(&moments));
    }
    nodes(out, &scene, &names, &scene.contents());
    let mut written = 0_usize;
    let mut by_state: BTreeMap<(LinkState, Option<GraphChange>), Vec<usize>> = BTreeMap::new();
    for downward in downward(&scene) {
        if let (Some(upper), Some(lower)) = (names.get(&downward.upper), names.get(&downward.lower)) {
            let _ = writeln!(out, "    {upper} {} {lower}", arrow(&downward));
            by_state.entry((downward.edge.state, downward.edge.change)).or_default().push(written);
            written = written.saturating_add(1);
        }
    }
    write_lines(out, look, &by_state);
    write_classes(out, &scene, look, &names);
}

/// Writes the styles of lines, which Mermaid counts, by their states.
fn write_lines(out: &mut File, look: &Look, lines: &BTreeMap<(LinkState, Option<GraphChange>), Vec<usize>>) {
    for ((state, change), places) in lines {
        let (dashes, color) = match (change, line_style(*state, look)) {
            (Some(GraphChange::Removed), _) => ("8 5", color(GraphChange::Removed, look)),
            (Some(change), _) => ("none", color(*change, look)),
            (None, Some(style)) => style,
            (None, None) => continue,
        };
        let places: Vec<String> = places.iter().map(usize::to_string).collect();
        let _ = writeln!(out, "    linkStyle {} stroke:{color},stroke-dasharray:{dashes}", places.join(","));
    }
}

/// Writes the classes of nodes: their roles, after these the states that a reader has to know, and then what has become of them, so
/// that their borders win.
fn write_classes(out: &mut File, scene: &Scene<'_>, look: &Look, names: &BTreeMap<NodeId, String>) {
    let mut by_role: BTreeMap<HostRole, Vec<&str>> = BTreeMap::new();
    let mut by_state: BTreeMap<LinkState, Vec<&str>> = BTreeMap::new();
    let mut by_change: BTreeMap<GraphChange, Vec<&str>> = BTreeMap::new();
    for node in &scene.graph.nodes {
        let Some(name) = names.get(&node.id) else { continue };
        node.change.into_iter().for_each(|change| by_change.entry(change).or_default().push(name));
        by_state.entry(node.state).or_default().push(name);
        if has_role_color(node) && !scene.is_container(node) {
            by_role.entry(node.role).or_default().push(name);
        }
    }
    for (role, names) in by_role {
        let color = look.role(role);
        // Names such as `end` are words of the language.
        let class = format!("role-{}", role_class(role));
        let _ = writeln!(out, "    classDef {class} fill:{color},color:{},stroke:{color}", color.text_on());
        let _ = writeln!(out, "    class {} {class}", names.join(","));
    }
    for (state, names) in by_state {
        let Some((_, color)) = line_style(state, look) else { continue };
        let class = format!("state-{}", state_class(state));
        let _ = writeln!(out, "    classDef {class} stroke:{color},stroke-width:3px");
        let _ = writeln!(out, "    class {} {class}", names.join(","));
    }
    for (change, names) in by_change {
        let dashes = if change == GraphChange::Removed { ",stroke-dasharray:7 4" } else { "" };
        let color = color(change, look);
        let _ = writeln!(out, "    classDef change-{change} stroke:{color},stroke-width:3px{dashes}");
        let _ = writeln!(out, "    class {} change-{change}", names.join(","));
    }
}

/// Writes nodes, and the nodes that containers among them contain. A stack replaces recursion, because the input would
/// determine the depth.
fn nodes(
    out: &mut File,
    scene: &Scene<'_>,
    names: &BTreeMap<NodeId, String>,
    contents: &BTreeMap<Option<NodeId>, Vec<&Node>>,
) {
    let of = |parent: Option<NodeId>| contents.get(&parent).map_or(&[][..], Vec::as_slice).iter();
    let mut open = vec![of(None)];
    while let Some(level) = open.last_mut() {
        let Some(node) = level.next() else {
            open.pop();
            if !open.is_empty() {
                let _ = writeln!(out, "{}end", indent(open.len()));
            }
            continue;
        };
        let Some(name) = names.get(&node.id) else { continue };
        let indentation = indent(open.len());
        if scene.is_container(node) {
            let _ = writeln!(out, "{indentation}subgraph {name}[\"{}\"]", label(node));
            open.push(of(Some(node.id)));
        } else {
            let (before, after) = outline(node);
            let _ = writeln!(out, "{indentation}{name}{before}\"{}\"{after}", label(node));
        }
    }
}

/// Returns the spaces before a line. Deeper levels look alike, so that nesting does not make the file longer than its
/// content.
fn indent(depth: usize) -> String {
    "    ".repeat(depth.min(MAX_INDENT))
}

/// Returns a short name for each node: its number in the graph. Ids would take most of the file, whose length Mermaid limits.
fn names(scene: &Scene<'_>) -> BTreeMap<NodeId, String> {
    scene.graph.nodes.iter().zip(1_usize..).map(|(node, number)| (node.id, format!("n{number}"))).collect()
}

fn label(node: &Node) -> String {
    let mut label = text(&signed(node));
    if let Some(problem) = problem(node.state) {
        let _ = write!(label, "<br/>{problem}");
    }
    match &node.detail {
        Some(detail) => format!("{label}<br/>{}", text(detail)),
        None => label,
    }
}

const fn outline(node: &Node) -> (&'static str, &'static str) {
    match (node.kind, node.role) {
        (NodeKind::Segment, _) | (_, HostRole::Internet) => ("([", "])"),
        (NodeKind::Group, _) => ("[[", "]]"),
        (_, HostRole::Router) => ("((", "))"),
        (_, HostRole::Firewall) => ("{{", "}}"),
        (_, HostRole::Storage) => ("[(", ")]"),
        (_, HostRole::AccessPoint) => ("(", ")"),
        _ => ("[", "]"),
    }
}

fn arrow(downward: &Downward<'_>) -> String {
    let edge = downward.edge;
    let line = match edge.confidence {
        _ if is_moved_down(downward) => "-->",
        Confidence::Reported | Confidence::Inferred => "-.-",
        _ if edge.members.len() > 1 && edge.lag => "===",
        _ => "---",
    };
    let [upper, lower] = downward.ports.clone();
    let parts: Vec<String> = [upper, capacity_and_state(edge), lower].into_iter().flatten().collect();
    let parts: Vec<String> = parts.iter().map(|part| text(part)).collect();
    if parts.is_empty() { line.to_owned() } else { format!("{line}|\"{}\"|", parts.join(" \u{2013} ")) }
}

/// Returns whether the lower end of an edge has moved. Mermaid has no arrow to the upper one alone.
fn is_moved_down(Downward { edge, lower, .. }: &Downward<'_>) -> bool {
    edge.moved_from.as_ref().is_some_and(|moved| moved.end == *lower)
}

/// Returns text for a quoted label. Everything that Mermaid or HTML could interpret becomes a numeric entity.
fn text(text: &str) -> String {
    let mut escaped = String::new();
    for character in shorten(text, MAX_TEXT).chars().map(visible) {
        if is_plain(character) {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    isolated(&escaped).into_owned()
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || !character.is_ascii()
        || matches!(character, ' ' | '.' | '-' | '_' | '/' | ',')
}

/// Returns text for a comment, which may begin no directive.
fn comment(text: &str) -> String {
    let plain = |character: char| if is_plain(visible(character)) { visible(character) } else { '?' };
    shorten(text, MAX_TEXT).chars().map(plain).collect()
}
