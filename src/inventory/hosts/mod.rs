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
mod kept_ids;
mod list;
mod parts;
mod past;
mod query;
mod removals;
mod renamings;
mod revert;
mod rewrite;
mod service_access;
mod taken_part;
mod terms;
mod texts;
mod update;
mod upgrade;
mod validate;
mod virtualization;

pub use bulk::{BulkChange, BulkHost, BulkResult};
pub(super) use bulk::{adopt_parts, rename_host, stamp};
pub(crate) use document::without_comma;
pub(super) use document::{EncodedHost, HostEncoder, decode};
pub(super) use input::{BindingType, Given, Omissible, check_lock, missing_fields, or_default, parse_object};
pub(crate) use input::{parse_host, parse_host_changes};
pub(super) use kept_ids::keep_drafted_part_ids;
pub use list::HostPage;
pub(super) use parts::PartLists;
pub(crate) use parts::parse_part;
pub use parts::{HostParts, Part};
pub(super) use terms::HostTerms;
pub(super) use texts::check_host_texts;
pub(super) use validate::check_source;
#[cfg(feature = "discovery")]
pub(super) use {
    bulk::rename_parts,
    change::HostChange,
    discovered::is_discovered,
    rewrite::{FIRST_HOSTS, MAX_HOSTS, first_bytes},
    taken_part::TakenPart,
    terms::{
        ADDRESS_ONLY, IDENTITY, WORD, address_only_value, becoming_stale, identity_value, ip_prefix_range,
        ip_range, mac_range,
    },
    virtualization::Summary,
};

use std::collections::HashMap;

use self::change::check_replacement;
pub(super) use self::change::{Before, HostEffect};
use super::collections::handle;
use super::policy::Actor;
use super::records::organization_of;
use super::schema::{HOST, network_key};
use super::{Entity, Error, ErrorKind, Inventory, check_expected_time, require_system};
use crate::access::Caller;
use crate::model::{Host, HostId, NetworkId, OrganizationId, Timestamp, uuids};
use crate::store::{Query, Record};

/// The outcome of [`Hosts::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A new host was created.
    Created,
    /// An existing host was replaced.
    Replaced,
}

handle! {
    /// The hosts of an organization.
    pub struct Hosts = hosts;
}

impl Hosts<'_> {
    /// Creates a host, or replaces the host of the same id.
    ///
    /// The host is stored as given, its times included, except that embedded lists are sorted and port types are
    /// derived. `virtualization` may refer to a service that does not exist, or that another `put` has removed. The last
    /// write wins: a change since the caller read the host is not detected. The caller must be
    /// [the system](crate::access::Caller::system).
    ///
    /// Ids of embedded records are unique within the organization, for each kind; ids of hosts are unique in the store.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::Caller;
    /// use toposcope::inventory::Written;
    /// use toposcope::model::Host;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let host = Host::new(network.id, "printer");
    /// assert_eq!(inventory.hosts().put(&Caller::system(organization.id), host.clone()).await?, Written::Created);
    /// assert_eq!(inventory.hosts().get(&Caller::system(organization.id), host.id).await?, host);
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
    /// - `PermissionDenied`: the caller is not the system.
    pub async fn put(self, caller: &Caller, host: Host) -> Result<Written, Error> {
        require_system(caller)?;
        let (organization, id) = (caller.organization_id(), host.id);
        check_host_texts(&host, None)?;
        let encoder = self.inventory.host_encoder(organization);
        let hosts = [encoder.encode_in(&self.inventory.state.offload, host).await?];
        let replaced = self.inventory.put_hosts(caller, &hosts, &Expectations::new()).await?;
        Ok(if replaced.contains_key(&id) { Written::Replaced } else { Written::Created })
    }
}

/// The `updated_at` that clients expect of stored hosts.
pub(super) type Expectations = HashMap<HostId, Timestamp>;

/// Checks that a stored host, of which this is `updated_at`, is the one that the client has read.
///
/// # Errors
/// `Outdated`, or `NotFound` if there is no such host.
pub(super) fn check_expectation(
    expected: Option<Timestamp>,
    id: HostId,
    stored: Option<Timestamp>,
) -> Result<(), Error> {
    match (expected, stored) {
        (None, _) => Ok(()),
        (_, Some(updated_at)) => check_expected_time(expected, Entity::Host, id, updated_at),
        (Some(_), None) => Err(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() }.into()),
    }
}

impl Inventory {
    /// Stores hosts with distinct ids atomically. Returns the hosts that they replaced.
    ///
    /// # Errors
    /// `AccessDenied` and `NetworkMismatch` for the hosts to be replaced, except for the system; `Outdated` and `NotFound`
    /// for those that are not as expected.
    pub(super) async fn put_hosts(
        &self,
        caller: &Caller,
        hosts: &[EncodedHost],
        expected: &Expectations,
    ) -> Result<Before, Error> {
        let check = |before: &Before| {
            let mut checks = hosts.iter().map(|put| {
                let id = put.host.id;
                let replaced = before.get(&id).map(|(_, summary)| summary);
                if let Some(summary) = replaced.filter(|_| !caller.is_system()) {
                    check_replacement(caller, &put.host, summary.network_id)?;
                }
                check_expectation(expected.get(&id).copied(), id, replaced.map(|summary| summary.updated_at))
            });
            checks.find(Result::is_err).unwrap_or(Ok(()))
        };
        self.replace_hosts_if(Actor::Caller(caller), hosts, check).await?.map_err(Error::from)
    }

    async fn host_record(&self, organization: OrganizationId, id: HostId) -> Result<Record, Error> {
        let found = self.own_hosts(organization, vec![id]).await?.pop();
        found.ok_or_else(|| ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() }.into())
    }

    /// Returns the organization's hosts among these ids, by id, from one state of the store.
    ///
    /// The index filters by organization, so other organizations' hosts are never read.
    async fn own_hosts(&self, organization: OrganizationId, ids: Vec<HostId>) -> Result<Vec<Record>, Error> {
        let query =
            Query { organization: Some(organization.uuid()), ids: Some(uuids(&ids)), ..Query::new(HOST) };
        Ok(self.store.list(&query).await?.records)
    }

    /// Returns the organization that owns a network; `None` when there is no such network.
    async fn owner_of_network(&self, network: NetworkId) -> Result<Option<OrganizationId>, Error> {
        self.get(network_key(network)).await?.as_ref().map(organization_of).transpose()
    }
}
