//! Topologies: graphs, pictures, and the positions that users give to nodes.

use std::collections::BTreeMap;
use std::fmt;

use form_urlencoded::Serializer;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::call::ClientCall;
use super::collection::MERGE_PATCH;
use super::{Client, ClientError, Collection, EntityTag, HttpService, Tagged, secret_header};
use crate::model::{
    LinkId, NetworkId, NodePosition, Share, ShareId, ShareMetadata, TopologyLayout, TopologyView,
};
use crate::topology::EdgeDetails;
use crate::topology::graph::{BlindSpot, Graph, GraphOptions, GroupBy};
use crate::topology::links::Confidence;
use crate::topology::render::{ColorScheme, Format};
use crate::wire::GraphMoments;

const PATH: &str = "/api/v1/topology";
const SVG: &str = "image/svg+xml";

/// A topology as a file.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TopologyFile {
    /// The name of the file.
    pub file_name: String,
    /// The media type of the file.
    pub media_type: String,
    /// The file.
    pub content: String,
}

/// Omits the content, which may be long.
impl fmt::Debug for TopologyFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TopologyFile").field("file_name", &self.file_name).finish_non_exhaustive()
    }
}

/// A share, and the topology that it shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OpenedShare {
    /// The share.
    pub share: ShareMetadata,
    /// The topology that the share shows.
    pub topology: SharedTopology,
}

/// The topology that a share shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SharedTopology {
    /// The graph. All ids are those of the share alone.
    pub graph: Graph,
    /// The picture of the graph, as SVG.
    pub svg: String,
}

impl<S: HttpService> Client<S> {
    /// Returns the graph of a network with positions, as one view shows it.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::{NetworkId, TopologyView};
    /// # use toposcope::topology::graph::GraphOptions;
    /// # async fn example<S: HttpService>(client: Client<S>, network: NetworkId) -> Result<(), ClientError> {
    /// let graph = client.topology_graph(network, &GraphOptions::new(TopologyView::L2)).await?;
    /// for edge in graph.edges {
    ///     println!("{} - {}: {:?}", edge.source, edge.target, edge.confidence);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`: of the network; `answer_too_large`.
    pub async fn topology_graph(
        &self,
        network: NetworkId,
        options: &GraphOptions,
    ) -> Result<Graph, ClientError> {
        let query = query_of(network, options).finish();
        self.value(ClientCall::get(format!("{PATH}/graph?{query}"))).await
    }

    /// Returns the graph of a network as it was, or of what has changed since, with positions.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::inventory::{GraphMoments, Moment};
    /// # use toposcope::model::{NetworkId, TopologyView};
    /// # use toposcope::topology::graph::GraphOptions;
    /// # async fn example<S: HttpService>(client: Client<S>, network: NetworkId, yesterday: Moment) -> Result<(), ClientError> {
    /// let options = GraphOptions::new(TopologyView::L2);
    /// let graph = client.topology_graph_at(network, &options, &GraphMoments::changes_since(yesterday)).await?;
    /// for edge in graph.edges.iter().filter(|edge| edge.change.is_some()) {
    ///     println!("{} - {}: {:?}", edge.source, edge.target, edge.change);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph); `validation_invalid_format` for an earlier moment that is the later one;
    /// `validation_unsupported` for an overview of what has changed; `position_gone` for a moment of before the history.
    pub async fn topology_graph_at(
        &self,
        network: NetworkId,
        options: &GraphOptions,
        moments: &GraphMoments,
    ) -> Result<Graph, ClientError> {
        let query = query_at(network, options, moments).finish();
        self.value(ClientCall::get(format!("{PATH}/graph?{query}"))).await
    }

    /// Returns the graph of [`topology_graph_at`](Self::topology_graph_at) as a file.
    ///
    /// # Errors
    /// The errors of [`topology_graph_at`](Self::topology_graph_at).
    pub async fn export_topology_at(
        &self,
        network: NetworkId,
        options: &GraphOptions,
        moments: &GraphMoments,
        (format, scheme): (Format, ColorScheme),
    ) -> Result<TopologyFile, ClientError> {
        let mut query = query_at(network, options, moments);
        query.append_pair("format", format.as_str()).append_pair("theme", scheme.as_str());
        self.value(ClientCall::get(format!("{PATH}/export?{}", query.finish()))).await
    }

