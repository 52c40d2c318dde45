//! The caller of an import, and what the caller may import.

use super::options::Identify;
use crate::access::Caller;
use crate::inventory::{Entity, Error, ErrorKind, require_level, require_session};
use crate::model::{NetworkId, OrganizationId, Permission};

/// The target of an import: an organization, and the caller on whose behalf it runs.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) organization: OrganizationId,
    /// `None`: the host application, which may access all networks.
    pub(super) caller: Option<Caller>,
    /// The only network to be imported; `None`: any.
    pub(super) network: Option<NetworkId>,
    pub(super) create_networks: bool,
}

impl Target {
    /// Returns the caller on whose behalf hosts are stored.
    pub(super) fn importer(&self) -> Caller {
        self.caller.clone().unwrap_or_else(|| Caller::system(self.organization))
    }

    /// Identifies the caller again, who must still be allowed to do what the import does.
    pub(super) async fn identify_again(&mut self, identify: &mut Option<Identify<'_>>) -> Result<(), Error> {
        let Some(identify) = identify else { return Ok(()) };
        let caller = identify().await?;
        if caller.organization_id() != self.organization {
            return Err(ErrorKind::NotAuthenticated.into());
        }
        require_importer(&caller, self.create_networks)?;
        if let Some(id) = self.network.filter(|id| !caller.scope().allows(*id)) {
            return Err(ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.into());
        }
        self.caller = Some(caller);
        Ok(())
    }
}

/// Checks that a caller may import hosts, and create networks if the import does.
pub(super) fn require_importer(caller: &Caller, create_networks: bool) -> Result<(), Error> {
    require_level(caller, Permission::Member)?;
    if create_networks {
        require_session(caller)?;
        require_level(caller, Permission::Admin)?;
    }
    Ok(())
}
