//! Candidates that compete for ports, in components that do not affect each other.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::candidate::{CandidateSource, HostPort, LinkCandidate, Spot};
use super::settle::{Settled, settle};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, LinkId, NodeId};
use crate::topology::links::devices::Devices;
use crate::topology::links::lag::aggregate_ports;
use crate::topology::links::multimap::SmallMultimap;
use crate::topology::links::{End, Link, Segment, Stub};

/// The candidates of a source, and their connections with candidates of other sources.
#[derive(Clone, Debug)]
struct Proposed {
    candidates: Vec<LinkCandidate>,
    /// The ports that candidates are at, and their aggregates.
    ports: Vec<HostPort>,
    /// The pairs of devices that the candidates connect, except for the source if it is a pair.
    pairs: Vec<CandidateSource>,
    membership: Membership,
}

/// The component that a source belongs to.
#[derive(Clone, Debug)]
enum Membership {
    /// It has to be decided again.
    Unsettled,
    /// The component is stored at its smallest source.
    Of(CandidateSource),
    /// The source is the smallest of its component.
    Root(Component),
}

/// Sources whose candidates compete with each other, and the resulting links.
#[derive(Clone, Debug)]
struct Component {
    /// The sources other than the smallest.
    others: Vec<CandidateSource>,
    links: Vec<LinkId>,
    segments: Vec<NodeId>,
    stubs: Vec<NodeId>,
}

/// All candidates, and the resulting links.
#[derive(Clone, Debug, Default)]
pub(in crate::topology::links) struct Components {
    proposed: BTreeMap<CandidateSource, Proposed>,
    by_port: SmallMultimap<HostPort, CandidateSource>,
    by_pair: SmallMultimap<CandidateSource, CandidateSource>,
    pub(in crate::topology::links) links: BTreeMap<LinkId, Box<Link>>,
    pub(in crate::topology::links) segments: BTreeMap<NodeId, Segment>,
    /// The switches that announce nothing.
    pub(in crate::topology::links) unmanaged: BTreeMap<NodeId, Stub>,
    /// The number of links at each stub.
    links_at: HashMap<NodeId, usize>,
    /// The links that were decided again since they were last taken; `None`: they are not noted.
    #[cfg(feature = "service")]
    pub(in crate::topology::links) decided: Option<BTreeSet<LinkId>>,
}

/// The ports and the pairs of devices whose candidates are known to compete.
#[derive(Debug, Default)]
struct Visited {
    ports: HashSet<HostPort>,
    pairs: HashSet<CandidateSource>,
}

/// The result of an update.
#[derive(Debug, Default)]
struct Outcome {
    links: Vec<(LinkId, Box<Link>)>,
    /// The stubs whose links have changed, some of them repeatedly.
    stubs: Vec<NodeId>,
}

impl Components {
    /// Returns the sources of the candidates at the ports of a host.
    pub(in crate::topology::links) fn access_sources(&self, host: HostId) -> impl Iterator<Item = u32> {
        let range = CandidateSource::Access(host, 0)..=CandidateSource::Access(host, u32::MAX);
        self.proposed.range(range).filter_map(|(source, _)| match source {
            CandidateSource::Access(_, port) => Some(*port),
            CandidateSource::Pair(..) => None,
        })
    }

    /// Returns whether a stub has links.
    pub(in crate::topology::links) fn has_links(&self, stub: NodeId) -> bool {
        self.links_at.contains_key(&stub)
    }

