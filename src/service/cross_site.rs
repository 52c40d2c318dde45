use http::header::{HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::error::ApiError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Decides which sites may write with a user's session.
///
/// Browsers attach the session cookie to every request, including those that another site's page sends.
#[derive(Debug)]
pub(super) struct CrossSitePolicy {
    /// Origins allowed in addition to the request's own host.
    allowed_origins: Vec<String>,
}

impl CrossSitePolicy {
    pub(super) const fn new(allowed_origins: Vec<String>) -> Self {
        Self { allowed_origins }
    }

    /// Checks a request that uses a session. Non-browser clients pass, because they send neither header.
    ///
    /// # Errors
    /// `auth_cross_site_request` if the method writes and a page of another site sent the request.
    pub(super) fn check(&self, request: &Parts) -> Result<(), ApiError> {
        let is_reading = request.method == Method::GET || request.method == Method::HEAD;
        let is_allowed = is_reading
            || !is_marked_cross_site(&request.headers)
                && request.headers.get_all(ORIGIN).iter().all(|origin| {
                    origin.to_str().is_ok_and(|origin| self.is_listed(origin) || is_own(origin, request))
                });
        if is_allowed { Ok(()) } else { Err(ApiError::cross_site_request()) }
    }

    fn is_listed(&self, origin: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

fn is_marked_cross_site(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_FETCH_SITE).iter().any(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site"))
}

/// Returns whether an origin is the host that the request was sent to.
///
/// Schemes are not compared: behind a proxy that terminates TLS, the service does not know its own scheme.
fn is_own(origin: &str, request: &Parts) -> bool {
    let authority = request.uri.authority().map(http::uri::Authority::as_str);
    let header = || request.headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = authority.or_else(header) else { return false };
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let without_port =
        |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    without_port(authority) == without_port(host)
}
