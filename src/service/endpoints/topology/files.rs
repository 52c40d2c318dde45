//! Topologies as files.

use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use serde::Serialize;

use super::graphs::Asked;
use crate::model::{Network, TopologyView};
use crate::service::input::{Accept, TopologyQuery};
use crate::service::response::body::ResponseBody;
use crate::service::response::error::ApiError;
use crate::service::response::{JSON, Outcome};
use crate::service::routes::route::{Call, Pending};
use crate::topology::graph::Graph;
use crate::topology::render::{ColorScheme, FileTooLarge, Format, Picture, Theme};

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
        let network: Network = state.inventory.records().get(&caller, query.network_id).await?;
        // The file contains the name of the network.
        let tag = tag.and_then(|tag| tag.of_part(&network.name)).and_then(|tag| state.of_theme(tag));
        let is_in_envelope = is_in_envelope(Accept::of(request), query.format);
        let tag = if is_in_envelope { tag.and_then(|tag| tag.of_part("envelope")) } else { tag };
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag).vary_by_accept());
        }
        let format = query.format;
        let view = query.options.view;
        let file_name = FileName::new(&network.name, view, format);
        let (scheme, theme) = (query.scheme, state.theme.clone());
        let outcome = |body| {
            if is_in_envelope {
                Ok(Outcome::new(body).vary_by_accept())
            } else {
                as_file(body, format, (&state.theme, scheme), &file_name)
            }
        };
        if let Some(body) = tag.as_ref().and_then(|tag| state.page_cache.get(tag)) {
            return Ok(outcome(body)?.with_tag(tag));
        }
        let organization = caller.organization_id();
        let (drawn_tag, own_name) = (tag.as_ref(), file_name.name.clone());
        let draw = || async move {
            let (responder, limit) = (state.responder.clone(), state.drawing_limit);
            let write = move |graph: Graph| {
                let mut picture = Picture::new(&graph, &network.name);
                (picture.scheme, picture.theme) = (scheme, theme);
                picture.limit = limit;
                picture.date = graph.observed_at;
                let content = picture.render(format).map_err(too_large)?;
                if !is_in_envelope {
                    return Ok(ResponseBody::full(content.into()));
                }
                let media_type = format.media_type().to_owned();
                responder.bounded_body(&TopologyFile { file_name: own_name, media_type, content }, limit)
            };
            let TopologyQuery { network_id, options, placement, moments, .. } = query;
            let drawn = state.drawn_at(&caller, (network_id, options, placement), &moments, write);
            Ok::<_, ApiError>(state.keep(drawn_tag, drawn.await??))
        };
        let body = state.drawings.get(organization, drawn_tag, draw).await?;
        Ok(outcome(ResponseBody::full(body))?.with_tag(tag))
    })
}

pub(super) fn too_large(error: FileTooLarge) -> ApiError {
    ApiError::answer_too_large(error.limit)
}

/// Returns whether a client prefers an envelope to the file itself. An envelope with a JSON file must be named.
fn is_in_envelope(accept: Accept<'_>, format: Format) -> bool {
    match format.media_type() {
        JSON => accept.names(JSON),
        file => accept.choose(file, &[JSON]) == JSON,
    }
}

fn as_file(
    body: ResponseBody,
    format: Format,
    (theme, scheme): (&Theme, ColorScheme),
    name: &FileName,
) -> Result<Outcome, ApiError> {
    let disposition = HeaderValue::try_from(name.disposition()).map_err(|_| ApiError::internal())?;
    let outcome = Outcome::of_type(format.media_type(), body).vary_by_accept();
    let outcome = outcome.with_header(CONTENT_DISPOSITION, disposition);
    if format == Format::Svg { with_picture_policy(outcome, theme, scheme) } else { Ok(outcome) }
}

/// Forbids a picture everything but its own style.
pub(super) fn with_picture_policy(
    outcome: Outcome,
    theme: &Theme,
    scheme: ColorScheme,
) -> Result<Outcome, ApiError> {
    let policy = format!("default-src 'none'; style-src {}; sandbox", theme.style_source(scheme));
    let policy = HeaderValue::try_from(policy);
    Ok(outcome.with_header(CONTENT_SECURITY_POLICY, policy.map_err(|_| ApiError::internal())?))
}

/// The name of a file: letters, digits and hyphens of the network's name, the view, and the extension.
struct FileName {
    name: String,
    /// For clients that read no other letters.
    in_ascii: String,
}

impl FileName {
    fn new(network: &str, view: TopologyView, format: Format) -> Self {
        let of = |is_kept: fn(char) -> bool| {
            let mut name = String::new();
            for character in network.chars().take(64) {
                if is_kept(character) {
                    name.extend(character.to_lowercase());
                } else if !name.ends_with('-') {
                    name.push('-');
                }
            }
            let name = name.trim_matches('-');
            let name = if name.is_empty() { "network" } else { name };
            format!("{name}-{}.{}", view.as_str(), format.extension())
        };
        Self { name: of(char::is_alphanumeric), in_ascii: of(|character| character.is_ascii_alphanumeric()) }
    }

    /// Returns the value of the header of a download. RFC 6266 has a second parameter for other letters.
    fn disposition(&self) -> String {
        let Self { name, in_ascii } = self;
        let mut value = format!("attachment; filename=\"{in_ascii}\"");
        if name != in_ascii {
            value.push_str("; filename*=UTF-8''");
            value.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        }
        value
    }
}
