//! Pages for people: that of a network, and the pages that explain why there is none.

use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::files::too_large;
use crate::access::Caller;
use crate::invariant::Invariant;
use crate::inventory::GraphMoments;
use crate::model::{Network, NetworkId, Permission};
use crate::service::input::{PathParameters, read_page_query};
use crate::service::response::Outcome;
use crate::service::response::body::ResponseBody;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::endpoints::Endpoints;
use crate::service::routes::route::{Call, Pending, ResponseContent};
use crate::service::state::ApiState;
use crate::topology::Placement;
use crate::topology::graph::{Graph, GraphOptions};
use crate::topology::render::page::{NetworkFailure, NetworkPage, Page, ShareFailure};
use crate::topology::render::{Format, Picture};

const HTML: &str = "text/html; charset=utf-8";

/// The headers that hide the address of a page from other servers and search engines.
const PRIVACY: [(HeaderName, HeaderValue); 2] = [
    (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// `GET /topology/{network_id}`. [`failure_page`] makes pages of its errors.
pub(in crate::service) fn get_network_page(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        // A malformed address is reported to its reader like an unknown one.
        let id = read_network(&call.path).ok_or_else(ApiError::route_not_found)?;
        let (options, moments) = read_page_query(request.uri.query(), &call.route.query)?;
        let caller = call.into_caller()?;
        // Before the tag is compared: a network without access has no state.
        let network: Network = state.inventory.records().get(&caller, id).await?;
        let may_edit = caller.permission() >= Permission::Member;
        let tag = state.tag_of_moments(&caller, request, &moments).await?;
        let tag = tag.and_then(|tag| tag.of_part(&format!("page {may_edit} {}", network.name)));
        let tag = tag.and_then(|tag| state.of_theme(tag));
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(private(Outcome::not_modified(tag)));
        }
        let (html, policy) =
            state.page_of_network(&caller, network, (options, moments), tag.as_ref()).await?;
        Ok(html_outcome(html, policy).with_tag(tag))
    })
}

fn read_network(path: &PathParameters<'_>) -> Option<NetworkId> {
    path.get("network_id").asserted_or_default().parse().ok()
}

impl ApiState {
    /// Returns the tag of a picture or page in the theme of the host application. The tag differs from those of other
    /// themes, which a browser may have seen before a restart.
    pub(super) fn of_theme(&self, tag: EntityTag) -> Option<EntityTag> {
        match self.theme.fingerprint() {
            Some(theme) => tag.of_part(theme),
            None => Some(tag),
        }
    }

    /// Returns the page of a network and its policy. The page comes from the page cache if it is there.
    async fn page_of_network(
        &self,
        caller: &Caller,
        network: Network,
        (options, moments): (GraphOptions, GraphMoments),
        tag: Option<&EntityTag>,
    ) -> Result<(ResponseBody, HeaderValue), ApiError> {
        let policy = HeaderValue::try_from(NetworkPage::content_security_policy(&self.theme));
        let policy = policy.map_err(|_| ApiError::internal())?;
        if let Some(body) = tag.and_then(|tag| self.page_cache.get(tag)) {
            return Ok((body, policy));
        }
        let (organization, id) = (caller.organization_id(), network.id);
        let (may_edit, known) = (caller.permission() >= Permission::Member, tag.map(EntityTag::header));
        let draw = || async move {
            let (limit, theme) = (self.drawing_limit, self.theme.clone());
            let write = move |graph: Graph| {
                let mut picture = Picture::new(&graph, &network.name);
                picture.limit = limit;
                picture.theme = theme.clone();
                picture.date = graph.observed_at;
                let svg = picture.render(Format::Svg).map_err(too_large)?;
                let json = picture.render(Format::Json).map_err(too_large)?;
                let mut page = NetworkPage::new(network.id, &network.name, graph.view);
                page.detail = graph.detail;
                (page.may_edit, page.theme) = (may_edit, theme);
                page.tag = known.as_ref().and_then(|tag| tag.to_str().ok());
                Ok::<_, ApiError>(ResponseBody::full(page.open(&svg, &json).html.into()))
            };
            let drawn = if moments == GraphMoments::default() {
                self.topologies.drawn_for_page(organization, id, options, write).await??
            } else {
                self.drawn_at(caller, (id, options, Placement::Remembered), &moments, write).await??
            };
            Ok::<_, ApiError>(self.keep(tag, drawn))
        };
        let body = self.drawings.get(organization, tag, draw).await?;
        Ok((ResponseBody::full(body), policy))
    }

    /// Returns a page for an error of the page of a network.
    fn failure_of_network(&self, error: &ApiError) -> Page {
        let has_login = !self.removed.intersects(Endpoints::LOGIN);
        let failure = match error.status() {
            StatusCode::UNAUTHORIZED if has_login => NetworkFailure::LoginRequired,
            StatusCode::UNAUTHORIZED => NetworkFailure::NotAuthenticated,
            StatusCode::NOT_FOUND => NetworkFailure::NotFound,
            StatusCode::FORBIDDEN => NetworkFailure::AccessDenied,
            status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
                NetworkFailure::Refused(&error.message)
            }
            _ => NetworkFailure::Unavailable,
        };
        failure.page(&self.theme)
    }
}

/// A page that explains an error.
pub(in crate::service) struct FailurePage {
    html: String,
    policy: HeaderValue,
}

impl FailurePage {
    /// Replaces the envelope of an error. Status and other headers stay.
    pub(in crate::service) fn replace_body(self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        let mut response = response.map(|_| ResponseBody::full(self.html.into()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
        headers.insert(CONTENT_SECURITY_POLICY, self.policy);
        headers.extend(PRIVACY);
        response
    }
}

/// Returns the human-readable page for an error of a page.
///
/// `None` if there is none: the response is no page, or the policy is not a valid header.
pub(in crate::service) fn failure_page(
    state: &ApiState,
    content: ResponseContent,
    error: &ApiError,
) -> Option<FailurePage> {
    let page = match content {
        ResponseContent::SharePage => {
            let is_unknown = error.status() == StatusCode::NOT_FOUND;
            let failure = if is_unknown { ShareFailure::NotFound } else { ShareFailure::Unavailable };
            failure.page(&state.frame_ancestors, &state.theme)
        }
        ResponseContent::NetworkPage => state.failure_of_network(error),
        _ => return None,
    };
    let policy = HeaderValue::try_from(page.content_security_policy).ok()?;
    Some(FailurePage { html: page.html, policy })
}

/// Returns the response with a page.
pub(super) fn page(page: Page) -> Result<Outcome, ApiError> {
    let policy = HeaderValue::try_from(page.content_security_policy).map_err(|_| ApiError::internal())?;
    Ok(html_outcome(ResponseBody::full(page.html.into()), policy))
}

fn html_outcome(html: ResponseBody, policy: HeaderValue) -> Outcome {
    private(Outcome::of_type(HTML, html).with_header(CONTENT_SECURITY_POLICY, policy))
}

/// Keeps the content of a page out of search engines. Also keeps its address out of other servers' logs.
pub(super) fn private(outcome: Outcome) -> Outcome {
    PRIVACY.into_iter().fold(outcome, |outcome, (name, value)| outcome.with_header(name, value))
}
