//! The collections of the API, and the operations that they share.

use std::fmt;
use std::str::FromStr;

use http::header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::{ClientCall, decode};
use super::query::query_text;
use super::{Client, ClientError, HttpService, Parameters, PartQuery};
use crate::model::{
    DaemonApiKey, DaemonApiKeyId, Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, Network,
    NetworkId, Organization, OrganizationId, Port, PortId, Record, RecordId, Service, ServiceId, Share,
    ShareId, Subnet, SubnetId, Tag, TagId, User, UserApiKey, UserApiKeyId, UserId,
};
#[cfg(feature = "discovery")]
use crate::model::{DaemonId, Discovery, DiscoveryDaemon, DiscoveryId};
#[cfg(feature = "topology")]
use crate::model::{TopologyLink, TopologyLinkId};
use crate::wire::Pagination;
use crate::wire::{HostQuery, ListQuery, PageCursor};

/// A kind of record that a [`Client`] lists.
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

/// A kind of record that [`Client::get`] reads by its id.
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

/// A kind of record that [`Client::update`] replaces and [`Client::patch`] changes.
pub trait Updatable: Readable {}

/// A kind of record that [`Client::create`] creates from its fields alone.
///
/// Users, API keys and shares have methods of their own, because a secret comes with them.
pub trait Creatable: Collection {}

/// A kind of record that [`Client::delete`] deletes.
pub trait Deletable: Collection {}

/// A kind of record of which [`Client::history`] reads the history.
pub trait Recorded: Collection {}

/// A kind of record that [`Client::delete_many`] deletes.
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

pub(super) const MERGE_PATCH: HeaderValue = HeaderValue::from_static("application/merge-patch+json");

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The records, in the requested order.
    pub records: Vec<T>,
    /// The number of records that match the filters, wherever the page starts and ends.
    pub total: u64,
    /// Whether records follow the page.
    pub has_more: bool,
    /// The position after the page, for the query of the next one.
    ///
    /// `None`: no records follow, or the query has an offset.
    pub next: Option<PageCursor>,
}

/// A record with the entity tag of its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tagged<T> {
    /// The record.
    pub record: T,
    /// The tag, for [`Client::update`]; `None` if the server sends none.
    pub tag: Option<EntityTag>,
}

/// The entity tag of one state of a record. Its text form includes the quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(HeaderValue);

/// The error for text that is not an entity tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an entity tag in quotes")]
#[non_exhaustive]
pub struct EntityTagError;

impl EntityTag {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(ETAG)?.to_str().ok()?.parse().ok()
    }
}

impl FromStr for EntityTag {
    type Err = EntityTagError;

    fn from_str(text: &str) -> Result<Self, EntityTagError> {
        let opaque = text.strip_prefix("W/").unwrap_or(text);
        let is_quoted = opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"');
        let header = is_quoted.then(|| HeaderValue::from_str(text).ok()).flatten();
        header.map(Self).ok_or(EntityTagError)
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.to_str().unwrap_or_default())
    }
}

impl<S: HttpService> Client<S> {
    /// Returns one page of a list.
    ///
    /// A query without a limit asks for the whole list in one response; [`records`](Self::records) reads lists of any
    /// length.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::inventory::HostQuery;
    /// # use toposcope::model::Host;
    /// # async fn example<S: HttpService>(client: Client<S>) -> Result<(), ClientError> {
    /// let mut query = HostQuery::default();
    /// query.limit = Some(50);
    /// let first = client.list::<Host>(&query).await?;
    /// if first.has_more {
    ///     query.cursor = first.next;
    ///     let second = client.list::<Host>(&query).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Request` for filters that are empty, texts with a comma in a list, and a limit of 0.
    pub async fn list<T: Collection>(&self, query: &T::Query) -> Result<Page<T>, ClientError> {
        let (documents, pagination) = self.raw_page::<T>(query).await?;
        let records = documents.iter().map(|document| decode(document.get().as_bytes()));
        let next = next_of(&pagination)?;
        let (records, Pagination { total_count: total, has_more, .. }) =
            (records.collect::<Result<_, _>>()?, pagination);
        Ok(Page { records, total, has_more, next })
    }

    pub(super) async fn raw_page<T: Collection>(
        &self,
        query: &T::Query,
    ) -> Result<(Vec<Box<RawValue>>, Pagination), ClientError> {
        let call = ClientCall::get(format!("{}?{}", T::PATH, query_text(query)?));
        let success = self.envelope::<Vec<Box<RawValue>>>(call).await?.0;
        let pagination = success.meta.pagination;
        let pagination = pagination.ok_or_else(|| ClientError::unexpected("The list has no pagination."))?;
        Ok((success.data, pagination))
    }

