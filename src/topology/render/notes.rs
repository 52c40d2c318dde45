//! Omissions and uncertainties of a graph, in words.

use std::collections::BTreeMap;

use super::xml::visible;
use crate::model::NodeId;
use crate::topology::graph::{Graph, Warning, shorten};

/// Maximum number of devices that a note names.
const NAMED: usize = 3;

/// Longest name in a note, in characters.
const NAME: usize = 60;

/// Returns notes for readers of a graph: hosts that it leaves out, and reasons for missing links, or that there is nothing to
/// show. A note is a sentence without a full stop.
///
/// Pictures show the notes below the legend.
///
/// ```
/// use toposcope::model::{Host, NetworkId, TopologyView};
/// use toposcope::topology::graph::{GraphInput, GraphOptions, HostSummary, build};
/// use toposcope::topology::render::notes;
///
/// let options = GraphOptions::new(TopologyView::L2);
/// let host = HostSummary::of(&Host::new(NetworkId::nil(), "printer-1"), &[]);
/// let mut input = GraphInput::new(NetworkId::nil(), &options);
/// input.hosts.push(&host);
/// assert_eq!(notes(&build(&input)), ["1 host without a known link"]);
/// ```
#[must_use]
pub fn notes(graph: &Graph) -> Vec<String> {
    let mut by_code: BTreeMap<(usize, &str), Vec<&Warning>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for warning in &graph.warnings {
        let place = order.iter().position(|code| *code == warning.code).unwrap_or_else(|| {
            order.push(&warning.code);
            order.len().saturating_sub(1)
        });
        by_code.entry((place, &warning.code)).or_default().push(warning);
    }
    if graph.nodes.is_empty() && graph.warnings.is_empty() {
        return vec!["No hosts to show".to_owned()];
    }
    let labels: BTreeMap<NodeId, &str> =
        graph.nodes.iter().map(|node| (node.id, node.label.as_str())).collect();
    by_code.into_iter().map(|((_, code), warnings)| note(code, &warnings, &labels)).collect()
}

fn note(code: &str, warnings: &[&Warning], labels: &BTreeMap<NodeId, &str>) -> String {
    let counted = warnings.first().and_then(|warning| warning.params.get("count"));
    let count = counted.and_then(|count| count.parse().ok()).unwrap_or(0_u64);
    let of_hosts = u64::try_from(warnings.len()).unwrap_or(u64::MAX);
    match code {
        "hosts_without_links" => many(count, "host", "hosts") + " without a known link",
        "hosts_without_shown_links" => many(count, "host", "hosts") + " whose links are not shown",
        "hosts_without_subnet" => many(count, "host", "hosts") + " without a known subnet",
        "hosts_without_address" => many(count, "host", "hosts") + " without a known address",
        "hosts_without_workloads" => {
            many(count, "host", "hosts") + " without a known virtual machine or container"
        }
        "empty_subnets" => many(count, "subnet", "subnets") + " without a known host",
        "no_links" if warnings.iter().any(|warning| warning.params.contains_key("view")) => {
            format!("No link is known. The view l3 shows {} in their subnets", many(count, "host", "hosts"))
        }
        "no_links" => "No link is known".to_owned(),
        "focus_not_found" => "The node around which to draw is not in this view".to_owned(),
        "duplicate_chassis_id" => {
            many(of_hosts, "chassis id", "chassis ids")
                + " that several hosts have: links to these may be missing"
        }
        "ambiguous_neighbor" => {
            many(of_hosts, "neighbor", "neighbors") + " that several hosts may be" + &named(warnings, labels)
        }
        "neighbor_behind_tunnel" => {
            many(of_hosts, "neighbor", "neighbors")
                + " behind tunnels, without a cable there"
                + &named(warnings, labels)
        }
        "truncated_table" => {
            many(of_hosts, "table", "tables") + " that may lack rows" + &named(warnings, labels)
        }
        "port_index_mismatch" => {
            many(of_hosts, "link", "links")
                + " whose ends number their ports differently"
                + &named(warnings, labels)
        }
        "too_many_bridges" => {
            many(of_hosts, "port", "ports")
                + " with more bridges than are compared"
                + &named(warnings, labels)
        }
        "added_hosts_not_drawn" => {
            many(count, "added host", "added hosts") + " that this view has no place for"
        }
        "removed_hosts_not_drawn" => {
            many(count, "removed host", "removed hosts") + " that this view had no place for"
        }
        "tables_not_in_history" => {
            "Links that follow from forwarding tables are not in the history, and are not shown".to_owned()
        }
        "guests_not_nested" => many(count, "guest", "guests") + " beside the hypervisor, and not within it",
        "folded_to_fit" => {
            many(count, "device", "devices") + " in groups, because the graph would be too large"
        }
        "nodes_left_out" => many(count, "node", "nodes") + " beyond the largest graph, left out",
        "edges_left_out" => many(count, "link", "links") + " beyond the largest graph, left out",
        "more_warnings" => many(count, "further warning", "further warnings"),
        other => other.replace('_', " "),
    }
}

fn many(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns the first devices that warnings are about, in parentheses.
fn named(warnings: &[&Warning], labels: &BTreeMap<NodeId, &str>) -> String {
    let label = |warning: &&Warning| {
        let id = warning.params.get("host_id")?.parse().ok()?;
        let label: String = labels.get(&id)?.chars().map(visible).collect();
        Some(shorten(&label, NAME))
    };
    let mut names: Vec<String> = Vec::new();
    for name in warnings.iter().filter_map(label) {
        if !names.contains(&name) && names.len() <= NAMED {
            names.push(name);
        }
    }
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("\u{2026}".to_owned());
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}