    /// Replaces the candidates of sources, and decides again wherever they compete. Returns the stubs whose links have
    /// changed, some of them repeatedly.
    pub(in crate::topology::links) fn update(
        &mut self,
        changes: Vec<(CandidateSource, Vec<LinkCandidate>)>,
        devices: &Devices,
    ) -> Vec<NodeId> {
        let mut outcome = Outcome::default();
        let is_first = self.proposed.is_empty();
        let mut contested = BTreeSet::new();
        self.by_port.reserve(changes.len());
        self.links_at.reserve(changes.len());
        let mut affected = BTreeSet::new();
        for (source, candidates) in changes {
            yield_turn();
            affected.extend(self.dissolve(source, &mut outcome));
            if candidates.is_empty() {
                affected.remove(&source);
            } else {
                affected.insert(source);
            }
            self.replace(source, candidates, devices, &mut contested);
        }
        self.add_competitors(&mut affected, &mut outcome);
        let mut visited = Visited::default();
        while let Some(root) = affected.pop_first() {
            yield_turn();
            let is_alone = is_first && !contested.contains(&root);
            let sources =
                if is_alone { vec![root] } else { self.take_connected(root, &mut affected, &mut visited) };
            self.settle(root, sources, devices, &mut outcome);
        }
        extend(&mut self.links, outcome.links);
        outcome.stubs
    }

    /// Replaces the candidates of a source. Adds all sources that it competes with to `contested`, and itself if there
    /// are any.
    fn replace(
        &mut self,
        source: CandidateSource,
        candidates: Vec<LinkCandidate>,
        devices: &Devices,
        contested: &mut BTreeSet<CandidateSource>,
    ) {
        if let Some(former) = self.proposed.remove(&source) {
            former.ports.iter().for_each(|port| self.by_port.remove(port, source));
            former.pairs.iter().for_each(|pair| self.by_pair.remove(pair, source));
        }
        if candidates.is_empty() {
            return;
        }
        let mut ports = Vec::with_capacity(2);
        let mut pairs = Vec::new();
        for candidate in &candidates {
            let [one, other] = &candidate.ends;
            pairs
                .extend(Some(CandidateSource::pair(one.device, other.device)).filter(|pair| *pair != source));
            ports.extend(candidate.ends.iter().filter_map(Spot::host_port));
            ports.extend(aggregate_ports(&candidate.ends, &candidate.announced, devices));
        }
        ports.sort_unstable();
        ports.dedup();
        pairs.sort_unstable();
        pairs.dedup();
        for port in &ports {
            let other = self.by_port.add(port.clone(), source);
            contested.extend(other.into_iter().flat_map(|other| [source, other]));
        }
        for pair in &pairs {
            self.by_pair.add(*pair, source);
            contested.extend([source, *pair]);
        }
        self.proposed
            .insert(source, Proposed { candidates, ports, pairs, membership: Membership::Unsettled });
    }

    /// Adds the sources that compete with others, directly or through others, and removes their components.
    fn add_competitors(&mut self, affected: &mut BTreeSet<CandidateSource>, outcome: &mut Outcome) {
        if affected.len() == self.proposed.len() {
            return;
        }
        let mut pending: Vec<CandidateSource> = affected.iter().copied().collect();
        let mut visited = Visited::default();
        while let Some(source) = pending.pop() {
            for neighbor in self.neighbors(source, &mut visited) {
                if !affected.contains(&neighbor) {
                    let joined = self.dissolve(neighbor, outcome).into_iter().chain([neighbor]);
                    pending.extend(joined.filter(|source| affected.insert(*source)));
                }
            }
        }
    }

    /// Returns the sources that compete with one directly, some of them repeatedly. Those at ports and between pairs that
    /// have been visited are left out, so that many sources at one port are not enumerated for each of them.
    fn neighbors(&self, source: CandidateSource, visited: &mut Visited) -> Vec<CandidateSource> {
        let mut neighbors = Vec::new();
        let Some(proposed) = self.proposed.get(&source) else { return neighbors };
        for port in &proposed.ports {
            if visited.ports.insert(port.clone()) {
                neighbors.extend(self.by_port.get(port));
            }
        }
        for pair in proposed.pairs.iter().copied().chain([source]) {
            if visited.pairs.insert(pair) {
                neighbors.extend(self.by_pair.get(&pair));
                neighbors.extend(Some(pair).filter(|pair| self.proposed.contains_key(pair)));
            }
        }
        neighbors
    }

