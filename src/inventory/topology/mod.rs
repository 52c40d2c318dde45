//! The records that users enter for topologies: manual links and the positions of nodes.

mod kept;
mod layouts;
mod links;
mod references;

pub(crate) use self::kept::{KeptLayout, KeptPicture, StoredLayout};
pub(crate) use self::layouts::MAX_POSITIONS;
pub use self::layouts::TopologyRecords;
pub use self::links::TopologyLinks;
pub(in crate::inventory) use self::references::{removed_nodes, subnet_nodes};

use super::records::belongs_to;
use super::schema::network_key;
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
use crate::model::NetworkId;

impl Inventory {
    /// Checks that a network exists in the caller's organization and is in the caller's scope.
    ///
    /// # Errors
    /// `NotFound`; `AccessDenied`.
    pub(crate) async fn require_network(&self, caller: &Caller, network: NetworkId) -> Result<(), Error> {
        let record = self.get(network_key(network)).await?;
        if !belongs_to(caller.organization_id(), record.as_ref())? {
            return Err(ErrorKind::NotFound { entity: Entity::Network, id: network.uuid() }.into());
        }
        if caller.scope().allows(network) {
            return Ok(());
        }
        Err(ErrorKind::AccessDenied { entity: Entity::Network, id: network.uuid() }.into())
    }
}
