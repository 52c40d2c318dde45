//! Hosts: what makes one acceptable, how it is found, and how it is changed.

mod change;
mod check;
mod document;
mod facets;
mod list;
mod pages;
mod ports;
mod summary;
mod virtualization;

use std::collections::BTreeMap;

use bytes::Bytes;
use uuid::Uuid;

pub(crate) use document::without_comma;
pub use list::{HostPage, HostQuery};
pub(crate) use pages::HostPages;
pub use ports::PortUpdate;
pub(crate) use ports::may_update_ports;

use self::change::HostChange;
use self::document::{decode, encode};
use self::summary::Summary;
use super::records::{host_key, network_key};
use super::references::organization_of;
use super::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, conflict};
use crate::model::Host;
use crate::store::Record;

/// What became of a host that was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// There was none of its id.
    Created,
    /// It took the place of the one that was there.
    Replaced,
}

/// A host that is acceptable in itself, with the document that is stored and served of it.
#[derive(Debug)]
pub(super) struct EncodedHost {
    pub(super) host: Host,
    body: Bytes,
    /// The tags it refers to, each with its place in the host as it was given.
    tags: BTreeMap<Uuid, String>,
}

impl EncodedHost {
    /// Checks a host in itself, puts its lists into order, and encodes it: the one time that its JSON is made.
    pub(super) fn new(mut host: Host) -> Result<Self, Error> {
        check::check(&host)?;
        let tags = tags(&host);
        host.sort_embedded();
        let body = encode(&host)?;
        Ok(Self { host, body, tags })
    }
}

impl Inventory {
    /// Stores a host with everything embedded in it; one of the same id is replaced.
    ///
    /// It is stored as given, its times included; what is derived is derived anew: the order of the embedded lists and
    /// the types of the ports. `virtualization` may name a service that is not there (yet). What is there is replaced
    /// whatever it is by now: of two who read a host, change it and put it back, the later one has its way.
    ///
    /// ```
    /// use toposcope::inventory::{Inventory, Written};
    /// use toposcope::model::{Host, Source, Timestamp};
    /// use toposcope::store::MemoryStore;
    /// use uuid::Uuid;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.create_organization("Example", true).await?;
    /// let network = inventory.create_network(organization.id, "Office").await?;
    /// let host = Host {
    ///     id: Uuid::from_u128(1),
    ///     network_id: network.id,
    ///     name: "printer".to_owned(),
    ///     hostname: None,
    ///     description: None,
    ///     hidden: false,
    ///     created_at: Timestamp::now(),
    ///     updated_at: Timestamp::now(),
    ///     tags: vec![],
    ///     source: Source::Manual,
    ///     virtualization: None,
    ///     credential_assignments: vec![],
    ///     interfaces: vec![],
    ///     ports: vec![],
    ///     services: vec![],
    ///     if_entries: vec![],
    /// };
    /// assert_eq!(inventory.put_host(organization.id, host.clone()).await?, Written::Created);
    /// assert_eq!(inventory.host(organization.id, host.id).await?, host);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `ReferenceInvalid` for a network or tag that is not the organization's, and for parts that refer to nothing within
    /// the host or to another host; `Invalid` for an id that stands twice, for a name or hostname of more than 65,536
    /// characters, and for a `source` nested more than 64 deep; `AlreadyExists` for two ports of one number and
    /// protocol, and for the id of a host, port or service that another host has; `Conflict` when others kept changing
    /// the same records.
    pub async fn put_host(&self, organization: Uuid, host: Host) -> Result<Written, Error> {
        let id = host.id;
        let hosts = [EncodedHost::new(host)?];
        let replaced = self.put_hosts(organization, &hosts).await?;
        Ok(if replaced.contains(&id) { Written::Replaced } else { Written::Created })
    }

    /// Stores hosts of different ids, all or none, and tells which of them replaced others.
    pub(super) async fn put_hosts(
        &self,
        organization: Uuid,
        hosts: &[EncodedHost],
    ) -> Result<Vec<Uuid>, Error> {
        self.change_hosts(&HostChange { organization, puts: hosts, delete: None }).await
    }

    /// A host.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization.
    pub async fn host(&self, organization: Uuid, id: Uuid) -> Result<Host, Error> {
        decode(&self.host_record(organization, id).await?)
    }

    /// Deletes a host with everything embedded in it.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization; `Conflict` when others kept changing the same records.
    pub async fn delete_host(&self, organization: Uuid, id: Uuid) -> Result<(), Error> {
        self.change_hosts(&HostChange { organization, puts: &[], delete: Some(id) }).await?;
        Ok(())
    }

    async fn host_record(&self, organization: Uuid, id: Uuid) -> Result<Record, Error> {
        for _ in 0..ATTEMPTS {
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id };
            let record = self.get(host_key(id)).await?.ok_or(not_found.clone())?;
            match self.owner_of(&record).await? {
                Some(owner) if owner == organization => return Ok(record),
                Some(_) => return Err(not_found.into()),
                None => tokio::task::yield_now().await,
            }
        }
        Err(conflict(Entity::Host, id))
    }

    /// Whose a host is: whose its network is. `None` when that is gone, which the host has then left meanwhile.
    async fn owner_of(&self, host: &Record) -> Result<Option<Uuid>, Error> {
        let Summary { network_id, .. } = decode(host)?;
        self.get(network_key(network_id)).await?.as_ref().map(organization_of).transpose()
    }
}

fn tags(host: &Host) -> BTreeMap<Uuid, String> {
    let own = host.tags.iter().enumerate().map(|(place, id)| (*id, format!("tags.{place}")));
    let services = host.services.iter().enumerate().flat_map(|(service, part)| {
        part.tags.iter().enumerate().map(move |(place, id)| (*id, format!("services.{service}.tags.{place}")))
    });
    services.chain(own).collect()
}
