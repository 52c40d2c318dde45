//! The positions that users give to nodes.

use std::collections::{BTreeSet, HashSet};

use crate::access::Caller;
use crate::inventory::collections::handle;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{TOPOLOGY_LAYOUT, decode, encode, exists, network_key};
use crate::inventory::{Entity, Error, Inventory, Problem, require_level, unchanged};
use crate::model::{
    NetworkId, NodePosition, OrganizationId, Permission, TopologyLayout, TopologyView, derived_id,
};
use crate::store::{Batch, Facets, Key, Record};

/// The maximum number of positions of a layout. As JSON, this many fit into the usual limit of a body.
pub(crate) const MAX_POSITIONS: usize = 10_000;

/// The maximum distance of a node from the origin, in pixels, along each axis.
const MAX_COORDINATE: i64 = 1_000_000;

handle! {
    /// The node positions that users set in topologies. The links are in [`Inventory::topology_links`].
    pub struct TopologyRecords = topology;
}

impl TopologyRecords<'_> {
    /// Returns the positions that users have given to nodes in a view of a network.
    ///
    /// Every level may read. Without stored positions, the list is empty.
    ///
    /// # Errors
    /// `NotFound`, also for a network of another organization; `AccessDenied` when the caller cannot access the network.
    pub async fn layout(
        self,
        caller: &Caller,
        network: NetworkId,
        view: TopologyView,
    ) -> Result<TopologyLayout, Error> {
        self.inventory.require_network(caller, network).await?;
        self.inventory.topology_layout(network, view).await
    }

    /// Replaces the positions of the nodes of a network in one view. The caller must be a Member or above.
    ///
    /// `check` receives the present positions; an error that it returns prevents the change.
    ///
    /// # Errors
    /// `PermissionDenied`; the errors of [`TopologyRecords::layout`](crate::inventory::TopologyRecords::layout);
    /// `Invalid` for more than 10,000 positions, two of one node, and coordinates beyond 1,000,000; any error of
    /// `check`.
    pub async fn put_layout(
        self,
        caller: &Caller,
        layout: TopologyLayout,
        check: impl Fn(&TopologyLayout) -> Result<(), Error> + Send + Sync,
    ) -> Result<TopologyLayout, Error> {
        require_level(caller, Permission::Member)?;
        validate(&layout.positions)?;
        let (network, view) = (layout.network_id, layout.view);
        let key = layout_key(network, view);
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::TopologyLayout, network);
        loop {
            self.inventory.require_network(caller, network).await?;
            let stored = self.inventory.get(key).await?;
            let present = match &stored {
                Some(record) => decode(record)?,
                None => TopologyLayout { network_id: network, view, positions: Vec::new() },
            };
            check(&present)?;
            let before = stored.is_some().then_some(&present);
            let record = (Entity::TopologyLayout, network.uuid(), Some(network));
            transaction.review_as(Actor::Caller(caller), record, before, Some(&layout)).await?;
            // Also for the first layout: without a turn, most of many clients would give up.
            if !transaction.enter(BTreeSet::from([key])).await? {
                continue;
            }
            let mut batch = Batch::new();
            put_layout(caller.organization_id(), &layout, stored.as_ref(), &mut batch)?;
            batch.guard(exists(network_key(network)));
            if transaction.commit(batch).await? {
                return Ok(layout);
            }
        }
    }
}

impl Inventory {
    /// Returns the positions in a view of a network. The access to the network must have been checked.
    pub(crate) async fn topology_layout(
        &self,
        network: NetworkId,
        view: TopologyView,
    ) -> Result<TopologyLayout, Error> {
        match self.get(layout_key(network, view)).await? {
            Some(record) => decode(&record),
            None => Ok(TopologyLayout { network_id: network, view, positions: Vec::new() }),
        }
    }
}

pub(super) fn layout_key(network: NetworkId, view: TopologyView) -> Key {
    Key::new(TOPOLOGY_LAYOUT, derived_id("layout", &[network.as_bytes(), view.as_str().as_bytes()]))
}

/// Adds a layout to a batch, in place of the present one.
pub(super) fn put_layout(
    organization: OrganizationId,
    layout: &TopologyLayout,
    replaced: Option<&Record>,
    batch: &mut Batch,
) -> Result<(), Error> {
    let facets =
        Facets::default().with_organization(organization.uuid()).with_network(layout.network_id.uuid());
    batch.put(layout_key(layout.network_id, layout.view), unchanged(replaced), facets, encode(layout)?);
    Ok(())
}

fn validate(positions: &[NodePosition]) -> Result<(), Error> {
    if positions.len() > MAX_POSITIONS {
        return Err(Error::invalid("positions", Problem::MaxLength { max: MAX_POSITIONS }));
    }
    let mut ids = HashSet::new();
    for (index, position) in positions.iter().enumerate() {
        if !ids.insert(position.id) {
            return Err(Error::invalid(format!("positions.{index}.id"), Problem::Duplicate));
        }
        for (axis, coordinate) in [("x", position.x), ("y", position.y)] {
            // Integers of this size are exact as floating-point numbers.
            #[allow(clippy::cast_precision_loss, reason = "the bound is far below 2^53")]
            let is_within = coordinate.abs() <= MAX_COORDINATE as f64;
            if !is_within {
                let problem = Problem::OutOfRange { min: -MAX_COORDINATE, max: MAX_COORDINATE };
                return Err(Error::invalid(format!("positions.{index}.{axis}"), problem));
            }
        }
    }
    Ok(())
}
