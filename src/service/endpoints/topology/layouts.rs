//! The records that users enter for topologies: the positions of nodes, and the links that they enter and suppress.

use http::request::Parts;

use crate::invariant::Invariant;
use crate::inventory::{Entity, Error, ErrorKind, Problem};
use crate::model::{NetworkId, TopologyLayout, TopologyLink, TopologyView};
use crate::service::endpoints::lists;
use crate::service::input::{Fields, PathParameters, read_grouping, read_list_query, read_no_query};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};

/// `GET /api/v1/topology/layouts/{network_id}/{view}`.
pub(in crate::service) fn get_layout(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (network, view) = read_path(&call.path)?;
        read_no_query(&call.input)?;
        let (state, request) = (call.state, call.input.request);
        let layout = state.inventory.topology().layout(&call.into_caller()?, network, view).await?;
        let tag = EntityTag::of_record(&layout)?;
        if tag.matches(request) {
            return Ok(Outcome::not_modified(&tag));
        }
        state.responder.record(&layout, tag)
    })
}

/// `PUT` and `PATCH /api/v1/topology/layouts/{network_id}/{view}`.
pub(in crate::service) fn update_layout(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (network_id, view) = read_path(&call.path)?;
        let (body, caller) = call.read().await?;
        let positions = Fields::read(&body, call.route.body)?.optional("positions")?;
        let (state, request) = (call.state, call.input.request);
        let check = |present: &TopologyLayout| check_precondition(request, present);
        let layout = match positions {
            Some(positions) => {
                let layout = TopologyLayout { network_id, view, positions };
                call.input.room.answer().reserve_record(&layout)?;
                state.inventory.topology().put_layout(&caller, layout, check).await?
            }
            // A patch that changes nothing.
            None => {
                let present = state.inventory.topology().layout(&caller, network_id, view).await?;
                check(&present)?;
                present
            }
        };
        let tag = EntityTag::of_record(&layout)?;
        state.responder.record(&layout, tag)
    })
}

/// `POST /api/v1/topology/layouts/{network_id}/{view}/tidy`.
pub(in crate::service) fn tidy_layout(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (network, view) = read_path(&call.path)?;
        let group_by = read_grouping(call.input.query(), &call.route.query)?;
        let state = call.state;
        state.topologies.tidy(&call.into_caller()?, network, view, group_by).await?;
        state.responder.empty()
    })
}

fn read_path(path: &PathParameters<'_>) -> Result<(NetworkId, TopologyView), ApiError> {
    let network = path.get("network_id").asserted_or_default().parse();
    let network = network.map_err(|_| Error::invalid("network_id", Problem::InvalidFormat))?;
    let view = path.get("view").asserted_or_default().parse();
    Ok((network, view.map_err(|_| Error::invalid("view", Problem::InvalidFormat))?))
}

fn check_precondition(request: &Parts, present: &TopologyLayout) -> Result<(), Error> {
    if EntityTag::allows(request, present)? {
        return Ok(());
    }
    let (entity, id) = (Entity::TopologyLayout, present.network_id);
    Err(ErrorKind::PreconditionFailed { entity, id: id.uuid() }.into())
}

/// `GET /api/v1/topology/links`.
pub(in crate::service) fn list_links(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (query, _) = read_list_query(call.input.query(), &call.route.query)?;
        let network = query.network_id.ok_or_else(|| Error::invalid("network_id", Problem::Required))?;
        let (state, caller) = (call.state, call.caller()?.clone());
        state.inventory.require_network(&caller, network).await?;
        lists::list::<TopologyLink>(call).await
    })
}
