//! Graphs with positions, of networks and of shares.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::state::NetworkState;
use super::{Topologies, memory};
use crate::access::Caller;
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;
use crate::inventory::{
    Entity, Error, ErrorKind, KeptLayout, KeptPicture, OpenShare, StoredLayout, require_level,
};
use crate::model::{NetworkId, NodeId, OrganizationId, Permission, Redaction, TagId, TopologyView};
use crate::topology::graph::{
    Detail, Folding, Graph, GraphOptions, GroupBy, Positions, Redactor, SensitiveValues, apply, build,
    diagram_with_ports, lay_out,
};

/// Maximum number of attempts to store a layout while other instances store theirs.
const MAX_ATTEMPTS: usize = 4;

impl KeptPicture {
    pub(super) fn of(organization: OrganizationId, network: NetworkId, options: &GraphOptions) -> Self {
        Self { organization, network, view: options.view, grouping: options.group_by.map(GroupBy::as_str) }
    }
}

/// How the nodes of a graph get their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// They get none.
    Nowhere,
    /// Nodes keep their places as far as possible; new ones are placed beside them.
    Remembered,
    /// The layout begins anew, except for positions that users have given.
    Tidy,
}

/// A picture to draw.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) network: NetworkId,
    pub(super) options: GraphOptions,
    pub(super) placement: Placement,
    /// The positions that users have given.
    pub(super) pins: Positions,
    pub(super) tag_names: BTreeMap<TagId, String>,
}

/// The outcome of an attempt to draw a picture.
enum Drawn<T, F> {
    Finished(T),
    /// This layout is to be kept first. The function that was to process the graph is returned.
    Renewed(Box<KeptLayout>, F),
}

impl Drawing {
    pub(super) fn build(
        &self,
        state: &NetworkState,
        options: &GraphOptions,
        kept: Option<&KeptLayout>,
    ) -> Graph {
        self.build_folded(state, options, memory::folding(self.kept_for_folds(options, kept)))
    }

    /// Returns the kept layout if its folds are those of a picture with these options.
    pub(super) fn kept_for_folds<'k>(
        &self,
        options: &GraphOptions,
        kept: Option<&'k KeptLayout>,
    ) -> Option<&'k KeptLayout> {
        let folded = GraphOptions { expand: BTreeSet::new(), ..options.clone() };
        // Fewer devices, such as those of one role, may need no folds.
        kept.filter(|_| folded == self.whole())
    }

    fn build_folded(&self, state: &NetworkState, options: &GraphOptions, folding: Folding) -> Graph {
        let mut input = state.input(self.network, options);
        input.tag_names.clone_from(&self.tag_names);
        input.folding = folding;
        build(&input)
    }

    /// Returns the options of the picture whose layout is kept: the devices of the whole view, folded as they usually are.
    fn whole(&self) -> GraphOptions {
        let mut whole = GraphOptions::new(self.options.view);
        whole.group_by = self.options.group_by;
        // To ask for devices is the same as to ask for nothing.
        whole.detail = self.options.detail.filter(|detail| *detail == Detail::Devices);
        whole
    }

    /// Draws the picture with the layout that is kept, which is not renewed.
    pub(super) fn draw_with(&self, state: &NetworkState, kept: Option<&KeptLayout>) -> Graph {
        match self.draw(state, kept, false, |graph| graph) {
            Drawn::Finished(graph) => graph,
            Drawn::Renewed(_, finish) => {
                debug_assert!(false, "a layout was renewed that may not be");
                finish(self.build(state, &self.options, kept))
            }
        }
    }

    /// Draws the picture with the layout that is kept, unless it must be renewed first.
    fn draw<T, F: FnOnce(Graph) -> T>(
        &self,
        state: &NetworkState,
        kept: Option<&KeptLayout>,
        may_renew: bool,
        finish: F,
    ) -> Drawn<T, F> {
        if self.placement == Placement::Remembered {
            return self.draw_as_before(state, kept, may_renew, finish);
        }
        let mut graph = match kept {
            None => self.build(state, &self.options, None),
            Some(_) => {
                let (whole, kept) = self.whole_picture(state, kept);
                if self.options == self.whole() { whole } else { self.build(state, &self.options, kept) }
            }
        };
        graph.revision = revision_of(&graph);
        if self.placement == Placement::Tidy {
            lay_out(&mut graph, &self.pins);
        }
        Drawn::Finished(finish(graph))
    }

    fn draw_as_before<T, F: FnOnce(Graph) -> T>(
        &self,
        state: &NetworkState,
        kept: Option<&KeptLayout>,
        may_renew: bool,
        finish: F,
    ) -> Drawn<T, F> {
        let (whole, kept) = self.whole_picture(state, kept);
        let mut positions = self.pins.clone();
        positions.former = kept.map(memory::former_positions).unwrap_or_default();
        let diagram = diagram_with_ports(&whole, &positions);
        let content = memory::content_of(&diagram);
        let is_renewed = kept.is_none_or(|kept| kept.content != content);
        if is_renewed && may_renew && memory::may_be_kept(&diagram) {
            return Drawn::Renewed(Box::new(memory::renewed(&diagram, kept, content)), finish);
        }
        let is_whole = self.options == self.whole();
        let mut graph = if is_whole { whole } else { self.build(state, &self.options, kept) };
        graph.revision = revision_of(&graph);
        match kept.filter(|_| is_whole).and_then(|kept| memory::arrangement(&diagram, kept, &content)) {
            Some(arrangement) => apply(&mut graph, &positions, arrangement),
            None => lay_out(&mut graph, &positions),
        }
        Drawn::Finished(finish(graph))
    }

    /// Builds the whole picture, and returns the kept layout if it is of use for it.
    fn whole_picture<'k>(
        &self,
        state: &NetworkState,
        kept: Option<&'k KeptLayout>,
    ) -> (Graph, Option<&'k KeptLayout>) {
        let options = self.whole();
        memory::build_whole(kept, |folding| self.build_folded(state, &options, folding))
    }

    /// Returns the layout of the picture without regard to the kept one; `None` if there is nothing to keep.
    fn placed_anew(&self, state: &NetworkState) -> Option<KeptLayout> {
        let diagram = diagram_with_ports(&self.build(state, &self.options, None), &self.pins);
        let content = memory::content_of(&diagram);
        memory::may_be_kept(&diagram).then(|| memory::renewed(&diagram, None, content))
    }
}

