//! Hosts: validation, queries and changes.

mod change;
mod document;
mod list;
mod ports;
mod validate;
mod virtualization;

use uuid::Uuid;

pub(crate) use document::without_comma;
pub(super) use document::{EncodedHost, HostEncoder};
pub(crate) use list::HostPages;
pub use list::{HostPage, HostQuery};
pub use ports::PortUpdate;
pub(crate) use ports::may_update_ports;

use self::change::HostChange;
use self::document::decode;
use super::records::organization_of;
use super::schema::{HOST, network_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::model::Host;
use crate::store::{Query, Record};

/// The outcome of [`Inventory::put_host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A new host was created.
    Created,
    /// An existing host was replaced.
    Replaced,
}

impl Inventory {
    /// Creates a host, or replaces the host of the same id.
    ///
    /// The host is stored as given, its times included, except that embedded lists are sorted and port types are
    /// derived. `virtualization` may refer to a service that does not exist. The last write wins: a change since the
    /// caller read the host is not detected.
    ///
    /// Ids of ports and services are unique within the organization; ids of hosts are unique in the store.
    ///
    /// ```
    /// use toposcope::inventory::Written;
    /// use toposcope::model::Host;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.create_organization("Example").await?;
    /// let network = inventory.create_network(organization.id, "Office").await?;
    /// let host = Host::new(network.id, "printer");
    /// assert_eq!(inventory.put_host(organization.id, host.clone()).await?, Written::Created);
    /// assert_eq!(inventory.host(organization.id, host.id).await?, host);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `ReferenceInvalid`: a network or tag belongs to another organization, or an embedded record refers to
    ///   another host or to nothing within the host.
    /// - `Invalid`: an id occurs twice, a name or hostname has more than 65,536 characters, or a `source` is nested
    ///   more than 64 deep.
    /// - `AlreadyExists`: two ports share number and protocol, or another host, port or service has one of the ids.
    /// - `TooLarge` and `QuotaExceeded`: a limit of [`Quotas`](super::Quotas) is exceeded.
    /// - `Conflict`: other writers kept changing the same records.
    pub async fn put_host(&self, organization: Uuid, host: Host) -> Result<Written, Error> {
        let id = host.id;
        let encoder = self.host_encoder(organization);
        let hosts = [encoder.encode_in(&self.state.offload, host).await?];
        let replaced = self.put_hosts(organization, &hosts).await?;
        Ok(if replaced.contains(&id) { Written::Replaced } else { Written::Created })
    }

    /// Stores hosts with distinct ids atomically. Returns the ids of those that replaced others.
    pub(super) async fn put_hosts(
        &self,
        organization: Uuid,
        hosts: &[EncodedHost],
    ) -> Result<Vec<Uuid>, Error> {
        self.change_hosts(&HostChange { organization, puts: hosts, delete: None }).await
    }

    /// Returns a host.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization.
    pub async fn host(&self, organization: Uuid, id: Uuid) -> Result<Host, Error> {
        let record = self.host_record(organization, id).await?;
        self.state.offload.run(organization, record.body.len(), move || decode(&record)).await?
    }

    /// Deletes a host with its embedded records.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization; `Conflict` when other writers kept changing the same
    /// records.
    pub async fn delete_host(&self, organization: Uuid, id: Uuid) -> Result<(), Error> {
        self.change_hosts(&HostChange { organization, puts: &[], delete: Some(id) }).await?;
        Ok(())
    }

    async fn host_record(&self, organization: Uuid, id: Uuid) -> Result<Record, Error> {
        let found = self.own_hosts(organization, vec![id]).await?.pop();
        found.ok_or_else(|| ErrorKind::NotFound { entity: Entity::Host, id }.into())
    }

    /// Returns the organization's hosts among these ids, by id, from one state of the store.
    ///
    /// The index filters by organization, so other organizations' hosts are never read.
    async fn own_hosts(&self, organization: Uuid, ids: Vec<Uuid>) -> Result<Vec<Record>, Error> {
        let query = Query { organization: Some(organization), ids: Some(ids), ..Query::new(HOST) };
        Ok(self.store.list(&query).await?.records)
    }

    /// Returns the organization that owns a network; `None` when there is no such network.
    async fn owner_of_network(&self, network: Uuid) -> Result<Option<Uuid>, Error> {
        self.get(network_key(network)).await?.as_ref().map(organization_of).transpose()
    }
}
