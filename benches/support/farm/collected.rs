//! An inventory of what was collected, and the cables that it shows.

use std::collections::{BTreeSet, HashMap};

use toposcope::access::{Caller, Scope};
use toposcope::collect::crawl::{Crawl, CrawlEvent};
use toposcope::discovery::Report;
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, Error};
use toposcope::model::{Network as NetworkRecord, NetworkId, Permission, TopologyView, UserId};
use toposcope::store::Store;
use toposcope::topology::Topologies;
use toposcope::topology::graph::{Graph, GraphOptions, Node};
use toposcope::topology::links::PortRef;
use toposcope::{Inventory, MemoryStore};

use super::network::{NamedCable, named};

/// The usual number of reports that are reconciled at once.
pub(crate) const REPORTS_AT_ONCE: usize = 64;

/// An inventory with one network.
pub(crate) struct Collected {
    pub(crate) inventory: Inventory,
    pub(crate) topologies: Topologies,
    pub(crate) caller: Caller,
    pub(crate) network: NetworkId,
}

impl Collected {
    pub(crate) async fn new() -> Result<Self, Error> {
        Self::on(MemoryStore::new()).await
    }

    /// Creates a network in an empty store.
    pub(crate) async fn on(store: impl Store + 'static) -> Result<Self, Error> {
        let inventory = Inventory::new(store);
        let organization = inventory.organizations().create("Farm").await?;
        let network =
            inventory.networks().create(&Caller::system(organization.id), NetworkRecord::new("Farm")).await?;
        let caller = Caller::new(organization.id, UserId::nil(), Permission::Owner, Scope::all());
        let topologies = Topologies::new(inventory.clone());
        Ok(Self { inventory, topologies, caller, network: network.id })
    }

    /// Reconciles a report. Returns the number of hosts that were written.
    pub(crate) async fn add(&self, report: &Report) -> Result<u64, Error> {
        let options = DiscoverOptions::new(self.network);
        let answer = self.inventory.discovery().reconcile(&self.caller, report, options).await?;
        Ok(answer.count(DiscoveryOutcome::Created) + answer.count(DiscoveryOutcome::Updated))
    }

    /// Reconciles reports at once. Returns the number of hosts that were written.
    pub(crate) async fn add_several(&self, reports: Vec<Report>) -> Result<u64, Error> {
        let options = DiscoverOptions::new(self.network);
        let answers = self.inventory.discovery().reconcile_all(&self.caller, reports, options).await?;
        let written = [DiscoveryOutcome::Created, DiscoveryOutcome::Updated];
        Ok(answers.iter().flat_map(|answer| written.map(|outcome| answer.count(outcome))).sum())
    }

    /// Reconciles all reports of a crawl, at most some at once. Returns the number of hosts that were written, and the other events.
    pub(crate) async fn add_all(
        &self,
        crawl: &mut Crawl,
        at_once: usize,
    ) -> Result<(u64, Vec<CrawlEvent>), Error> {
        let (mut written, mut others) = (0, Vec::new());
        let mut events = crawl.next_events(at_once).await;
        while !events.is_empty() {
            let mut reports = Vec::new();
            for event in events {
                match event {
                    CrawlEvent::Device(device) => reports.push(device.report),
                    other => others.push(other),
                }
            }
            let stored;
            (stored, events) = crawl.next_events_during(self.add_several(reports), at_once).await;
            written += stored?;
            if events.is_empty() {
                events = crawl.next_events(at_once).await;
            }
        }
        Ok((written, others))
    }

    /// Returns the links between devices.
    pub(crate) async fn cables(&self) -> Result<BTreeSet<NamedCable>, Error> {
        let mut options = GraphOptions::new(TopologyView::L2);
        options.collapse = false;
        let graph = self.topologies.graph_without_layout(&self.caller, self.network, options).await?;
        Ok(cables_of(&graph))
    }
}

fn cables_of(graph: &Graph) -> BTreeSet<NamedCable> {
    let nodes: HashMap<_, &Node> = graph.nodes.iter().map(|node| (node.id, node)).collect();
    let mut cables = BTreeSet::new();
    for edge in &graph.edges {
        let name = |id| nodes.get(id).map_or_else(String::new, |node: &&Node| node.label.clone());
        let (source, target) = (name(&edge.source), name(&edge.target));
        let port = |port: &Option<PortRef>| port.as_ref().map_or_else(String::new, |port| port.name.clone());
        let mut add = |one: &Option<PortRef>, other: &Option<PortRef>| {
            cables.insert(named([(source.clone(), port(one)), (target.clone(), port(other))]));
        };
        if edge.members.is_empty() {
            add(&edge.source_port, &edge.target_port);
        }
        for member in &edge.members {
            add(&member.source_port, &member.target_port);
        }
    }
    cables
}
