//! The content of folds, in numbers and in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::model::HostRole;
use crate::topology::graph::arrange::size::{
    DETAIL_SIZE, LABEL_SIZE, MAX_LABEL, MAX_SUMMARY, shorten_to_width, sort_key, width,
};
use crate::topology::graph::port_name::{numbered, port_list};
use crate::topology::graph::role::role_count;
use crate::topology::graph::shape::{FoldedDevice, FoldedPart, Node, NodeKind, RoleCount};

/// Maximum number of parts of a fold.
const MAX_PARTS: usize = 8;

/// An end device, and the port that it is connected to.
pub(super) struct Leaf<'a> {
    pub(super) node: &'a Node,
    pub(super) port: Option<String>,
}

/// Describes the end devices that a node stands for.
pub(super) fn describe(group: &mut Node, mut leaves: Vec<Leaf<'_>>) {
    let all = leaves.len();
    group.folded = role_counts(leaves.iter().map(|leaf| leaf.node));
    group.label = words(&group.folded, MAX_LABEL, LABEL_SIZE)
        .unwrap_or_else(|| count_in_words(all, leaves.iter().map(|leaf| leaf.node.kind)));
    group.vlan = super::common(leaves.iter().map(|leaf| leaf.node.vlan)).flatten();
    group.parts = by_vlan(&leaves).or_else(|| by_port(&mut leaves)).unwrap_or_default();
    group.detail = detail(&group.parts);
}

/// Returns the devices by their names, for files in which the group can be opened.
pub(super) fn devices(nodes: impl Iterator<Item = Node>) -> Vec<FoldedDevice> {
    let device = |node: Node| {
        let Node { id, label, detail, role, .. } = node;
        FoldedDevice { id, label, detail, role }
    };
    let mut devices: Vec<FoldedDevice> = nodes.map(device).collect();
    devices.sort_by_cached_key(|device| (sort_key(&device.label), device.id));
    devices
}

/// Largest number of roles of which a group counts the devices one by one. There are fewer that the crate knows.
const MAX_ROLES: usize = 32;

/// Returns the number of devices of each role, the most frequent first. Devices of the rarest roles count as unknown where
/// there are too many roles.
pub(in crate::topology::graph) fn role_counts<'n>(nodes: impl Iterator<Item = &'n Node>) -> Vec<RoleCount> {
    let mut counts: BTreeMap<HostRole, u32> = BTreeMap::new();
    for node in nodes.filter(|node| node.is_device()) {
        let count = counts.entry(node.role).or_default();
        *count = count.saturating_add(1);
    }
    let mut counts: Vec<RoleCount> =
        counts.into_iter().map(|(role, count)| RoleCount { role, count }).collect();
    counts.sort_by_key(|of| std::cmp::Reverse(of.count));
    if counts.len() > MAX_ROLES {
        let rare = counts.split_off(MAX_ROLES - 1);
        let count = rare.iter().map(|of| of.count).fold(0, u32::saturating_add);
        match counts.iter_mut().find(|of| of.role == HostRole::Unknown) {
            Some(unknown) => unknown.count = unknown.count.saturating_add(count),
            None => counts.push(RoleCount { role: HostRole::Unknown, count }),
        }
        counts.sort_by_key(|of| std::cmp::Reverse(of.count));
    }
    counts
}

