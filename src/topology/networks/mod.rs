//! The topologies of an inventory's networks, kept up to date as hosts change.

mod drawing;
mod index;
mod memory;
mod page;
mod past;
mod questions;
mod state;

use std::fmt;

pub(crate) use self::drawing::Placement;
use self::state::{NetworkState, SummaryRules};
use super::EdgeDetails;
use super::graph::{BlindSpot, Folding, Graph, GraphOptions, blind_spots, build};
use crate::access::Caller;
use crate::discovery::Claim;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, LinkId, NetworkId, OrganizationId, TopologyView};
use crate::recent_networks::{RecentNetworks, StateSize, StateSlot};
use crate::topology::links::{Link, MAX_REJECTED, RejectedClaim};

/// The number of hosts from which building the graph of a network is long work.
const LARGE_NETWORK_HOSTS: usize = 500;

/// The size in bytes of hosts and claims from which building a graph is long work, however few hosts there are.
const LARGE_NETWORK_BYTES: usize = 4 * 1024 * 1024;

/// The topologies of the networks of an inventory.
///
/// The data of hosts that a topology needs is kept in memory for the networks that were used last. A changed host
/// changes only its neighborhood. Clones share this memory.
///
/// ```
/// # use toposcope::model::Network;
/// use toposcope::access::{Caller, Scope};
/// use toposcope::model::{Host, Permission, TopologyView, UserId};
/// use toposcope::topology::Topologies;
/// use toposcope::topology::graph::GraphOptions;
/// use toposcope::{Inventory, MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.organizations().create("Example").await?;
/// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
/// let caller = Caller::new(organization.id, UserId::nil(), Permission::Viewer, Scope::all());
///
/// let topologies = Topologies::new(inventory);
/// let graph = topologies.graph(&caller, network.id, GraphOptions::new(TopologyView::L2)).await?;
/// assert!(graph.nodes.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Topologies {
    inventory: Inventory,
    cache: RecentNetworks<NetworkState>,
}

impl fmt::Debug for Topologies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Topologies").field("inventory", &self.inventory).finish_non_exhaustive()
    }
}

impl Topologies {
    /// Creates the topologies of an inventory.
    #[must_use]
    pub fn new(inventory: Inventory) -> Self {
        Self { inventory, cache: RecentNetworks::default() }
    }

    /// Returns the graph of a network with positions, as one view shows it. Every level may read.
    ///
    /// # Errors
    /// `NotFound`, also for a network of another organization; `AccessDenied` when the caller cannot access the network.
    pub async fn graph(
        &self,
        caller: &Caller,
        network: NetworkId,
        options: GraphOptions,
    ) -> Result<Graph, Error> {
        self.inventory.require_network(caller, network).await?;
        self.drawn(caller.organization_id(), network, options, Placement::Remembered, |graph| graph).await
    }

    /// Returns the graph of a network without positions.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph).
    pub async fn graph_without_layout(
        &self,
        caller: &Caller,
        network: NetworkId,
        options: GraphOptions,
    ) -> Result<Graph, Error> {
        self.inventory.require_network(caller, network).await?;
        self.drawn(caller.organization_id(), network, options, Placement::Nowhere, |graph| graph).await
    }

    /// Returns an edge of a view, with the weaker claims that it overrides.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `NotFound` for an edge that the view does not have.
    pub async fn edge(
        &self,
        caller: &Caller,
        network: NetworkId,
        options: GraphOptions,
        id: LinkId,
    ) -> Result<EdgeDetails, Error> {
        self.inventory.require_network(caller, network).await?;
        let find = move |state: &NetworkState| {
            let find_in = |collapse| {
                let options = GraphOptions { collapse, ..options.clone() };
                let mut input = state.input(network, &options);
                input.folding = Folding::All;
                build(&input).edges.into_iter().find(|edge| edge.id == id || edge.parallel.contains(&id))
            };
            // Only a folded graph has the edges to groups.
            let edge = find_in(false).or_else(|| find_in(true))?;
            let links = std::iter::once(&edge.id).chain(&edge.parallel).filter_map(|id| state.links.get(*id));
            let rejected = rejected_of(links);
            Some(EdgeDetails { edge, rejected })
        };
        let found = self.with_network(caller.organization_id(), network, find).await?;
        found.ok_or_else(|| ErrorKind::NotFound { entity: Entity::TopologyLink, id: id.uuid() }.into())
    }

    /// Returns what to scan next in a network, the most useful first.
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph).
    pub async fn blind_spots(&self, caller: &Caller, network: NetworkId) -> Result<Vec<BlindSpot>, Error> {
        self.inventory.require_network(caller, network).await?;
        let options = GraphOptions::new(TopologyView::L2);
        let find = move |state: &NetworkState| blind_spots(&state.input(network, &options));
        self.with_network(caller.organization_id(), network, find).await
    }

    /// Calls a function with the present state of a network, on a blocking thread.
    ///
    /// Work on a large network does not delay work on small ones, nor any other work of the inventory.
    async fn with_network<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        work: impl FnOnce(&NetworkState) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let slot: StateSlot<NetworkState> = self.cache.slot(organization, network);
        // Requests for one network wait for each other here. A request that is dropped leaves the slot empty.
        let mut guard = slot.lock().await;
        let revision = self.inventory.topology_revision(organization).await?;
        let mut state = guard.take().unwrap_or_default();
        let changes = if state.is_current(revision) {
            None
        } else {
            let (known, rules) = (std::mem::take(&mut state.known), SummaryRules::of(&self.inventory));
            let summarize = move |host: &Host, claims: &[Claim]| rules.summarize(host, claims);
            Some(self.inventory.changes_of_network(organization, network, known, summarize).await?)
        };
        let hosts = changes.as_ref().map_or(state.len(), |changes| changes.known.len());
        let bytes = changes.as_ref().map_or(state.bytes, |changes| changes.bytes);
        let work = move || {
            if let Some(changes) = changes {
                state.apply(revision, changes);
            }
            let result = work(&state);
            (state, result)
        };
        let (state, result) = if hosts > LARGE_NETWORK_HOSTS || bytes > LARGE_NETWORK_BYTES {
            self.inventory.offload_long(organization, work).await?
        } else {
            self.inventory.offload(organization, usize::MAX, work).await?
        };
        self.cache.note_size(organization, network, StateSize { hosts, bytes });
        *guard = Some(state);
        Ok(result)
    }
}

/// Returns the weaker claims that links override, each once.
fn rejected_of<'l>(links: impl Iterator<Item = &'l Link>) -> Vec<RejectedClaim> {
    let mut rejected: Vec<RejectedClaim> = Vec::new();
    for claim in links.flat_map(|link| &link.rejected).take(MAX_REJECTED) {
        if !rejected.contains(claim) {
            rejected.push(claim.clone());
        }
    }
    rejected
}
