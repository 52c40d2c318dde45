//! The endpoints that all collections share. They get, create, update, delete and bulk-delete records of one kind.

use std::collections::BTreeMap;

use http::request::Parts;
use serde::Serialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::{
    BulkDeletable, Creatable, Deletable, Entity, Error, ErrorKind, Inventory, Problem, Resource, Revertable,
    check_expected_time,
};
use crate::model::ChangePosition;
use crate::service::input::{Fields, read_erase, read_id, read_ids, read_no_query};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{BodyLimit, Call, Pending};

/// `GET /api/v1/{collection}/{id}`.
pub(in crate::service) fn get<T: Resource>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let (state, request) = (call.state, call.input.request);
        let record = state.inventory.records::<T>().get(&call.into_caller()?, id).await?;
        let tag = EntityTag::of_record(&record.tagged())?;
        if tag.matches(request) {
            return Ok(Outcome::not_modified(&tag));
        }
        state.responder.record(&record, tag)
    })
}

/// A kind of record that bodies set. Its template has the values of the fields that a creation leaves out.
pub(in crate::service) trait Template: Resource {
    fn template() -> Self;

    /// The fields that other requests set, each with the way to do so. A client that sends one would believe that it was set.
    const SET_ELSEWHERE: &'static [(&'static str, &'static str)] = &[];

    /// Sets the fields that the body of an update implies. `is_given` returns whether the body has a field.
    fn interpret(&mut self, _before: &Self, _is_given: impl Fn(&str) -> bool) {}
}

/// `POST /api/v1/{collection}`.
pub(in crate::service) fn create<T: Creatable + Template>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let mut record = T::template();
        Fields::read(&body, call.route.body)?.apply(&mut record, &T::template())?;
        call.input.room.answer().reserve_record(&record)?;
        let sender = &caller;
        let create = |inventory: Inventory| async move { inventory.records().create(sender, record).await };
        let respond = |record: &T| {
            let tag = EntityTag::of_record(&record.tagged())?;
            call.state.responder.record(record, tag)?.with_location(call.route, record.id())
        };
        call.repeatable().once(&caller, &body, create, respond).await
    })
}

/// `PUT` and `PATCH /api/v1/{collection}/{id}`.
pub(in crate::service) fn update<T: Template>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        refuse_set_elsewhere::<T>(&body)?;
        check_values::<T>(&fields)?;
        let (request, room) = (call.input.request, call.input.room);
        let change = |record: &mut T| {
            check_precondition(request, record)?;
            check_time(&fields, record)?;
            let before = record.clone();
            fields.apply(record, &T::template())?;
            record.interpret(&before, |field| fields.names().any(|name| name == field));
            room.answer().reserve_record(record)
        };
        let record = call.state.inventory.records().update(&caller, id, change).await?;
        let tag = EntityTag::of_record(&record.tagged())?;
        call.state.responder.record(&record, tag)
    })
}

/// Refuses the body of an update with a field that another request sets.
fn refuse_set_elsewhere<T: Template>(body: &[u8]) -> Result<(), Error> {
    if T::SET_ELSEWHERE.is_empty() {
        return Ok(());
    }
    let given: BTreeMap<String, Option<IgnoredAny>> =
        serde_json::from_slice(body).map_err(Error::internal)?;
    let is_given = |(name, _): &&(&str, _)| given.get(*name).is_some_and(Option::is_some);
    match T::SET_ELSEWHERE.iter().find(is_given) {
        Some((name, way)) => Err(Error::invalid(*name, Problem::SetElsewhere { way })),
        None => Ok(()),
    }
}

/// `POST /api/v1/{collection}/{id}/revert`.
pub(in crate::service) fn revert<T: Revertable>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let position: ChangePosition = Fields::read(&body, call.route.body)?.required("position")?;
        let (request, room) = (call.input.request, call.input.room);
        let check = |present: Option<&T>, past: &T| {
            match present {
                Some(present) => check_precondition(request, present)?,
                None => check_missing(request, T::ENTITY, id)?,
            }
            room.answer().reserve_record(past)
        };
        let record = call.state.inventory.records().revert_if(&caller, id, &position, check).await?;
        let tag = EntityTag::of_record(&record.tagged())?;
        call.state.responder.record(&record, tag)
    })
}