/// Returns the number and the kind of nodes in words.
pub(in crate::topology::graph) fn count_in_words(
    count: usize,
    kinds: impl Iterator<Item = NodeKind>,
) -> String {
    let (one, several) = match super::common(kinds) {
        Some(NodeKind::Subnet) => ("subnet", "subnets"),
        Some(NodeKind::Service) => ("container", "containers"),
        _ => ("device", "devices"),
    };
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns the devices in words, such as `37 workstations, 4 printers`, in at most this width if possible; `None` without
/// devices. The last words count what has no room.
pub(in crate::topology::graph) fn words(counts: &[RoleCount], limit: u32, size: u32) -> Option<String> {
    let all = counts.iter().fold(0_u32, |sum, of| sum.saturating_add(of.count));
    let mut text = String::new();
    let mut left = all;
    for of in counts {
        let with = format!("{text}{}{}", if text.is_empty() { "" } else { ", " }, role_count(*of));
        let rest = left.saturating_sub(of.count);
        if !text.is_empty() && width(&with_others(&with, rest), size) > limit {
            break;
        }
        (text, left) = (with, rest);
    }
    (all > 0).then(|| with_others(&text, left))
}

fn with_others(text: &str, others: u32) -> String {
    match others {
        0 => text.to_owned(),
        1 => format!("{text}, 1 other"),
        _ => format!("{text}, {others} others"),
    }
}

/// Divides end devices by their VLANs, if they have several.
fn by_vlan(leaves: &[Leaf<'_>]) -> Option<Vec<FoldedPart>> {
    let mut vlans: BTreeMap<Option<u16>, Vec<&Node>> = BTreeMap::new();
    for leaf in leaves {
        vlans.entry(leaf.node.vlan).or_default().push(leaf.node);
    }
    if vlans.keys().flatten().count() < 2 {
        return None;
    }
    let mut parts: Vec<(Option<u16>, Vec<&Node>)> = vlans.into_iter().collect();
    // The last part has the devices without a known VLAN, and those of the smallest of many VLANs.
    parts.sort_by_key(|(vlan, nodes)| (vlan.is_none(), std::cmp::Reverse(nodes.len())));
    let kept = if parts.len() > MAX_PARTS { MAX_PARTS - 1 } else { parts.len() };
    let others: Vec<&Node> = parts.drain(kept..).flat_map(|(_, nodes)| nodes).collect();
    let part = |(vlan, nodes): (Option<u16>, Vec<&Node>)| FoldedPart {
        vlan,
        ports: None,
        folded: role_counts(nodes.into_iter()),
    };
    let others = Some((None, others)).filter(|(_, nodes)| !nodes.is_empty());
    Some(parts.into_iter().chain(others).map(part).collect())
}

/// Divides end devices by ranges of ports, if few ranges have one role and one kind of port each.
fn by_port(leaves: &mut [Leaf<'_>]) -> Option<Vec<FoldedPart>> {
    leaves.sort_by_cached_key(|leaf| leaf.port.as_deref().map(sort_key));
    let slot = |leaf: &Leaf<'_>| leaf.port.as_deref().map(|port| numbered(port).0.to_owned());
    let is_same =
        |one: &Leaf<'_>, other: &Leaf<'_>| one.node.role == other.node.role && slot(one) == slot(other);
    let runs: Vec<&[Leaf<'_>]> = leaves.chunk_by(is_same).take(MAX_PARTS.saturating_add(1)).collect();
    let are_few = (2..=MAX_PARTS).contains(&runs.len()) && runs.len() < leaves.len();
    if !are_few || leaves.iter().any(|leaf| leaf.port.is_none()) {
        return None;
    }
    let part = |run: &&[Leaf<'_>]| FoldedPart {
        vlan: None,
        ports: Some(shorten_to_width(
            &port_list(run.iter().filter_map(|leaf| leaf.port.as_deref())),
            DETAIL_SIZE,
            MAX_SUMMARY,
        )),
        folded: role_counts(run.iter().map(|leaf| leaf.node)),
    };
    Some(runs.iter().map(part).collect())
}

/// Returns the second line of a fold: where its parts are.
fn detail(parts: &[FoldedPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        let place = part.place();
        let count = part.folded.iter().fold(0_u32, |sum, of| sum.saturating_add(of.count));
        let gap = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{gap}{place}: {count}");
    }
    (!text.is_empty()).then(|| shorten_to_width(&text, DETAIL_SIZE, MAX_SUMMARY))
}