    /// Returns the record with this id.
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`.
    pub async fn get<T: Readable>(&self, id: T::Id) -> Result<Tagged<T>, ClientError> {
        self.tagged(ClientCall::get(item::<T>(id))).await
    }

    /// Returns the record with this id, or `None` if it still has this tag.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub async fn get_if_changed<T: Readable>(
        &self,
        id: T::Id,
        tag: &EntityTag,
    ) -> Result<Option<Tagged<T>>, ClientError> {
        let call = ClientCall::get(item::<T>(id)).header(IF_NONE_MATCH, tag.0.clone());
        match self.tagged(call).await {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.status() == Some(StatusCode::NOT_MODIFIED) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a record. The server chooses its id and its times, and ignores those of `record`.
    ///
    /// # Errors
    /// `validation_…`, `entity_reference_invalid`, `entity_already_exists`, `quota_exceeded`.
    pub async fn create<T: Creatable>(&self, record: &T) -> Result<Tagged<T>, ClientError> {
        /// The answer to a repeated request whose first answer was too long to be kept.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct IdAlone<I> {
            id: I,
        }

        let Tagged { record, tag } =
            self.tagged::<Box<RawValue>>(ClientCall::post(T::PATH).json(record)?).await?;
        match decode(record.get().as_bytes()) {
            Ok(record) => Ok(Tagged { record, tag }),
            Err(error) => match decode::<IdAlone<T::Id>>(record.get().as_bytes()) {
                Ok(IdAlone { id }) => self.tagged(ClientCall::get(item::<T>(id))).await,
                Err(_) => Err(error),
            },
        }
    }

    /// Replaces the record with this id. Fields that only the server sets are ignored, and a `None` clears a field.
    ///
    /// With a tag, the server refuses the update if the record has changed since.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::{Tag, TagId};
    /// # async fn example<S: HttpService>(client: Client<S>, id: TagId) -> Result<(), ClientError> {
    /// let mut found = client.get::<Tag>(id).await?;
    /// found.record.name = "critical".to_owned();
    /// client.update(&found.record, found.tag.as_ref()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `precondition_failed`; the errors of [`get`](Self::get) and [`create`](Self::create).
    pub async fn update<T: Updatable>(
        &self,
        record: &T,
        if_match: Option<&EntityTag>,
    ) -> Result<Tagged<T>, ClientError> {
        let call = ClientCall::put(item::<T>(record.id())).json(&replacement(record)?)?;
        self.tagged(call.if_match(if_match)).await
    }

    /// Changes single fields of the record with this id, as a JSON merge patch (RFC 7396) says.
    ///
    /// Lists are replaced as a whole, and a null clears a field. With a tag, the server refuses the patch if the record
    /// has changed since.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::{Host, HostId};
    /// # async fn example<S: HttpService>(client: Client<S>, id: HostId) -> Result<(), ClientError> {
    /// let changes = serde_json::json!({"sys_location": "Rack 4", "description": null});
    /// let host = client.patch::<Host>(id, &changes, None).await?.record;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `validation_required` for a null in place of a required field; the errors of [`update`](Self::update).
    pub async fn patch<T: Updatable>(
        &self,
        id: T::Id,
        changes: &(impl Serialize + ?Sized),
        if_match: Option<&EntityTag>,
    ) -> Result<Tagged<T>, ClientError> {
        let call = ClientCall::new(Method::PATCH, item::<T>(id)).json(changes)?;
        self.tagged(call.header(CONTENT_TYPE, MERGE_PATCH).if_match(if_match)).await
    }

    /// Deletes the record with this id. With a tag, deletes it only if the record has not changed since.
    ///
    /// # Errors
    /// `precondition_failed`, `entity_in_use`; the errors of [`get`](Self::get).
    pub async fn delete<T: Deletable>(
        &self,
        id: T::Id,
        if_match: Option<&EntityTag>,
    ) -> Result<(), ClientError> {
        let call = ClientCall::new(Method::DELETE, item::<T>(id)).if_match(if_match);
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Deletes up to 1,000 records, all or none. Returns how many there were.
    ///
    /// Ids that are unknown or not visible to the caller are skipped.
    ///
    /// # Errors
    /// `entity_in_use`; `validation_…` for no ids or too many.
    pub async fn delete_many<T: BulkDeletable>(&self, ids: &[T::Id]) -> Result<u64, ClientError> {
        #[derive(Deserialize)]
        struct Deletion {
            deleted_count: u64,
        }
        let call = ClientCall::post(format!("{}/bulk-delete", T::PATH)).json(ids)?;
        Ok(self.value::<Deletion>(call).await?.deleted_count)
    }
}

impl ClientCall {
    pub(super) fn if_match(self, tag: Option<&EntityTag>) -> Self {
        match tag {
            Some(tag) => self.header(IF_MATCH, tag.0.clone()),
            None => self,
        }
    }
}

/// Returns the body of an update: the record, with null for the fields that its JSON leaves out.
///
/// A field that a body does not have keeps its value.
fn replacement<T: Collection>(record: &T) -> Result<Value, ClientError> {
    let mut body = serde_json::to_value(record)
        .map_err(|error| ClientError::request("The record has no JSON form.").caused_by(error))?;
    if let Value::Object(fields) = &mut body {
        for name in T::nullable_fields() {
            fields.entry(name).or_insert(Value::Null);
        }
    }
    Ok(body)
}

pub(super) fn item<T: Collection>(id: T::Id) -> String {
    format!("{}/{id}", T::PATH)
}

/// Returns the position after a page.
pub(super) fn next_of(pagination: &Pagination) -> Result<Option<PageCursor>, ClientError> {
    let text = pagination.next_cursor.as_ref().and_then(Option::as_ref);
    let invalid = |error| ClientError::unexpected("The next cursor is not one of this API.").caused_by(error);
    text.map(|text| text.parse().map_err(invalid)).transpose()
}
