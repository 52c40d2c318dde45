//! Hosts: validation, queries and changes.

mod access;
mod age;
mod assign;
mod bulk;
mod change;
mod create;
mod delete;
#[cfg(feature = "discovery")]
mod discovered;
mod document;
mod edit;
mod input;
mod list;
mod parts;
mod query;
mod renamings;
mod rewrite;
mod terms;
mod texts;
mod update;
mod upgrade;
mod validate;
mod virtualization;

use uuid::Uuid;

pub(super) use bulk::adopt_parts;
pub use bulk::{Atomicity, BulkChange, BulkHost, BulkResult};
pub(super) use document::EncodedHost;
pub(crate) use document::without_comma;
pub(super) use input::{BindingType, Given, Omissible, or_default, parse_object};
pub(crate) use input::{parse_host, parse_host_changes};
pub use list::HostPage;
pub(super) use parts::PartLists;
pub(crate) use parts::parse_part;
pub use parts::{Part, PortUpdate};
pub use query::{HostQuery, PortFilter, PortFilterError};
pub(super) use terms::HostTerms;
pub(super) use texts::check_host_texts;
pub(super) use validate::check_source;
#[cfg(feature = "discovery")]
pub(super) use {
    bulk::rename_parts,
    change::{Attempt, HostChange},
    document::{HostEncoder, decode},
    rewrite::{FIRST_HOSTS, MAX_HOSTS, first_bytes},
    terms::{
        ADDRESS_ONLY, IDENTITY, WORD, address_only_value, becoming_stale, identity_value, ip_prefix_range,
        ip_range, mac_range,
    },
    virtualization::Summary,
};

pub(super) use self::change::Before;
use self::change::check_replacement;
use super::records::organization_of;
use super::schema::{HOST, network_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
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
    /// Ids of embedded records are unique within the organization, for each kind; ids of hosts are unique in the store.
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
    /// - `Invalid`: an id occurs twice, a text has more than 65,536 characters, or a `source` is nested more than 64
    ///   deep.
    /// - `AlreadyExists`: two ports share number and protocol, or another host or embedded record has one of the ids.
    /// - `TooLarge` and `QuotaExceeded`: a limit of [`Quotas`](super::Quotas) is exceeded.
    /// - `Conflict`: other writers kept changing the same records.
    pub async fn put_host(&self, organization: Uuid, host: Host) -> Result<Written, Error> {
        let id = host.id;
        check_host_texts(&host, None)?;
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
        self.replace_hosts(organization, hosts).await?.map_err(Error::from)
    }

    /// Stores hosts like [`put_hosts`](Self::put_hosts) for a caller.
    ///
    /// # Errors
    /// Also `AccessDenied` and `NetworkMismatch` for the hosts to be replaced.
    pub(super) async fn put_hosts_as(
        &self,
        caller: &Caller,
        hosts: &[EncodedHost],
    ) -> Result<Vec<Uuid>, Error> {
        let check = |before: &Before| {
            let replaced = hosts.iter().filter_map(|put| Some((&put.host, &before.get(&put.host.id)?.1)));
            let mut checks =
                replaced.map(|(host, summary)| check_replacement(caller, host, summary.network_id));
            checks.find(Result::is_err).unwrap_or(Ok(()))
        };
        self.replace_hosts_if(caller.organization_id(), hosts, check).await?.map_err(Error::from)
    }

    /// Returns a host.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization.
    pub async fn host(&self, organization: Uuid, id: Uuid) -> Result<Host, Error> {
        let record = self.host_record(organization, id).await?;
        self.decode_host(organization, &record).await
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
