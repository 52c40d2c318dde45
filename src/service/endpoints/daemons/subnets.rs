//! Subnets and VLANs of daemons.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::dialect::{Dialect, VLAN_NUMBERS, vlan_id};
use super::{dialect_of, note_contact};
use crate::access::{Caller, DaemonCaller, Scope};
use crate::inventory::{
    DocumentPages, Documents, Error, ErrorKind, Inventory, ListQuery, MAX_SUBNETS, Problem,
};
use crate::json_objects::natural;
use crate::model::{Cidr, Permission, Subnet, SubnetId, UserId};
use crate::service::endpoints::{collections, lists};
use crate::service::input::{Fields, read_list_query};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::groups::REPORTED_SUBNET;
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::Sender;
use crate::service::state::ApiState;
use crate::wire::daemon::{VlanId, VlanIds};

/// `POST /api/v1/subnets`, by a user or by a daemon.
pub(in crate::service) fn create_subnet(mut call: Call<'_>) -> Pending<'_> {
    if !call.is_by_daemon() {
        return collections::create::<Subnet>(call);
    }
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        Fields::read(&body, REPORTED_SUBNET)?;
        let dialect = dialect_of(&call.input.request.headers, None, &body);
        let given: Map<String, Value> =
            serde_json::from_slice(&body).map_err(|_| Error::invalid("", Problem::InvalidFormat))?;
        let subnet = read_subnet(&daemon, dialect, given)?;
        let inventory = &call.state.inventory;
        note_contact(inventory, &daemon, call.input.request).await?;
        let subnet = inventory.daemons().report_subnet(&daemon, subnet).await?;
        let tag = EntityTag::of_record(&subnet)?;
        call.state.responder.record(&dialect.subnet(&subnet)?, tag)?.with_location(call.route, subnet.id)
    })
}

fn read_subnet(
    daemon: &DaemonCaller,
    dialect: Dialect,
    mut given: Map<String, Value>,
) -> Result<Subnet, ApiError> {
    dialect.read_subnet(&mut given, daemon.network_id);
    let id = given.get("id").map(|id| serde_json::from_value(id.clone())).transpose();
    let id: Option<SubnetId> = id.map_err(|_| Error::invalid("id", Problem::InvalidFormat))?;
    let text = serde_json::to_vec(&given).map_err(Error::internal)?;
    let unnamed = Subnet::new(daemon.network_id, "", Cidr::DEFAULT_ROUTE);
    let mut subnet = unnamed.clone();
    Fields::read(&text, REPORTED_SUBNET)?.apply(&mut subnet, &unnamed)?;
    subnet.id = id.unwrap_or_default();
    Ok(subnet)
}

/// Stores the subnets that a daemon states when it asks for work, and returns their ids.
///
/// Subnets that cannot be stored are left out: the daemon gets its work nevertheless.
pub(super) async fn store_all(
    inventory: &Inventory,
    daemon: &DaemonCaller,
    dialect: Dialect,
    given: Vec<Value>,
) -> Result<Vec<SubnetId>, ApiError> {
    if given.len() > MAX_SUBNETS {
        return Err(Error::invalid("interfaced_subnets", Problem::MaxLength { max: MAX_SUBNETS }).into());
    }
    let mut ids = Vec::with_capacity(given.len());
    for given in given {
        let Value::Object(given) = given else { continue };
        let Ok(subnet) = read_subnet(daemon, dialect, given) else { continue };
        match inventory.daemons().report_subnet(daemon, subnet).await {
            Ok(subnet) => ids.push(subnet.id),
            Err(error) if matches!(error.kind(), ErrorKind::Invalid { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(ids)
}

/// `GET /api/v1/subnets`, by a user or by a daemon. A daemon gets those of its network.
pub(in crate::service) fn list_subnets(call: Call<'_>) -> Pending<'_> {
    if !call.is_by_daemon() {
        return lists::list::<Subnet>(call);
    }
    Box::pin(async move {
        let Sender::Daemon(daemon) = call.sender()? else { return Err(ApiError::internal()) };
        let (state, request) = (call.state, call.input.request);
        let (query, paging) = read_list_query(request.uri.query(), &call.route.query)?;
        let dialect = Dialect::of(&request.headers);
        let scope = Scope::only([daemon.network_id]);
        let caller =
            Caller::new(daemon.organization_id, UserId::new(daemon.key_id.uuid()), Permission::Viewer, scope);
        let revision = state.inventory.subnets().revision(&caller).await?;
        let form = format!(
            "{} {} {}",
            state.responder.server_version(),
            dialect.is_versioned(),
            dialect.network_id()
        );
        let tag =
            revision.and_then(|revision| EntityTag::of_personal_list(revision, &caller, request, &form));
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        let documents = match query.limit {
            Some(_) => state.inventory.subnets().list(&caller, &query).await?.into_documents()?,
            None => whole_list(state, &caller, &query).await?,
        };
        let bodies = documents.bodies.into_iter().map(|body| translated(dialect, body));
        let documents = Documents { bodies: bodies.collect::<Result<_, Error>>()?, ..documents };
        Ok(Outcome::new(lists::page(state, documents, paging)?).with_tag(tag))
    })
}

/// Returns the whole list of the subnets of a network at once. Networks have few, compared with hosts.
async fn whole_list(state: &ApiState, caller: &Caller, query: &ListQuery) -> Result<Documents, ApiError> {
    let mut pages = state.inventory.subnets().pages(caller, query).await?;
    let mut all = pages.next().await?;
    if let Some(max) = state.whole_list_limit
        && all.total > max
    {
        return Err(ApiError::list_too_long(max));
    }
    while !pages.is_finished() {
        all.bodies.extend(pages.next().await?.bodies);
    }
    Ok(all)
}

/// Translates a subnet of a list, which is JSON preceded by a comma.
fn translated(dialect: Dialect, body: Bytes) -> Result<Bytes, Error> {
    let Some(document) = body.strip_prefix(b",").filter(|_| dialect.is_versioned()) else { return Ok(body) };
    let subnet = dialect.subnet_document(serde_json::from_slice(document).map_err(Error::internal)?);
    let mut text = vec![b','];
    serde_json::to_writer(&mut text, &subnet).map_err(Error::internal)?;
    Ok(text.into())
}

/// `POST /api/v1/vlans/discovery`.
///
/// The answer has the ids by which the daemon names the VLANs of ports. Names of VLANs are not stored.
pub(in crate::service) fn report_vlans(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let mut vlans = BTreeMap::new();
        for (index, given) in fields.items("vlans")?.into_iter().enumerate() {
            let number = vlan_number(given.get());
            let field = format!("vlans.{index}.vlan_number");
            let number = number.ok_or_else(|| Error::invalid(field, Problem::InvalidFormat))?;
            vlans.insert(number, vlan_id(daemon.network_id, number));
        }
        note_contact(&call.state.inventory, &daemon, call.input.request).await?;
        let vlans = vlans.into_iter().map(|(vlan_number, id)| VlanId { vlan_number, id }).collect();
        call.state.responder.value(&VlanIds { vlans })
    })
}

/// Reads the number of a VLAN. `None` if it has none, or one that VLANs cannot have.
fn vlan_number(given: &str) -> Option<u16> {
    let given: Value = serde_json::from_str(given).ok()?;
    let number = u16::try_from(natural(given.get("vlan_number")?)?).ok()?;
    VLAN_NUMBERS.contains(&number).then_some(number)
}
