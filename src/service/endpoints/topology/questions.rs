//! Questions about the links of a network.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::access::Caller;
use crate::model::{NetworkId, NodeId};
use crate::service::input::{
    ImpactQuestion, read_fragile_query, read_impact_query, read_locate_query, read_path_query,
    read_vlans_query,
};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};
use crate::service::state::ApiState;
use crate::topology::paths::{ImpactQuery, PathQuery};

/// A question of a caller who may see the network.
struct Question {
    caller: Caller,
    network: NetworkId,
    /// `None` if the store does not support revisions.
    tag: Option<EntityTag>,
    is_known: bool,
}

impl Question {
    /// Checks the access, and makes the tag of the answer.
    async fn of(call: Call<'_>, network: NetworkId) -> Result<Self, ApiError> {
        let (state, request) = (call.state, call.input.request);
        let caller = call.into_caller()?;
        state.inventory.require_network(&caller, network).await?;
        let tag = state.tag_of_topology(&caller, request).await?;
        let is_known = tag.as_ref().is_some_and(|tag| tag.matches(request));
        Ok(Self { caller, network, tag, is_known })
    }

    /// Returns the answer that the client has already.
    fn unchanged(&self) -> Option<Outcome> {
        self.tag.as_ref().filter(|_| self.is_known).map(Outcome::not_modified)
    }
}

/// Encodes an answer, unless it is too large.
pub(super) fn answer(
    state: &ApiState,
    found: &impl Serialize,
    tag: Option<EntityTag>,
) -> Result<Outcome, ApiError> {
    let body = state.responder.bounded_body(found, state.drawing_limit)?;
    Ok(Outcome::new(body).with_tag(tag))
}

/// `GET /api/v1/topology/locate`.
pub(in crate::service) fn locate(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, target) = read_locate_query(call.input.request.uri.query(), &call.route.query)?;
        let question = Question::of(call, network).await?;
        // A device that is not found has no state, so that `If-None-Match: *` does not match.
        let found = state.topologies.locate(&question.caller, network, target).await?;
        match question.unchanged() {
            Some(unchanged) => Ok(unchanged),
            None => answer(state, &found, question.tag),
        }
    })
}

/// `GET /api/v1/topology/path`.
pub(in crate::service) fn find_paths(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, asked) = read_path_query(call.input.request.uri.query(), &call.route.query)?;
        let question = Question::of(call, network).await?;
        let to_address = asked.to.parse().ok();
        let texts = vec![("from", asked.from), ("to", asked.to)];
        let ends = state.topologies.find_nodes(&question.caller, network, texts).await?;
        let [from, to] = ends.first_chunk::<2>().copied().unwrap_or_default();
        if let Some(unchanged) = question.unchanged() {
            return Ok(unchanged);
        }
        let mut query = PathQuery::new(from, to);
        query.to_address = to_address;
        query.vlan = asked.vlan;
        query.k = asked.k.unwrap_or(query.k);
        let found = state.topologies.paths(&question.caller, network, query).await?;
        answer(state, &found, question.tag)
    })
}

/// `GET /api/v1/topology/impact`.
pub(in crate::service) fn get_impact(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, asked) = read_impact_query(call.input.request.uri.query(), &call.route.query)?;
        let question = Question::of(call, network).await?;
        let query = impact_query(state, &question, asked).await?;
        let found = state.topologies.impact(&question.caller, network, query).await?;
        match question.unchanged() {
            Some(unchanged) => Ok(unchanged),
            None => answer(state, &found, question.tag),
        }
    })
}

async fn impact_query(
    state: &ApiState,
    question: &Question,
    asked: ImpactQuestion,
) -> Result<ImpactQuery, ApiError> {
    let count = asked.nodes.len();
    let nodes = asked.nodes.into_iter().map(|text| ("node", text));
    let texts: Vec<(&str, String)> = nodes.chain(asked.from.into_iter().map(|text| ("from", text))).collect();
    let found = if texts.is_empty() {
        Vec::new()
    } else {
        state.topologies.find_nodes(&question.caller, question.network, texts).await?
    };
    let from: BTreeSet<NodeId> = found.iter().skip(count).copied().collect();
    let mut query = ImpactQuery::new();
    query.nodes = found.into_iter().take(count).collect();
    query.from = from;
    query.edges = asked.edges.into_iter().collect();
    query.locations = asked.locations.into_iter().collect();
    query.limit = asked.limit;
    Ok(query)
}

/// `GET /api/v1/topology/fragile`.
pub(in crate::service) fn get_fragile(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, query) = read_fragile_query(call.input.request.uri.query(), &call.route.query)?;
        let question = Question::of(call, network).await?;
        if let Some(unchanged) = question.unchanged() {
            return Ok(unchanged);
        }
        let found = state.topologies.fragile(&question.caller, network, query).await?;
        answer(state, &found, question.tag)
    })
}

/// `GET /api/v1/topology/vlans`.
pub(in crate::service) fn get_vlans(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, query) = read_vlans_query(call.input.request.uri.query(), &call.route.query)?;
        let question = Question::of(call, network).await?;
        if let Some(unchanged) = question.unchanged() {
            return Ok(unchanged);
        }
        let found = state.topologies.vlans(&question.caller, network, query).await?;
        answer(state, &found, question.tag)
    })
}
