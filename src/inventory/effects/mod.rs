//! The effects of changes of hosts and subnets on the records that depend on them.
//!
//! This is the only place that knows all dependents. Hosts run the effects through [`HostEffect`]:
//!
//! ```text
//!                     effects
//!                   /    |    \
//!       topology --+     |     +-- discovery
//!                   \    v    /
//!                     hosts
//! ```
//!
//! | Effect | In the commit of the change | Afterwards |
//! |---|---|---|
//! | states and claims | deletes those of removed hosts | |
//! | manual links | deletes those of removed hosts | |
//! | positions | | removes those of removed nodes |
//! | neighbors | no discovery begins meanwhile | resolves neighbors again |
//!
//! Subnets are above this module and call it:
//!
//! | Effect | In the commit of the change | Afterwards |
//! |---|---|---|
//! | deleted subnets | discovery does not create the subnet again | |
//! | interfaces | | get the smallest subnet that contains their address |
//! | positions | | removes those of the subnet's nodes |
//!
//! Discovery commits its own changes of hosts without effects: it writes the states and claims of the hosts itself, and
//! resolves neighbors at the end of a report. This is why following a change never starts another round.

#[cfg(feature = "discovery")]
mod discovery;
#[cfg(feature = "topology")]
mod topology;

use std::fmt;

use async_trait::async_trait;

use super::hosts::HostEffect;
use super::{Error, Inventory};
use crate::model::Subnet;
use crate::store::Batch;

/// All effects of a change of hosts, in their order.
pub(super) const HOST_EFFECTS: &[&dyn HostEffect] = &[
    #[cfg(feature = "discovery")]
    &discovery::StatesAndClaims,
    #[cfg(feature = "topology")]
    &topology::ManualLinks,
    #[cfg(feature = "topology")]
    &topology::PinnedPositions,
    #[cfg(feature = "discovery")]
    &discovery::Neighbors,
];

/// An effect of changes of subnets on records that depend on them.
#[async_trait]
trait SubnetEffect: fmt::Debug + Send + Sync {
    /// Adds the writes to the batch of a change by which a subnet is deleted or gets other addresses.
    fn before_removal(
        &self,
        _inventory: &Inventory,
        _subnet: &Subnet,
        _batch: &mut Batch,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Follows a committed creation or update. The change is stored, so that failures are only logged.
    async fn after_change(&self, _inventory: &Inventory, _subnet: &Subnet) {}

    /// Follows a committed deletion, which is repeated after a failure.
    async fn after_removal(&self, _inventory: &Inventory, _subnet: &Subnet) -> Result<(), Error> {
        Ok(())
    }
}

/// All effects of a change of a subnet, in their order.
const SUBNET_EFFECTS: &[&dyn SubnetEffect] = &[
    #[cfg(feature = "topology")]
    &topology::PinnedPositions,
    #[cfg(feature = "discovery")]
    &discovery::SubnetsOfInterfaces,
];

/// Adds the writes to the batch of a change by which a subnet is deleted or gets other addresses.
pub(super) fn before_subnet_removal(
    inventory: &Inventory,
    subnet: &Subnet,
    batch: &mut Batch,
) -> Result<(), Error> {
    SUBNET_EFFECTS.iter().try_for_each(|effect| effect.before_removal(inventory, subnet, batch))
}

/// Follows a committed creation or update of a subnet.
pub(super) async fn after_subnet_change(inventory: &Inventory, subnet: &Subnet) {
    for effect in SUBNET_EFFECTS {
        effect.after_change(inventory, subnet).await;
    }
}

/// Follows a committed deletion of a subnet.
pub(super) async fn after_subnet_removal(inventory: &Inventory, subnet: &Subnet) -> Result<(), Error> {
    for effect in SUBNET_EFFECTS {
        effect.after_removal(inventory, subnet).await?;
    }
    Ok(())
}