impl Topologies {
    /// Draws the graph of a network and returns the result of `finish` for it. Access to the network must have been
    /// checked.
    ///
    /// All of it is one piece of work, so that of many requests only one has its graph in memory.
    pub(crate) async fn drawn<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        options: GraphOptions,
        placement: Placement,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, Error> {
        // Otherwise, equal pictures would be kept several times.
        let options = GraphOptions { group_by: options.grouping(), ..options };
        let picture = KeptPicture::of(organization, network, &options);
        let drawing = Arc::new(self.drawing(organization, network, options, placement).await?);
        let (mut finish, mut unkept, mut attempts) = (finish, None, 0);
        loop {
            attempts += 1;
            let stored = self.kept_layout_of(&picture, &drawing).await?;
            let kept: Option<KeptLayout> = unkept.take().or_else(|| stored.layout.clone());
            let may_renew = attempts <= MAX_ATTEMPTS;
            let shared = Arc::clone(&drawing);
            let work = move |state: &NetworkState| shared.draw(state, kept.as_ref(), may_renew, finish);
            let renewed = match self.with_network(organization, network, work).await? {
                Drawn::Finished(result) => return Ok(result),
                Drawn::Renewed(renewed, handed_back) => {
                    finish = handed_back;
                    renewed
                }
            };
            match self.inventory.keep_layout(&picture, &renewed, &stored).await {
                Ok(true) => {}
                // Another instance has kept its own.
                Ok(false) => continue,
                // A picture can be drawn also where nothing can be stored.
                Err(error) => tracing::warn!(error = error.with_causes(), "a layout was not kept"),
            }
            unkept = Some(*renewed);
        }
    }

