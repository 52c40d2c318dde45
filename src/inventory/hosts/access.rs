//! The access of callers to hosts.

use bytes::Bytes;
use serde::Deserialize;

use super::Hosts;
use super::document::without_comma;
use crate::access::Caller;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{HOST, network_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, HostId, NetworkId};
use crate::store::{Query, Record};

/// The part of a stored host that decides who may access it.
#[derive(Debug, Deserialize)]
struct Place {
    network_id: NetworkId,
}

impl Hosts<'_> {
    /// Returns a host that the caller can access. Every level may read.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization; `AccessDenied` when the caller cannot access its network.
    pub async fn get(self, caller: &Caller, id: HostId) -> Result<Host, Error> {
        let record = self.inventory.host_record_as(caller, id).await?;
        self.inventory.decode_host(caller.organization_id(), &record).await
    }

    /// Returns a host like [`Hosts::get`](crate::inventory::Hosts::get), as a JSON object of the API.
    ///
    /// It was encoded when stored, and shares the store's memory.
    ///
    /// # Errors
    /// The errors of [`Hosts::get`](crate::inventory::Hosts::get).
    pub async fn document(self, caller: &Caller, id: HostId) -> Result<Bytes, Error> {
        Ok(without_comma(self.inventory.host_record_as(caller, id).await?.body))
    }
}

impl Inventory {
    pub(in crate::inventory) async fn host_record_as(
        &self,
        caller: &Caller,
        id: HostId,
    ) -> Result<Record, Error> {
        if let Some(record) = self.visible_host(caller, id).await? {
            return Ok(record);
        }
        let organization = caller.organization_id();
        let record = self.host_record(organization, id).await?;
        let place: Place = self.decode_host(organization, &record).await?;
        // Allowed only if the host has just moved to a network of the caller.
        check_scope(caller, place.network_id)?;
        Ok(record)
    }

    /// Returns a host on a network in the caller's scope, without decoding it.
    pub(super) async fn visible_host(&self, caller: &Caller, id: HostId) -> Result<Option<Record>, Error> {
        let query = Query {
            organization: Some(caller.organization_id().uuid()),
            networks: caller.scope().network_filter(),
            ids: Some(vec![id.uuid()]),
            ..Query::new(HOST)
        };
        Ok(self.store.list(&query).await?.records.pop())
    }

    /// Checks that the organization has a network and that the caller can access it.
    ///
    /// An error names the field `network_id`.
    pub(super) async fn check_network(&self, caller: &Caller, network: NetworkId) -> Result<(), Error> {
        let record = self.get(network_key(network)).await?;
        if !belongs_to(caller.organization_id(), record.as_ref())? {
            return Err(reference_invalid(Entity::Network, "network_id"));
        }
        check_scope(caller, network)
    }
}

pub(super) fn check_scope(caller: &Caller, network: NetworkId) -> Result<(), Error> {
    if caller.scope().allows(network) {
        Ok(())
    } else {
        Err(ErrorKind::AccessDenied { entity: Entity::Network, id: network.uuid() }.into())
    }
}

pub(super) fn reference_invalid(entity: Entity, field: &str) -> Error {
    ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }.into()
}
