//! Endpoints of single hosts and of their parts: interfaces, ports, services and interface entries.

use std::fmt;
use std::mem;

use http::request::Parts;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::collections::{BulkDeletion, check_missing};
use super::lists::{Sending, begin_list, shaped_page};
use crate::inventory::{
    Entity, Error, ErrorKind, Inventory, Part, check_expected_time, parse_host, parse_host_changes,
    parse_part,
};
use crate::model::{ChangePosition, Common, Host, HostId, NetworkId, Record, Timestamp};
#[cfg(feature = "csv")]
use crate::service::input::fields_of;
use crate::service::input::{
    Fields, check_types, read_at, read_erase, read_fields, read_id, read_ids, read_no_query, read_parts_query,
};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::response::shape::{ListShape, Representation, Shaped};
use crate::service::routes::parameter::RequestContent;
use crate::service::routes::route::{Call, Pending, Route};
use crate::service::state::ApiState;

/// `GET /api/v1/hosts/{id}`.
pub(in crate::service) fn get_host(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let at = read_at(call.input.query(), &call.route.query)?;
        let (state, request) = (call.state, call.input.request);
        if let Some(at) = at {
            let host = state.inventory.host_at(&call.into_caller()?, id, &at).await?;
            let tag = EntityTag::of_record(&host)?;
            if tag.matches(request) {
                return Ok(Outcome::not_modified(&tag));
            }
            return state.responder.record(&host, tag);
        }
        let document = state.inventory.hosts().document(&call.into_caller()?, id).await?;
        let tag = EntityTag::of_document(&document)?;
        if tag.matches(request) {
            return Ok(Outcome::not_modified(&tag));
        }
        Ok(state.responder.stored_document(&document)?.with_tag(Some(tag)))
    })
}

/// `POST /api/v1/hosts`.
pub(in crate::service) fn create_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        Fields::read(&body, call.route.body)?;
        let (sender, host) = (&caller, parse_host(&body)?);
        call.input.room.answer().reserve_record(&host)?;
        let create = |inventory: Inventory| async move { inventory.hosts().create(sender, host).await };
        let respond = |host: &Host| created(call.state, call.route, host, host.id);
        call.repeatable().once(&caller, &body, create, respond).await
    })
}

/// `PUT` and `PATCH /api/v1/hosts/{id}`. Parts are replaced only where the body has their list.
pub(in crate::service) fn update_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let (inventory, bytes, content) = (&call.state.inventory, body.len(), call.route.body);
        let request = call.input.request.clone();
        // Large bodies and hosts keep a thread for a while.
        let read = move || HostUpdate::read(id, body, content, request);
        let update = inventory.offload(caller.organization_id(), bytes, read).await??;
        let answer = call.input.room.answer().clone();
        let change = move |host: &mut Host| {
            update.apply(host)?;
            answer.reserve_record(host)
        };
        let host = inventory.update_host_with(&caller, id, bytes, change).await?;
        let tag = EntityTag::of_record(&host)?;
        call.state.responder.record(&host, tag)
    })
}

/// An update of a host, as a request describes it.
struct HostUpdate {
    id: HostId,
    request: Parts,
    body: Vec<u8>,
    content: RequestContent,
    /// The names of the fields that change.
    names: Vec<&'static str>,
    expected_updated_at: Option<Timestamp>,
    /// The new values. `None`: those of a patch depend on the host.
    given: Option<Host>,
}

impl HostUpdate {
    /// Reads a body. Its faults are reported before those of the record.
    fn read(id: HostId, body: Vec<u8>, content: RequestContent, request: Parts) -> Result<Self, ApiError> {
        let fields = Fields::read(&body, content)?;
        let given = if fields.is_patch() {
            patched_host(&fields.without_objects(), &mut Host::with_id(id, NetworkId::nil(), ""))?;
            None
        } else {
            Some(parse_host_changes(&body)?)
        };
        let (names, expected_updated_at) = (fields.names().collect(), fields.expected_updated_at()?);
        Ok(Self { id, request, body, content, names, expected_updated_at, given })
    }

    fn apply(&self, host: &mut Host) -> Result<(), Error> {
        check_precondition(&self.request, Entity::Host, self.id, host)?;
        check_expected_time(self.expected_updated_at, Entity::Host, self.id, host.updated_at)?;
        let patched;
        let given = match &self.given {
            Some(given) => given,
            None => {
                let fields = Fields::read(&self.body, self.content);
                let fields = fields.map_err(|_| Error::internal("a patch cannot be read again"))?;
                patched = patched_host(&fields, host)?;
                &patched
            }
        };
        self.names.iter().for_each(|name| host.copy_field(given, name));
        Ok(())
    }
}

