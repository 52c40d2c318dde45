//! The names of a graph's values in pictures, and numbers as text.

use crate::model::{HostRole, TopologyView};
use crate::topology::graph::{Edge, EdgeKind, Node, NodeKind};
pub(super) use crate::topology::graph::{role_count, role_name as role};
use crate::topology::links::{Confidence, LinkState, VlanRange};
use crate::topology::render::theme::{Look, Rgb, ThemeColor};
use crate::topology::render::{Format, changes};

pub(super) const fn view(view: TopologyView) -> &'static str {
    match view {
        TopologyView::L2 => "Layer 2",
        TopologyView::L3 => "Layer 3",
        TopologyView::Workloads => "Workloads",
    }
}

/// Returns the name of a format for people.
pub(super) const fn format(format: Format) -> &'static str {
    match format {
        Format::Svg => "SVG, a picture",
        Format::Mermaid => "Mermaid, for Markdown",
        Format::Dot => "DOT, for Graphviz",
        Format::GraphMl => "GraphML",
        Format::DrawIo => "draw.io, to edit",
        Format::Json => "JSON",
    }
}

/// Returns the role as a word of a class name; for roles of host applications, which look alike, as two words.
pub(super) fn role_class(role: HostRole) -> &'static str {
    match role {
        HostRole::AccessPoint => "access-point",
        HostRole::WirelessController => "wireless-controller",
        HostRole::IndustrialController => "industrial-controller",
        _ => role.known_text().unwrap_or("unknown other"),
    }
}

pub(super) const fn node_kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Host => "host",
        NodeKind::Stub => "stub",
        NodeKind::Segment => "segment",
        NodeKind::Subnet => "subnet",
        NodeKind::Area => "area",
        NodeKind::Group => "group",
        NodeKind::Service => "service",
    }
}

pub(super) const fn edge_kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Physical => "physical",
        EdgeKind::Adjacency => "adjacency",
        EdgeKind::Bridged => "bridged",
        EdgeKind::Routed => "routed",
        EdgeKind::Member => "member",
        EdgeKind::Hosts => "hosts",
    }
}

pub(super) const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Confirmed => "confirmed",
        Confidence::Reported => "reported",
        Confidence::Inferred => "inferred",
        Confidence::Conflicting => "conflicting",
    }
}

/// Returns the state as a word of a class name.
pub(super) const fn state_class(state: LinkState) -> &'static str {
    match state {
        LinkState::Unknown => "unknown",
        LinkState::Up => "up",
        LinkState::Dormant => "dormant",
        LinkState::Testing => "testing",
        LinkState::Degraded => "degraded",
        LinkState::Down => "down",
        LinkState::Disabled => "disabled",
    }
}

/// Returns the classes of a node, as in SVG.
pub(super) fn node_class(node: &Node) -> String {
    let stale = if node.stale { " stale" } else { "" };
    let [kind, role, state] = [node_kind(node.kind), role_class(node.role), state_class(node.state)];
    format!("{kind} {role} state-{state}{stale}{}", changes::class(node.change))
}

/// Returns the classes of an edge, as in SVG.
pub(super) fn edge_class(edge: &Edge) -> String {
    let group = match edge.members.len() {
        0 | 1 => "",
        _ if edge.lag => " lag",
        _ => " parallel",
    };
    let stale = if edge.stale { " stale" } else { "" };
    let blocked = if edge.blocked == Some(true) { " blocked" } else { "" };
    let [kind, certainty, state] =
        [edge_kind(edge.kind), confidence(edge.confidence), state_class(edge.state)];
    format!("{kind} {certainty} state-{state}{stale}{group}{blocked}{}", changes::class(edge.change))
}

/// Returns whether a node is a device or stands for devices, and so has the icon of a role.
pub(super) const fn has_icon(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Host | NodeKind::Stub | NodeKind::Group) || node.collapsed > 0
}

/// Returns whether a node that other programs draw has the color of its role. Without an icon, the color shows the devices that
/// connect others.
pub(super) const fn has_role_color(node: &Node) -> bool {
    has_icon(node) && !matches!(node.role, HostRole::Unknown)
}

/// Returns the state in words.
pub(super) const fn state(state: LinkState) -> &'static str {
    match state {
        LinkState::Unknown => "State unknown",
        LinkState::Up => "Up",
        LinkState::Dormant => "Dormant",
        LinkState::Testing => "In test mode",
        LinkState::Degraded => "Partly down",
        LinkState::Down => "Down",
        LinkState::Disabled => "Disabled",
    }
}

/// Returns the state in words if a reader has to know it. A link that is up looks like one.
pub(super) const fn problem(of: LinkState) -> Option<&'static str> {
    match of {
        LinkState::Unknown | LinkState::Up => None,
        of => Some(state(of)),
    }
}

