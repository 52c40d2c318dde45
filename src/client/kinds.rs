//! The kinds of records that the client reads and changes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Parameters, PartQuery};
use crate::model::{
    DaemonApiKey, DaemonApiKeyId, Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, Network,
    NetworkId, Organization, OrganizationId, Port, PortId, Record, RecordId, Service, ServiceId, Share,
    ShareId, Subnet, SubnetId, Tag, TagId, User, UserApiKey, UserApiKeyId, UserId,
};
#[cfg(feature = "discovery")]
use crate::model::{DaemonId, Discovery, DiscoveryDaemon, DiscoveryId};
#[cfg(feature = "topology")]
use crate::model::{TopologyLink, TopologyLinkId};
use crate::wire::{HostQuery, ListQuery};

/// A kind of record that a [`Client`](super::Client) lists.
///
/// Implemented by the records of the API; not implementable outside of this crate. The other traits of this module mark
/// the kinds of record with further operations: [`Readable`], [`Creatable`], [`Updatable`], [`Deletable`],
/// [`BulkDeletable`] and [`Recorded`].
pub trait Collection: Serialize + DeserializeOwned + Sealed + Send + 'static {
    /// The path of the collection.
    const PATH: &'static str;
    /// The ids of the records, such as [`HostId`](crate::model::HostId).
    type Id: RecordId;
    /// The filters, the order and the page of its list.
    type Query: Parameters;

    /// Returns the record's id.
    fn id(&self) -> Self::Id;
}

/// A kind of record that [`Client::get`](super::Client::get) reads by its id.
///
/// Topology links are only listed:
///
/// ```compile_fail
/// # use toposcope::client::{Client, HttpService};
/// # use toposcope::model::TopologyLink;
/// # async fn example<S: HttpService>(client: Client<S>, link: TopologyLink) {
/// let link = client.get::<TopologyLink>(link.id).await;
/// # }
/// ```
pub trait Readable: Collection {}

/// A kind of record that [`Client::update`](super::Client::update) replaces and [`Client::patch`](super::Client::patch) changes.
pub trait Updatable: Readable {}

/// A kind of record that [`Client::create`](super::Client::create) creates from its fields alone.
///
/// Users, API keys and shares have methods of their own, because a secret comes with them.
pub trait Creatable: Collection {}

/// A kind of record that [`Client::delete`](super::Client::delete) deletes.
pub trait Deletable: Collection {}

/// A kind of record of which [`Client::history`](super::Client::history) reads the history.
pub trait Recorded: Collection {}

/// A kind of record that [`Client::delete_many`](super::Client::delete_many) deletes.
pub trait BulkDeletable: Deletable {}

pub trait Sealed {
    /// Returns the fields that null clears. The JSON of a record may leave them out when they are `None`.
    fn nullable_fields() -> Vec<&'static str> {
        Vec::new()
    }
}

/// Implements [`Collection`] for records. They differ only in the path, the query, and whether they have a table of
/// their fields.
macro_rules! collections {
    ($($record:ident($id:ident): $path:literal, $query:ty, [$($operation:ident),*]
        $(, $table:ident)? $(=> clears $cleared:literal)?;)*) => {$(
        impl Sealed for $record {
            $(
                fn nullable_fields() -> Vec<&'static str> {
                    <Self as $table>::nullable_names().collect()
                }
            )?
            $(
                fn nullable_fields() -> Vec<&'static str> {
                    vec![$cleared]
                }
            )?
        }

        impl Collection for $record {
            const PATH: &'static str = $path;
            type Id = $id;
            type Query = $query;

            fn id(&self) -> $id {
                self.id
            }
        }

        $(impl $operation for $record {})*
    )*};
}

collections! {
    Organization(OrganizationId): "/api/v1/organizations", ListQuery, [Recorded, Readable, Updatable];
    User(UserId): "/api/v1/users", ListQuery, [Recorded, Readable, Updatable, Deletable];
    Network(NetworkId): "/api/v1/networks", ListQuery,
        [Recorded, Readable, Creatable, Updatable, Deletable] => clears "custom";
    Subnet(SubnetId): "/api/v1/subnets", ListQuery, [Recorded, Readable, Creatable, Updatable, Deletable, BulkDeletable];
    Tag(TagId): "/api/v1/tags", ListQuery, [Recorded, Readable, Creatable, Updatable, Deletable, BulkDeletable];
    Host(HostId): "/api/v1/hosts", HostQuery, [Recorded, Readable, Creatable, Updatable, Deletable, BulkDeletable], Record;
    Interface(InterfaceId): "/api/v1/interfaces", PartQuery, [Readable, Creatable, Updatable, Deletable], Record;
    Port(PortId): "/api/v1/ports", PartQuery, [Readable, Creatable, Updatable, Deletable], Record;
    Service(ServiceId): "/api/v1/services", PartQuery, [Readable, Creatable, Updatable, Deletable], Record;
    IfEntry(IfEntryId): "/api/v1/if-entries", PartQuery, [Readable, Creatable, Updatable, Deletable], Record;
    UserApiKey(UserApiKeyId): "/api/v1/auth/keys", ListQuery, [Recorded, Readable, Updatable, Deletable, BulkDeletable];
    DaemonApiKey(DaemonApiKeyId): "/api/v1/auth/daemon", ListQuery, [Recorded, Readable, Updatable, Deletable, BulkDeletable];
    Share(ShareId): "/api/v1/shares", ListQuery, [Recorded, Readable, Updatable, Deletable, BulkDeletable];
}

#[cfg(feature = "discovery")]
collections! {
    DiscoveryDaemon(DaemonId): "/api/v1/daemons", ListQuery, [Recorded, Readable, Deletable];
    Discovery(DiscoveryId): "/api/v1/discoveries", ListQuery, [Readable];
}

#[cfg(feature = "topology")]
collections! {
    TopologyLink(TopologyLinkId): "/api/v1/topology/links", ListQuery, [Recorded, Creatable, Deletable];
}
