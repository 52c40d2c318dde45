//! The operations that the kinds of records share.

use http::header::{CONTENT_TYPE, IF_NONE_MATCH};
use http::{HeaderValue, Method, StatusCode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::{ClientCall, decode};
use super::entity_tag::EntityTag;
use super::kinds::{BulkDeletable, Collection, Creatable, Deletable, Readable, Updatable};
use super::query::query_text;
use super::{Client, ClientError, HttpService};
use crate::wire::{PageCursor, Pagination};

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
        let call = ClientCall::get(item::<T>(id)).header(IF_NONE_MATCH, tag.header());
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