/// Returns the dashes of a state's lines, in pixels, and their color in files without a dark variant; `None`: those of the
/// confidence, as for links whose state is unknown. Each pattern differs from all others, also from those of the confidences.
pub(super) fn line_style(state: LinkState, look: &Look) -> Option<(&'static str, Rgb)> {
    let (dashes, color) = match state {
        LinkState::Unknown | LinkState::Up => return None,
        LinkState::Dormant => ("18 9", ThemeColor::Dormant),
        LinkState::Testing => ("2 3 2 3 2 10", ThemeColor::Testing),
        LinkState::Degraded => ("20 4 5 4 5 4", ThemeColor::Degraded),
        LinkState::Down => ("6 8", ThemeColor::Down),
        LinkState::Disabled => ("1.5 9", ThemeColor::Disabled),
    };
    Some((dashes, look.color(color)))
}

/// Number of ranges of VLANs that a text names.
const MAX_RANGES: usize = 12;

/// Returns the VLANs of an edge in words; `None` when they are unknown.
pub(super) fn vlans(edge: &Edge) -> Option<String> {
    let ranges = edge.vlans.as_ref()?;
    let mut listed: Vec<String> = ranges.iter().take(MAX_RANGES).map(VlanRange::to_string).collect();
    if ranges.len() > MAX_RANGES {
        listed.push("\u{2026}".to_owned());
    }
    Some(match ranges.as_slice() {
        [] => "no common VLAN".to_owned(),
        [only] if only.first == only.last => format!("VLAN {only}"),
        _ => format!("VLANs {}", listed.join(", ")),
    })
}

/// Returns whether the spanning tree blocks an edge or some of its members, in words.
pub(super) fn blocked(edge: &Edge) -> Option<String> {
    let count = edge.members.iter().filter(|member| member.blocked == Some(true)).count();
    match (edge.blocked, count) {
        (Some(true), _) => Some("blocked by the spanning tree".to_owned()),
        (_, 0) => None,
        (_, count) => Some(format!("{count} of {} blocked by the spanning tree", edge.members.len())),
    }
}

/// Returns all VLANs of a link for programs, such as `10,20-29`.
pub(super) fn list_vlans(ranges: &[VlanRange]) -> String {
    ranges.iter().map(VlanRange::to_string).collect::<Vec<_>>().join(",")
}

/// Returns what has become of an edge, its capacity, and its state if a reader has to know it.
pub(super) fn capacity_and_state(edge: &Edge) -> Option<String> {
    let kind = (edge.members.len() > 1).then_some(if edge.lag { "LAG" } else { "parallel" });
    let capacity = capacity(edge).map(|capacity| match kind {
        Some(kind) => format!("{capacity} {kind}"),
        None => capacity,
    });
    let problem = problem(edge.state).map(str::to_owned);
    let change = changes::signed_words(edge);
    let parts: Vec<String> = change.into_iter().chain(capacity).chain(problem).chain(blocked(edge)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the speed of an edge, with the number of links of an aggregation group. `None` for a single link of unknown
/// speed.
pub(super) fn capacity(edge: &Edge) -> Option<String> {
    if edge.bundled > 1 {
        return Some(format!("{} links", edge.bundled));
    }
    let members = u64::try_from(edge.members.len()).unwrap_or(u64::MAX);
    let known = edge.speed_bps.filter(|speed| *speed > 0);
    match (members, known) {
        (0 | 1, known) => known.map(speed),
        (_, None) => Some(format!("{members}\u{d7}")),
        (_, Some(total)) => Some(format!("{members}\u{d7}{}", speed(total / members))),
    }
}

/// Largest absolute value of a coordinate.
const MAX_ABSOLUTE: f64 = 10_000_000.0;

/// Returns a coordinate with at most two decimals and without needless digits. A value that is not a number becomes 0.
pub(super) fn number(value: f64) -> String {
    let rounded = (sane(value) * 100.0).round() / 100.0;
    // Adding zero turns a negative zero into a positive one.
    (rounded + 0.0).to_string()
}

/// Returns a coordinate within the range that all formats can express.
pub(super) fn sane(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-MAX_ABSOLUTE, MAX_ABSOLUTE) } else { 0.0 }
}

/// Returns a speed as engineers write it, such as `10G`.
pub(super) fn speed(bits_per_second: u64) -> String {
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"), (1, "")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bits_per_second >= *unit).unwrap_or((1, ""));
    let tenths = bits_per_second / (unit / 10).max(1);
    match (unit, tenths % 10) {
        (1, _) | (_, 0) => format!("{}{name}", bits_per_second / unit),
        (_, tenth) => format!("{}.{tenth}{name}", bits_per_second / unit),
    }
}