    /// Takes the sources that compete with one, directly or through others. Returns all of them in order.
    fn take_connected(
        &self,
        root: CandidateSource,
        affected: &mut BTreeSet<CandidateSource>,
        visited: &mut Visited,
    ) -> Vec<CandidateSource> {
        let mut connected = vec![root];
        let mut pending = vec![root];
        while let Some(source) = pending.pop() {
            let others = self.neighbors(source, visited).into_iter();
            let others = others.filter(|other| *other != source && affected.remove(other));
            let others: Vec<CandidateSource> = others.collect();
            connected.extend(&others);
            pending.extend(others);
        }
        connected.sort_unstable();
        connected
    }

    /// Removes the component of a source and its links. Returns its sources.
    fn dissolve(&mut self, source: CandidateSource, outcome: &mut Outcome) -> Vec<CandidateSource> {
        let Some(proposed) = self.proposed.get(&source) else { return Vec::new() };
        let root = if let Membership::Of(root) = proposed.membership { root } else { source };
        let Some(proposed) = self.proposed.get_mut(&root) else { return Vec::new() };
        let Membership::Root(component) = std::mem::replace(&mut proposed.membership, Membership::Unsettled)
        else {
            return Vec::new();
        };
        for id in component.links {
            if let Some(link) = self.links.remove(&id) {
                self.count(&link, false, &mut outcome.stubs);
            }
        }
        component.segments.iter().for_each(|id| drop(self.segments.remove(id)));
        component.stubs.iter().for_each(|id| drop(self.unmanaged.remove(id)));
        let mut sources = component.others;
        sources.push(root);
        sources
    }

    fn settle(
        &mut self,
        root: CandidateSource,
        sources: Vec<CandidateSource>,
        devices: &Devices,
        outcome: &mut Outcome,
    ) {
        let proposed = sources.iter().filter_map(|source| self.proposed.get(source));
        let candidates = proposed.flat_map(|proposed| &proposed.candidates).collect();
        let Settled { links, segments, stubs: unmanaged } = settle(candidates, devices);
        let others: Vec<CandidateSource> = sources.into_iter().filter(|source| *source != root).collect();
        for source in &others {
            if let Some(proposed) = self.proposed.get_mut(source) {
                proposed.membership = Membership::Of(root);
            }
        }
        let component = Component {
            others,
            links: links.iter().map(|link| link.id).collect(),
            segments: segments.iter().map(|segment| segment.id).collect(),
            stubs: unmanaged.iter().map(|stub| stub.id).collect(),
        };
        if let Some(proposed) = self.proposed.get_mut(&root) {
            proposed.membership = Membership::Root(component);
        }
        for link in links {
            self.count(&link, true, &mut outcome.stubs);
            outcome.links.push((link.id, Box::new(link)));
        }
        self.segments.extend(segments.into_iter().map(|segment| (segment.id, segment)));
        self.unmanaged.extend(unmanaged.into_iter().map(|stub| (stub.id, stub)));
    }

    fn count(&mut self, link: &Link, is_added: bool, stubs: &mut Vec<NodeId>) {
        #[cfg(feature = "service")]
        self.decided.iter_mut().for_each(|decided| _ = decided.insert(link.id));
        for end in [&link.source, &link.target] {
            let End::Stub { id, .. } = end else { continue };
            stubs.push(*id);
            let count = self.links_at.entry(*id).or_default();
            *count = if is_added { count.saturating_add(1) } else { count.saturating_sub(1) };
            if *count == 0 {
                self.links_at.remove(id);
            }
        }
    }
}

/// Adds values to a map. Where the map is empty, sorting them once is faster than searching a place for each.
pub(in crate::topology::links) fn extend<I: Ord, T>(map: &mut BTreeMap<I, Box<T>>, values: Vec<(I, Box<T>)>) {
    if map.is_empty() {
        *map = values.into_iter().collect();
    } else {
        map.extend(values);
    }
}
