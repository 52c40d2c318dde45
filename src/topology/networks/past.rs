//! Graphs of networks as they were, and of the changes since.

use std::collections::BTreeMap;

use super::drawing::{Drawing, Placement, revision_of};
use super::state::{NetworkState, SummarizedHost, SummaryRules};
use super::{LARGE_NETWORK_BYTES, LARGE_NETWORK_HOSTS, Topologies, memory};
use crate::access::Caller;
use crate::discovery::Claim;
use crate::inventory::{
    Error, GraphMoments, KeptLayout, KeptPicture, LinkTimes, Moment, PastMoment, PastNetwork, Problem,
};
use crate::model::{Host, LinkId, NetworkId, TagId, Timestamp};
use crate::topology::graph::{
    Detail, Graph, GraphChange, GraphOptions, Positions, Warning, compare, lay_out,
};

/// A moment, and the time that pictures show of it.
struct ShownMoment {
    moment: PastMoment,
    time: Timestamp,
}

/// The moments of a picture.
struct ShownMoments {
    /// The state that is drawn.
    state: PastMoment,
    /// Its time, if the request asks for a past state.
    at: Option<Timestamp>,
    /// The state that it is compared with.
    compared: Option<ShownMoment>,
}

impl Topologies {
    /// Returns the graph of a network as it was, or of the changes since, with positions. Every level may read.
    ///
    /// It follows from the hosts, subnets, tags and links of users that the history knows. Tables of devices, such as forwarding
    /// tables, are not in the history. Nodes are where they are in the present graph, as far as possible.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// use toposcope::inventory::{ChangeQuery, GraphMoments, Moment};
    /// use toposcope::model::{Host, HostRole, Network, TopologyView};
    /// use toposcope::topology::Topologies;
    /// use toposcope::topology::graph::{GraphChange, GraphOptions};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let before = inventory.changes(&caller, &ChangeQuery::default()).await?.next;
    /// let mut host = Host::new(network.id, "sw-1");
    /// host.role = Some(HostRole::Switch);
    /// inventory.hosts().put(&caller, host).await?;
    ///
    /// let topologies = Topologies::new(inventory);
    /// let moments = GraphMoments::changes_since(Moment::Position(before));
    /// let options = GraphOptions::new(TopologyView::L2);
    /// let graph = topologies.graph_at(&caller, network.id, options, &moments).await?;
    /// assert_eq!(graph.nodes[0].change, Some(GraphChange::Added));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`graph`](Self::graph); `Invalid` for text that is no position, for a moment `compare` that is later than the
    /// drawn state, and for an overview of changes; `PositionGone` for a time before the history began, and for a position whose
    /// entry is no longer there.
    pub async fn graph_at(
        &self,
        caller: &Caller,
        network: NetworkId,
        options: GraphOptions,
        moments: &GraphMoments,
    ) -> Result<Graph, Error> {
        self.inventory.require_network(caller, network).await?;
        let drawing = (options, Placement::Remembered);
        self.drawn_at(caller, network, drawing, moments, |graph| graph).await
    }