    /// Places all nodes of a view anew, but for those that users have placed, and keeps that layout. The caller must be a
    /// Member or above.
    ///
    /// # Errors
    /// `PermissionDenied`; those of [`graph`](Self::graph); `Conflict` if others do the same all the time.
    pub async fn tidy(
        &self,
        caller: &Caller,
        network: NetworkId,
        view: TopologyView,
        group_by: Option<GroupBy>,
    ) -> Result<(), Error> {
        require_level(caller, Permission::Member)?;
        self.inventory.require_network(caller, network).await?;
        let organization = caller.organization_id();
        let mut options = GraphOptions { group_by, ..GraphOptions::new(view) };
        options.group_by = options.grouping();
        let picture = KeptPicture::of(organization, network, &options);
        let drawing = Arc::new(self.drawing(organization, network, options, Placement::Tidy).await?);
        for _ in 0..MAX_ATTEMPTS {
            let stored = self.inventory.kept_layout(&picture).await?;
            let shared = Arc::clone(&drawing);
            let work = move |state: &NetworkState| shared.placed_anew(state);
            let layout = self.with_network(organization, network, work).await?;
            if self.inventory.replace_layout(&picture, layout.as_ref(), &stored).await? {
                return Ok(());
            }
        }
        Err(ErrorKind::Conflict { entity: Entity::TopologyLayout, id: network.uuid() }.into())
    }

    /// Returns the layout that a drawing takes places from.
    pub(super) async fn kept_layout_of(
        &self,
        picture: &KeptPicture,
        drawing: &Drawing,
    ) -> Result<StoredLayout, Error> {
        match drawing.placement {
            Placement::Remembered | Placement::Nowhere => self.inventory.kept_layout(picture).await,
            Placement::Tidy => Ok(StoredLayout::default()),
        }
    }

    pub(super) async fn drawing(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        options: GraphOptions,
        placement: Placement,
    ) -> Result<Drawing, Error> {
        let is_overview = options.detail == Some(Detail::Overview);
        // An overview has other nodes than the whole picture, and what is around a node has little to do with where that is in it.
        let is_other = (options.focus.is_some() || is_overview) && placement == Placement::Remembered;
        let placement = if is_other { Placement::Tidy } else { placement };
        let pins = match options.group_by {
            None if placement != Placement::Nowhere && !is_overview => {
                self.pins(network, options.view).await?
            }
            // Users have placed nodes where there are no containers.
            _ => Positions::default(),
        };
        let tag_names = match options.group_by {
            Some(GroupBy::Tag) => self.inventory.tag_names(organization).await?,
            _ => BTreeMap::new(),
        };
        Ok(Drawing { network, options, placement, pins, tag_names })
    }

    /// Returns the positions that users have given to the nodes of a view.
    async fn pins(&self, network: NetworkId, view: TopologyView) -> Result<Positions, Error> {
        let layout = self.inventory.topology_layout(network, view).await?;
        let pinned = layout.positions.iter().map(|node| (node.id, [node.x, node.y])).collect();
        Ok(Positions { pinned, ..Positions::default() })
    }

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
        let pins = self.pins(*network, share.view).await?.pinned;
        let picture = KeptPicture::of(organization, *network, &options);
        // Distances in the kept layout tell how long names are, and its order how they are sorted.
        let kept =
            if share.redact.is_empty() { self.inventory.kept_layout(&picture).await?.layout } else { None };
        let (share, network, secret) = (share.clone(), *network, secret.clone());
        let draw = move |state: &NetworkState| {
            let (mut graph, kept) = memory::build_whole(kept.as_ref(), |folding| {
                let mut input = state.input(network, &options);
                input.folding = folding;
                build(&input)
            });
            let mut values = SensitiveValues::of(state.hosts(), &share.redact);
            if share.redact.contains(&Redaction::Names) {
                state.subnets().iter().for_each(|subnet| values.insert(&subnet.name));
            }
            let redactor = Redactor::new(|value| secret.code(value), &share.redact, &values);
            let redactor =
                if share.options.show_inspect_panel { redactor } else { redactor.without_inspection() };
            redactor.redact(&mut graph);
            let renamed = |places: BTreeMap<NodeId, [f64; 2]>| -> BTreeMap<NodeId, [f64; 2]> {
                places.into_iter().map(|(id, place)| (redactor.id(id), place)).collect()
            };
            let former = kept.map(memory::former_positions).unwrap_or_default();
            lay_out(&mut graph, &Positions { pinned: renamed(pins), former: renamed(former) });
            // Of what the share shows: it must not tell viewers that something changed which the share conceals.
            graph.revision = revision_of(&graph);
            finish(graph)
        };
        self.with_network(organization, network, draw).await
    }
}

/// Number of bytes that are encoded and hashed in about 0.1 ms.
const BYTES_PER_TURN: usize = 32 * 1024;

/// Returns a text that changes whenever the graph changes.
pub(super) fn revision_of(graph: &Graph) -> String {
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
