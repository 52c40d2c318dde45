//! Graphs for shares: ids under the share's secret, and pseudonyms for what the share conceals.

mod sensitive;

use std::collections::{BTreeMap, BTreeSet};

use uuid::{Builder, Uuid};

use self::sensitive::Finder;
pub use self::sensitive::SensitiveValues;
use super::arrange::size::may_be_cut;
use super::arrange::size::{measure, sort_key};
use super::fold::count_in_words;
use super::shape::{Edge, EdgeKind, Graph, Node, NodeKind, TextKind};
use crate::fair_threads::yield_turn;
use crate::model::{HostRole, NodeId, Redaction};
use crate::topology::layout::AddressScope;
use crate::topology::links::{LinkState, PortRef};

/// Longest port name that is not treated as free text, in bytes.
const PORT_NAME: usize = 32;

/// A keyed function from bytes to a code.
type Keyed<'a> = dyn Fn(&[u8]) -> [u8; 32] + 'a;

/// Replaces what a share conceals.
///
/// Pseudonyms and ids are made by a keyed function, such as an HMAC under the share's secret. They are the same in
/// every answer of a share, and unrelated to the pseudonyms and ids of other shares.
pub struct Redactor<'a> {
    keyed: Box<Keyed<'a>>,
    kinds: BTreeSet<Redaction>,
    values: Finder,
    is_inspected: bool,
}

impl std::fmt::Debug for Redactor<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl<'a> Redactor<'a> {
    /// Creates a redactor from a keyed function and what the share conceals.
    ///
    /// `values` are the concealed names, serial numbers and addresses of the network; texts that contain one are replaced
    /// as a whole.
    #[must_use]
    pub fn new(
        keyed: impl Fn(&[u8]) -> [u8; 32] + 'a,
        kinds: &[Redaction],
        values: &SensitiveValues,
    ) -> Self {
        let kinds = kinds.iter().copied().collect();
        Self { keyed: Box::new(keyed), kinds, values: Finder::new(values), is_inspected: true }
    }

    /// Leaves out what only an inspection shows: the evidence of edges, and states.
    #[must_use]
    pub fn without_inspection(mut self) -> Self {
        self.is_inspected = false;
        self
    }

    /// Returns the id under which a share shows something.
    #[must_use]
    pub fn id<I: From<Uuid> + Into<Uuid>>(&self, id: I) -> I {
        let code = self.code("id", id.into().as_bytes(), b"");
        Builder::from_custom_bytes(*code.first_chunk::<16>().unwrap_or(&[0; 16])).into_uuid().into()
    }

