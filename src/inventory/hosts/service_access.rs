//! Whether callers may let hosts refer to the services that virtualize them.

use std::collections::HashSet;

use super::virtualization::virtualizing_services;
use crate::access::Caller;
use crate::inventory::schema::{SERVICE_UNIQUE_KEY, part_unique_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, ServiceId};

/// The services to which a caller of some networks may let hosts refer.
///
/// The name of a service decides the order of the hosts that refer to it, and a reference keeps it from being deleted. A
/// caller who cannot access a service must therefore not refer to it.
#[derive(Debug)]
pub(super) struct ServiceAccess<'a> {
    inventory: &'a Inventory,
    caller: &'a Caller,
    /// Those of the hosts that are written, and those that were looked up.
    accessible: HashSet<ServiceId>,
}

impl<'a> ServiceAccess<'a> {
    /// Returns `None` if the caller can access all services.
    pub(super) fn new<'h>(
        inventory: &'a Inventory,
        caller: &'a Caller,
        written: impl Iterator<Item = &'h Host>,
    ) -> Option<Self> {
        caller.scope().networks()?;
        let accessible = written.flat_map(|host| &host.services).map(|service| service.id).collect();
        Some(Self { inventory, caller, accessible })
    }

    /// Refuses references to services that the caller cannot access.
    ///
    /// A host may keep the references that it has, and may refer to a service that does not exist.
    pub(super) async fn check(
        &mut self,
        host: &Host,
        former: Option<&HashSet<ServiceId>>,
    ) -> Result<(), Error> {
        for service in virtualizing_services(host) {
            let is_kept = former.is_some_and(|former| former.contains(&service));
            if is_kept || self.accessible.contains(&service) {
                continue;
            }
            self.look_up(service).await?;
            self.accessible.insert(service);
        }
        Ok(())
    }

    async fn look_up(&self, service: ServiceId) -> Result<(), Error> {
        let unique_key = part_unique_key(SERVICE_UNIQUE_KEY, self.caller.organization_id(), service);
        let Some(holder) = self.inventory.store.get_by_unique_key(&unique_key).await? else { return Ok(()) };
        match self.inventory.visible_host(self.caller, holder.key.id.into()).await? {
            Some(_) => Ok(()),
            None => Err(ErrorKind::AccessDenied { entity: Entity::Service, id: service.uuid() }.into()),
        }
    }
}
