//! Topologies for the viewers of a share.

use std::borrow::Cow;

use bytes::Bytes;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::files::{too_large, with_picture_policy};
use super::pages::{page, private};
use crate::inventory::{ErrorKind, OpenShare};
use crate::model::{ShareId, ShareMetadata, Timestamp, TopologyView};
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::Outcome;
use crate::service::response::body::ResponseBody;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::credentials::bearer_token;
use crate::service::state::ApiState;
use crate::sha256::sha256;
use crate::topology::graph::{Bounds, Detail, Edge, Graph, Hidden, Node, Warning};
use crate::topology::render::page::SharePage;
use crate::topology::render::{ColorScheme, Format, Picture, json};

/// A share, and the topology that it shows.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::service) struct OpenedShare {
    /// The share.
    pub(in crate::service) share: ShareMetadata,
    /// The topology that the share shows. `None` if the client has it already.
    pub(in crate::service) topology: Option<SharedTopology>,
}

/// The topology that a share shows.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::service) struct SharedTopology {
    /// The graph. All ids are those of the share alone.
    #[cfg_attr(feature = "openapi", schemars(with = "Graph"))]
    pub(in crate::service) graph: Box<RawValue>,
    /// The picture of the graph, as SVG.
    pub(in crate::service) svg: String,
}

/// `POST /api/v1/shares/public/{id}/topology`.
pub(in crate::service) fn open_share(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, id) = (call.state, read_share(&call)?);
        let known: Option<String> = match call.input.optional_json().await? {
            Some(body) => Fields::read(&body, call.route.body)?.optional("revision")?,
            None => None,
        };
        let open = state.inventory.open_share(id, bearer_token(call.input.request)).await?;
        let key = state.cache_key_of_share(&open).await?;
        let topology = match known {
            Some(known) if state.revision_of_share(&open, key.as_ref()).await? == known => None,
            _ => Some(state.shared_topology(&open, key.as_ref()).await?),
        };
        let share = ShareMetadata::from(&open.share);
        Ok(private(state.responder.value(&OpenedShare { share, topology })?))
    })
}

/// `GET /api/v1/shares/public/{id}/topology.svg`.
pub(in crate::service) fn get_shared_picture(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let open = state.inventory.open_share(read_share(&call)?, bearer_token(request)).await?;
        let key = state.cache_key_of_share(&open).await?;
        let key_of_tag = key.as_ref().and_then(|key| key.of_part("tag"));
        let known = key_of_tag.as_ref().and_then(|key| state.cached(key));
        if let Some(tag) = known.and_then(|text| EntityTag::of_text(&text)).filter(|tag| tag.matches(request))
        {
            return Ok(private(Outcome::not_modified(&tag)));
        }
        let [_, svg] = state.drawings_of_share(&open, key.as_ref()).await?;
        // A tag of the picture itself, so that it reveals no change that the share does not show.
        let tag = EntityTag::of_content(&svg);
        if let (Some(key), Some(tag)) = (&key_of_tag, &tag) {
            state.page_cache.keep(key, tag.clone().into_text());
        }
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(private(Outcome::not_modified(tag)));
        }
        let outcome = Outcome::of_type(Format::Svg.media_type(), ResponseBody::full(svg));
        with_picture_policy(private(outcome.with_tag(tag)), &state.theme, ColorScheme::Auto)
    })
}

/// `GET /share/{id}`. [`failure_page`](super::failure_page) makes pages of its errors.
///
/// The query is ignored: messengers and mail programs add parameters of their own to addresses that people pass on.
pub(in crate::service) fn get_share_page(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        // A malformed address is reported to its reader like an unknown one.
        let id = read_id(&call.path).map_err(|_| ApiError::route_not_found())?;
        call.state.page_of_share(id).await
    })
}

/// Returns the share in the path. The query must be empty.
fn read_share(call: &Call<'_>) -> Result<ShareId, ApiError> {
    let id = read_id(&call.path)?;
    read_no_query(&call.input)?;
    Ok(id)
}

/// The revision of a graph, which identifies its state.
#[derive(Deserialize)]
struct Revision<'g> {
    #[serde(borrow)]
    revision: Cow<'g, str>,
}

/// A graph without the ids of records. Elsewhere, these ids are null when there is no record.
#[derive(Serialize)]
struct SharedGraph<'g> {
    view: TopologyView,
    detail: Detail,
    revision: &'g str,
    observed_at: Option<Timestamp>,
    bounds: Bounds,
    nodes: Vec<SharedNode<'g>>,
    edges: &'g [Edge],
    hidden: Hidden,
    warnings: &'g [Warning],
}

struct SharedNode<'g>(&'g Node);

impl Serialize for SharedNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut node = serde_json::to_value(self.0).map_err(S::Error::custom)?;
        node.as_object_mut().map(|node| node.remove("entity_id"));
        node.serialize(serializer)
    }
}