/// `DELETE /api/v1/{collection}/{id}`.
pub(in crate::service) fn delete<T: Resource + Deletable>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: T::Id = read_id(&call.path)?;
        let erases = read_erase(call.input.query(), &call.route.query)?;
        let (state, request) = (call.state, call.input.request);
        let caller = call.into_caller()?;
        let check = |record: &T| check_precondition(request, record);
        let records = state.inventory.records();
        if erases {
            let check_missing = || check_missing(request, T::ENTITY, id);
            records.delete_and_erase(&caller, id, check, check_missing).await?;
        } else {
            records.delete_if(&caller, id, check).await?;
        }
        state.responder.empty()
    })
}

/// The result of a bulk deletion.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::service) struct BulkDeletion {
    /// The number of records deleted.
    pub(in crate::service) deleted_count: u64,
    /// The number of ids in the request.
    pub(in crate::service) requested_count: usize,
}

/// `POST /api/v1/{collection}/bulk-delete`.
pub(in crate::service) fn bulk_delete<T: Resource + BulkDeletable>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let ids = read_ids(&body)?;
        let deleted_count = call.state.inventory.records::<T>().delete_many(&caller, &ids).await?;
        call.state.responder.value(&BulkDeletion { deleted_count, requested_count: ids.len() })
    })
}

impl Call<'_> {
    /// Reads the body. The query must be empty.
    ///
    /// Also returns the caller, identified again: a client may take any time to send the body, and the caller's rights
    /// may have been withdrawn meanwhile.
    pub(in crate::service) async fn read(&mut self) -> Result<(Vec<u8>, Caller), ApiError> {
        read_no_query(&self.input)?;
        let body = self.read_json().await?;
        let caller = self.state.credentials.identify_caller(self.input.request).await?;
        if let Some(requirement) = self.route.access.requirement() {
            requirement.check(&caller)?;
        }
        Ok((body, caller))
    }

    /// Reads the body, and reserves room for an answer of its size unless it has many hosts.
    pub(in crate::service) async fn read_json(&mut self) -> Result<Vec<u8>, ApiError> {
        let body = self.input.json().await?;
        if matches!(self.route.body_limit, BodyLimit::Usual) {
            self.input.room.answer().reserve(body.len())?;
        }
        Ok(body)
    }
}

/// Checks the values of a body without the stored record, so that their faults are reported before those that depend
/// on it.
///
/// The values of a patch are not checked: they mean nothing without the record.
pub(in crate::service) fn check_values<T: Template>(fields: &Fields<'_>) -> Result<(), Error> {
    if fields.is_patch() {
        return Ok(());
    }
    let mut record = T::template();
    fields.apply(&mut record, &T::template())?;
    record.check_values()
}

/// Checks the `expected_updated_at` of a body against the present record.
pub(in crate::service) fn check_time<T: Resource>(fields: &Fields<'_>, record: &T) -> Result<(), Error> {
    check_expected_time(fields.expected_updated_at()?, T::ENTITY, record.id(), record.updated_at())
}

/// Checks the `If-Match` of a request against the present record.
pub(in crate::service) fn check_precondition<T: Resource>(request: &Parts, record: &T) -> Result<(), Error> {
    if EntityTag::allows(request, &record.tagged())? {
        return Ok(());
    }
    Err(ErrorKind::PreconditionFailed { entity: T::ENTITY, id: record.id().into() }.into())
}

/// Checks that the `If-Match` of a request allows the creation of a record that no longer exists.
pub(in crate::service) fn check_missing(
    request: &Parts,
    entity: Entity,
    id: impl Into<Uuid>,
) -> Result<(), Error> {
    if EntityTag::allows_missing(request) {
        return Ok(());
    }
    Err(ErrorKind::PreconditionFailed { entity, id: id.into() }.into())
}