/// Returns the fields of a patch as they change a host. The others have no meaning.
///
/// A patch replaces lists as a whole, so that the present ones, which may be long, are left out meanwhile.
fn patched_host(fields: &Fields<'_>, host: &mut Host) -> Result<Host, Error> {
    let (interfaces, ports) = (mem::take(&mut host.interfaces), mem::take(&mut host.ports));
    let (services, if_entries) = (mem::take(&mut host.services), mem::take(&mut host.if_entries));
    let changes = fields.changes_of(host);
    (host.interfaces, host.ports, host.services, host.if_entries) = (interfaces, ports, services, if_entries);
    parse_host_changes(&text_of(&changes?)?)
}

/// `POST /api/v1/hosts/{id}/revert`.
pub(in crate::service) fn revert_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let position: ChangePosition = Fields::read(&body, call.route.body)?.required("position")?;
        let (request, answer) = (call.input.request.clone(), call.input.room.answer().clone());
        let check = move |present: Option<&Host>, past: &Host| {
            match present {
                Some(present) => check_precondition(&request, Entity::Host, id, present)?,
                None => check_missing(&request, Entity::Host, id)?,
            }
            answer.reserve_record(past)
        };
        let host = call.state.inventory.hosts().revert_if(&caller, id, &position, check).await?;
        let tag = EntityTag::of_record(&host)?;
        call.state.responder.record(&host, tag)
    })
}

/// `DELETE /api/v1/hosts/{id}`.
pub(in crate::service) fn delete_host(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: HostId = read_id(&call.path)?;
        let erases = read_erase(call.input.query(), &call.route.query)?;
        let (state, request) = (call.state, call.input.request);
        let caller = call.into_caller()?;
        let check = |host: &Host| check_precondition(request, Entity::Host, id, host);
        let hosts = state.inventory.hosts();
        if erases {
            let check_missing = || check_missing(request, Entity::Host, id);
            hosts.delete_and_erase(&caller, id, check, check_missing).await?;
        } else {
            hosts.delete_if(&caller, id, check).await?;
        }
        state.responder.empty()
    })
}

/// `POST /api/v1/hosts/bulk-delete`.
pub(in crate::service) fn bulk_delete_hosts(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let ids = read_ids(&body)?;
        let deleted_count = call.state.inventory.hosts().delete_many(&caller, &ids).await? as u64;
        call.state.responder.value(&BulkDeletion { deleted_count, requested_count: ids.len() })
    })
}

/// `GET /api/v1/{parts}`: the parts of one host, or of all.
pub(in crate::service) fn list_parts<P: Part>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request, began) = (call.state, call.input.request, call.input.began);
        let (host, query, paging) = read_parts_query(request.uri.query(), &call.route.query)?;
        let fields = read_fields(request.uri.query(), &call.route.query)?;
        let representation = Representation::of_parts(request);
        let shape = ListShape::new(fields, representation);
        #[cfg(feature = "csv")]
        let shape = shape
            .or_columns(|| fields_of(&call.route.query).iter().map(|field| (*field).to_owned()).collect());
        let vary = |outcome: Outcome| if cfg!(feature = "csv") { outcome.vary_by_accept() } else { outcome };
        let caller = call.into_caller()?;
        let revision = state.inventory.hosts().revision(&caller).await?;
        let version = state.responder.server_version();
        let tag = revision.and_then(|revision| EntityTag::of_list(revision, &caller, request, version));
        let tag = representation.tag(tag);
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(vary(Outcome::not_modified(tag)));
        }
        let organization = caller.organization_id();
        if host.is_none() && query.limit.is_none() {
            let pages = Box::new(state.inventory.parts::<P>().pages(&caller, &query).await?);
            let inventory = state.inventory.clone();
            let pages = Shaped { pages, shape, inventory, organization, has_begun: false };
            let sending = Sending { paging, representation, slot: None };
            let (body, next) = begin_list(state, &caller, request, began, Box::new(pages), sending).await?;
            return Ok(vary(representation.outcome(request, body).with_tag(tag).with_next_page(next)));
        }
        let documents = state.inventory.parts::<P>().list(&caller, host, &query).await?.into_documents()?;
        let (body, next) = shaped_page(state, request, organization, documents, &shape, paging).await?;
        Ok(vary(representation.outcome(request, body).with_tag(tag).with_next_page(next)))
    })
}