impl<'g> From<&'g Graph> for SharedGraph<'g> {
    fn from(graph: &'g Graph) -> Self {
        Self {
            view: graph.view,
            detail: graph.detail,
            revision: &graph.revision,
            observed_at: graph.observed_at,
            bounds: graph.bounds,
            nodes: graph.nodes.iter().map(SharedNode).collect(),
            edges: &graph.edges,
            hidden: graph.hidden,
            warnings: &graph.warnings,
        }
    }
}

impl ApiState {
    async fn page_of_share(&self, id: ShareId) -> Result<Outcome, ApiError> {
        let share = self.inventory.shares().metadata(id).await?;
        let form = SharePage::new(&share, &self.frame_ancestors).theme(self.theme.clone());
        let open = match self.inventory.open_share(id, None).await {
            Err(error) if matches!(error.kind(), ErrorKind::SharePasswordRequired) => {
                return page(form.protected());
            }
            open => open?,
        };
        let key = self.cache_key_of_share(&open).await?;
        let SharedTopology { graph, svg } = self.shared_topology(&open, key.as_ref()).await?;
        page(form.open(&svg, graph.get()))
    }

    /// Returns the key under which a share's content is cached; `None` if the store does not support revisions.
    async fn cache_key_of_share(&self, open: &OpenShare) -> Result<Option<EntityTag>, ApiError> {
        let revision = self.inventory.topology_revision(open.share.organization_id).await?;
        let share = serde_json::to_vec(&open.share).map_err(|_| ApiError::internal())?;
        let version = self.responder.server_version();
        Ok(revision.and_then(|revision| EntityTag::of_share(revision.numbers(), &share, version)))
    }

    /// Returns the revision of the graph of a share.
    ///
    /// It is cached by itself: open pages ask for it all the time, and drawings that are large are not cached.
    async fn revision_of_share(&self, open: &OpenShare, key: Option<&EntityTag>) -> Result<Bytes, ApiError> {
        let key_of_revision = key.and_then(|key| key.of_part("revision"));
        if let Some(known) = key_of_revision.as_ref().and_then(|key| self.cached(key)) {
            return Ok(known);
        }
        let [graph, _] = self.drawings_of_share(open, key).await?;
        let graph: Revision<'_> = serde_json::from_slice(&graph).map_err(|_| ApiError::internal())?;
        let revision = Bytes::from(graph.revision.into_owned());
        if let Some(key) = &key_of_revision {
            self.page_cache.keep(key, revision.clone());
        }
        Ok(revision)
    }

    /// Returns the graph, as JSON, and the picture of a share.
    async fn shared_topology(
        &self,
        open: &OpenShare,
        key: Option<&EntityTag>,
    ) -> Result<SharedTopology, ApiError> {
        let [graph, svg] = self.drawings_of_share(open, key).await?;
        let graph = RawValue::from_string(text(graph)?).map_err(|_| ApiError::internal())?;
        Ok(SharedTopology { graph, svg: text(svg)? })
    }

    /// Returns the graph and the picture of a share. They come from the page cache if they are there.
    async fn drawings_of_share(
        &self,
        open: &OpenShare,
        key: Option<&EntityTag>,
    ) -> Result<[Bytes; 2], ApiError> {
        let parts = key.and_then(|key| Some([key.of_part("graph")?, key.of_part("svg")?]));
        let cached = parts.as_ref().map(|parts| parts.each_ref().map(|tag| self.cached(tag)));
        if let Some([Some(graph), Some(svg)]) = cached {
            return Ok([graph, svg]);
        }
        let draw = || self.draw_share(open, parts.as_ref());
        self.shared_drawings.get(open.share.organization_id, key, draw).await
    }

    /// Draws the graph and the picture of a share.
    async fn draw_share(
        &self,
        open: &OpenShare,
        tags: Option<&[EntityTag; 2]>,
    ) -> Result<[Bytes; 2], ApiError> {
        let (name, limit, theme) = (open.share.name.clone(), self.drawing_limit, self.theme.clone());
        let write = move |mut graph: Graph| {
            graph.revision = revision_with_title(&graph.revision, &name);
            let mut picture = Picture::new(&graph, &name);
            picture.date = graph.observed_at;
            picture.limit = limit;
            picture.theme = theme;
            let svg = picture.render(Format::Svg).map_err(too_large)?;
            let graph = json(&SharedGraph::from(&graph), limit).map_err(too_large)?;
            Ok::<_, ApiError>([graph, svg])
        };
        let [graph, svg] = self.topologies.shared(open, write).await??;
        let [graph, svg] = [graph, svg].map(|text| ResponseBody::full(text.into()));
        let [of_graph, of_svg] = tags.map_or([None, None], |tags| tags.each_ref().map(Some));
        Ok([self.keep(of_graph, graph), self.keep(of_svg, svg)])
    }

    fn cached(&self, tag: &EntityTag) -> Option<Bytes> {
        self.page_cache.get(tag)?.into_bytes().ok()
    }
}

/// Returns the revision of a graph whose picture has a title.
fn revision_with_title(revision: &str, title: &str) -> String {
    let digest = sha256(format!("{revision} {title}").as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn text(bytes: Bytes) -> Result<String, ApiError> {
    String::from_utf8(bytes.into()).map_err(|_| ApiError::internal())
}
