//! The effects on the records that users enter for topologies.

use async_trait::async_trait;

use super::SubnetEffect;
use crate::inventory::hosts::{Before, HostChange, HostEffect};
use crate::inventory::topology::{removed_nodes, subnet_nodes};
use crate::inventory::{Error, Inventory};
use crate::model::Subnet;
use crate::store::Batch;

/// Deletes the manual links of hosts that are deleted or move to another network.
#[derive(Debug)]
pub(super) struct ManualLinks;

#[async_trait]
impl HostEffect for ManualLinks {
    async fn before_commit(
        &self,
        inventory: &Inventory,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        inventory.forget_topology_links(change.organization, &change.removed(before), batch).await?;
        Ok(false)
    }
}

/// Removes the positions of nodes that no longer exist.
#[derive(Debug)]
pub(super) struct PinnedPositions;

#[async_trait]
impl HostEffect for PinnedPositions {
    async fn before_commit(
        &self,
        _inventory: &Inventory,
        change: &HostChange<'_>,
        before: &Before,
        _batch: &mut Batch,
    ) -> Result<bool, Error> {
        Ok(!removed_nodes(change, before).is_empty())
    }

    async fn after_commit(&self, inventory: &Inventory, change: &HostChange<'_>, before: &Before) {
        inventory.forget_positions(change, before).await;
    }
}

#[async_trait]
impl SubnetEffect for PinnedPositions {
    async fn after_removal(&self, inventory: &Inventory, subnet: &Subnet) -> Result<(), Error> {
        let place = (subnet.organization_id, subnet.network_id);
        inventory.remove_nodes(place, &subnet_nodes(subnet.id)).await
    }
}