    /// Returns the graph of a network as a file.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph).
    pub async fn export_topology(
        &self,
        network: NetworkId,
        options: &GraphOptions,
        format: Format,
        scheme: ColorScheme,
    ) -> Result<TopologyFile, ClientError> {
        let mut query = query_of(network, options);
        query.append_pair("format", format.as_str()).append_pair("theme", scheme.as_str());
        self.value(ClientCall::get(format!("{PATH}/export?{}", query.finish()))).await
    }

    /// Returns an edge of a view with everything that supports and contradicts it.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph); `entity_not_found` for an edge that the view does not have.
    pub async fn topology_edge(
        &self,
        network: NetworkId,
        view: TopologyView,
        id: LinkId,
    ) -> Result<EdgeDetails, ClientError> {
        self.value(ClientCall::get(format!("{PATH}/edges/{id}?network_id={network}&view={}", view.as_str())))
            .await
    }

    /// Returns the blind spots of a network. They are scans that would explain links, the most useful first.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph).
    pub async fn blind_spots(&self, network: NetworkId) -> Result<Vec<BlindSpot>, ClientError> {
        self.value(ClientCall::get(format!("{PATH}/blind-spots?network_id={network}"))).await
    }

    /// Returns the positions that users have given to nodes of a network in one view.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph).
    pub async fn topology_layout(
        &self,
        network: NetworkId,
        view: TopologyView,
    ) -> Result<Tagged<TopologyLayout>, ClientError> {
        self.tagged(ClientCall::get(layout_path(network, view))).await
    }

    /// Replaces the positions of nodes, if they still have this tag; `None`: in any case.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph); `precondition_failed`; `validation_…`.
    pub async fn put_topology_layout(
        &self,
        network: NetworkId,
        view: TopologyView,
        positions: &[NodePosition],
        tag: Option<&EntityTag>,
    ) -> Result<Tagged<TopologyLayout>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            positions: &'a [NodePosition],
        }
        let call = ClientCall::put(layout_path(network, view)).json(&Body { positions })?;
        self.tagged(call.if_match(tag)).await
    }

    /// Applies a JSON merge patch (RFC 7396) to the positions of nodes, if they still have this tag.
    ///
    /// `positions` is the only field, and is replaced as a whole.
    ///
    /// # Errors
    /// `validation_required` for a null; the errors of [`put_topology_layout`](Self::put_topology_layout).
    pub async fn patch_topology_layout(
        &self,
        network: NetworkId,
        view: TopologyView,
        changes: &(impl Serialize + ?Sized),
        tag: Option<&EntityTag>,
    ) -> Result<Tagged<TopologyLayout>, ClientError> {
        let call = ClientCall::new(Method::PATCH, layout_path(network, view)).json(changes)?;
        self.tagged(call.header(CONTENT_TYPE, MERGE_PATCH).if_match(tag)).await
    }

    /// Places all nodes of a view anew, but for those that users have placed, and keeps that layout.
    ///
    /// `group_by` selects the picture, because each grouping has a layout of its own.
    ///
    /// # Errors
    /// The errors of [`topology_graph`](Self::topology_graph); `auth_permission_denied`.
    pub async fn tidy_topology_layout(
        &self,
        network: NetworkId,
        view: TopologyView,
        group_by: Option<GroupBy>,
    ) -> Result<(), ClientError> {
        let query = group_by.map_or_else(String::new, |group_by| format!("?group_by={group_by}"));
        let call = ClientCall::post(format!("{}/tidy{query}", layout_path(network, view)));
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Returns the topology of a share. `token` comes from [`issue_share_token`](Self::issue_share_token).
    ///
    /// # Errors
    /// `entity_not_found`; `share_password_required`.
    pub async fn open_share(&self, id: ShareId, token: Option<&str>) -> Result<OpenedShare, ClientError> {
        self.value(ClientCall::post(of_share(id, "topology")).share_token(token)?).await
    }

    /// Returns the present topology of a share, unless its graph still has this revision.
    ///
    /// # Errors
    /// The errors of [`open_share`](Self::open_share).
    pub async fn refresh_share(
        &self,
        id: ShareId,
        token: Option<&str>,
        revision: &str,
    ) -> Result<Option<SharedTopology>, ClientError> {
        /// The answer of the server to a client that has a graph already.
        #[derive(Deserialize)]
        struct Refreshed {
            topology: Option<SharedTopology>,
        }
        let call =
            ClientCall::post(of_share(id, "topology")).json(&BTreeMap::from([("revision", revision)]))?;
        let refreshed: Refreshed = self.value(call.share_token(token)?).await?;
        Ok(refreshed.topology)
    }

    /// Returns the picture of a share, as SVG. `token` is that of [`open_share`](Self::open_share).
    ///
    /// # Errors
    /// The errors of [`open_share`](Self::open_share).
    pub async fn shared_picture(&self, id: ShareId, token: Option<&str>) -> Result<String, ClientError> {
        let call = ClientCall::get(of_share(id, "topology.svg")).share_token(token)?;
        let (parts, body) = self.send_for(call, SVG).await?.read(self.response_limit).await?;
        String::from_utf8(body).map_err(|error| {
            ClientError::unexpected("The picture is not text.").caused_by(error).with_status(parts.status)
        })
    }
}

