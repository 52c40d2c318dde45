//! Candidates that compete for ports, in components that do not affect each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::candidate::{Candidate, HostPort, Source};
use super::contest::aggregate_of;
use super::devices::Devices;
use super::settle::{Settled, settle};
use super::{End, Link, Segment, Stub};

/// What connects the candidates of several sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    /// Two devices.
    Pair(Source),
    /// A port that candidates are at, or its aggregate.
    Port(HostPort),
}

/// The candidates of a source, and the nodes that they are at.
#[derive(Clone, Debug)]
struct Proposed {
    candidates: Vec<Candidate>,
    nodes: Vec<Node>,
}

/// Sources whose candidates compete with each other, and what they result in.
#[derive(Clone, Debug)]
struct Component {
    sources: Vec<Source>,
    links: Vec<Uuid>,
    segments: Vec<Uuid>,
    stubs: Vec<Uuid>,
}

/// All candidates, and the links that they result in.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    proposed: BTreeMap<Source, Proposed>,
    by_node: HashMap<Node, Vec<Source>>,
    /// The smallest source of the component of each source.
    root_of: HashMap<Source, Source>,
    components: HashMap<Source, Component>,
    pub(super) links: BTreeMap<Uuid, Link>,
    pub(super) segments: BTreeMap<Uuid, Segment>,
    /// The switches that announce nothing.
    pub(super) unmanaged: BTreeMap<Uuid, Stub>,
    /// The number of links at each stub.
    links_at: HashMap<Uuid, usize>,
}

impl Components {
    /// Returns the sources of the candidates at the ports of a host.
    pub(super) fn access_sources(&self, host: Uuid) -> impl Iterator<Item = Source> {
        let range = Source::Access(host, 0)..=Source::Access(host, u32::MAX);
        self.proposed.range(range).map(|(source, _)| *source)
    }

    /// Returns whether a stub has links.
    pub(super) fn has_links(&self, stub: Uuid) -> bool {
        self.links_at.contains_key(&stub)
    }

    /// Replaces the candidates of sources, and decides again wherever they compete. Returns the stubs with other links.
    pub(super) fn update(
        &mut self,
        changes: BTreeMap<Source, Vec<Candidate>>,
        devices: &Devices,
    ) -> BTreeSet<Uuid> {
        let mut stubs = BTreeSet::new();
        let mut affected = BTreeSet::new();
        for (source, candidates) in changes {
            affected.extend(self.dissolve(source, &mut stubs));
            self.replace(source, candidates, devices);
            affected.insert(source);
        }
        affected.retain(|source| self.proposed.contains_key(source));
        let mut pending: Vec<Source> = affected.iter().copied().collect();
        while let Some(source) = pending.pop() {
            for neighbor in self.neighbors(source) {
                if !affected.contains(&neighbor) {
                    let joined = self.dissolve(neighbor, &mut stubs);
                    pending.extend(joined.iter().copied().filter(|source| affected.insert(*source)));
                }
            }
        }
        while let Some(root) = affected.first().copied() {
            let sources = self.connected(root);
            sources.iter().for_each(|source| {
                affected.remove(source);
            });
            self.settle(root, sources, devices, &mut stubs);
        }
        stubs
    }

    fn replace(&mut self, source: Source, candidates: Vec<Candidate>, devices: &Devices) {
        if let Some(former) = self.proposed.remove(&source) {
            for node in former.nodes {
                if let Some(sources) = self.by_node.get_mut(&node) {
                    sources.retain(|other| *other != source);
                    if sources.is_empty() {
                        self.by_node.remove(&node);
                    }
                }
            }
        }
        if candidates.is_empty() {
            return;
        }
        let mut nodes = BTreeSet::new();
        for candidate in &candidates {
            let [one, other] = &candidate.ends;
            nodes.insert(Node::Pair(Source::pair(one.device, other.device)));
            for end in &candidate.ends {
                nodes.extend(end.host_port().map(Node::Port));
                nodes.extend(aggregate_of(end, devices).map(Node::Port));
            }
        }
        for node in &nodes {
            self.by_node.entry(node.clone()).or_default().push(source);
        }
        self.proposed.insert(source, Proposed { candidates, nodes: nodes.into_iter().collect() });
    }

    fn neighbors(&self, source: Source) -> BTreeSet<Source> {
        let nodes = self.proposed.get(&source).map(|proposed| proposed.nodes.as_slice()).unwrap_or_default();
        nodes.iter().filter_map(|node| self.by_node.get(node)).flatten().copied().collect()
    }

    /// Returns the sources that compete with one, directly or through others.
    fn connected(&self, root: Source) -> BTreeSet<Source> {
        let mut connected = BTreeSet::from([root]);
        let mut pending = vec![root];
        while let Some(source) = pending.pop() {
            pending.extend(self.neighbors(source).into_iter().filter(|source| connected.insert(*source)));
        }
        connected
    }

    /// Removes the component of a source and its links. Returns its sources.
    fn dissolve(&mut self, source: Source, stubs: &mut BTreeSet<Uuid>) -> Vec<Source> {
        let root = self.root_of.get(&source);
        let Some(component) = root.and_then(|root| self.components.remove(root)) else { return vec![source] };
        for id in component.links {
            if let Some(link) = self.links.remove(&id) {
                self.count(&link, false, stubs);
            }
        }
        component.segments.iter().for_each(|id| drop(self.segments.remove(id)));
        component.stubs.iter().for_each(|id| drop(self.unmanaged.remove(id)));
        for source in &component.sources {
            self.root_of.remove(source);
        }
        component.sources
    }

    fn settle(
        &mut self,
        root: Source,
        sources: BTreeSet<Source>,
        devices: &Devices,
        stubs: &mut BTreeSet<Uuid>,
    ) {
        let proposed = sources.iter().filter_map(|source| self.proposed.get(source));
        let candidates = proposed.flat_map(|proposed| proposed.candidates.iter().cloned()).collect();
        let Settled { links, segments, stubs: unmanaged } = settle(candidates, devices);
        let component = Component {
            links: links.iter().map(|link| link.id).collect(),
            segments: segments.iter().map(|segment| segment.id).collect(),
            stubs: unmanaged.iter().map(|stub| stub.id).collect(),
            sources: sources.iter().copied().collect(),
        };
        for link in links {
            self.count(&link, true, stubs);
            self.links.insert(link.id, link);
        }
        self.segments.extend(segments.into_iter().map(|segment| (segment.id, segment)));
        self.unmanaged.extend(unmanaged.into_iter().map(|stub| (stub.id, stub)));
        self.root_of.extend(sources.into_iter().map(|source| (source, root)));
        self.components.insert(root, component);
    }

    fn count(&mut self, link: &Link, is_added: bool, stubs: &mut BTreeSet<Uuid>) {
        for end in [&link.source, &link.target] {
            let End::Stub { id, .. } = end else { continue };
            stubs.insert(*id);
            let count = self.links_at.entry(*id).or_default();
            *count = if is_added { count.saturating_add(1) } else { count.saturating_sub(1) };
            if *count == 0 {
                self.links_at.remove(id);
            }
        }
    }
}