/// `GET /api/v1/{parts}/{id}`.
pub(in crate::service) fn get_part<P: Part>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let (state, request) = (call.state, call.input.request);
        let part = state.inventory.parts::<P>().get(&call.into_caller()?, id).await?;
        let tag = EntityTag::of_record(&part)?;
        if tag.matches(request) {
            return Ok(Outcome::not_modified(&tag));
        }
        state.responder.record(&part, tag)
    })
}

/// `POST /api/v1/{parts}`.
pub(in crate::service) fn create_part<P: Part>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let part =
            given_part::<P>(&fields)?.on_host(fields.required("host_id")?, fields.required("network_id")?);
        call.input.room.answer().reserve_record(&part)?;
        let sender = &caller;
        let create = |inventory: Inventory| async move { inventory.parts().create(sender, part).await };
        let respond = |part: &P| created(call.state, call.route, part, part.common().id);
        call.repeatable().once(&caller, &body, create, respond).await
    })
}

/// Answers with a new record, its tag and its place.
fn created(
    state: &ApiState,
    route: &Route,
    record: &impl Serialize,
    id: impl fmt::Display,
) -> Result<Outcome, ApiError> {
    state.responder.record(record, EntityTag::of_record(record)?)?.with_location(route, id)
}

/// Returns the part that the fields of a body describe.
fn given_part<P: Part>(fields: &Fields<'_>) -> Result<P, Error> {
    let required = if fields.is_patch() { required() } else { Map::new() };
    let given = fields.merged_with(&required, &Map::new())?;
    let part = parse_part(&text_of(&given)?)?;
    check_types(&given, &part)?;
    Ok(part)
}

/// Returns values for the required fields of all parts, in place of those that a patch leaves out.
fn required() -> Map<String, Value> {
    let values = json!({
        "ip_address": "192.0.2.1",
        "number": 1,
        "protocol": "Tcp",
        "name": "",
        "service_definition": "Unknown",
        "if_index": 1,
        "if_descr": "",
    });
    let Value::Object(values) = values else { return Map::new() };
    values
}

fn text_of(value: &Value) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(Error::internal)
}

/// `PUT` and `PATCH /api/v1/{parts}/{id}`.
pub(in crate::service) fn update_part<P: Part>(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (host, network): (Option<HostId>, Option<NetworkId>) =
            (fields.optional("host_id")?, fields.optional("network_id")?);
        // Faults of the body are reported before those of the record.
        if fields.is_patch() {
            given_part::<P>(&fields.without_objects())?;
        } else {
            given_part::<P>(&fields)?;
        }
        let (request, room) = (call.input.request, call.input.room);
        let change = |part: &mut P| {
            check_precondition(request, P::ENTITY, id, part)?;
            let Common { host_id, network_id, updated_at, .. } = part.common();
            check_expected_time(fields.expected_updated_at()?, P::ENTITY, id, updated_at)?;
            let document = fields.merged_with(part, &position_of(part)?)?;
            let changed = P::parse(&text_of(&document)?)?;
            check_types(&document, &changed)?;
            *part = changed.on_host(host.unwrap_or(host_id), network.unwrap_or(network_id));
            room.answer().reserve_record(part)
        };
        let part = call.state.inventory.parts().update(&caller, id, change).await?;
        let tag = EntityTag::of_record(&part)?;
        call.state.responder.record(&part, tag)
    })
}

/// Returns the position of a part, which a null of a patch does not change.
fn position_of<P: Part>(part: &P) -> Result<Value, Error> {
    let mut document = serde_json::to_value(part).map_err(Error::internal)?;
    Ok(json!({"position": document.get_mut("position").map(Value::take)}))
}

/// `DELETE /api/v1/{parts}/{id}`.
pub(in crate::service) fn delete_part<P: Part>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let (state, request) = (call.state, call.input.request);
        let check = |part: &P| check_precondition(request, P::ENTITY, id, part);
        state.inventory.parts().delete_if(&call.into_caller()?, id, check).await?;
        state.responder.empty()
    })
}

/// Checks the `If-Match` of a request against the present record.
pub(super) fn check_precondition(
    request: &Parts,
    entity: Entity,
    id: impl Into<Uuid>,
    record: &impl Serialize,
) -> Result<(), Error> {
    if EntityTag::allows(request, record)? {
        return Ok(());
    }
    Err(ErrorKind::PreconditionFailed { entity, id: id.into() }.into())
}