impl ClientCall {
    fn share_token(self, token: Option<&str>) -> Result<Self, ClientError> {
        match token {
            Some(token) => Ok(self.header(AUTHORIZATION, secret_header(&format!("Bearer {token}"))?)),
            None => Ok(self),
        }
    }
}

fn of_share(id: ShareId, operation: &str) -> String {
    format!("{}/public/{id}/{operation}", Share::PATH)
}

fn layout_path(network: NetworkId, view: TopologyView) -> String {
    format!("{PATH}/layouts/{network}/{}", view.as_str())
}

fn query_at(
    network: NetworkId,
    options: &GraphOptions,
    moments: &GraphMoments,
) -> Serializer<'static, String> {
    let GraphMoments { at, compare } = moments;
    let mut query = query_of(network, options);
    for (name, moment) in [("at", at), ("compare", compare)] {
        if let Some(moment) = moment {
            query.append_pair(name, &moment.to_string());
        }
    }
    query
}

fn query_of(network: NetworkId, options: &GraphOptions) -> Serializer<'static, String> {
    // Every field is named, so that a new one cannot be forgotten here.
    let GraphOptions {
        view,
        focus,
        depth,
        tag_ids,
        roles,
        vlan,
        group_by,
        detail,
        collapse,
        expand,
        min_confidence,
        show_stale,
    } = options;
    let mut query = Serializer::new(String::new());
    query.append_pair("network_id", &network.to_string()).append_pair("view", view.as_str());
    if let Some(focus) = focus {
        query.append_pair("focus", &focus.to_string()).append_pair("depth", &depth.to_string());
    }
    for tag in tag_ids {
        query.append_pair("tag_ids", &tag.to_string());
    }
    for role in roles {
        query.append_pair("role", role.as_str());
    }
    if let Some(vlan) = vlan {
        query.append_pair("vlan", &vlan.to_string());
    }
    if let Some(by) = group_by {
        query.append_pair("group_by", by.as_str());
    }
    if let Some(detail) = detail {
        query.append_pair("detail", detail.as_str());
    }
    query.append_pair("collapse", if *collapse { "true" } else { "false" });
    for node in expand {
        query.append_pair("expand", &node.to_string());
    }
    // Conflicting links are always shown.
    query.append_pair("min_confidence", (*min_confidence).max(Confidence::Inferred).as_str());
    query.append_pair("show_stale", if *show_stale { "true" } else { "false" });
    query
}
