//! The endpoints of graphs, their edges, and blind spots.

use http::request::Parts;

use crate::access::Caller;
use crate::inventory::GraphMoments;
use crate::model::NetworkId;
use crate::service::input::{TopologyQuery, read_id, read_topology_query};
use crate::service::response::Outcome;
use crate::service::response::body::ResponseBody;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending, Route};
use crate::service::state::ApiState;
use crate::topology::Placement;
use crate::topology::graph::{Graph, GraphOptions};

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
        let tag = state.tag_of_moments(caller, request, &query.moments).await?;
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

impl ApiState {
    /// Returns the tag of an answer about a topology at some moments; `None` if the store does not support revisions.
    pub(super) async fn tag_of_moments(
        &self,
        caller: &Caller,
        request: &Parts,
        moments: &GraphMoments,
    ) -> Result<Option<EntityTag>, ApiError> {
        if *moments == GraphMoments::default() {
            self.tag_of_topology(caller, request).await
        } else {
            self.tag_of_past(caller, request).await
        }
    }

    /// Returns the tag of an answer about the past, which depends on what the caller may see of the history.
    async fn tag_of_past(&self, caller: &Caller, request: &Parts) -> Result<Option<EntityTag>, ApiError> {
        let revisions = self.inventory.hosts().past_revisions(caller).await?;
        let of_records = self.inventory.topology_revision(caller.organization_id()).await?;
        let Some((revisions, of_records)) = revisions.zip(of_records) else { return Ok(None) };
        let tag = EntityTag::of_past(revisions, caller, request, self.responder.server_version());
        Ok(tag.and_then(|tag| tag.of_part(&format!("{:?}", of_records.numbers()))))
    }

    /// Draws the graph that a request asks for and returns the result of `finish` for it. Of the past, a user reads one at a time.
    pub(super) async fn drawn_at<T: Send + 'static>(
        &self,
        caller: &Caller,
        (network, options, placement): (NetworkId, GraphOptions, Placement),
        moments: &GraphMoments,
        finish: impl FnOnce(Graph) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let _slot = match *moments == GraphMoments::default() {
            true => None,
            false => Some(self.past_slots.reserve(caller.into(), 1)?),
        };
        let drawing = (options, placement);
        Ok(self.topologies.drawn_at(caller, network, drawing, moments, finish).await?)
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
        let drawn_tag = tag.as_ref();
        let draw = || async move {
            let (responder, limit) = (state.responder.clone(), state.drawing_limit);
            let encode = move |graph: Graph| responder.bounded_body(&graph, limit);
            let TopologyQuery { network_id, options, placement, moments, .. } = query;
            let drawn = state.drawn_at(&caller, (network_id, options, placement), &moments, encode);
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
