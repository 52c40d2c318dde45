//! The endpoints of graphs, their edges, and blind spots.

use http::request::Parts;

use crate::access::Caller;
use crate::service::input::{TopologyQuery, read_id, read_topology_query};
use crate::service::response::Outcome;
use crate::service::response::body::ResponseBody;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending, Route};
use crate::service::state::ApiState;
use crate::topology::graph::Graph;

/// A request for a topology whose caller may see the network.
pub(super) struct Asked {
    pub(super) query: TopologyQuery,
    /// `None` if the store does not support revisions.
    pub(super) tag: Option<EntityTag>,
}

impl Asked {
    /// Reads the query, checks the access, and makes the tag of the answer.
    pub(super) async fn read(
        state: &ApiState,
        route: &Route,
        request: &Parts,
        caller: &Caller,
    ) -> Result<Self, ApiError> {
        let query = read_topology_query(request.uri.query(), &route.query)?;
        state.inventory.require_network(caller, query.network_id).await?;
        let tag = state.tag_of_topology(caller, request).await?;
        Ok(Self { query, tag })
    }
}

impl ApiState {
    /// Returns the tag of an answer about a topology; `None` if the store does not support revisions.
    ///
    /// It must be read before the graph: a tag newer than its graph would hide changes from the client.
    pub(super) async fn tag_of_topology(
        &self,
        caller: &Caller,
        request: &Parts,
    ) -> Result<Option<EntityTag>, ApiError> {
        let organization = caller.organization_id();
        let revision = self.inventory.topology_revision(organization).await?;
        let version = self.responder.server_version();
        Ok(revision
            .and_then(|revision| EntityTag::of_topology(revision.numbers(), organization, request, version)))
    }
}

/// `GET /api/v1/topology/graph`.
pub(in crate::service) fn get_graph(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let route = call.route;
        let caller = call.into_caller()?;
        let Asked { query, tag } = Asked::read(state, route, request, &caller).await?;
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        if let Some(body) = tag.as_ref().and_then(|tag| state.page_cache.get(tag)) {
            return Ok(Outcome::new(body).with_tag(tag));
        }
        let organization = caller.organization_id();
        let network = query.network_id;
        let drawn_tag = tag.as_ref();
        let draw = || async move {
            let (responder, limit) = (state.responder.clone(), state.drawing_limit);
            let encode = move |graph: Graph| responder.bounded_body(&graph, limit);
            let drawn = state.topologies.drawn(organization, network, query.options, query.placement, encode);
            Ok::<_, ApiError>(state.keep(drawn_tag, drawn.await??))
        };
        let body = state.drawings.get(organization, drawn_tag, draw).await?;
        Ok(Outcome::new(ResponseBody::full(body)).with_tag(tag))
    })
}

/// `GET /api/v1/topology/edges/{id}`.
pub(in crate::service) fn get_edge(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let id = read_id(&call.path)?;
        let route = call.route;
        let caller = call.into_caller()?;
        let Asked { query, tag } = Asked::read(state, route, request, &caller).await?;
        // An edge that does not exist has no state, so that `If-None-Match: *` does not match.
        let edge = state.topologies.edge(&caller, query.network_id, query.options, id).await?;
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        Ok(state.responder.value(&edge)?.with_tag(tag))
    })
}

/// `GET /api/v1/topology/blind-spots`.
pub(in crate::service) fn list_blind_spots(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let route = call.route;
        let caller = call.into_caller()?;
        let Asked { query, tag } = Asked::read(state, route, request, &caller).await?;
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        let spots = state.topologies.blind_spots(&caller, query.network_id).await?;
        Ok(state.responder.value(&spots)?.with_tag(tag))
    })
}