    /// Draws the graph of a network at some moments and returns the result of `finish` for it. Access to the network must have
    /// been checked.
    pub(crate) async fn drawn_at<T: Send + 'static>(
        &self,
        caller: &Caller,
        network: NetworkId,
        (options, placement): (GraphOptions, Placement),
        moments: &GraphMoments,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let organization = caller.organization_id();
        let Some(shown) = self.shown_moments(caller, moments).await? else {
            return self.drawn(organization, network, options, placement, finish).await;
        };
        if shown.compared.is_some() && options.detail == Some(Detail::Overview) {
            return Err(Error::invalid("detail", Problem::Unsupported));
        }
        let options = GraphOptions { group_by: options.grouping(), ..options };
        let drawing = self.drawing(organization, network, options, placement).await?;
        let stored =
            self.kept_layout_of(&KeptPicture::of(organization, network, &drawing.options), &drawing).await?;
        let state = self.past_state(caller, network, &shown.state).await?;
        let compared = match shown.compared {
            Some(ShownMoment { moment, time }) => {
                let times = self.inventory.link_times(caller, network, (&moment, &shown.state)).await?;
                Some((self.past_state(caller, network, &moment).await?, time, times))
            }
            None => None,
        };
        let (hosts, bytes) = (state.records.changed.len(), state.records.bytes);
        let work = move || {
            let (state, kept) = (PastState::of(state), stored.layout.as_ref());
            let mut graph = match compared {
                Some((former, time, times)) => {
                    drawing.draw_compared((&PastState::of(former), time, &times), &state, kept)
                }
                None => drawing.draw_past(&state, kept),
            };
            graph.at = shown.at;
            graph.warn_of_tables(state.tables);
            finish(graph)
        };
        if hosts > LARGE_NETWORK_HOSTS || bytes > LARGE_NETWORK_BYTES {
            self.inventory.offload_long(organization, work).await
        } else {
            self.inventory.offload(organization, usize::MAX, work).await
        }
    }

    /// Returns the moments that a request names. `None`: it names none.
    async fn shown_moments(
        &self,
        caller: &Caller,
        moments: &GraphMoments,
    ) -> Result<Option<ShownMoments>, Error> {
        let at = self.shown_moment(caller, "at", moments.at.as_ref()).await?;
        let compared = self.shown_moment(caller, "compare", moments.compare.as_ref()).await?;
        let (state, at) = match (at, &compared) {
            (None, None) => return Ok(None),
            (Some(ShownMoment { moment, time }), _) => (moment, Some(time)),
            // A position may be that of a change that the caller does not see.
            (None, Some(compared)) => {
                (self.inventory.present_moment(caller).await?.max(compared.moment.clone()), None)
            }
        };
        if compared.as_ref().is_some_and(|compared| !compared.moment.is_up_to(&state)) {
            return Err(Error::invalid("at", Problem::Before { other: "compare" }));
        }
        Ok(Some(ShownMoments { state, at, compared }))
    }

    async fn shown_moment(
        &self,
        caller: &Caller,
        field: &str,
        named: Option<&Moment>,
    ) -> Result<Option<ShownMoment>, Error> {
        let Some(named) = named else { return Ok(None) };
        let moment = self.inventory.past_moment(caller, field, named).await?;
        let time = self.inventory.time_of(caller, named, &moment).await?;
        Ok(Some(ShownMoment { moment, time }))
    }

    async fn past_state(
        &self,
        caller: &Caller,
        network: NetworkId,
        at: &PastMoment,
    ) -> Result<PastNetwork<SummarizedHost>, Error> {
        let rules = SummaryRules::of(&self.inventory);
        let digest = move |host: &Host, claims: &[Claim]| rules.summarize(host, claims);
        self.inventory.network_at(caller, network, at, digest).await
    }
}

/// The data of a network's records as they were.
struct PastState {
    network: NetworkState,
    tag_names: BTreeMap<TagId, String>,
    /// The number of tables of devices that are not in the history.
    tables: u64,
}

impl PastState {
    fn of(PastNetwork { records, tag_names, tables }: PastNetwork<SummarizedHost>) -> Self {
        let mut network = NetworkState::default();
        network.apply(None, records);
        Self { network, tag_names, tables }
    }
}

impl Drawing {
    /// Draws a past state. The layout that is kept is that of the present one.
    fn draw_past(self, state: &PastState, kept: Option<&KeptLayout>) -> Graph {
        let drawing = Self { tag_names: state.tag_names.clone(), ..self };
        drawing.draw_with(&state.network, kept)
    }

    /// Draws a state, and the changes since another one.
    fn draw_compared(
        &self,
        (former, time, times): (&PastState, Timestamp, &BTreeMap<LinkId, LinkTimes>),
        state: &PastState,
        kept: Option<&KeptLayout>,
    ) -> Graph {
        let [former, mut input] = [former, state].map(|state| {
            let mut input = state.network.input(self.network, &self.options);
            input.tag_names.clone_from(&state.tag_names);
            input
        });
        input.folding = memory::folding(self.kept_for_folds(&self.options, kept));
        let mut graph = compare(&former, &input);
        graph.comparison = graph.comparison.map(|comparison| comparison.with(time));
        graph.note_times(times);
        graph.revision = revision_of(&graph);
        if self.placement != Placement::Nowhere {
            let former = kept.map(memory::former_positions).unwrap_or_default();
            lay_out(&mut graph, &Positions { former, ..self.pins.clone() });
        }
        graph
    }
}

impl Graph {
    /// Notes since when new links are there, and when removed ones have gone.
    fn note_times(&mut self, times: &BTreeMap<LinkId, LinkTimes>) {
        for edge in &mut self.edges {
            let Some(LinkTimes { since, until }) = times.get(&edge.id) else { continue };
            match edge.change {
                Some(GraphChange::Added) => edge.since = edge.since.or(*since),
                Some(GraphChange::Removed) => edge.until = *until,
                _ => {}
            }
        }
    }

    /// Adds a warning that a past state is without tables of devices, if it is.
    fn warn_of_tables(&mut self, tables: u64) {
        if tables > 0 {
            let params = BTreeMap::from([("count".to_owned(), tables.to_string())]);
            self.warnings.push(Warning { code: "tables_not_in_history".to_owned(), params });
        }
    }
}