    /// Returns the name of the network or the title of the picture, or a pseudonym.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        self.text(name, TextKind::Name, "network", NodeId::nil())
    }

    /// Replaces all ids, omits the ids of records, and replaces what the share conceals.
    ///
    /// The graph is laid out afterwards, with positions under the new ids: the extent of a node reveals the length of
    /// its label.
    pub fn redact(&self, graph: &mut Graph) {
        graph.network_id = None;
        graph.revision = hex(&self.code("revision", graph.revision.as_bytes(), b""), 8);
        for warning in &mut graph.warnings {
            // Other values than counts are names, addresses or ids. Each warning stays, because notes count them.
            warning.params.retain(|name, _| name == "count");
        }
        graph.unplaced.clear();
        let depths = depths(&graph.nodes);
        for node in &mut graph.nodes {
            yield_turn();
            self.redact_node(node);
        }
        for edge in &mut graph.edges {
            yield_turn();
            self.redact_edge(edge);
        }
        // The order must not reveal the order of the original ids.
        let mut nodes: Vec<(usize, Node)> =
            depths.into_iter().zip(std::mem::take(&mut graph.nodes)).collect();
        nodes.sort_by_key(|(depth, node)| (*depth, node.id));
        graph.nodes = nodes.into_iter().map(|(_, node)| node).collect();
        measure(&mut graph.nodes);
        graph.edges.sort_by_key(|edge| edge.id);
    }

    /// Returns whether the share conceals nothing, so that free text and VLANs are shown.
    fn shows_everything(&self) -> bool {
        self.is_inspected && self.kinds.is_empty()
    }

    fn redact_node(&self, node: &mut Node) {
        let original = node.id;
        node.id = self.id(node.id);
        node.entity_id = None;
        node.parent_id = node.parent_id.map(|id| self.id(id));
        let prefix = prefix(node);
        node.label = self.text(&node.label, node.label_kind, prefix, original);
        if let Some(detail) = &mut node.detail {
            *detail = self.text(detail, TextKind::Address, "address", original);
        }
        node.devices.clear();
        // Shares show the present only.
        node.moved_from = None;
        if !self.is_inspected {
            node.state = LinkState::Unknown;
            node.folded.clear();
            if node.kind == NodeKind::Group {
                // The label names the roles.
                node.label = count_in_words(node.collapsed as usize, std::iter::once(NodeKind::Host));
            }
        }
        if !self.shows_everything() {
            if node.kind == NodeKind::Group {
                node.detail = None;
                node.parts.clear();
            }
            (node.location, node.vendor, node.model, node.vlan) = (None, None, None, None);
            // It quotes descriptions, which name the product, and ports.
            node.role_reason = None;
        }
        if self.kinds.contains(&Redaction::Addresses) {
            // A place at the top would tell which addresses are public.
            node.addresses = AddressScope::Unknown;
        }
    }

    fn redact_edge(&self, edge: &mut Edge) {
        // In the view of subnets, the name of a port is its address.
        let kind = match edge.kind {
            EdgeKind::Member | EdgeKind::Routed => TextKind::Address,
            EdgeKind::Physical | EdgeKind::Adjacency | EdgeKind::Bridged | EdgeKind::Hosts => TextKind::Name,
        };
        let (source, target) = (edge.source, edge.target);
        edge.id = self.id(edge.id);
        edge.source = self.id(source);
        edge.target = self.id(target);
        // It names a device and a port by their ids. Shares show the present only.
        (edge.moved_from, edge.until) = (None, None);
        self.redact_port(edge.source_port.as_mut(), kind, source);
        self.redact_port(edge.target_port.as_mut(), kind, target);
        for member in &mut edge.members {
            self.redact_port(member.source_port.as_mut(), kind, source);
            self.redact_port(member.target_port.as_mut(), kind, target);
        }
        // The order must not reveal the order of the original names.
        let name = |port: &Option<PortRef>| port.as_ref().map(|port| sort_key(&port.name));
        edge.members.sort_by_cached_key(|member| (name(&member.source_port), name(&member.target_port)));
        if !self.is_inspected {
            edge.evidence.clear();
            // Without its state, a link that is down would look as if it were up.
            edge.stale |= edge.since.take().is_some();
            edge.state = LinkState::Unknown;
            for member in &mut edge.members {
                (member.state, member.blocked) = (LinkState::Unknown, None);
            }
            edge.blocked = None;
        }
        if !self.shows_everything() {
            edge.vlans = None;
        }
        for evidence in &mut edge.evidence {
            evidence.reporter_host_id = evidence.reporter_host_id.map(|id| self.id(id));
            evidence.if_entry_id = evidence.if_entry_id.map(|id| self.id(id));
        }
    }

    fn redact_port(&self, port: Option<&mut PortRef>, kind: TextKind, owner: NodeId) {
        let Some(port) = port else { return };
        port.if_entry_id = port.if_entry_id.map(|id| self.id(id));
        let is_free_text = kind == TextKind::Name && !self.kinds.is_empty() && !is_port_name(&port.name);
        port.name = if is_free_text {
            self.pseudonym("port", &port.name, owner)
        } else {
            let prefix = if kind == TextKind::Name { "port" } else { "address" };
            self.text(&port.name, kind, prefix, owner)
        };
    }

    /// Returns a text, or its pseudonym if it must be concealed. A text is concealed when its kind is, or when it
    /// contains something concealed.
    fn text(&self, text: &str, kind: TextKind, prefix: &str, owner: NodeId) -> String {
        let conceals = |redaction| self.kinds.contains(&redaction);
        let is_concealed = match kind {
            TextKind::Name => conceals(Redaction::Names),
            TextKind::Address => conceals(Redaction::Addresses),
            TextKind::Mac => conceals(Redaction::Macs),
            // An identifier of unknown origin may be any of these.
            TextKind::Identifier => !self.kinds.is_empty(),
            TextKind::Fixed => return text.to_owned(),
        };
        let contains = || {
            // Part of a value may be where the text was cut.
            (!self.kinds.is_empty() && may_be_cut(text))
                || (conceals(Redaction::Addresses) && sensitive::contains_address(text))
                || (conceals(Redaction::Macs) && sensitive::contains_mac(text))
                || self.values.occur_in(text)
        };
        if is_concealed || contains() { self.pseudonym(prefix, text, owner) } else { text.to_owned() }
    }

    /// Returns the pseudonym of a text. The pseudonym of a port depends on the host as well, because devices name their
    /// ports alike.
    fn pseudonym(&self, prefix: &str, text: &str, owner: NodeId) -> String {
        let owner = if prefix == "port" { owner } else { NodeId::nil() };
        let code = self.code("text", text.as_bytes(), owner.as_bytes());
        format!("{prefix}-{}", hex(&code, 4))
    }

    fn code(&self, purpose: &str, value: &[u8], owner: &[u8]) -> [u8; 32] {
        let mut input = purpose.as_bytes().to_vec();
        input.push(0);
        input.extend_from_slice(owner);
        input.push(0);
        input.extend_from_slice(value);
        (self.keyed)(&input)
    }
}

/// Returns whether a text has the form of a port's name, such as `GigabitEthernet 1/0/1`.
fn is_port_name(text: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || " /.:_-".contains(character);
    text.len() <= PORT_NAME
        && text.chars().all(is_allowed)
        && text.chars().any(|character| character.is_ascii_digit())
        && text.split(' ').count() <= 2
}

fn prefix(node: &Node) -> &'static str {
    match (node.kind, node.role) {
        (NodeKind::Subnet, _) => "subnet",
        (NodeKind::Area, _) => "area",
        (NodeKind::Segment, _) => "segment",
        (NodeKind::Service, _) => "container",
        (_, HostRole::AccessPoint) => "ap",
        (_, HostRole::WirelessController | HostRole::IndustrialController) => "controller",
        (_, HostRole::Unknown | HostRole::Other(_)) => "device",
        (_, role) => role.known_text().unwrap_or("device"),
    }
}

/// Returns how many containers each node is in.
fn depths(nodes: &[Node]) -> Vec<usize> {
    let mut depths: BTreeMap<NodeId, usize> = BTreeMap::new();
    // Containers come before what they contain.
    nodes
        .iter()
        .map(|node| {
            let outer = node.parent_id.and_then(|parent| depths.get(&parent).copied());
            let depth = outer.map_or(0, |outer| outer.saturating_add(1));
            depths.insert(node.id, depth);
            depth
        })
        .collect()
}

fn hex(bytes: &[u8], length: usize) -> String {
    bytes.iter().take(length).map(|byte| format!("{byte:02x}")).collect()
}
