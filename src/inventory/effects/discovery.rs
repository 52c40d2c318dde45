//! The effects on the records of discovery.

use async_trait::async_trait;

use super::SubnetEffect;
use crate::inventory::discovery::put_deleted_subnet;
use crate::inventory::hosts::{Before, HostChange, HostEffect};
use crate::inventory::{Error, Inventory};
use crate::model::Subnet;
use crate::store::Batch;

/// Deletes the states and claims of hosts that are deleted or move to another network. They have no meaning
/// there.
#[derive(Debug)]
pub(super) struct StatesAndClaims;

#[async_trait]
impl HostEffect for StatesAndClaims {
    async fn before_commit(
        &self,
        inventory: &Inventory,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        inventory.forget_hosts(&change.removed(before), batch).await?;
        Ok(false)
    }
}

/// Resolves the neighbors of hosts whose neighbors have changed.
#[derive(Debug)]
pub(super) struct Neighbors;

#[async_trait]
impl HostEffect for Neighbors {
    fn needs_new_identities(&self) -> bool {
        true
    }

    async fn before_commit(
        &self,
        inventory: &Inventory,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        inventory.guard_undiscovered(change, before, batch).await
    }

    async fn after_commit(&self, inventory: &Inventory, change: &HostChange<'_>, before: &Before) {
        inventory.follow_host_change(change, before).await;
    }
}

/// Remembers deleted subnets, and assigns the interfaces of the network to the subnets that remain.
#[derive(Debug)]
pub(super) struct SubnetsOfInterfaces;

#[async_trait]
impl SubnetEffect for SubnetsOfInterfaces {
    fn before_removal(&self, inventory: &Inventory, subnet: &Subnet, batch: &mut Batch) -> Result<(), Error> {
        put_deleted_subnet(subnet, inventory.now(), batch)
    }

    async fn after_change(&self, inventory: &Inventory, subnet: &Subnet) {
        let place = (subnet.organization_id, subnet.network_id);
        inventory.follow_subnet_change(place, subnet.id, subnet.cidr).await;
    }

    async fn after_removal(&self, inventory: &Inventory, subnet: &Subnet) -> Result<(), Error> {
        self.after_change(inventory, subnet).await;
        Ok(())
    }
}
