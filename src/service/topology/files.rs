//! Topologies as files.

use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use http::request::Parts;
use serde::Serialize;

use super::graphs::Asked;
use crate::model::{Network, TopologyView};
use crate::service::body::ResponseBody;
use crate::service::error::ApiError;
use crate::service::response::Outcome;
use crate::service::route::{Call, Pending};
use crate::topology::render::{Format, Picture, Theme, style_source};

/// A file in an envelope.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::service) struct TopologyFile {
    /// The name of the file.
    pub(in crate::service) file_name: String,
    /// The media type of the file.
    pub(in crate::service) media_type: String,
    /// The file.
    pub(in crate::service) content: String,
}

/// `GET /api/v1/topology/export`.
pub(in crate::service) fn export_topology(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let route = call.route;
        let caller = call.into_caller()?;
        let Asked { query, tag } = Asked::read(state, route, request, &caller).await?;
        let network: Network = state.inventory.get_as(&caller, query.network_id).await?;
        // The file contains the name of the network.
        let tag = tag.and_then(|tag| tag.of_part(&network.name));
        let is_in_envelope = accepts_json(request);
        let tag = if is_in_envelope { tag.and_then(|tag| tag.of_part("envelope")) } else { tag };
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag).vary_by_accept());
        }
        let (network_id, format) = (query.network_id, query.format);
        let view = query.options.view;
        let file_name = file_name(&network.name, view, format);
        let theme = query.theme;
        let outcome = |body| as_file(body, format, theme, &file_name);
        if !is_in_envelope && let Some(body) = tag.as_ref().and_then(|tag| state.page_cache.get(tag)) {
            return Ok(outcome(body)?.with_tag(tag));
        }
        let organization = caller.organization_id();
        let graph = state.topologies.graph_of(organization, network_id, query.options).await?;
        let graph = state.topologies.placed(organization, network_id, graph).await?;
        let now = state.inventory.now();
        let write = move || {
            let mut picture = Picture::new(&graph, &network.name);
            picture.theme = theme;
            picture.date = Some(now);
            picture.render(format)
        };
        let content = state.inventory.offload(organization, usize::MAX, write).await?;
        if is_in_envelope {
            let media_type = format.media_type().to_owned();
            let file = TopologyFile { file_name, media_type, content };
            return Ok(state.responder.value(&file)?.with_tag(tag).vary_by_accept());
        }
        let body = ResponseBody::full(content.into());
        let body = match &tag {
            Some(tag) => state.page_cache.insert(tag, body),
            None => body,
        };
        Ok(outcome(body)?.with_tag(tag))
    })
}

fn as_file(body: ResponseBody, format: Format, theme: Theme, file_name: &str) -> Result<Outcome, ApiError> {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{file_name}\""));
    let outcome = Outcome::file(format.media_type(), body).vary_by_accept();
    let outcome = outcome.with_header(CONTENT_DISPOSITION, disposition.map_err(|_| ApiError::internal())?);
    if format == Format::Svg { with_picture_policy(outcome, theme) } else { Ok(outcome) }
}

/// Forbids a picture everything but its own style.
pub(super) fn with_picture_policy(outcome: Outcome, theme: Theme) -> Result<Outcome, ApiError> {
    let policy = format!("default-src 'none'; style-src {}; sandbox", style_source(theme));
    let policy = HeaderValue::try_from(policy);
    Ok(outcome.with_header(CONTENT_SECURITY_POLICY, policy.map_err(|_| ApiError::internal())?))
}

/// Returns the name of a file: letters, digits and hyphens of the network's name, the view, and the extension.
fn file_name(network: &str, view: TopologyView, format: Format) -> String {
    let mut name = String::new();
    for character in network.chars().take(64) {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => name.push(character.to_ascii_lowercase()),
            _ if !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "network" } else { name };
    format!("{name}-{}.{}", view.as_str(), format.extension())
}

/// Returns whether a request asks for JSON in an envelope rather than for the file.
fn accepts_json(request: &Parts) -> bool {
    request.headers.get_all(ACCEPT).iter().any(|header| {
        let mut types = header.as_bytes().split(|byte| matches!(byte, b',' | b';'));
        types.any(|media_type| media_type.trim_ascii().eq_ignore_ascii_case(b"application/json"))
    })
}
