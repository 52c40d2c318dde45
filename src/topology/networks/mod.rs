//! The topologies of an inventory's networks, kept up to date as hosts change.

mod cache;
mod state;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::{fmt, io};

use sha2::{Digest, Sha256};

use self::cache::{Cache, StateSize, StateSlot};
use self::state::NetworkState;
use super::EdgeDetails;
use super::graph::{BlindSpot, Graph, GraphOptions, GroupBy, Positions, blind_spots, build, lay_out};
use crate::access::Caller;
use crate::discovery::Claim;
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, OpenShare};
use crate::model::{Host, LinkId, NetworkId, OrganizationId, Redaction, TopologyView};
use crate::topology::graph::{Redactor, SensitiveValues};
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
    cache: Cache,
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
        Self { inventory, cache: Cache::default() }
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
        self.drawn(caller.organization_id(), network, options, true, |graph| graph).await
    }

    /// Returns the graph of a network without positions.
    ///
    /// # Errors
    /// Those of [`graph`](Self::graph).
    pub async fn graph_without_layout(
        &self,
        caller: &Caller,
        network: NetworkId,
        options: GraphOptions,
    ) -> Result<Graph, Error> {
        self.inventory.require_network(caller, network).await?;
        self.drawn(caller.organization_id(), network, options, false, |graph| graph).await
    }

    /// Returns an edge of a view, with the weaker claims that it overrides.
    ///
    /// # Errors
    /// Those of [`graph`](Self::graph); `NotFound` for an edge that the view does not have.
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
                build(&state.input(network, &options))
                    .edges
                    .into_iter()
                    .find(|edge| edge.id == id || edge.parallel.contains(&id))
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
    /// Those of [`graph`](Self::graph).
    pub async fn blind_spots(&self, caller: &Caller, network: NetworkId) -> Result<Vec<BlindSpot>, Error> {
        self.inventory.require_network(caller, network).await?;
        let options = GraphOptions::new(TopologyView::L2);
        let find = move |state: &NetworkState| blind_spots(&state.input(network, &options));
        self.with_network(caller.organization_id(), network, find).await
    }

    /// Draws the graph of a network and returns the result of `finish` for it. Access to the network must have been
    /// checked.
    ///
    /// All of it is one piece of work, so that of many requests only one has its graph in memory.
    pub(crate) async fn drawn<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        options: GraphOptions,
        is_placed: bool,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let positions = match (is_placed, options.group_by) {
            (false, _) => None,
            (true, None) => Some(self.positions(network, options.view).await?),
            // Users have placed nodes where there are no containers.
            (true, Some(_)) => Some(Positions::default()),
        };
        let tag_names = match options.group_by {
            Some(GroupBy::Tag) => self.inventory.tag_names(organization).await?,
            _ => BTreeMap::new(),
        };
        let draw = move |state: &NetworkState| {
            let mut input = state.input(network, &options);
            input.tag_names = tag_names;
            let mut graph = build(&input);
            graph.revision = revision_of(&graph);
            if let Some(positions) = &positions {
                lay_out(&mut graph, positions);
            }
            finish(graph)
        };
        self.with_network(organization, network, draw).await
    }

    /// Returns the positions that users have given to the nodes of a view.
    async fn positions(&self, network: NetworkId, view: TopologyView) -> Result<Positions, Error> {
        let layout = self.inventory.topology_layout(network, view).await?;
        let pinned = layout.positions.iter().map(|node| (node.id, [node.x, node.y])).collect();
        Ok(Positions { pinned, ..Positions::default() })
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
        let slot: StateSlot = self.cache.slot(organization, network);
        // Requests for one network wait for each other here. A request that is dropped leaves the slot empty.
        let mut guard = slot.lock().await;
        let revision = self.inventory.topology_revision(organization).await?;
        let mut state = guard.take().unwrap_or_default();
        let changes = if state.is_current(revision) {
            None
        } else {
            let (known, port_names) = (&state.known, self.inventory.port_names().clone());
            let summarize = move |host: &Host, claims: &[Claim]| state::summarize(host, claims, &port_names);
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

/// Number of bytes that are encoded and hashed in about 0.1 ms.
const BYTES_PER_TURN: usize = 32 * 1024;

/// Returns a text that changes whenever the graph changes.
fn revision_of(graph: &Graph) -> String {
    let mut writer = BufWriter::with_capacity(BYTES_PER_TURN, Hashed(Sha256::new()));
    // Numbers, strings and maps with string keys always have a JSON form, and hashing never fails.
    let written = serde_json::to_writer(&mut writer, graph).ok();
    let hashed = written.and_then(|()| writer.into_inner().ok());
    let digest = hashed.map(|Hashed(digest)| digest.finalize()).asserted_or_default();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of what is written, in turns.
#[derive(Debug)]
struct Hashed(Sha256);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        yield_turn();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Topologies {
    /// Draws the graph of a share and returns the result of `finish` for it. The graph has positions.
    ///
    /// All ids are made under the share's secret, and what the share conceals is replaced before anything depends on
    /// it.
    pub(crate) async fn shared<T: Send + 'static>(
        &self,
        open: &OpenShare,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let OpenShare { share, network_id: network, secret } = open;
        let organization = share.organization_id;
        let options = GraphOptions::new(share.view);
        let layout = self.inventory.topology_layout(*network, share.view).await?;
        let (share, network, secret) = (share.clone(), *network, secret.clone());
        let draw = move |state: &NetworkState| {
            let mut graph = build(&state.input(network, &options));
            let mut values = SensitiveValues::of(state.hosts(), &share.redact);
            if share.redact.contains(&Redaction::Names) {
                state.subnets().iter().for_each(|subnet| values.insert(&subnet.name));
            }
            let redactor = Redactor::new(|value| secret.code(value), &share.redact, &values);
            let redactor =
                if share.options.show_inspect_panel { redactor } else { redactor.without_inspection() };
            redactor.redact(&mut graph);
            let pins = layout.positions.iter();
            let pinned = pins.map(|node| (redactor.id(node.id), [node.x, node.y])).collect();
            lay_out(&mut graph, &Positions { pinned, ..Positions::default() });
            // Of what the share shows: it must not tell viewers that something changed which the share conceals.
            graph.revision = revision_of(&graph);
            finish(graph)
        };
        self.with_network(organization, network, draw).await
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
